// Multi-task training is an Objective over Objectives that share modules: the trainer knows nothing of it.
#include <gtest/gtest.h>

#include <array>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "lm/training/trainer.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "tests/temporary_folder.h"

namespace rondo::multi_task_test {
namespace {

constexpr int64_t numbers = 8;

/// What tasks share, and a head for each of them.
struct Model : Module {
  Model() { finalize(1); }
  Variable hidden(const Tokens& ids) { return tanh(embedding(ids)); }
  Embedding embedding{*this, "embedding", numbers, 5};
  Linear parity{*this, "parity", 5, 2}, size{*this, "size", 5, 2};
};

/// Classifies the numbers below 8, each once an epoch.
class Classification : public Objective {
 public:
  Classification(Model& model, Linear& head, std::string name, int32_t (*label)(int32_t))
      : model_(model), head_(head), name_(std::move(name)), label_(label) {}

  Module& model() override { return model_; }
  void begin_epoch(int64_t) override { position_ = 0; }
  bool next_batch(Batch& batch) override {
    if (position_ == numbers) return false;
    const auto first = static_cast<int32_t>(position_);
    position_ += 2;
    batch.indices = {{first, first + 1}, {label_(first), label_(first + 1)}};
    batch.scored = 2;
    return true;
  }
  Loss loss(int64_t, const std::vector<Tokens>& indices, RandomContext) override {
    const Variable nats = cross_entropy(head_(model_.hidden(indices[0])), indices[1]);
    return {mean(nats), {nats.value()}};
  }
  double epoch_fraction() const override { return static_cast<double>(position_) / numbers; }
  int64_t scored_per_epoch() const override { return numbers; }
  Scores evaluate(const std::function<void(int64_t)>&) override {
    int64_t right = 0;
    for (int32_t it = 0; it < numbers; ++it) {
      const std::vector<real> scores = head_(model_.hidden(tokens({it}))).value().to_vector();
      right += (scores[1] > scores[0]) == (label_(it) == 1);
    }
    return {.metrics = {{"accuracy", static_cast<double>(right) / numbers}},
            .higher_is_better = true,
            .count = numbers};
  }
  void save(StateWriter& to) const override { to.add(name_ + ".position", position_); }
  void load(const StateReader& from) override { from.read(name_ + ".position", position_, 0, numbers); }

 private:
  Model& model_;
  Linear& head_;
  std::string name_;
  int32_t (*label_)(int32_t);
  int64_t position_ = 0;
};

/// Two tasks in turn.
class InTurn : public Objective {
 public:
  InTurn(Objective& first, Objective& second) : tasks_{&first, &second} {}

  Module& model() override { return tasks_[0]->model(); }
  void begin_epoch(int64_t epoch) override {
    for (Objective* it : tasks_) it->begin_epoch(epoch);
    turn_ = 0;
  }
  bool next_batch(Batch& batch) override {
    ++turn_;
    if (!now().next_batch(batch)) return false;
    if (batch.kind) batch.kind = 2 * *batch.kind + turn_ % 2;  // kinds of two tasks are two
    return true;
  }
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override {
    return now().loss(part, indices, random);
  }
  void carry_state(int64_t part) override { now().carry_state(part); }
  void end_batch(int64_t step) override { now().end_batch(step); }
  double epoch_fraction() const override { return tasks_[1]->epoch_fraction(); }
  int64_t scored_per_epoch() const override {
    return tasks_[0]->scored_per_epoch() + tasks_[1]->scored_per_epoch();
  }
  Scores evaluate(const std::function<void(int64_t)>& progress) override {
    Scores scores = tasks_[0]->evaluate(progress);
    double& value = scores.metrics.at(0).value;
    value = std::min(value, tasks_[1]->evaluate(progress).value());
    return scores;
  }
  void save(StateWriter& to) const override {
    for (const Objective* it : tasks_) it->save(to);
    to.add("turn", turn_);
  }
  void load(const StateReader& from) override {
    for (Objective* it : tasks_) it->load(from);
    from.read("turn", turn_);
  }

 private:
  Objective& now() const { return *tasks_[static_cast<size_t>((turn_ + 1) % 2)]; }

  std::array<Objective*, 2> tasks_;
  int64_t turn_ = 0;
};

struct Trained {
  Model model;
  Classification parity{model, model.parity, "parity", [](int32_t it) { return it % 2; }};
  Classification size{model, model.size, "size", [](int32_t it) { return it / 4; }};
  InTurn both{parity, size};
  Trainer trainer{both, {.epochs = 60, .optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.02}}};

  void train(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (!trainer.next_batch()) {
        trainer.begin_next_epoch();
        ASSERT_TRUE(trainer.next_batch());
      }
      trainer.step();
    }
    trainer.metrics();
  }
};

TEST(MultiTask, TwoTasksLearnWithWhatTheyShare) {
  Trained it;
  EXPECT_LT(it.both.evaluate({}).value(), 1);
  it.train(400);
  EXPECT_EQ(it.parity.evaluate({}).value(), 1);
  EXPECT_EQ(it.size.evaluate({}).value(), 1);
  EXPECT_TRUE(it.trainer.validated(it.both.evaluate({})));
  EXPECT_FALSE(it.trainer.validated({.metrics = {{"accuracy", 0.5}}, .higher_is_better = true}))
      << "of accuracies the higher one is the best";
}

TEST(MultiTask, GoesOnFromASavedStateWithTheSameBits) {
  const TemporaryFolder folder;
  Trained whole, resumed;
  whole.train(11);
  whole.trainer.save(folder / "state");
  resumed.trainer.load(folder / "state");
  whole.train(20);
  resumed.train(20);
  EXPECT_EQ(resumed.model.values().to_vector(), whole.model.values().to_vector());
}

TEST(Trainer, StepsOnlyWhatIsStaged) {
  Trained it;
  EXPECT_EQ(error_of<Error>([&] { it.trainer.step(); }),
            "[trainer] step() is for the batch that next_batch() has staged");
  it.train(1);
  EXPECT_THROW(it.trainer.step(), Error);
}

}  // namespace
}  // namespace rondo::multi_task_test
