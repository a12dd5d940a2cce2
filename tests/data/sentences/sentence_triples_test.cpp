// Triples of sentences, pairs with a judgment, and word vectors from text.
#include "data/sentences/sentence_triples.h"

#include <gtest/gtest.h>

#include <map>

#include "data/sentences/tables.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;
using Numbers = std::vector<std::int64_t>;

Text text_of(const std::string& content) { return {"text", content, "", {}}; }

TEST(SentenceTriples, MarksEndSentencesAndLinesEndPassages) {
  const auto by_marks = [](const std::string& content) {
    return one_sentence_a_line(text_of(content), SentenceEnds::marks).content;
  };
  EXPECT_EQ(by_marks(" a b . c ?  d ! e \n\n f . \n"), "a b .\nc ?\nd !\ne\n\n\nf .\n\n");
  EXPECT_EQ(by_marks(" = Title = \n a."), "= Title =\n\na.\n\n") << "a mark is a word of its own";
  EXPECT_EQ(one_sentence_a_line(text_of("a . b\n\nc\n"), SentenceEnds::lines).content, "a . b\n\nc\n");
}

TEST(SentenceTriples, DoNotCrossPassages) {
  const Text text = text_of("a\nb b\nc\nd\n\ne\nf\n\n\ng\nh\ni\n");
  const Vocabulary vocabulary(text, Tokenization());
  const Triples triples = triples_of(text, vocabulary);
  EXPECT_EQ(triples.sentences.size(), 9);
  EXPECT_EQ(triples.middles, (Numbers{1, 2, 7})) << "b, c and h";
  EXPECT_EQ(triples.scored(), (2 + 2) + (3 + 2) + (2 + 2));
  const Triples shorter = triples_of(text, vocabulary, 1);
  EXPECT_EQ(shorter.middles, (Numbers{7}));
  EXPECT_EQ(shorter.left_out, 2);
}

TEST(SentenceTriples, RefusesTextsWithoutAny) {
  const auto refusal = [](const std::string& content, std::int64_t longest = 0) {
    const Text text = text_of(content);
    return error_of([&] { triples_of(text, Vocabulary(text, Tokenization()), longest); });
  };
  expect_contains(refusal("one sentence\n"), "no three consecutive sentences in its 1 sentences");
  expect_contains(refusal("a\nb\n\nc\nd\n"), "in its 4 sentences");
  expect_contains(refusal("a a\nb b\nc c\n", 1), "each of its 1 triples");
}

TEST(SentenceTriples, AnEpochHasEachTripleOnce) {
  std::string content;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j <= i % 3; ++j) content += 'a' + std::to_string(i) + ' ';
    content += '\n';
  }
  const Text text = text_of(content);
  const Vocabulary vocabulary(text, Tokenization());
  const Triples triples = triples_of(text, vocabulary);
  ASSERT_EQ(triples.size(), 38);
  TripleBatches batches({.batch = 7}, triples, 5);
  const std::int32_t end = *vocabulary.line_end_id();
  std::map<std::int32_t, int> seen;
  std::int64_t scored = 0;
  for (TripleBatch batch; batches.next(batch);) {
    const auto B = static_cast<std::size_t>(batch.middle.sentences);
    scored += batch.scored;
    for (std::size_t b = 0; b < B; ++b) {
      const std::string& middle = vocabulary.symbol(batch.middle.ids[b]);
      const int number = std::stoi(middle.substr(1));
      EXPECT_EQ(vocabulary.symbol(batch.previous.targets[b]), "a" + std::to_string(number - 1));
      EXPECT_EQ(vocabulary.symbol(batch.next.targets[b]), "a" + std::to_string(number + 1));
      EXPECT_EQ(batch.previous.inputs[b], end);
      EXPECT_EQ(batch.next.inputs[B + b], batch.next.targets[b]);
      EXPECT_EQ(batch.middle.lengths[b], number % 3 + 2);
      EXPECT_EQ(batch.previous.lengths[b], (number - 1) % 3 + 2);
      ++seen[number];
    }
  }
  EXPECT_EQ(std::ssize(seen), 38);
  EXPECT_EQ(scored, batches.scored());
}

