// Labelled text and its batches: data/sentences/labelled_sentences.h.
#include "data/sentences/labelled_sentences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/text/text.h"
#include "tests/data/files.h"

namespace rondo {
namespace {

using Ids = std::vector<std::int32_t>;
using Numbers = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

/// Folders without validation text are refused, so these have one.
LabelledTexts opened(const TemporaryFolder& folder, const LabelledFiles& files = {},
                     Unit unit = Unit::words) {
  return open_labelled_texts(folder.path(), files, unit);
}

TEST(LabelledSentences, FilesBecomeIdsOfWordsAndOfClasses) {
  const TemporaryFolder folder;
  folder.write("train.txt", "pos a good film\nneg  a bad film \r\npos\tgood\n");
  folder.write("valid.txt", "neg bad");
  folder.write("test.txt", "pos new film\n");
  const LabelledTexts texts = opened(folder);
  EXPECT_EQ(texts.train.labels, (Names{"pos", "neg", "pos"}));
  EXPECT_EQ(texts.train.sentences.content, "a good film\n a bad film \ngood\n");
  ASSERT_EQ(texts.files.size(), 3u);
  EXPECT_EQ(texts.files[1].sha256, sha256_hex("neg bad"));
  EXPECT_EQ(texts.notes.size(), 1u) << "CRLF";

  const Vocabulary labels = labels_of(texts.train);
  EXPECT_EQ(labels.to_text(), "neg\npos\n");
  const Vocabulary vocabulary(texts.train.sentences, Tokenization());
  EXPECT_EQ(vocabulary.to_text(), "a\ngood\nfilm\n<eos>\nbad\n<unk>\n");
  const LabelledSentences train = encode_labelled(texts.train, vocabulary, labels);
  ASSERT_EQ(train.size(), 3);
  EXPECT_EQ(train.labels, (Ids{1, 0, 1}));
  EXPECT_EQ(Ids(train.sentences[1].begin(), train.sentences[1].end()), (Ids{0, 4, 2, 3}));
  const LabelledSentences test = encode_labelled(texts.at(Split::test), vocabulary, labels);
  EXPECT_EQ(Ids(test.sentences[0].begin(), test.sentences[0].end()), (Ids{5, 2, 3})) << "a word that is new";
}

TEST(LabelledSentences, BadInputIsRefusedWithFileAndLine) {
  const TemporaryFolder folder;
  const std::string good = "0 a\n1 b\n";
  const auto refused = [&](const std::string& train, const std::string& valid, const auto&... parts) {
    folder.write("train.txt", train);
    folder.write("valid.txt", valid);
    expect_input_error(
        [&] {
          const LabelledTexts texts = opened(folder);
          const Vocabulary labels = labels_of(texts.train);
          const Vocabulary vocabulary(texts.train.sentences, Tokenization());
          encode_labelled(texts.train, vocabulary, labels);
          encode_labelled(texts.valid, vocabulary, labels);
        },
        parts...);
  };
  refused(" c d\n\n", good, "train.txt: line 1: no label", "; ", "train.txt: line 2: no label");
  refused(good, "1\n", "valid.txt: line 1: no sentence after the label '1'");
  refused(good, "0 a\n0 b\n2 b\n", "valid.txt: line 3: no sentence of the training text has the label '2'");
  refused("0 a\n0 b\n", good, "train.txt", "all sentences have the label '0'");
  refused(good + "0 a <eos> b\n", good, "train.txt: line 3: the word <eos>");
  refused(good + "0 caf\xe9\n", good, "train.txt: not UTF-8 at byte 13 (line 3): 0xe9",
          "data.encoding = \"windows_1252\"");
  refused("", good, "train.txt", "empty");
  refused(good, "", "valid.txt", "empty");
}

TEST(LabelledSentences, OneBadLineOfManyIsLeftOut) {
  const TemporaryFolder folder;
  folder.write("train.txt", "0 \t\n0 a\n c d\n1 b\n\n");
  folder.write("valid.txt", "1 b\n\n");
  const LabelledTexts texts = opened(folder);
  EXPECT_EQ(texts.train.labels, (Names{"0", "1"}));
  EXPECT_EQ(texts.train.lines, (Numbers{2, 4}));
  EXPECT_EQ(texts.train.sentences.content, "a\nb\n");
  const std::string train = folder / "train.txt", valid = folder / "valid.txt",
                    line = ": a line is a label, ";
  ASSERT_EQ(texts.notes.size(), 3u) << "the third: there is no test text";
  EXPECT_TRUE(
      texts.notes[0].starts_with(fmt::format("3 of 5 lines are left out: {0}: line 1: no sentence "
                                             "after the label '0'; {0}: line 3: no label{1}",
                                             train, line)))
      << texts.notes[0];
  EXPECT_TRUE(texts.valid.left_out.starts_with(
      fmt::format("1 of 2 lines are left out: {}: line 2: no label{}", valid, line)));
}

TEST(LabelledSentences, FilesThatAreMissingAreNamed) {
  const TemporaryFolder folder;
  expect_input_error([&] { opened(folder); }, "train.txt: missing", "data.train_file");
  folder.write("train.txt", "0 a\n1 b\n");
  expect_input_error([&] { opened(folder); }, "valid.txt: missing", "data.valid_file");
  folder.write("valid.txt", "0 a\n");
  EXPECT_FALSE(opened(folder).test.has_value());
  expect_input_error([&] { opened(folder).at(Split::test); }, "no test text");
  expect_input_error([&] { open_labelled_texts(folder / "nowhere", {}, Unit::words); }, "no such folder");
  expect_input_error([&] { open_labelled_texts(folder / "train.txt", {}, Unit::words); }, "a folder");
}

TEST(LabelledSentences, OptionsThatContradictEachOtherAreRefused) {
  expect_input_error([] { check_options(LabelledFiles{.train = ""}); }, "train_file");
  expect_input_error([] { check_options(LabelledFiles{.valid = ""}); }, "no validation text", "valid_share");
  expect_input_error([] { check_options(LabelledFiles{.valid_share = 0.1}); }, "data.valid_file = \"\"");
  expect_input_error([] { check_options(LabelledFiles{.test_share = 0.1}); }, "data.test_file = \"\"");
  expect_input_error([] { check_options({.valid = "", .test = "", .valid_share = 0.5, .test_share = 0.5}); },
                     "nothing is left");
  expect_input_error([] { check_options({.valid = "", .valid_share = 1}); }, "valid_share");
}

// From the tables of the encodings.
TEST(LabelledSentences, Windows1252BecomesUtf8) {
  EXPECT_EQ(utf8_of_windows_1252("caf\xe9 \xf0\xff"), "caf\xc3\xa9 \xc3\xb0\xc3\xbf");
  EXPECT_EQ(utf8_of_windows_1252("\x85\x91\x96\x80\x8c"), "…‘–€Œ");
  EXPECT_EQ(utf8_of_windows_1252("\x81\xa0"), "\xc2\x81\xc2\xa0");

  const TemporaryFolder folder;
  folder.write("train.txt", "0 caf\xe9\n1 b\n");
  folder.write("valid.txt", "1 b\n");
  const LabelledTexts texts = opened(folder, {.encoding = Encoding::windows_1252});
  EXPECT_EQ(texts.train.sentences.content, "café\nb\n");
  EXPECT_EQ(texts.files[0].sha256, sha256_hex("0 caf\xe9\n1 b\n")) << "of the file as it is";
  EXPECT_EQ(opened(folder, {}, Unit::bytes).train.sentences.content, "caf\xe9\nb\n");
}

TEST(LabelledSentences, SharesAreHeldOutOfTheTrainingText) {
  const TemporaryFolder folder;
  std::string content;
  for (int i = 1; i <= 40; ++i) content += fmt::format("{} sentence {}\n", i % 2, i);
  folder.write("train.txt", content);
  const LabelledFiles files{.valid = "", .test = "", .valid_share = 0.25, .test_share = 0.1};
  const LabelledTexts texts = opened(folder, files);
  std::set<std::int64_t> lines;
  for (const LabelledText* text : {&texts.train, &texts.valid, &*texts.test}) {
    const auto sentences = split_lines(text->sentences.content);
    ASSERT_EQ(sentences.size(), text->lines.size());
    EXPECT_TRUE(std::ranges::is_sorted(text->lines));
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      EXPECT_EQ(sentences[i], fmt::format("sentence {}", text->lines[i]));
      EXPECT_EQ(text->labels[i], std::to_string(text->lines[i] % 2));
      EXPECT_TRUE(lines.insert(text->lines[i]).second) << "in one part only";
    }
  }
  EXPECT_EQ(lines.size(), 40u);
  EXPECT_EQ(texts.valid.lines.size(), 10u);
  EXPECT_EQ(texts.test->lines.size(), 4u);
  EXPECT_NE(texts.valid.lines.back() - texts.valid.lines.front(), 9) << "not a block";
  EXPECT_EQ(texts.files.size(), 1u);
  EXPECT_EQ(opened(folder, files).valid.lines, texts.valid.lines);

