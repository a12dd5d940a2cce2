// Finding and splitting text: data/text/corpus.h.
#include "data/text/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/data/files.h"

namespace rondo {
namespace {

using Strings = std::vector<std::string>;

std::string whole(const CorpusText& corpus) {
  return corpus.train.content + corpus.valid.content + corpus.test->content;
}

TEST(Split, Names) {
  for (const Split split : {Split::train, Split::valid, Split::test})
    EXPECT_EQ(split_from_string(name_of(split)), split);
  expect_input_error([] { split_from_string("dev"); }, "'dev'", "train, valid or test");
}

TEST(CleanText, LeavesEverythingElse) {
  const std::string text = "a\rb\n\n\ufeffc\r\r";
  EXPECT_EQ(clean_text(text, "f.txt", Unit::words).content, text);
  EXPECT_TRUE(clean_text(text, "f.txt", Unit::words).notes.empty());
  EXPECT_EQ(clean_text("a\r\r\n", "f.txt", Unit::words).content, "a\r\n");  // one line end, one lone CR
}

TEST(OpenCorpus, Folder) {
  const TemporaryFolder folder;
  folder.write("train.txt", "a b\r\n");
  folder.write("valid.txt", "b\n");
  folder.write("test.txt", "\ufeffa\n");
  const CorpusText corpus = open_corpus(folder.path(), Unit::words);
  EXPECT_EQ(corpus.at(Split::train).content, "a b\n");
  EXPECT_EQ(corpus.at(Split::valid).content, "b\n");
  EXPECT_EQ(corpus.at(Split::test).content, "a\n");
  ASSERT_EQ(corpus.notes.size(), 2u);
  EXPECT_NE(corpus.notes[0].find("train.txt: 1 line ends CRLF"), std::string::npos);
  EXPECT_NE(corpus.notes[1].find("test.txt: a byte-order mark"), std::string::npos);
  ASSERT_EQ(corpus.files.size(), 3u);
  EXPECT_EQ(corpus.files[0].path, (folder / "train.txt").string());
  EXPECT_EQ(corpus.files[0].sha256, sha256_hex("a b\r\n"));
}

TEST(OpenCorpus, TestTextMayBeMissing) {
  const TemporaryFolder folder;
  folder.write("train.txt", "a b\n");
  folder.write("valid.txt", "b\n");
  const CorpusText text = open_corpus(folder.path(), Unit::words);
  expect_input_error([&] { text.at(Split::test); }, "no test text");
  EXPECT_EQ(text.notes,
            std::vector<std::string>{(folder / "test.txt").string() + ": no such file, and so no test text"});
}

TEST(OpenCorpus, BadFolders) {
  const TemporaryFolder folder;
  expect_input_error([&] { open_corpus(folder / "nowhere", Unit::words); }, "nowhere",
                     "no such file or folder");
  expect_input_error([&] { open_corpus(folder.path(), Unit::words); }, "train.txt: missing");
  folder.write("train.txt", "a\n");
  folder.write("val.txt", "a\n");
  expect_input_error([&] { open_corpus(folder.path(), Unit::words); }, "valid.txt: missing: a data folder",
                     "its folder has train.txt, val.txt");
  folder.write("valid.txt", "");
  expect_input_error([&] { open_corpus(folder.path(), Unit::words); }, "valid.txt: empty");
  folder.write("valid.txt", "a\xff\n");
  EXPECT_NO_THROW(open_corpus(folder.path(), Unit::words));
  expect_input_error([&] { open_corpus(folder.path(), Unit::characters); }, "valid.txt: not UTF-8 at byte 1");
  std::filesystem::create_directory(folder / "test.txt");
  expect_input_error([&] { open_corpus(folder.path(), Unit::words); }, "test.txt: a folder");
}

TEST(OpenCorpus, OneFileIsCutAtLineEnds) {
  const TemporaryFolder folder;
  std::string text;
  for (int line = 0; line < 200; ++line) text += "line " + std::to_string(line % 7) + "\n";
  const CorpusText corpus = open_corpus(folder.write("book.txt", text), Unit::characters);
  EXPECT_EQ(whole(corpus), text);
  EXPECT_EQ(split_lines(corpus.train.content).size(), 180u);
  EXPECT_EQ(split_lines(corpus.valid.content).size(), 10u);
  EXPECT_EQ(split_lines(corpus.test->content).size(), 10u);
  for (const Split split : {Split::train, Split::valid}) EXPECT_EQ(corpus.at(split).content.back(), '\n');
  ASSERT_EQ(corpus.notes.size(), 1u);
  EXPECT_NE(corpus.notes[0].find("last 10 %"), std::string::npos);
  EXPECT_NE(corpus.notes[0].find("; test is from 'line 1' to 'line 3'"), std::string::npos)
      << corpus.notes[0];
  ASSERT_EQ(corpus.files.size(), 1u);
  EXPECT_EQ(corpus.files[0].sha256, sha256_hex(text));
}

TEST(OpenCorpus, OneFileWithoutLinesIsCutBetweenWordsOrCharacters) {
  const TemporaryFolder folder;
  std::string text;
  for (int word = 0; word < 100; ++word) text += "word ";
  text += "\n";
  const CorpusText corpus = open_corpus(folder.write("line.txt", text), Unit::words);
  EXPECT_EQ(whole(corpus), text);
  EXPECT_EQ(corpus.valid.content.substr(0, 5), "word ");
  EXPECT_EQ(corpus.test->content.substr(0, 5), "word ");

  std::string euros;
  for (int i = 0; i < 101; ++i) euros += "\xe2\x82\xac";
  const CorpusText signs = open_corpus(folder.write("euros.txt", euros), Unit::characters);
  EXPECT_EQ(whole(signs), euros);
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    EXPECT_FALSE(signs.at(split).content.empty());
    EXPECT_NO_THROW(check_utf8(signs.at(split).content, "split"));
  }
}

TEST(OpenCorpus, EverySplitOfAShortFileHoldsSomething) {
  const TemporaryFolder folder;
  for (const std::string& piece : Strings{"x", "\n", "ab\n", " ", "\x80"}) {
    std::string text;
    while (text.size() < 40) text += piece;
    const CorpusText corpus = open_corpus(folder.write("short.txt", text), Unit::bytes);
    EXPECT_EQ(whole(corpus), text);
    for (const Split split : {Split::train, Split::valid, Split::test})
      EXPECT_FALSE(corpus.at(split).content.empty());
  }
  expect_input_error([&] { open_corpus(folder.write("short.txt", "too short\n"), Unit::words); }, "10 bytes",
                     "too few");
}

TEST(CorpusOfFiles, HoldsOutEveryTenthBlock) {
  const TemporaryFolder folder;
  // 25 lines; the tenth and twentieth block of one line are 9 and 19. 'B' comes before 'a' in the C locale.
  std::string first, second;
  for (int line = 0; line < 15; ++line) first += std::to_string(line) + "\n";
  for (int line = 15; line < 25; ++line) second += std::to_string(line) + (line < 24 ? "\r\n" : "");
  const auto a = folder.write("a.cpp", second), b = folder.write("B/z.cpp", first),
             c = folder.write("0.cpp", "");
  const CorpusText corpus = corpus_of_files({a, b, c}, 1, Unit::characters);
  EXPECT_EQ(corpus.valid.content, "9\n19\n");
  EXPECT_EQ(corpus.train.content,
            "0\n1\n2\n3\n4\n5\n6\n7\n8\n10\n11\n12\n13\n14\n15\n16\n17\n18\n20\n21\n22\n23\n24\n");
  EXPECT_FALSE(corpus.test);
  ASSERT_EQ(corpus.files.size(), 2u);
  EXPECT_EQ(corpus.files[0].path, b.string());
  EXPECT_EQ(corpus.files[1].sha256, sha256_hex(second));
  EXPECT_EQ(corpus_of_files({a, b}, 2, Unit::characters).valid.content, "18\n19\n");
}

TEST(CorpusOfFiles, TwoStarsStandForFoldersOfAnyDepth) {
  const TemporaryFolder folder;
  for (const char* file : {"a.txt", "b/a.txt", "b/c/d/a.txt", "b/c/other.md", ".git/a.txt", "b/e.txt/a.txt"})
    folder.write(file, "text\n");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "b/link");
  const auto named = [&](const Strings& patterns) {
    Strings found;
    for (const auto& path : files_named(folder.path(), patterns))
      found.push_back(path.lexically_relative(folder.path()).string());
    return found;
  };
  const Strings all{"a.txt", "b/a.txt", "b/c/d/a.txt", "b/e.txt/a.txt"};
  EXPECT_EQ(named({"**/*.txt"}), all) << "no folder, nothing hidden, no link to a folder";
  EXPECT_EQ(named({"*.txt", "**/a.txt"}), all) << "once";
  EXPECT_EQ(named({"b/**/d/*"}), Strings{"b/c/d/a.txt"});
  EXPECT_EQ(named({"b/**"}), (Strings{"b/a.txt", "b/c/d/a.txt", "b/c/other.md", "b/e.txt/a.txt"}));
  EXPECT_EQ(named({"**/**/other.md"}), Strings{"b/c/other.md"});
  EXPECT_EQ(named({"*/*.txt"}), Strings{"b/a.txt"}) << "one star is one folder";
}

