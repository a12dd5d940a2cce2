// What trainings are said to take (lm/training/memory.h), beside what they take; and the refusal of what does
// not fit.
#include <limits>

#include "tests/lm/program/measured_memory.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

TEST(Memory, OfTrainingsIsWhatIsMeasuredWithout) { expect_estimates_near_peaks(Device::cpu); }

TEST(Memory, IsRefusedWithARemedy) {
  SomeTexts texts;
  for (const SmallTraining& it : small_trainings()) {
    const Recipe recipe = recipe_of(it);
    Mixed mixed;
    const auto measure = [&](std::int64_t most) {
      return measure_training_memory(
          Device::cpu, recipe.trainer, [&](Device meta) { return make_model(recipe, meta); },
          [&](Module& model) { return make_objective(recipe, texts, mixed, model); }, most);
    };
    const std::int64_t needed = measure(std::numeric_limits<std::int64_t>::max()).training;
    EXPECT_EQ(measure(needed).training, needed);
    const std::string refusal = error_of([&] { measure(needed - 1); });
    expect_contains(refusal, "training would take more than the ");
    expect_contains(refusal, "model.hidden");
    const bool of_text = recipe.language_modelling() != nullptr;
    expect_contains(refusal, of_text ? "model.embedding or " : "; the largest batch has ");
  }
}

TEST(Memory, LeavesNothing) {
  const size_t before = memory_statistics(Device::meta).bytes_in_use;
  SomeTexts texts;
  const Recipe recipe = recipe_of(small_trainings().front());
  Mixed mixed;
  measure_training_memory(
      Device::cpu, recipe.trainer, [&](Device meta) { return make_model(recipe, meta); },
      [&](Module& model) { return make_objective(recipe, texts, mixed, model); });
  EXPECT_EQ(memory_statistics(Device::meta).bytes_in_use, before);
}

}  // namespace
}  // namespace rondo
