// Multi-task learning: an objective over objectives that share modules. Luong, Le, Sutskever, Vinyals &
// Kaiser 2016, "Multi-task Sequence to Sequence Learning", section 3: each update is from the data of one
// task, task i with the probability
//
//   p_i = alpha_i / sum over j of alpha_j
//
// where alpha_i is the mixing ratio of task i. The first task is the reference: its ratio is 1, it ends the
// epochs, and its figure decides which weights are best. Task i gets alpha_i updates for each update of the
// reference on average; when its data end, they begin again. Models that share modules:
// nn/models/encoder_decoder.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lm/training/objective.h"
#include "tensor/random.h"

namespace rondo {

/// An objective among several.
struct MixedTask {
  std::string name;  // of its metrics and of its state
  double ratio = 1;  // alpha, above 0
  Objective* objective = nullptr;
};

/// The beginning of the names that a task's state has in state.safetensors.
inline std::string state_prefix(const MixedTask& it) { return "tasks." + it.name + "."; }

class MultiTaskObjective : public Objective {
 public:
  /// `model` is the root of what all tasks train; it and the tasks must outlive this one, but for those that
  /// are `owned`. The seed determines the choice of tasks. Error unless the first ratio is 1.
  MultiTaskObjective(Module& model, std::vector<MixedTask> tasks, uint64_t seed = 1,
                     std::vector<std::unique_ptr<Objective>> owned = {})
      : model_(model),
        owned_(std::move(owned)),
        tasks_(std::move(tasks)),
        seed_(seed),
        epochs_(tasks_.size(), 1) {
    check(!tasks_.empty() && tasks_.front().ratio == 1,
          "[multi-task] the first task is the reference, whose ratio is 1");
    for (const MixedTask& it : tasks_) {
      sum_ += it.ratio;
      it.objective->begin_epoch(1);
    }
  }

  /// The index of the task whose data make update `step`, counted from 0: a function of the seed, the ratios
  /// and the step alone.
  size_t chosen(int64_t step) const {
    const RandomKey key{.seed = seed_,
                        .name = hash_of("multi_task"),
                        .update = Deferred<uint64_t>(static_cast<uint64_t>(step))};
    double left = uniform_from(key.bits(0)) * sum_;
    for (size_t i = 0; i + 1 < tasks_.size(); ++i)
      if ((left -= tasks_[i].ratio) < 0) return i;
    return tasks_.size() - 1;
  }

  Module& model() override { return model_; }
  /// Begins an epoch of the reference; the others continue where they are.
  void begin_epoch(int64_t epoch) override {
    tasks_.front().objective->begin_epoch(epoch);
    epochs_.front() = epoch;
  }
  bool next_batch(Batch& batch) override {
    now_ = chosen(step_);
    Objective& objective = *tasks_[now_].objective;
    if (!objective.next_batch(batch)) {
      if (now_ == 0) return false;  // the same choice makes the first update of the next epoch
      objective.begin_epoch(++epochs_[now_]);
      batch = {};
      check(objective.next_batch(batch), "[multi-task] the task {} has no batch", tasks_[now_].name);
    }
    if (!batch.kind.empty()) batch.kind.push_back(static_cast<int64_t>(now_));
    return true;
  }
  /// Those of the first task, then those of the second, and so on.
  bool stage_extreme(Batch& batch, size_t number) override {
    for (now_ = 0; now_ < tasks_.size(); ++now_)
      for (size_t i = 0; tasks_[now_].objective->stage_extreme(batch, i); ++i, batch = {})
        if (number-- == 0) return true;
    now_ = 0;
    return false;
  }
  std::string remedy_for_memory() const override { return tasks_[now_].objective->remedy_for_memory(); }
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override {
    return tasks_[now_].objective->loss(part, indices, random);
  }
  void carry_state(int64_t part) override { tasks_[now_].objective->carry_state(part); }
  void end_batch(int64_t step) override {
    tasks_[now_].objective->end_batch(step);
    ++step_;
  }
  double epoch_fraction() const override { return tasks_.front().objective->epoch_fraction(); }
  /// Expected, if the batches of all tasks have the same size.
  int64_t scored_per_epoch() const override {
    return static_cast<int64_t>(sum_ * static_cast<double>(tasks_.front().objective->scored_per_epoch()));
  }
  std::string scored_items() const override { return tasks_.front().objective->scored_items(); }
  /// The reference's metrics; then, as "NAME.METRIC", the first one of each of the others.
  Scores evaluate(const ReportDone& progress) override {
    Scores scores = tasks_.front().objective->evaluate(progress);
    for (size_t i = 1; i < tasks_.size(); ++i) {
      const Scores other = tasks_[i].objective->evaluate({});
      const Metric& first = other.metrics.at(0);
      scores.metrics.push_back({tasks_[i].name + "." + first.name, first.value});
      scores.seconds += other.seconds;
    }
    return scores;
  }
  void divide(int64_t ranks, int64_t own) override {
    for (const MixedTask& it : tasks_) it.objective->divide(ranks, own);
  }
  void collect_state(Ranks& ranks) override {
    for (const MixedTask& it : tasks_) it.objective->collect_state(ranks);
  }
  void save(StateWriter& to, const std::string& prefix = "") const override {
    to.add(prefix + "multi_task.step", step_);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const std::string of_task = prefix + state_prefix(tasks_[i]);
      to.add(of_task + "epoch", epochs_[i]);
      tasks_[i].objective->save(to, of_task);
    }
  }
  void load(const StateReader& from, const std::string& prefix = "") override {
    from.read(prefix + "multi_task.step", step_, 0);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const std::string of_task = prefix + state_prefix(tasks_[i]);
      from.read(of_task + "epoch", epochs_[i], 1);
      tasks_[i].objective->begin_epoch(epochs_[i]);
      tasks_[i].objective->load(from, of_task);
    }
  }

 private:
  Module& model_;
  std::vector<std::unique_ptr<Objective>> owned_;
  std::vector<MixedTask> tasks_;
  uint64_t seed_;
  double sum_ = 0;               // of the ratios
  std::vector<int64_t> epochs_;  // of each task
  int64_t step_ = 0;             // the next update
  size_t now_ = 0;               // the task of the staged batch
};

}  // namespace rondo
