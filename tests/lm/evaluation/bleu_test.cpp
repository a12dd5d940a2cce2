// BLEU, compared with sacreBLEU's: lm/evaluation/metrics.h.
#include <gtest/gtest.h>

#include "data/files/lines.h"
#include "data/text/unicode.h"
#include "lm/evaluation/metrics.h"
#include "tensor/keys.h"
#include "tests/golden/translation_golden.h"

namespace rondo {
namespace {

using Json = nlohmann::json;

BleuStatistics counts_of(const Json& it) {
  BleuStatistics result;
  result.hypothesis_length = it.at(0);
  result.reference_length = it.at(1);
  for (std::size_t n = 0; n < bleu_orders; ++n) {
    result.matches[n] = it.at(2 + n);
    result.totals[n] = it.at(2 + bleu_orders + n);
  }
  return result;
}

BleuOptions options_of(const Json& it) {
  const auto named = [&it](const char* key, auto otherwise) {
    return value_named<decltype(otherwise)>(it.value(key, name_of(otherwise))).value();
  };
  BleuOptions options;
  options.tokenization = named("tokenize", options.tokenization);
  options.smoothing = named("smooth_method", options.smoothing);
  options.lower_case = it.value("lowercase", false);
  if (it.contains("smooth_value")) options.smoothing_value = it.at("smooth_value");
  return options;
}

std::vector<BleuStatistics> counts_of_sentences(const Json& corpus, const BleuOptions& options) {
  const Strings hypotheses = corpus.at("hypotheses");
  const std::vector<Strings> references = references_of(corpus);
  std::vector<BleuStatistics> counts;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const std::vector<std::string_view> views(references[i].begin(), references[i].end());
    counts.push_back(bleu_statistics(hypotheses[i], views, options));
  }
  return counts;
}

BleuStatistics sum(const std::vector<BleuStatistics>& all) {
  BleuStatistics total;
  for (const BleuStatistics& it : all) total += it;
  return total;
}

TEST(Bleu, WordsAreThoseOfSacrebleu) {
  const auto cases = translation_golden().at("tokens").get<std::vector<Strings>>();
  ASSERT_GT(cases.size(), 10u);
  for (const Strings& it : cases)
    for (std::size_t i = 0; i < names_of(BleuTokenization()).size(); ++i)
      EXPECT_EQ(bleu_words(it[0], {.tokenization = static_cast<BleuTokenization>(i)}),
                split_at_white_space(code_points(it[1 + i], "golden")))
          << it[0];
}

TEST(Bleu, CountsOfSentencesAreThoseOfSacrebleu) {
  for (const auto& [name, corpus] : translation_golden().at("corpora").items()) {
    const std::vector<BleuStatistics> counts = counts_of_sentences(corpus, {});
    ASSERT_EQ(counts.size(), corpus.at("bleu_counts").size());
    for (std::size_t i = 0; i < counts.size(); ++i)
      EXPECT_EQ(counts[i], counts_of(corpus.at("bleu_counts").at(i))) << name << ", sentence " << i;
  }
}

TEST(Bleu, IsThatOfSacrebleu) {
  for (const auto& [name, corpus] : translation_golden().at("corpora").items())
    for (const Json& expected : corpus.at("bleu")) {
      SCOPED_TRACE(name + ": " + expected.at("line").get<std::string>());
      const BleuOptions options = options_of(expected);
      const BleuStatistics counts = sum(counts_of_sentences(corpus, options));
      EXPECT_EQ(counts, counts_of(expected.at("counts")));
      const Bleu it = bleu(counts, options);
      EXPECT_NEAR(it.score, expected.at("score").get<double>(), 1e-9);
      EXPECT_NEAR(it.brevity_penalty, expected.at("brevity_penalty").get<double>(), 1e-12);
      for (std::size_t n = 0; n < bleu_orders; ++n)
        EXPECT_NEAR(it.precisions[n], expected.at("precisions").at(n).get<double>(), 1e-9);
      EXPECT_TRUE(with_version(expected.at("line"), "x")
                      .starts_with("BLEU|" +
                                   bleu_signature(options, corpus.at("references").at(0).size(), "x") +
                                   " = "));
    }
}

// Papineni et al. 2002, section 2: clipped unigram precision of 2/7, and candidates 1 and 2 of Example 1.
TEST(Bleu, CountsTheExamplesOfThePaper) {
  const std::vector<std::string_view> cats = {"the cat is on the mat", "there is a cat on the mat"};
  const BleuStatistics the = bleu_statistics("the the the the the the the", cats, {});
  EXPECT_EQ(the.matches, (std::array<std::int64_t, 4>{2, 0, 0, 0}));
  EXPECT_EQ(the.totals, (std::array<std::int64_t, 4>{7, 6, 5, 4}));
  EXPECT_EQ(the.reference_length, 7);

  const std::vector<std::string_view> guides = {
      "It is a guide to action that ensures that the military will forever heed Party commands",
      "It is the guiding principle which guarantees the military forces always being under the command of "
      "the "
      "Party",
      "It is the practical guide for the army always to heed the directions of the party"};
  const BleuOptions options{.lower_case = true};
  const auto counts = bleu_statistics(
      "It is a guide to action which ensures that the military always obeys the commands of the party",
      guides, options);
  EXPECT_EQ(counts.matches[0], 17);
  EXPECT_EQ(counts.totals[0], 18);
  EXPECT_EQ(counts.matches[1], 10);
  EXPECT_EQ(counts.totals[1], 17);
}

TEST(Bleu, RefusesWhatItCannotCount) {
  const std::vector<std::string_view> none, bad = {"a", "b\xff"};
  expect_contains(error_of([&] { bleu_statistics("a", none, {}); }), "without a reference");
  expect_contains(error_of<NotUtf8>([&] { bleu_statistics("a", bad, {}); }), "not UTF-8 at byte 1: 0xff");
  EXPECT_EQ(bleu({}, {}).score, 0) << "a corpus without sentences";
}

}  // namespace
}  // namespace rondo
