// Multi-task learning.
#include "lm/tasks/multi_task.h"

#include <cmath>

namespace rondo {
namespace {

/// The state of a task, as NAME.*.
class NamedWriter : public StateWriter {
 public:
  NamedWriter(StateWriter& to, const std::string& name) : to_(to), prefix_(name + ".") {}
  void add(const std::string& name, const Tensor& tensor) override { to_.add(prefix_ + name, tensor); }
  void add(const std::string& name, double number) override { to_.add(prefix_ + name, number); }
  void add(const std::string& name, int64_t number) override { to_.add(prefix_ + name, number); }

 private:
  StateWriter& to_;
  std::string prefix_;
};

class NamedReader : public StateReader {
 public:
  NamedReader(const StateReader& from, const std::string& name) : from_(from), prefix_(name + ".") {}
  void read(const std::string& name, const Tensor& to, real least) const override {
    from_.read(prefix_ + name, to, least);
  }
  void read(const std::string& name, double& number, double least) const override {
    from_.read(prefix_ + name, number, least);
  }
  void read(const std::string& name, int64_t& number, int64_t least, int64_t most) const override {
    from_.read(prefix_ + name, number, least, most);
  }

 private:
  const StateReader& from_;
  std::string prefix_;
};

/// In the file of a training's state, tasks.NAME.
std::string state_name(const MixedTask& it) { return "tasks." + it.name; }

}  // namespace

MultiTask::MultiTask(Module& model, std::vector<MixedTask> tasks, uint64_t seed)
    : model_(model), tasks_(std::move(tasks)), seed_(seed), epochs_(tasks_.size(), 1) {
  check_input(!tasks_.empty(), "there are no tasks");
  for (const MixedTask& it : tasks_) {
    check_input(it.ratio > 0 && std::isfinite(it.ratio), "{}: ratio = {}: expected a number above 0", it.name,
                it.ratio);
    sum_ += it.ratio;
    it.task->begin_epoch(1);
  }
  check_input(tasks_.front().ratio == 1, "{}: ratio = {}: the first task is the reference, whose ratio is 1",
              tasks_.front().name, tasks_.front().ratio);
}

size_t MultiTask::chosen(int64_t step) const {
  const RandomKey key{.seed = seed_,
                      .name = hash_of("multi_task"),
                      .update = Deferred<uint64_t>(static_cast<uint64_t>(step))};
  double left = uniform_from(key.bits(0)) * sum_;
  for (size_t i = 0; i + 1 < tasks_.size(); ++i)
    if ((left -= tasks_[i].ratio) < 0) return i;
  return tasks_.size() - 1;
}

void MultiTask::begin_epoch(int64_t epoch) {
  tasks_.front().task->begin_epoch(epoch);
  epochs_.front() = epoch;
}

bool MultiTask::next_batch(Batch& batch) {
  now_ = chosen(step_);
  Task& task = *tasks_[now_].task;
  if (!task.next_batch(batch)) {
    if (now_ == 0) return false;  // the same choice makes the first update of the next epoch
    task.begin_epoch(++epochs_[now_]);
    batch = {};
    check(task.next_batch(batch), "[multi-task] the task {} has no batch", tasks_[now_].name);
  }
  if (batch.kind) batch.kind = *batch.kind * std::ssize(tasks_) + static_cast<int64_t>(now_);
  return true;
}

/// Those of the first task, then those of the second, and so on.
bool MultiTask::stage_extreme(Batch& batch, size_t number) {
  for (now_ = 0; now_ < tasks_.size(); ++now_)
    for (size_t i = 0; tasks_[now_].task->stage_extreme(batch, i); ++i, batch = {})
      if (number-- == 0) return true;
  now_ = 0;
  return false;
}

Loss MultiTask::loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) {
  return tasks_[now_].task->loss(part, indices, random);
}

void MultiTask::end_batch(int64_t step) {
  tasks_[now_].task->end_batch(step);
  ++step_;
}

int64_t MultiTask::scored_per_epoch() const {
  return static_cast<int64_t>(sum_ * static_cast<double>(tasks_.front().task->scored_per_epoch()));
}

Figure MultiTask::evaluate(const std::function<void(int64_t)>& progress) {
  Figure figure = tasks_.front().task->evaluate(progress);
  for (size_t i = 1; i < tasks_.size(); ++i) {
    const Figure other = tasks_[i].task->evaluate({});
    figure.beside.emplace_back(tasks_[i].name + "." + other.name, other.value);
    figure.seconds += other.seconds;
  }
  return figure;
}

void MultiTask::divide(int64_t ranks, int64_t own) {
  for (const MixedTask& it : tasks_) it.task->divide(ranks, own);
}
void MultiTask::collect_state(Ranks& ranks) {
  for (const MixedTask& it : tasks_) it.task->collect_state(ranks);
}

void MultiTask::save(StateWriter& to) const {
  to.add("multi_task.step", step_);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    NamedWriter named(to, state_name(tasks_[i]));
    StateWriter& writer = named;
    writer.add("epoch", epochs_[i]);
    tasks_[i].task->save(writer);
  }
}

void MultiTask::load(const StateReader& from) {
  from.read("multi_task.step", step_, 0);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const NamedReader named(from, state_name(tasks_[i]));
    const StateReader& reader = named;
    reader.read("epoch", epochs_[i], 1);
    tasks_[i].task->begin_epoch(epochs_[i]);
    tasks_[i].task->load(reader);
  }
}

}  // namespace rondo
