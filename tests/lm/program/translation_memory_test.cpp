// What the tensors of a translation's training are said to take, beside what they take.
#include "lm/program/translation_memory.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "lm/program/recipes.h"
#include "tensor/allocator.h"
#include "tensor/threads.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// Lines of 15 to 20 of 1,500 words.
TextPair random_pairs(int64_t lines) {
  std::mt19937 engine(1);
  const auto text = [&] {
    std::string content;
    for (int64_t i = 0; i < lines; ++i) {
      const unsigned length = 15 + engine() % 6;
      for (unsigned t = 0; t < length; ++t) content += fmt::format("w{} ", engine() % 1500);
      content += '\n';
    }
    return clean_text(content, "words", Unit::words);
  };
  Text source = text();
  return {std::move(source), text()};
}

/// With one thread: the estimate does not count the partial sums of further ones.
class MemoryOfTranslation : public testing::Test {
 protected:
  void SetUp() override { set_threads(1); }
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};

TEST_F(MemoryOfTranslation, IsWithinAQuarterOfTheEstimate) {
  const std::vector<std::string> common{"model.embedding=64", "model.hidden=128", "model.readout=64",
                                        "train.batch=32"};
  const std::vector<std::vector<std::string>> cases{
      {},
      {"model.attention=none"},
      {"model.attention=dot", "model.dropout=0"},
      {"model.attention=additive"},
      {"model.input_feeding=true"},
      {"model.cell=gru", "model.forget_bias=0"},
      {"model.bidirectional=false", "model.encoder_layers=2", "model.decoder_layers=2"},
      {"model.tied=none", "train.batch=100"},
      {"model.weight_drop=0.3", "model.zoneout=0.1"}};
  const TextPair text = random_pairs(400);
  for (const auto& settings : cases) {
    std::vector<Setting> parsed;
    for (const std::string& it : common) parsed.push_back(parse_setting(it));
    for (const std::string& it : settings) parsed.push_back(parse_setting(it));
    const Recipe recipe = resolve_recipe("attention-multi30k", parsed);
    const TranslationRecipe& translation = recipe.translation;
    const PairVocabularies vocabularies =
        vocabularies_of(text, translation.data.tokenization, translation.data.limits, false);
    const Pairs pairs = encode_pairs(text, vocabularies);
    const TranslationText nothing;
    const PairSize size = largest_batch(translation.task.batches, pairs, 1);

    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    reset_peak_bytes(Device::cpu);
    EncoderDecoder model(translation.model, vocabularies.source.size(), vocabularies.target.size());
    Translation task(model, translation.task, pairs, nothing);
    Trainer trainer(task, recipe.trainer);
    trainer.begin_next_epoch();
    while (trainer.next_batch()) trainer.step();
    const auto measured = static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before);
    const auto estimated =
        static_cast<double>(translation_training_bytes(recipe, model, size, model.parameter_count()));
    const std::string which = fmt::format("{}", fmt::join(settings, " "));
    EXPECT_GT(measured / estimated, 0.75) << which << ": " << measured;
    EXPECT_LT(measured / estimated, 1.25) << which << ": " << measured;

    EXPECT_NO_THROW(check_translation_fits(recipe, model, size, model.parameter_count(),
                                           static_cast<int64_t>(estimated)));
    try {
      check_translation_fits(recipe, model, size, model.parameter_count(),
                             static_cast<int64_t>(estimated) - 1);
      ADD_FAILURE() << "a byte less is not enough";
    } catch (const InputError& error) {
      expect_contains(error.what(), "train.batch");
    }
  }
}

}  // namespace
}  // namespace rondo
