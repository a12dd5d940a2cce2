// Multi-task learning: a task over tasks that share modules. Luong, Le, Sutskever, Vinyals & Kaiser 2016,
// "Multi-task Sequence to Sequence Learning", section 3: each update is from the data of one task, task i
// with the probability
//
//   p_i = alpha_i / sum over j of alpha_j
//
// where alpha_i is the mixing ratio of task i. The first task is the reference: its ratio is 1, it ends the
// epochs, and its figure decides which weights are best. Task i gets alpha_i updates for each update of the
// reference on average; when its data end, they begin again. Models that share modules:
// nn/models/shared_encoder_decoders.h.
#pragma once

#include <string>
#include <vector>

#include "lm/training/task.h"

namespace rondo {

/// A task among several.
struct MixedTask {
  std::string name;  // of its figures and of its state
  double ratio = 1;  // alpha, above 0
  Task* task = nullptr;
};

class MultiTask : public Task {
 public:
  /// `model` is the root of what all tasks train; it and the tasks must outlive this one. The seed determines
  /// the choice of tasks. InputErrors: no task, a ratio that is not above 0, a first one other than 1.
  MultiTask(Module& model, std::vector<MixedTask> tasks, uint64_t seed = 1);

  /// The index of the task whose data make update `step`, counted from 0: a function of the seed, the ratios
  /// and the step alone.
  size_t chosen(int64_t step) const;

  Module& model() override { return model_; }
  /// Of the reference; the others continue where they are.
  void begin_epoch(int64_t epoch) override;
  bool next_batch(Batch& batch) override;
  bool stage_extreme(Batch& batch, size_t number) override;
  std::string remedy_for_memory() const override { return tasks_[now_].task->remedy_for_memory(); }
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  void carry_state(int64_t part) override { tasks_[now_].task->carry_state(part); }
  void end_batch(int64_t step) override;
  double share_of_epoch() const override { return tasks_.front().task->share_of_epoch(); }
  /// Expected, if the batches of all tasks have the same size.
  int64_t scored_per_epoch() const override;
  std::string scored_items() const override { return tasks_.front().task->scored_items(); }
  /// The reference's figure; beside it "NAME.FIGURE" of each of the others.
  Figure evaluate(const std::function<void(int64_t)>& progress) override;
  void divide(int64_t ranks, int64_t own) override;
  void collect_state(Ranks& ranks) override;
  void save(StateWriter& to) const override;
  void load(const StateReader& from) override;

 private:
  Module& model_;
  std::vector<MixedTask> tasks_;
  uint64_t seed_;
  double sum_ = 0;               // of the ratios
  std::vector<int64_t> epochs_;  // of each task
  int64_t step_ = 0;             // the next update
  size_t now_ = 0;               // the task of the staged batch
};

}  // namespace rondo
