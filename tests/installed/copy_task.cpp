// A program beside Rondo that trains an encoder-decoder with attention to copy what it reads: a model and a
// task of its own, and Rondo's trainer. Exit status 0: it copies every sequence that it has never seen.
// docs/another_model.md explains it.
#include <algorithm>
#include <cstdio>
#include <random>

#include "autograd/cross_entropy.h"
#include "lm/training/trainer.h"
#include "nn/layers/attention.h"
#include "nn/layers/embedding.h"
#include "nn/layers/linear.h"
#include "nn/recurrent/recurrent_stack.h"

using namespace rondo;

constexpr int64_t V = 10, E = 16, H = 32;  // symbols, of which 0 begins and ends a sequence
constexpr int32_t marker = 0, ignore_index = -1;

struct Copier : Module {
  Copier() { finalize(1); }

  /// The states that the encoder leaves, and what attention reads of them. source is [S, B].
  Attention::Source encode(const Tokens& source, int64_t S, const Lengths& lengths,
                           std::vector<State>& states) {
    const int64_t B = std::ssize(lengths);
    const auto read = encoder(reshape(embedding(source), {S, B, E}), encoder.initial_states(B), lengths);
    states = read.states;
    return attention.prepare(read.output, lengths);
  }
  /// What the output layer sees of decoder states [.., H]: themselves, and what they attend to.
  Variable features(const Variable& states, const Attention::Source& source) {
    return concat({states, attention(states, source).context});
  }

  Embedding embedding{*this, "embedding", V, E};
  RecurrentStack encoder{*this, "encoder", {.cell = "lstm", .layers = {pytorch_cell(E, H)}}};
  RecurrentStack decoder{*this, "decoder", {.cell = "lstm", .layers = {pytorch_cell(E, H)}}};
  Attention attention{*this, "attention", Score::general, H, H};
  Linear output{*this, "output", 2 * H, V};
};

/// Random sequences of 1 to 8 symbols, [T, B]: time first, the shorter ones padded.
struct Sequences {
  Sequences(uint32_t seed, int64_t count) {
    std::mt19937 random(seed);
    for (int64_t b = 0; b < count; ++b) lengths.push_back(1 + random() % 8);
    steps = *std::ranges::max_element(lengths);
    source.assign(static_cast<size_t>(steps * count), marker);
    inputs.assign(static_cast<size_t>((steps + 1) * count), marker);
    targets.assign(static_cast<size_t>((steps + 1) * count), ignore_index);
    for (int64_t b = 0; b < count; ++b)
      for (int64_t t = 0; t <= lengths[b]; ++t) {
        const bool ends = t == lengths[b];
        const int32_t symbol = ends ? marker : 1 + static_cast<int32_t>(random() % (V - 1));
        targets[t * count + b] = symbol;
        if (!ends) source[t * count + b] = inputs[(t + 1) * count + b] = symbol;
      }
  }
  Lengths lengths;
  int64_t steps = 0;
  std::vector<int32_t> source, inputs, targets;  // the decoder reads its targets one step late
};

struct Copying : Objective {
  explicit Copying(Copier& copier) : model_(copier) {}

  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override { epoch_ = epoch, position_ = 0; }
  bool next_batch(Batch& batch) override {
    if (position_ == batches) return false;
    batch_ = Sequences(static_cast<uint32_t>(epoch_ * batches + position_++), 32);
    batch.indices = {batch_.source, batch_.inputs, batch_.targets};
    batch.scored = std::ranges::count_if(batch_.targets, [](int32_t it) { return it != ignore_index; });
    return true;
  }
  Loss loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) override {
    const int64_t T = batch_.steps + 1, B = std::ssize(batch_.lengths);
    random.slice = {B, 0, B};
    model_.begin_update(random);
    std::vector<State> states;
    const Attention::Source source = model_.encode(indices[0], batch_.steps, batch_.lengths, states);
    const Variable read = model_.decoder(reshape(model_.embedding(indices[1]), {T, B, E}), states).output;
    const Variable features = reshape(model_.features(read, source), {T * B, 2 * H});
    const CrossEntropy nats =
        linear_cross_entropy(features, model_.output.weight, model_.output.bias, indices[2]);
    return {nats.total / static_cast<real>(T * B), {nats.each}};
  }
  double epoch_fraction() const override { return static_cast<double>(position_) / batches; }
  int64_t scored_per_epoch() const override { return batches * 32 * 5; }

  /// The share of unseen sequences that are copied without an error, by a decoder that reads what it wrote.
  Scores evaluate(const std::function<void(int64_t)>&) override {
    const EvaluationMode no_dropout(model_);
    const NoGradient no_history;
    const Sequences unseen(12345678, 500);
    const int64_t B = std::ssize(unseen.lengths);
    std::vector<State> states;
    const auto source = model_.encode(tokens(unseen.source), unseen.steps, unseen.lengths, states);
    std::vector<bool> right(static_cast<size_t>(B), true);
    std::vector<int32_t> written(static_cast<size_t>(B), marker);
    model_.decoder.begin(B);
    for (int64_t t = 0; t <= unseen.steps; ++t) {
      auto [state, after] = model_.decoder.step(model_.embedding(tokens(written)), states);
      states = std::move(after);
      const Tensor scores = model_.output(model_.features(state, source)).value();
      for (int64_t b = 0; b < B; ++b) {
        const std::vector<real> row = scores.slice(b, b + 1).to_vector();
        written[b] = static_cast<int32_t>(std::ranges::max_element(row) - row.begin());
        const int32_t target = unseen.targets[t * B + b];
        if (target != ignore_index && target != written[b]) right[b] = false;
      }
    }
    const auto copied = static_cast<double>(std::ranges::count(right, true));
    return {.metrics = {{"accuracy", copied / static_cast<double>(B)}}, .higher_is_better = true, .count = B};
  }

  void save(StateWriter& to, const std::string& prefix) const override {
    to.add(prefix + "position", position_);
  }
  void load(const StateReader& from, const std::string& prefix) override {
    from.read(prefix + "position", position_, 0, batches);
  }

 private:
  static constexpr int64_t batches = 100;
  Copier& model_;
  Sequences batch_{0, 1};
  int64_t epoch_ = 1, position_ = 0;
};

int main() {
  Copier copier;
  Copying task(copier);
  Trainer trainer(task, {.epochs = 30,
                         .clip = 1,
                         .optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.004},
                         .schedule = {.kind = ScheduleKind::step, .decay = 0.8}});
  Scores scores{.metrics = {{"accuracy", 0}}};
  while (!trainer.done() && scores.value() < 1) {
    while (trainer.next_batch()) trainer.step();
    const StepMetrics metrics = trainer.metrics();
    scores = task.evaluate({});
    trainer.validated(scores);
    std::printf("epoch %2d  %.4f nats  %5.1f %% of %d copied\n", static_cast<int>(trainer.epoch()),
                metrics.loss / static_cast<double>(metrics.scored), 100 * scores.value(),
                static_cast<int>(scores.count));
    trainer.begin_next_epoch();
  }
  return scores.value() == 1 ? 0 : 1;
}