  folder.write("train.txt", "0 a\n1 b\n1 c\n2 d\n");
  expect_input_error([&] { opened(folder, {.valid = "", .valid_share = 0.1}); }, "data.valid_share",
                     "train.txt: a share of 0.1 of its 4 sentences");
  // A label in the held-out part only: the line is that of the file.
  const LabelledTexts small = opened(folder, {.valid = "", .valid_share = 0.75});
  const Vocabulary vocabulary(small.train.sentences, Tokenization());
  const LabelledText known =
      labelled_text({.name = "known", .content = "0 a\n9 a\n", .sha256 = {}, .notes = {}});
  expect_input_error([&] { encode_labelled(small.valid, vocabulary, labels_of(known)); },
                     fmt::format("train.txt (valid): line {}:",
                                 small.valid.labels[0] == "0" ? small.valid.lines[1] : small.valid.lines[0]));
}

TEST(Labels, AreReadBack) {
  const Vocabulary labels =
      labels_of(labelled_text({.name = "x", .content = "b\\ 1\na 2\n\x01 3\n", .sha256 = {}, .notes = {}}));
  EXPECT_EQ(labels.to_text(), "\\x01\na\nb\\\\\n");
  const Vocabulary again = Vocabulary::from_text(labels.to_text(), "labels.txt", tokenization_of_labels);
  for (std::int32_t id = 0; id < 3; ++id) EXPECT_EQ(again.id(labels.symbol(id)), id);
  EXPECT_EQ(again.id("c"), std::nullopt);
}

LabelledSentences many_sentences(std::int32_t count) {
  LabelledSentences all;
  for (std::int32_t i = 0; i < count; ++i) {
    Ids ids(static_cast<std::size_t>(i * 7 % 23), 1);
    ids.insert(ids.begin(), 100 + i);
    all.sentences.add(ids);
    all.labels.push_back(i % 3);
  }
  return all;
}

TEST(LabelledBatches, HaveTheLabelOfEachSentence) {
  const LabelledSentences all = many_sentences(37);
  LabelledBatches batches({.batch = 5}, all, 1);
  std::set<std::int32_t> seen;
  for (LabelledBatch batch; batches.next(batch);)
    for (std::size_t b = 0; b < batch.labels.size(); ++b) {
      const std::int32_t number = batch.sentences.ids[b] - 100;
      EXPECT_TRUE(seen.insert(number).second);
      EXPECT_EQ(batch.labels[b], number % 3);
      EXPECT_EQ(batch.sentences.lengths[b], number * 7 % 23 + 1);
    }
  EXPECT_EQ(seen.size(), 37u);
}

// The published sizes, Kim 2014, table 1.
TEST(LabelledSentences, PublishedSetsHaveTheirSizes) {
  const std::filesystem::path folder = corpus_folder("sentcls");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
  const LabelledTexts trec = open_labelled_texts(folder,
                                                 {.train = "TREC.train.all",
                                                  .valid = "",
                                                  .test = "TREC.test.all",
                                                  .valid_share = 0.1,
                                                  .encoding = Encoding::windows_1252},
                                                 Unit::words);
  EXPECT_EQ(trec.train.lines.size() + trec.valid.lines.size(), 5452u);
  EXPECT_EQ(trec.test->lines.size(), 500u);
  EXPECT_EQ(labels_of(trec.train).size(), 6);
  expect_input_error(
      [&] {
        open_labelled_texts(folder, {.train = "subj.all", .valid = "", .valid_share = 0.1}, Unit::words);
      },
      "subj.all: not UTF-8");
}

}  // namespace
}  // namespace rondo
