// Error rates: against jiwer (tests/golden/make_error_rate_golden.py), and against all ways to edit short
// sequences.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "lm/evaluation/metrics.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using Ids = std::vector<int32_t>;

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

/// The best of all alignments, by recursion.
EditCounts by_all_alignments(const Ids& reference, const Ids& hypothesis, size_t i = 0, size_t j = 0) {
  EditCounts best;
  best.insertions = best.deletions = 1000;
  const auto take = [&](const EditCounts& rest, int substitutions, int insertions, int deletions) {
    EditCounts all = rest;
    all.substitutions += substitutions;
    all.insertions += insertions;
    all.deletions += deletions;
    if (std::pair(all.edits(), -all.substitutions) < std::pair(best.edits(), -best.substitutions)) best = all;
  };
  if (i == reference.size() && j == hypothesis.size()) return {};
  if (i < reference.size() && j < hypothesis.size())
    take(by_all_alignments(reference, hypothesis, i + 1, j + 1), reference[i] != hypothesis[j], 0, 0);
  if (j < hypothesis.size()) take(by_all_alignments(reference, hypothesis, i, j + 1), 0, 1, 0);
  if (i < reference.size()) take(by_all_alignments(reference, hypothesis, i + 1, j), 0, 0, 1);
  return best;
}

TEST(ErrorRate, IsTheFewestEditsOfAllAlignments) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Ids reference(random() % 6), hypothesis(random() % 6);
    for (Ids* it : {&reference, &hypothesis})
      for (int32_t& id : *it) id = static_cast<int32_t>(random() % 3);
    EditCounts expected = by_all_alignments(reference, hypothesis);
    expected.reference = std::ssize(reference);
    EXPECT_EQ(edit_counts(reference, hypothesis), expected);
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
