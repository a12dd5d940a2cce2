// What jobs with a model, a task and a trainer of their own have in common. Language modelling has a
// separate job, whose Training holds all three. Next: lm/program/classification_job.cpp.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "lm/program/job.h"
#include "lm/program/run.h"
#include "lm/program/shell_command.h"
#include "lm/tasks/self_test.h"
#include "lm/training/checkpoint.h"
#include "lm/training/memory.h"
#include "tensor/available_memory.h"

namespace rondo {

/// A derived class makes layout_ on Device::meta when it has read the data.
template <class Model, class Task>
class JobOf : public Job {
 public:
  const Module& layout() const final { return *layout_; }
  void check_memory(Device device) final {
    const TrainingMemory memory = measure_training_memory(
        device, recipe_.trainer, [this](Device meta) { return make_model(meta); },
        [this](Module& model) { return make_task(static_cast<Model&>(model)); });
    if (const auto available = available_memory(device))
      check_training_fits(recipe_.name, memory, *available);
  }

  void begin(Device device) final {
    model_ = make_model(device);
    task_ = make_task(*model_);
    trainer_.emplace(*task_, recipe_.trainer);
  }
  Module& model() final { return *model_; }
  Trainer& trainer() final { return *trainer_; }
  void test_model() final { check_gradients_reach_all(*model_); }

  void measure_best(Watch& watch, const Setup& setup, const Compute& compute) final {
    load_model(setup.run.model(), *model_);
    measure(watch, setup, compute);
  }

 protected:
  explicit JobOf(const Recipe& recipe) : recipe_(recipe) {}

  virtual std::unique_ptr<Model> make_model(Device device) const = 0;
  virtual std::unique_ptr<Task> make_task(Model& model) = 0;
  /// Measures and records the figures of the model, which has the best weights.
  virtual void measure(Watch& watch, const Setup& setup, const Compute& compute) = 0;

  std::uint64_t seed() const { return static_cast<std::uint64_t>(recipe_.trainer.seed); }

  /// Tells the observers a measurement on a split, and keeps it with the run.
  template <class Measured>
  void record(const Measured& it, const Figure& figure, Watch& watch, const Setup& setup,
              const Compute& compute) const {
    watch.observers.measured(it.split, figure);
    keep(setup.run, it, *model_, compute, setup.config.made_by.sha256);
  }

  /// The line at the end: where the run is, and the command that applies its model, for `purpose`, with
  /// the words `rest` after the run.
  void say_run(Terminal& terminal, const RunFolder& run, std::string_view purpose,
               std::string_view rest) const {
    terminal.line(fmt::format("the run is {}; {}: {} {}", run.path.string(), purpose,
                              command_with({command_for(recipe_.kind), run.path.string()}), rest));
  }

  const Recipe& recipe_;
  std::unique_ptr<Model> layout_, model_;
  std::unique_ptr<Task> task_;

 private:
  std::optional<Trainer> trainer_;
};

}  // namespace rondo
