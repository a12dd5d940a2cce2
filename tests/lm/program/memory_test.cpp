// What trainings are said to take (lm/training/memory.h), beside what they take; and the refusal of what does
// not fit.
#include "tests/lm/program/measured_memory.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

TEST(Memory, OfTrainingsIsWhatIsMeasuredWithout) { expect_estimates_near_peaks(Device::cpu); }

TEST(Memory, IsRefusedWithARemedyAndLeavesNothing) {
  const size_t before = memory_statistics(Device::meta).bytes_in_use;
  SomeTexts texts;
  for (const SmallTraining& it : small_trainings()) {
    const Recipe recipe = recipe_of(it);
    const std::int64_t needed = estimated_memory(recipe, texts).training;
    EXPECT_EQ(estimated_memory(recipe, texts, Device::cpu, needed).training, needed);
    const std::string refusal = error_of([&] { estimated_memory(recipe, texts, Device::cpu, needed - 1); });
    expect_contains(refusal, "training would take more than the ");
    expect_contains(refusal, "model.hidden");
    const bool of_text = recipe.language_modelling() != nullptr;
    expect_contains(refusal, of_text ? "model.embedding or " : "; the largest batch has ");
  }
  EXPECT_EQ(memory_statistics(Device::meta).bytes_in_use, before);
}

}  // namespace
}  // namespace rondo