TEST(JudgedPairs, AreReadByTheNamesOfTheirColumns) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "pairs.txt";
  const auto sick = [&](const std::string& content) {
    write_bytes(file, content);
    return read_judged_pairs(file, sick_columns, 1, 5);
  };
  const JudgedPairs pairs = sick(
      "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tx\r\n1\ta b\t c "
      "\t3.5\tN\r\n2\td\te\t1\tN\r\n\r\n");
  EXPECT_EQ(pairs.first, (std::vector<std::string>{"a b", "d"}));
  EXPECT_EQ(pairs.second, (std::vector<std::string>{"c", "e"}));
  EXPECT_EQ(pairs.judgments, (std::vector<double>{3.5, 1}));
  const std::string header = "sentence_A\tsentence_B\trelatedness_score\n";
  expect_contains(error_of([&] { sick("a\tb\n"); }), "line 1: no columns sentence_A, sentence_B");
  expect_contains(error_of([&] { sick(header + "a\tb\n"); }), "line 2: 2 of 3 columns");
  expect_contains(error_of([&] { sick(header + "a\tb\t6\n"); }), "line 2: '6' is no judgment from 1 to 5");
  expect_contains(error_of([&] { sick(header + "a\tb\t2x\n"); }), "'2x' is no judgment");
  expect_contains(error_of([&] { sick(header + "a\t \t2\n"); }), "line 2: an empty sentence");
  expect_contains(error_of([&] { sick(header); }), "no pairs");
  // One of many, such as a blank last line, is left out.
  const JudgedPairs others = sick(header + "a\tb\t6\nc\td\t2\n\n");
  EXPECT_EQ(others.judgments, std::vector<double>{2});
  EXPECT_EQ(others.left_out, fmt::format("2 of 3 lines are left out: {0}: line 2: '6' is no judgment from 1 "
                                         "to 5; {0}: line 4: 1 of 3 columns",
                                         file.string()));
  expect_contains(error_of([&] { sick(""); }), "empty");

  write_bytes(file, "1\ta b\tc\n0\td\te\n");
  EXPECT_EQ(read_judged_pairs(file, paraphrase_columns, 0, 1, true).judgments, (std::vector<double>{1, 0}));
  expect_contains(error_of([&] { read_judged_pairs(file, paraphrase_columns, 0, 1); }), "no columns");
}

TEST(WordVectors, AreReadFromBothFormats) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "vectors.txt";
  const auto read = [&](const std::string& content) {
    write_bytes(file, content);
    std::map<std::string, std::vector<double>> words;
    const std::int64_t width =
        read_word_vectors(file, [&](std::string_view word, std::span<const double> it) {
          words[std::string(word)] = {it.begin(), it.end()};
        });
    EXPECT_EQ(width, 2);
    return words;
  };
  using Words = std::map<std::string, std::vector<double>>;
  EXPECT_EQ(read("2 2\na 1 -2.5\nb 1e-3 4\n"), (Words{{"a", {1, -2.5}}, {"b", {1e-3, 4}}})) << "word2vec";
  EXPECT_EQ(read("a 1 2\n. . 3 4\n"), (Words{{"a", {1, 2}}, {". .", {3, 4}}})) << "GloVe";
  expect_contains(error_of([&] { read("a 1 2\nb 1 2 3\n"); }),
                  "line 2: 3 numbers, and the vectors before have 2");
  expect_contains(error_of([&] { read("a 1 2\nb 1\n"); }), "line 2: 1 numbers");
  expect_contains(error_of([&] { read("a 1 2\nb 1 x\n"); }), "line 2: 'x' is no finite number");
  expect_contains(error_of([&] { read("a\n"); }), "line 1: the word 'a' has no numbers");
  expect_contains(error_of([&] { read(""); }), "no word vectors");
  expect_contains(error_of([&] { read("3 2\na 1 2\nb 1 2\n"); }),
                  "vectors.txt: 2 vectors, and its first line announces 3: is the file complete?");
  for (const char* one : {"\0\0\x80\x3f", "\xcd\xcc\xcc\xbd"})  // 1 and -0.1
    expect_contains(error_of([&] { read("1 2\na " + std::string(one, 4) + std::string(one, 4) + "\n"); }),
                    "vectors.txt: in the binary form of word2vec");
}

}  // namespace
}  // namespace rondo
