// Finding and pairing the files of parallel text, and pairs that are generated:
// data/sentences/pairs.h.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "data/sentences/pairs.h"
#include "data/text/text.h"
#include "tests/data/files.h"
#include "tests/data/files/packed.h"

namespace rondo {
namespace {

const ParallelOptions german_english = {.source_language = "de", .target_language = "en"};

/// train and valid, without test.
void write_pairs(const TemporaryFolder& folder) {
  folder.write("train.de", "ein hund\nzwei\n");
  folder.write("train.en", "a dog\ntwo\n");
  folder.write("valid.de", "drei\n");
  folder.write("valid.en", "three\n");
}

void expect_refused(const TemporaryFolder& folder, const std::string& part, const std::string& other = "",
                    const ParallelOptions& options = german_english) {
  expect_input_error([&] { open_parallel_text(folder.path(), options, Unit::words); }, part, other);
}

TEST(ParallelText, Folder) {
  const TemporaryFolder folder;
  write_pairs(folder);
  folder.write("test.de", "vier\r\n\r\n");
  folder.write("test.en", "four\n\n");
  const ParallelText all = open_parallel_text(folder.path(), german_english, Unit::words);
  EXPECT_EQ(all.at(Split::train).source.content, "ein hund\nzwei\n");
  EXPECT_EQ(all.at(Split::train).target.content, "a dog\ntwo\n");
  EXPECT_EQ(all.at(Split::train).lines, 2);
  EXPECT_EQ(all.at(Split::valid).target.content, "three\n");
  EXPECT_EQ(all.at(Split::test).source.content, "vier\n\n");
  EXPECT_EQ(all.at(Split::test).lines, 2);
  ASSERT_EQ(all.files.size(), 6u);
  for (std::size_t i = 0;
       const char* name : {"train.de", "train.en", "valid.de", "valid.en", "test.de", "test.en"})
    EXPECT_EQ(all.files[i++].path, (folder / name).string());
  EXPECT_EQ(all.files[4].sha256, sha256_hex("vier\r\n\r\n"));
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_NE(all.notes[0].find("test.de: 2 line ends CRLF"), std::string::npos);
}

TEST(ParallelText, FilesHaveTheNamesOfTheOptions) {
  const TemporaryFolder folder;
  for (const char* name : {"raw/train.tok", "val", "test_2016"})
    for (const char* language : {"fr", "cs"})
      folder.write(std::string(name) + "." + language, std::string(name) + " " + language + "\n");
  const ParallelText all = open_parallel_text(folder.path(),
                                              {.source_language = "fr",
                                               .target_language = "cs",
                                               .train = "raw/train.tok",
                                               .valid = "val",
                                               .test = "test_2016"},
                                              Unit::words);
  EXPECT_EQ(all.train.source.content, "raw/train.tok fr\n");
  EXPECT_EQ(all.valid.target.content, "val cs\n");
  EXPECT_EQ(all.test->target.content, "test_2016 cs\n");
}

TEST(ParallelText, TestTextMayBeMissingButNotHalfOfIt) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const ParallelText without = open_parallel_text(folder.path(), german_english, Unit::words);
  EXPECT_FALSE(without.test);
  expect_input_error([&] { without.at(Split::test); }, "no test text", "train or valid");
  folder.write("test.en", "four\n");
  expect_refused(folder, "test.de: missing");
  ParallelOptions none = german_english;
  none.test = "";
  EXPECT_FALSE(open_parallel_text(folder.path(), none, Unit::words).test);
}

TEST(ParallelText, FilesMayBePacked) {
  if (!can_unpack(".gz")) GTEST_SKIP() << "built without zlib";
  const TemporaryFolder folder;
  write_pairs(folder);
  std::filesystem::remove(folder / "train.de");
  folder.write("train.de.gz", gzip_of("\ufeffeins\r\nzwei\r\n"));
  EXPECT_EQ(open_parallel_text(folder.path(), german_english, Unit::words).train.source.content,
            "eins\nzwei\n");
  folder.write("train.de", "eins\nzwei\n");
  expect_refused(folder, "train.de and ", "keep one of them");
}

TEST(ParallelText, LastLineNeedsNoNewline) {
  const TemporaryFolder folder;
  write_pairs(folder);
  folder.write("train.de", "ein hund\nzwei");
  folder.write("valid.de", "drei");
  const ParallelText all = open_parallel_text(folder.path(), german_english, Unit::characters);
  EXPECT_EQ(all.train.source.content, "ein hund\nzwei\n");
  EXPECT_EQ(all.train.lines, 2);
  EXPECT_EQ(all.valid.source.content, "drei\n");
  EXPECT_EQ(all.train.source.sha256, sha256_hex("ein hund\nzwei")) << "of the file";
}

TEST(ParallelText, DifferentNumbersOfLines) {
  const TemporaryFolder folder;
  write_pairs(folder);
  folder.write("valid.en", "three\n\n");
  expect_refused(folder, "valid.de has 1 lines", "valid.en has 2");
}

TEST(ParallelText, MissingFilesAndWhatResemblesThem) {
  const TemporaryFolder folder;
  expect_refused(folder, "train.de: missing");
  folder.write("train.en", "a\n");
  folder.write("val.tok.de", "a\n");
  folder.write("train.tok.de", "a\n");
  folder.write("notes.txt", "a\n");
  expect_refused(folder, "train.de: missing: a side of a text of pairs, which is named without .de",
                 "its folder has train.en, train.tok.de, val.tok.de");
  folder.write("train.de", "a\n");
  expect_refused(folder, "valid.de: missing", "val.tok.de");
}

TEST(ParallelText, IsGenerated) {
  const ParallelText text = open_parallel_text("", {.generated_pairs = 50}, Unit::words);
  EXPECT_EQ(text.train.lines, 50);
  EXPECT_EQ(text.valid.lines, 5);
  EXPECT_EQ(text.test->lines, 5);
  EXPECT_NE(text.valid.source.content, text.test->source.content);
  ASSERT_EQ(text.files.size(), 6u);
  EXPECT_EQ(text.files[1].sha256, sha256_hex(text.train.target.content));
  const ParallelText again = open_parallel_text("", {.generated_pairs = 50}, Unit::words);
  EXPECT_EQ(again.train.source.content, text.train.source.content);
}

TEST(ParallelText, WhatIsNoTextFile) {
  const TemporaryFolder folder;
  write_pairs(folder);
  folder.write("train.en", "");
  expect_refused(folder, "train.en: empty");
  std::filesystem::remove(folder / "train.en");
  std::filesystem::create_directory(folder / "train.en");
  expect_refused(folder, "train.en: a folder");
  std::filesystem::remove(folder / "train.en");
  ASSERT_EQ(mkfifo((folder / "train.en").c_str(), 0600), 0);
  expect_refused(folder, "train.en: a pipe");
  std::filesystem::remove(folder / "train.en");
  folder.write("train.en", "a\xff\nb\n");
  for (const Unit unit : {Unit::words, Unit::characters, Unit::pieces})
    expect_input_error([&] { open_parallel_text(folder.path(), german_english, unit); },
                       "train.en: not UTF-8 at byte 1 (line 1): 0xff; convert it to UTF-8, as by: iconv");
  EXPECT_NO_THROW(open_parallel_text(folder.path(), german_english, Unit::bytes));
  folder.write("train.en", std::string_view("a\nb\0\n", 5));
  expect_refused(folder, "train.en: a NUL byte");

  expect_input_error([&] { open_parallel_text(folder / "nowhere", german_english, Unit::words); },
                     "nowhere: no such folder");
  expect_input_error([&] { open_parallel_text(folder / "train.de", german_english, Unit::words); },
                     "a folder of pairs of files", "train.en");
}

TEST(ParallelText, BadOptions) {
  const TemporaryFolder folder;
  write_pairs(folder);
  expect_refused(folder, "set data.source_language and data.target_language", "", {.target_language = "en"});
  expect_refused(folder, "set data.source_language and data.target_language", "", {.source_language = "en"});
  expect_refused(folder, "both \"en\"", "", {.source_language = "en", .target_language = "en"});
  expect_refused(folder, "neither may be empty", "",
                 {.source_language = "de", .target_language = "en", .train = ""});
}

TextPair pairs_of(const std::string& content, PairsOf pairs) {
  return pairs_of_text({.name = "a.en", .content = content, .sha256 = {}, .notes = {}}, pairs);
}

TEST(LinePairs, AreTwiceTheSameLine) {
  const TextPair pairs = pairs_of("a b\n\nc\n", PairsOf::lines);
  EXPECT_EQ(pairs.source.content, "a b\n\nc\n");
  EXPECT_EQ(pairs.target.content, pairs.source.content);
  EXPECT_FALSE(pairs.has_gaps) << "an empty line is copied, too";
}

TEST(LinePairs, AreHalvesWithTheMiddleWordInTheFirst) {
  const TextPair pairs = pairs_of("a b c d\na b c\na b\na b c d e\n", PairsOf::halves);
  EXPECT_EQ(pairs.source.content, "a b\na b\na\na b c\n");
  EXPECT_EQ(pairs.target.content, "c d\nc\nb\nd e\n");
  EXPECT_TRUE(pairs.has_gaps);
}

TEST(LinePairs, OfFewerThanTwoWordsHaveNoSecondHalf) {
  const TextPair pairs = pairs_of("a\na b\n\n  \n a \n", PairsOf::halves);
  EXPECT_EQ(pairs.source.content, "a\na\n\n  \n a \n");
  EXPECT_EQ(pairs.target.content, "\nb\n\n\n\n");
  EXPECT_EQ(pairs.lines, 5) << "so that messages have the numbers of lines of the file";
  expect_input_error([] { pairs_of("a\n\nb\n", PairsOf::halves); }, "a.en: no line has two words");
}

TEST(LinePairs, LoseTheSpaceBetweenHalvesAndNoOther) {
  const TextPair pairs = pairs_of("  a  b \t c\vd \n", PairsOf::halves);
  EXPECT_EQ(pairs.source.content, "  a  b\n");
  EXPECT_EQ(pairs.target.content, "c\vd \n");
}

TEST(LinePairs, AreALineAndTheNextOneOfThePassage) {
  const TextPair pairs = pairs_of("a b\nc\nd d\n\n \ne\nf", PairsOf::next_lines);
  EXPECT_EQ(pairs.source.content, "a b\nc\nd d\n\n \ne\nf\n");
  EXPECT_EQ(pairs.target.content, "c\nd d\n\n\n\nf\n\n");
  EXPECT_TRUE(pairs.has_gaps);
  expect_input_error([] { pairs_of("a\n\nb\n", PairsOf::next_lines); }, "a.en: no line is followed");
}

// In evaluations, too, where the pairs of a translation are all kept; and in any unit.
TEST(LinePairs, WithoutATargetAreNoPairs) {
  for (const Unit unit : {Unit::words, Unit::characters, Unit::bytes})
    for (const auto& [pairs, kept, empty] :
         {std::tuple{PairsOf::halves, 2, 3}, {PairsOf::next_lines, 1, 4}}) {
      const TextPair texts = pairs_of("a b c\nb\n \n\na b\n", pairs);
      const Vocabulary vocabulary(texts.source, {unit}, {});
      for (const Pairs& it : {encode_pairs(texts, vocabulary, vocabulary),
                              encode_pairs(texts, vocabulary, vocabulary, 0, true)}) {
        EXPECT_EQ(it.size(), kept);
        EXPECT_EQ(it.empty, empty);
        EXPECT_GT(it.target.length(0), 1);
      }
    }
}

// ---- the generated task ----

TEST(ReversalTask, TargetsAreTheSourcesInReverse) {
  const TextPair pairs = reversal_task(1, 300, {.letters = 3, .min_length = 2, .max_length = 5});
  EXPECT_EQ(pairs.lines, 300);
  const auto sources = split_lines(pairs.source.content), targets = split_lines(pairs.target.content);
  std::set<std::size_t> lengths;
  std::set<std::string_view> letters;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::string_view> source = split_words(sources[i]);
    lengths.insert(source.size());
    letters.insert(source.begin(), source.end());
    std::ranges::reverse(source);
    EXPECT_EQ(split_words(targets[i]), source);
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{2, 3, 4, 5}));
  EXPECT_EQ(letters, (std::set<std::string_view>{"a", "b", "c"}));
  const PairVocabularies vocabularies = vocabularies_of(pairs, {}, {}, true);
  EXPECT_EQ(vocabularies.source.types(), 4) << "three words and <eos>";
}

}  // namespace
}  // namespace rondo
