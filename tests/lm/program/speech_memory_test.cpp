// What the tensors of a recogniser's training and of its evaluation are said to take, beside what they take.
#include "lm/program/speech_memory.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "lm/program/recipes.h"
#include "lm/tasks/speech.h"
#include "tensor/allocator.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr std::int32_t symbols = 12;

Vocabulary some_vocabulary() {
  Vocabulary vocabulary({.unit = Unit::characters});
  for (const char* symbol : {"\n", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"})
    vocabulary.add(symbol);
  return vocabulary;
}

/// Of 100 to 119 frames and 8 to 12 symbols.
Utterances random_utterances(int count, std::int64_t width) {
  std::uint64_t state = 1;
  const auto next = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  Utterances all;
  for (int i = 0; i < count; ++i) {
    Frames frames{width, {}};
    for (std::uint64_t n = (100 + next(20)) * static_cast<std::uint64_t>(width); n > 0; --n)
      frames.numbers.push_back(static_cast<float>(next(100)) / 50 - 1);
    all.frames.push_back(std::move(frames));
    all.labels.emplace_back();
    for (std::uint64_t n = 8 + next(5); n > 0; --n)
      all.labels.back().push_back(1 + static_cast<std::int32_t>(next(symbols - 1)));
    all.transcripts.emplace_back("abc");
  }
  return all;
}

TEST(MemoryOfSpeech, IsWithinAQuarterOfTheEstimate) {
  const std::vector<std::vector<std::string>> cases{
      {},
      {"model.cell=lstm", "model.dropout=0"},
      {"model.bidirectional=false", "model.layers=2"},
      {"model.cell=gru", "model.forget_bias=0", "model.layers=1", "model.variational=true"},
      {"train.batch=500", "train.batch_by=symbols"}};
  const Vocabulary vocabulary = some_vocabulary();
  for (const auto& settings : cases) {
    const std::string which = fmt::format("{}", fmt::join(settings, " "));
    std::vector<Setting> parsed{parse_setting("data.filters=10"), parse_setting("model.hidden=64")};
    for (const std::string& it : settings) parsed.push_back(parse_setting(it));
    const Recipe recipe = resolve_recipe("speech-digits", parsed);
    const SpeechRecipe& it = recipe.speech;
    const FrameOptions& frames = it.data.frames;
    const Utterances utterances = random_utterances(80, width_of(frames.filterbank));
    const UtteranceBatchSize size = UtteranceBatches(it.task.batches, frames, utterances, 1).largest();
    const CtcModel layout(it.model, width_of(frames), symbols, std::nullopt);
    const std::int64_t estimated = speech_training_bytes(recipe, layout, size);

    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    const auto peak = [&] { return static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before); };
    const auto expect_near = [&](double measured, std::int64_t expected, const std::string& what) {
      EXPECT_GT(measured / static_cast<double>(expected), 0.75) << what << which << ": " << measured;
      EXPECT_LT(measured / static_cast<double>(expected), 1.25) << what << which << ": " << measured;
    };
    {
      reset_peak_bytes(Device::cpu);
      CtcModel model(it.model, width_of(frames), symbols);
      recognise(model, utterances, frames);
      expect_near(peak(), speech_evaluation_bytes(layout, size), "evaluation: ");
    }
    reset_peak_bytes(Device::cpu);
    CtcModel model(it.model, width_of(frames), symbols);
    SpeechRecognition task(model, it.task, frames, vocabulary, utterances, utterances);
    Trainer trainer(task, recipe.trainer);
    trainer.begin_next_epoch();
    while (trainer.next_batch()) trainer.step();
    expect_near(peak(), estimated, "");

    EXPECT_NO_THROW(check_speech_fits(recipe, layout, size, estimated));
    expect_contains(error_of([&] { check_speech_fits(recipe, layout, size, estimated - 1); }), "train.batch");
  }
}

}  // namespace
}  // namespace rondo
