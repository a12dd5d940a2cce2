// BLEU and chrF, compared with those of sacreBLEU, and error rates: lm/evaluation/metrics.h.
#include "lm/evaluation/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/files/lines.h"
#include "data/text/unicode.h"
#include "tensor/keys.h"
#include "tests/golden/translation_golden.h"
#include "tests/temporary_folder.h"

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
  return {.tokenization = value_named<BleuTokenization>(it.value("tokenize", "13a")).value(),
          .lower_case = it.value("lowercase", false)};
}

BleuStatistics counts_of_corpus(const Json& corpus, const BleuOptions& options) {
  const Strings hypotheses = corpus.at("hypotheses");
  const std::vector<Strings> references = references_of(corpus);
  BleuStatistics total;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const std::vector<std::string_view> views(references[i].begin(), references[i].end());
    total += bleu_statistics(hypotheses[i], views, options);
  }
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

TEST(Bleu, IsThatOfSacrebleu) {
  for (const auto& [name, corpus] : translation_golden().at("corpora").items())
    for (const Json& expected : corpus.at("bleu")) {
      SCOPED_TRACE(name + ": " + expected.at("line").get<std::string>());
      const BleuOptions options = options_of(expected);
      const BleuStatistics counts = counts_of_corpus(corpus, options);
      EXPECT_EQ(counts, counts_of(expected.at("counts")));
      const Bleu it = bleu(counts);
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

ChrfStatistics counts_of_sentence(const Json& corpus, std::size_t i, bool lower) {
  const Strings references = corpus.at("references").at(i);
  const std::vector<std::string_view> views(references.begin(), references.end());
  return chrf_statistics(corpus.at("hypotheses").at(i).get<std::string>(), views, lower);
}

TEST(Chrf, IsThatOfSacrebleu) {
  for (const auto& [name, corpus] : translation_golden().at("corpora").items())
    for (const Json& expected : corpus.at("chrf")) {
      const bool lower = expected.value("lowercase", false);
      ChrfStatistics total;
      for (std::size_t i = 0; i < corpus.at("hypotheses").size(); ++i)
        total += counts_of_sentence(corpus, i, lower);
      const double score = chrf(total);
      EXPECT_NEAR(score, expected.at("score").get<double>(), 1e-9) << name << expected;
      EXPECT_EQ(fmt::format("{}|{} = {:.2f}", chrf_name,
                            chrf_signature(lower, corpus.at("references").at(0).size(), "x"), score),
                with_version(expected.at("line"), "x"));
    }
}

TEST(BleuAndChrf, RefuseWhatTheyCannotCount) {
  const std::vector<std::string_view> none, bad = {"a", "b\xff"};
  const auto refuse = [&](const auto& count) {
    expect_contains(error_of([&] { count(none); }), "without a reference");
    expect_contains(error_of<NotUtf8>([&] { count(bad); }), "not UTF-8 at byte 1: 0xff");
  };
  refuse([](const auto& references) { bleu_statistics("a", references, {}); });
  refuse([](const auto& references) { chrf_statistics("a", references); });
  EXPECT_EQ(bleu({}).score, 0) << "a corpus without sentences";
  EXPECT_EQ(chrf({}), 0);
}

// ---- error rates, against jiwer: tests/golden/make_error_rate_golden.py ----

TEST(ErrorRate, AgreesWithJiwer) {
  const auto golden = nlohmann::json::parse(bytes_of_file(RONDO_SOURCE_DIR "/tests/golden/error_rates.json"));
  for (const auto& [name, corpus] : golden.at("corpora").items()) {
    SCOPED_TRACE(name);
    EditCounts words, characters;
    for (const auto& pair : corpus.at("pairs")) {
      const std::string reference = pair[0], hypothesis = pair[1];
      words += word_edits(reference, hypothesis);
      characters += character_edits(reference, hypothesis);
    }
    for (const auto& [unit, counts] : {std::pair{"words", words}, {"characters", characters}}) {
      SCOPED_TRACE(unit);
      const auto& expected = corpus.at(unit);
      EXPECT_EQ(counts.edits(), expected.at("edits"));
      EXPECT_DOUBLE_EQ(counts.rate(), expected.at("rate"));
      // What alignments with as few edits have in common.
      const int64_t insertions = expected.at("insertions"), deletions = expected.at("deletions");
      EXPECT_EQ(counts.deletions - counts.insertions, deletions - insertions);
      EXPECT_GE(counts.substitutions, expected.at("substitutions").get<int64_t>());
    }
  }
}

TEST(ErrorRate, OfKnownEdits) {
  EXPECT_EQ(word_edits("the cat sat down", "a the cat stood"), (EditCounts{1, 1, 1, 4}));
  EXPECT_EQ(character_edits("Öl", "Ol "), (EditCounts{1, 0, 0, 2}));
  EXPECT_EQ(word_edits("", "a b"), (EditCounts{0, 2, 0, 0}));
}

TEST(ErrorRate, OfNothingIsAnError) {
  EXPECT_EQ(error_of([] { (void)word_edits("", "a").rate(); }),
            "the reference transcripts are empty: there is nothing to count errors of");
  EXPECT_THROW(character_edits("\xff", "a"), InputError);
}

}  // namespace
}  // namespace rondo
