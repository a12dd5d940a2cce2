// The generated task: data/sentences/parallel_text.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "data/sentences/pairs.h"
#include "data/sentences/parallel_text.h"
#include "data/text/text.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(ReversalTask, TargetsAreTheSourcesInReverse) {
  const TextPair pairs = reversal_task(1, 300, {.letters = 3, .min_length = 2, .max_length = 5});
  EXPECT_EQ(pairs.lines, 300);
  const auto sources = split_lines(pairs.source.content), targets = split_lines(pairs.target.content);
  std::set<std::size_t> lengths;
  std::set<std::string> letters;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Words source = words_of(sources[i]);
    lengths.insert(source.size());
    letters.insert(source.begin(), source.end());
    std::reverse(source.begin(), source.end());
    EXPECT_EQ(words_of(targets[i]), source);
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{2, 3, 4, 5}));
  EXPECT_EQ(letters, (std::set<std::string>{"a", "b", "c"}));
  const PairVocabularies vocabularies = vocabularies_of(pairs, {}, {}, true);
  EXPECT_EQ(vocabularies.source.types(), 4) << "three words and <eos>";
}

TEST(ReversalTask, IsAFunctionOfTheSeed) {
  const TextPair one = reversal_task(1, 20), again = reversal_task(1, 20), other = reversal_task(2, 20);
  EXPECT_EQ(one.source.content, again.source.content);
  EXPECT_NE(one.source.content, other.source.content);
  EXPECT_EQ(one.source.sha256, sha256_hex(one.source.content));
}

}  // namespace
}  // namespace rondo
