// Translating with an encoder-decoder: searches over its steps.
#include "lm/decoding/translate.h"

#include <algorithm>

#include "tests/lm/tasks/reversal_training.h"

namespace rondo {
namespace {

using Translations = std::vector<std::vector<Hypothesis>>;

/// Sentences of many lengths, none of them in the order of the search, and one with no words.
std::vector<std::vector<int32_t>> some_sources(const ReversalTraining& it) {
  std::vector<std::vector<int32_t>> sources = it.sources();
  sources.resize(11);
  sources.insert(sources.begin() + 4, {it.vocabularies.source.line_end_id().value()});
  return sources;
}

/// Trained enough to prefer some symbols, and little enough to hesitate.
ReversalTraining& half_trained(Score attention, bool input_feeding) {
  static std::map<std::pair<Score, bool>, std::unique_ptr<ReversalTraining>> trained;
  auto& it = trained[{attention, input_feeding}];
  if (!it) {
    EncoderDecoderOptions options = small_encoder_decoder();
    options.attention = attention;
    options.input_feeding = input_feeding;
    options.decoder_layers = 2;
    options.dropout = 0.1;
    it = std::make_unique<ReversalTraining>(TranslationOptions{.batches = {.order = {.batch = 20}}}, options);
    it->advance(25);
  }
  return *it;
}

class TranslateBy : public testing::TestWithParam<std::pair<Score, bool>> {
 protected:
  ReversalTraining& training = half_trained(GetParam().first, GetParam().second);

  Translations translated(const std::vector<std::vector<int32_t>>& sources, const BeamOptions& options) {
    return translate(training.model, in_sentences(sources), false, training.valid.symbols(), options);
  }
};

TEST_P(TranslateBy, ABatchIsOneSentenceAtATime) {
  const auto sources = some_sources(training);
  const bool attends = GetParam().first != Score::none;
  for (const int64_t beam : {1, 4}) {
    const BeamOptions options{.beam = beam, .n_best = beam, .max_length = 12, .attention = attends};
    const Translations together = translated(sources, options);
    ASSERT_EQ(together.size(), sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      const std::vector<Hypothesis> alone = translated({sources[i]}, options)[0];
      ASSERT_EQ(together[i].size(), alone.size());
      for (size_t k = 0; k < alone.size(); ++k) {
        EXPECT_EQ(together[i][k].ids, alone[k].ids) << "sentence " << i << ", " << k;
        EXPECT_EQ(together[i][k].finished, alone[k].finished);
        EXPECT_NEAR(together[i][k].log_p, alone[k].log_p, 1e-4);
        ASSERT_EQ(together[i][k].attention.size(), alone[k].attention.size());
        for (size_t t = 0; t < alone[k].attention.size(); ++t) {
          ASSERT_EQ(alone[k].attention[t].size(), sources[i].size()) << "one weight for each source symbol";
          for (size_t s = 0; s < sources[i].size(); ++s)
            EXPECT_NEAR(together[i][k].attention[t][s], alone[k].attention[t][s], 1e-5);
        }
      }
    }
  }
}

// log p of a hypothesis is what the model gives all of its symbols at once.
TEST_P(TranslateBy, ScoresAreThoseOfTheWholeSentence) {
  const auto sources = some_sources(training);
  const Translations found = translated(sources, {.beam = 3, .n_best = 3, .max_length = 6});
  const EvaluationMode no_dropout(training.model);
  const NoGradient no_history;
  const int32_t end = training.valid.symbols().end;
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto source = training.model.encode({tokens(sources[i]), std::ssize(sources[i]), 1, {}});
    for (const Hypothesis& it : found[i]) {
      std::vector<int32_t> targets = it.ids, inputs = it.ids;
      inputs.insert(inputs.begin(), end);
      if (it.finished)
        targets.push_back(end);
      else
        inputs.pop_back();
      const auto output = training.model.decode({tokens(inputs), std::ssize(inputs), 1, {}}, source);
      EXPECT_NEAR(it.log_p,
                  -training.model.cross_entropy(output.readout, tokens(targets)).total.value().item(), 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Attention, TranslateBy,
                         testing::Values(std::pair(Score::none, false), std::pair(Score::dot, true),
                                         std::pair(Score::general, false), std::pair(Score::additive, true)),
                         [](const auto& instance) { return name_of(instance.param.first); });

TEST(Translate, ReadsAReversedSourceAsInTraining) {
  ReversalTraining it({.batches = {.order = {.batch = 20}, .reverse_source = true}});
  it.advance(60);
  const auto sources = it.sources();
  std::vector<std::vector<int32_t>> by_hand = sources;
  for (auto& source : by_hand) std::reverse(source.begin(), source.end() - 1);
  const BeamOptions options{.beam = 2, .max_length = 10};
  const Translations reversed = translate(it.model, in_sentences(sources), true, it.valid.symbols(), options),
                     as_they_are =
                         translate(it.model, in_sentences(by_hand), false, it.valid.symbols(), options);
  for (size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(reversed[i][0].ids, as_they_are[i][0].ids);
}

}  // namespace
}  // namespace rondo