TEST(CorpusOfFiles, BadInput) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.txt", "1\n2\n3\n");
  expect_input_error([] { corpus_of_files({}, 50, Unit::words); }, "no files");
  expect_input_error([&] { corpus_of_files({file}, 0, Unit::words); }, "blocks of 0 lines");
  expect_input_error([&] { corpus_of_files({file}, 50, Unit::words); }, "3 lines in 1 files", "50");
  expect_input_error(
      [&] {
        corpus_of_files({file, folder / "b.txt"}, 1, Unit::words);
      },
      "b.txt", "No such file");
}

struct Expected {
  const char* folder;
  Tokenization tokenization;
  std::array<std::int64_t, 3> symbols;  // of train, valid, test; the end of a line is one
  std::array<std::int64_t, 3> lines;    // ends of lines among them
  std::int64_t types;                   // of the training text
  bool unknown_is_trained;
};

void expect_counts(const Expected& expected) {
  const auto folder = corpus_folder(expected.folder);
  if (!has_corpus(folder)) GTEST_SKIP() << folder << " is not there: set RONDO_DATA";

  const CorpusText text = open_corpus(folder, expected.tokenization.unit);
  EXPECT_TRUE(text.notes.empty());
  const Vocabulary vocabulary(text.train, expected.tokenization);
  EXPECT_EQ(vocabulary.types(), expected.types);
  EXPECT_EQ(vocabulary.unknown_is_trained(), expected.unknown_is_trained);
  EXPECT_EQ(vocabulary.size(), expected.types + (expected.unknown_is_trained ? 0 : 1));

  for (const Split split : {Split::train, Split::valid, Split::test}) {
    const TextIds ids = encode_text(text.at(split), vocabulary).ids;
    const auto place = static_cast<std::size_t>(split);
    EXPECT_EQ(static_cast<std::int64_t>(ids.size()), expected.symbols[place]) << name_of(split);
    const auto line_end = vocabulary.line_end_id();
    EXPECT_EQ(line_end ? std::ranges::count(ids, *line_end) : 0, expected.lines[place]) << name_of(split);
    EXPECT_TRUE(vocabulary.encode(text.at(split)).missing.empty())
        << name_of(split);  // true of these corpora
  }
}

TEST(Counts, OfPublishedTexts) {
  for (const Expected& it : std::vector<Expected>{
           {"ptb", {Unit::words}, {929'589, 73'760, 82'430}, {42'068, 3'370, 3'761}, 10'000, true},
           {"ptb",
            {Unit::characters, true},
            {5'017'482, 393'042, 442'423},
            {42'068, 3'370, 3'761},
            50,
            false},
           {"wikitext-2", {Unit::words}, {2'088'628, 217'646, 245'569}, {36'718, 3'760, 4'358}, 33'278, true},
           {"text8-12m", {Unit::characters}, {11'294'853, 627'492, 627'492}, {0, 0, 0}, 27, false}})
    expect_counts(it);
}

}  // namespace
}  // namespace rondo
