// Error rates: against jiwer (tests/golden/make_error_rate_golden.py).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lm/evaluation/metrics.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

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
