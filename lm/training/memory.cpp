// The memory that a training takes: see memory.h.
#include "lm/training/memory.h"

#include <optional>

#include "tensor/allocator.h"

namespace rondo {
namespace {

/// Evaluates a few batches: they take the most, for they begin with the longest sentences.
void begin_to_evaluate(Objective& objective) {
  constexpr int enough = 8;
  struct Enough {};
  try {
    objective.evaluate([batches = 0](std::int64_t) mutable {
      if (++batches == enough) throw Enough();
    });
  } catch (const Enough&) {
  }
}

void train_on_extremes(Trainer& trainer, Device meta) {
  for (size_t number = 0; trainer.stage_extreme(number); ++number) {
    std::optional<StepMemory> of_gpu;
    if (is_gpu(meta)) of_gpu.emplace(meta);
    trainer.step();
  }
}

/// The most bytes that `work` holds at one time of a meta device, of tensors and of what products pack.
std::int64_t measure_peak_bytes(Device meta, const std::function<void()>& work) {
  const size_t before = memory_statistics(meta).bytes_in_use;
  reset_peak_bytes(meta);
  work();
  return static_cast<std::int64_t>(memory_statistics(meta).peak_bytes - before);
}

}  // namespace

TrainingMemory measure_training_memory(Device device, const TrainerOptions& options,
                                       const MakeModel& make_model, const MakeObjective& make_objective,
                                       std::int64_t most) {
  const Device meta = meta_of(device);
  std::string remedy;
  const auto too_much = [&] {
    return InputError(
        fmt::format("training would take more than the {} that are available: {}", bytes_text(most), remedy));
  };
  TrainingMemory memory;
  memory.training = measure_peak_bytes(meta, [&] {
    const std::unique_ptr<Module> model = make_model(meta);
    const std::unique_ptr<Objective> objective = make_objective(*model);
    TrainerOptions with_average = options;
    if (options.averaging != Averaging::never) with_average.averaging = Averaging::always;
    Trainer trainer(*objective, with_average);
    trainer.stage_extreme(0);
    remedy = objective->remedy_for_memory();
    try {
      train_on_extremes(trainer, meta);
      {
        const auto evaluated = trainer.evaluated_weights();
        begin_to_evaluate(*objective);
      }
      train_on_extremes(trainer, meta);  // beside what the first steps and the evaluation have left
    } catch (const OutOfMemory&) {
      throw too_much();
    }
  });
  if (memory.training > most) throw too_much();
  memory.evaluation = measure_peak_bytes(meta, [&] {
    const std::unique_ptr<Module> model = make_model(meta);
    begin_to_evaluate(*make_objective(*model));
  });
  return memory;
}

}  // namespace rondo
