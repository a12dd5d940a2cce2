// Texts that are not held in memory, beside the same ones that are: data/text/source.h.
#include <algorithm>
#include <functional>
#include <random>

#include "data/files/input_file.h"
#include "data/text/corpus.h"
#include "data/text/source.h"
#include "tests/data/files.h"
#include "tests/data/files/packed.h"

namespace rondo {
namespace {

std::vector<std::int32_t> vector_of(const TextIds& ids) { return {ids.begin(), ids.end()}; }

/// Words drawn by Zipf's law, in lines, with what normalising removes.
std::string zipf_text(std::size_t bytes, unsigned seed, const std::string& line_end = "\n") {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < bytes) {
    const double u = (static_cast<double>(random()) + 1) / 4294967297.0;
    text += "w" + std::to_string(static_cast<int>(std::exp(6 * u)));  // p(n) is proportional to 1 / n
    text += random() % 8 == 0 ? line_end : random() % 20 == 0 ? "  " : " ";
    if (random() % 50 == 0) text += "\xc3\xa9\xe2\x82\xac";
  }
  return text;
}

const std::vector<Tokenization> tokenizations = {{.unit = Unit::words},
                                                 {.unit = Unit::characters},
                                                 {.unit = Unit::bytes},
                                                 {.unit = Unit::characters, .strip_lines = true},
                                                 {.unit = Unit::bytes, .strip_lines = true}};

TEST(TextBlocks, HaveTheSymbolsOfTheWholeText) {
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    const std::size_t length = random() % 60;
    while (text.size() < length) {
      const std::string parts[] = {"a", "bc", " ", "\n", "\xc3\xa9", "\xe2\x82\xac", "\t", "d"};
      text += parts[random() % (i % 2 == 0 ? 8 : 7)];
      if (i % 3 == 0) text += "long";  // seldom a place to cut
    }
    for (const Tokenization& tokenization : tokenizations) {
      const auto symbols = [&](std::string_view part, LastLine last) {
        std::vector<std::string> all;
        SymbolReader reader(part, tokenization, "f", last);
        while (const auto symbol = reader.next()) all.emplace_back(*symbol);
        return all;
      };
      for (const std::size_t block : {1, 5, 16}) {
        std::vector<std::string> found;
        std::string joined;
        BlockCutter cutter(
            tokenization,
            [&](const Block& it) {
              EXPECT_EQ(it.lines_before, std::ranges::count(joined, '\n'));
              joined += it.text;
              for (std::string& symbol : symbols(it.text, it.last)) found.push_back(std::move(symbol));
            },
            block);
        for (std::size_t at = 0; at < text.size(); at += 3) cutter.add(std::string_view(text).substr(at, 3));
        cutter.end();
        EXPECT_EQ(joined, text);
        EXPECT_EQ(found, symbols(text, LastLine::ends)) << text << " in blocks of " << block;
      }
    }
  }
}

TEST(InOrder, ResultsComeInOrderAndErrorsCome) {
  for (const int threads : {1, 3}) {
    std::vector<int> found;
    InOrder<int> work(threads, [&](int it) { found.push_back(it); });
    for (int i = 0; i < 50; ++i)
      work.add([i] {
        if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        return i;
      });
    work.finish();
    ASSERT_EQ(found.size(), 50u);
    EXPECT_TRUE(std::ranges::is_sorted(found));
    InOrder<int> fails(threads, [](int) {});
    fails.add([]() -> int { throw InputError("no"); });
    EXPECT_THROW(fails.finish(), InputError);
  }
}

/// Without what a text begins and ends with, which is not said of one that is not held in memory.
std::vector<std::string> without_ends(std::vector<std::string> notes) {
  for (std::string& note : notes) note.resize(std::min(note.size(), note.find("; test is from ")));
  return notes;
}

/// A corpus of files that are not held in memory has the vocabulary, the ids and the notes of the same corpus
/// in memory.
void expect_same_corpus(const std::function<CorpusText(Unit, const TextReading&)>& open) {
  const TemporaryFolder cache;
  for (const Tokenization& tokenization : tokenizations) {
    const CorpusText held = open(tokenization.unit, {}),
                     read = open(tokenization.unit, {.most_in_memory = 1000});
    EXPECT_FALSE(held.train.source);
    ASSERT_TRUE(read.train.source);
    EXPECT_EQ(read.notes, without_ends(held.notes));
    ASSERT_EQ(read.files.size(), held.files.size());
    for (std::size_t i = 0; i < held.files.size(); ++i) {
      EXPECT_EQ(read.files[i].path, held.files[i].path);
      EXPECT_EQ(read.files[i].sha256, held.files[i].sha256);
    }
    const VocabularyLimits limits{.min_count = 3};
    const Vocabulary vocabulary(held.train, tokenization, limits);
    ASSERT_EQ(Vocabulary(read.train, tokenization, limits).to_text(), vocabulary.to_text());
    for (const Split split : {Split::train, Split::valid, Split::test}) {
      if (split == Split::test && !held.test) continue;
      const Encoded plain = vocabulary.encode(held.at(split));
      for (const Text* text : {&held.at(split), &read.at(split)}) {
        const EncodedText it = encode_text(*text, vocabulary, cache.path());
        EXPECT_TRUE(vector_of(it.ids) == plain.ids) << name_of(split);
        EXPECT_EQ(it.counts.unknowns, plain.unknowns);
        EXPECT_EQ(it.counts.bytes, plain.bytes);
        EXPECT_EQ(it.counts.first_bytes, plain.first_bytes);
      }
    }
  }
}

TEST(LongText, AFolder) {
  const TemporaryFolder folder;
  folder.write("train.txt", "\xef\xbb\xbf" + zipf_text(2'500'000, 1, "\r\n") + "an end without a newline");
  folder.write("valid.txt", zipf_text(5'000, 2));
  folder.write("test.txt", zipf_text(900, 3));  // short: held in memory
  expect_same_corpus([&](Unit unit, const TextReading& reading) {
    return open_corpus(folder.path(), unit, Pipes::accepted, reading);
  });
}

TEST(LongText, OneFileIsCut) {
  const TemporaryFolder folder;
  std::string line = zipf_text(60'000, 4, " ");
  for (const std::string& text : {zipf_text(50'000, 1), zipf_text(1'200'000, 1, "\r\n"), line,
                                  std::string(3'000, 'a') + "\xc3\xa9\xc3\xa9"})
    expect_same_corpus([&](Unit unit, const TextReading& reading) {
      return open_corpus(folder.write("book.txt", text), unit, Pipes::accepted, reading);
    });
}

TEST(LongText, TheNameOfAFolderIsNoPattern) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "text[1]*");
  for (const char* name : {"train-1.txt", "train-2.txt", "valid.txt"})
    folder.write(std::string("text[1]*/") + name, "a b c\n");
  const CorpusText corpus = open_corpus(folder / "text[1]*", Unit::words, Pipes::accepted);
  EXPECT_EQ(corpus.train.content, "a b c\na b c\n");
}

TEST(LongText, SeveralTrainingFiles) {
  const TemporaryFolder folder;
  folder.write("train-2.txt", zipf_text(3'000, 1) + "no newline");
  folder.write("train-10.txt", zipf_text(4'000, 2, "\r\n") + "\r");
  folder.write("train-3.txt", "");
  folder.write("valid.txt", zipf_text(2'000, 3));
  const auto open = [&](Unit unit, const TextReading& reading) {
    return open_corpus(folder.path(), unit, Pipes::accepted, reading);
  };
  expect_same_corpus(open);
  const CorpusText corpus = open(Unit::words, {});
  ASSERT_EQ(corpus.files.size(), 3u);
  EXPECT_EQ(corpus.files[0].path, folder / "train-10.txt") << "C-locale order";
  EXPECT_TRUE(corpus.train.content.ends_with("no newline\n"));

  const auto named = [&](std::vector<std::string> patterns) {
    return open_corpus(folder.path(), Unit::words, Pipes::accepted, {.train_files = std::move(patterns)});
  };
  EXPECT_EQ(named({"train-2*"}).train.content, zipf_text(3'000, 1) + "no newline");
  EXPECT_EQ(named({"train-2*", "train-10.txt"}).train.content, corpus.train.content);
  EXPECT_EQ(named({"train-*", "train-2*"}).train.content, corpus.train.content) << "each file once";
  expect_input_error([&] { named({"part-*"}); }, "no file of", "data.train_files (part-*)");
  expect_input_error(
      [&] {
        named({"train-2*", "*.txt"});
      },
      "valid.txt: data.train_files (train-2*, *.txt) matches it, and it is not training text");
  folder.write("train.txt", "a b c\n");
  EXPECT_EQ(open(Unit::words, {}).train.content, "a b c\n");
  expect_input_error(
      [&] { open_corpus(folder / "train.txt", Unit::words, Pipes::accepted, {.train_files = {"a"}}); },
      "one file");
}

TEST(LongText, BlocksOfLinesAreHeldOut) {
  const TemporaryFolder folder;
  std::string rest = zipf_text(9'000, 2);
  folder.write("a.txt", zipf_text(6'000, 1) + "no newline");
  folder.write("b.txt", "");
  folder.write("c.txt", rest);
  for (const std::int64_t lines : {1, 4})
    expect_same_corpus([&](Unit unit, const TextReading& reading) {
      return corpus_of_files({folder / "c.txt", folder / "a.txt", folder / "b.txt"}, lines, unit, reading);
    });
}

TEST(LongText, PackedFiles) {
  if (!can_unpack(".gz")) GTEST_SKIP() << "built without zlib";
  const TemporaryFolder folder;
  const std::string train = zipf_text(30'000, 1, "\r\n"), valid = zipf_text(3'000, 2);
  folder.write("train.txt.gz", gzip_of(train));
  folder.write("valid.txt", valid);
  const auto open = [&](Unit unit, const TextReading& reading) {
    return open_corpus(folder.path(), unit, Pipes::accepted, reading);
  };
  expect_same_corpus(open);
  const CorpusText packed = open(Unit::words, {});
  folder.write("plain/train.txt", train);
  folder.write("plain/valid.txt", valid);
  EXPECT_EQ(packed.train.content, open_corpus(folder / "plain", Unit::words).train.content);
  EXPECT_EQ(packed.files[0].sha256, sha256_hex(gzip_of(train))) << "as sha256sum prints";
  EXPECT_EQ(open_corpus(folder.write("book.txt.gz", gzip_of(train)), Unit::words).train.content,
            open_corpus(folder / "plain/train.txt", Unit::words).train.content);
  folder.write("train.txt", train);
  expect_input_error([&] { open(Unit::words, {}); }, "train.txt", "train.txt.gz", "keep one of them");
}

TEST(LongText, RefusesWhatTextsInMemoryAreRefusedFor) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content, Unit unit) {
    folder.write("a.txt", content);
    const auto message = [&](const TextReading& reading) {
      return any_error_of<InputError>(
          [&] { open_text_file(folder / "a.txt", unit, Pipes::accepted, reading); });
    };
    const std::string in_memory = message({});
    EXPECT_EQ(message({.most_in_memory = 0}), in_memory);
    return in_memory;
  };
  std::string text = zipf_text(2'200'000, 1);
  for (const std::size_t at :
       {std::size_t{100}, std::size_t{1} << 20, (std::size_t{1} << 20) - 1, text.size()}) {
    std::string bad = text;
    bad.insert(at, "\xe4");
    EXPECT_NE(refused(bad, Unit::characters).find("not UTF-8 at byte"), std::string::npos);
  }
  refused("\x1f\x8b gzip", Unit::words);
  refused("\xff\xfeu", Unit::characters);
}

TEST(LongText, ATextThatChangesWhileItIsReadIsRefused) {
  const TemporaryFolder folder;
  const Text text = open_text_file(folder.write("a.txt", zipf_text(3'000, 1)), Unit::words, Pipes::accepted,
                                   {.most_in_memory = 0});
  const Vocabulary vocabulary(text, {});
  folder.write("a.txt", zipf_text(3'000, 2));
  const TemporaryFolder cache;
  expect_input_error([&] { encode_text(text, vocabulary, cache.path()); }, "a.txt",
                     "changed while it was read");
  EXPECT_TRUE(std::filesystem::is_empty(cache.path())) << "nothing half done stays";
}

TEST(LongText, IdsAreKeptAndVerified) {
  const TemporaryFolder folder, cache;
  const auto opened = [&](std::uint64_t most) {
    return open_text_file(folder / "a.txt", Unit::words, Pipes::accepted, {.most_in_memory = most});
  };
  folder.write("a.txt", zipf_text(30'000, 1));
  const Text text = opened(0);
  const Vocabulary vocabulary(text, {}), small(text, {}, {.max_size = 50});
  const auto path = ids_path(text, vocabulary, cache.path());
  const std::vector<std::int32_t> ids = vocabulary.encode(opened(1 << 20)).ids;
  const auto encoded = [&] { return vector_of(encode_text(text, vocabulary, cache.path()).ids); };
  EXPECT_EQ(encoded(), ids);
  std::error_code failure;
  const auto id_of_file = [&] { return std::filesystem::hard_link_count(path, failure); };
  ASSERT_EQ(id_of_file(), 1u);
  std::filesystem::create_hard_link(path, cache / "link");  // a file that is written anew is another one
  EXPECT_EQ(encoded(), ids);
  EXPECT_EQ(id_of_file(), 2u) << "it was used";

  std::ifstream file(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 150, good.size() - 24}) {
    std::string bad = good;
    bad[at] ^= 4;
    cache.write(path.filename().string(), bad);
    EXPECT_EQ(encoded(), ids);
    EXPECT_EQ(id_of_file(), 1u) << "a damaged one is made again";
    std::filesystem::remove(cache / "link");
    std::filesystem::create_hard_link(path, cache / "link");
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, good.size() - 4, good.size() / 2}) {
    cache.write(path.filename().string(), good.substr(0, size));
    EXPECT_EQ(encoded(), ids);
  }
  cache.write(path.filename().string() + ".partial", "of a killed process");
  EXPECT_EQ(encoded(), ids);

  EXPECT_NE(ids_path(text, small, cache.path()), path);
  EXPECT_EQ(vector_of(encode_text(text, small, cache.path()).ids), small.encode(opened(1 << 20)).ids);
  folder.write("a.txt", zipf_text(30'000, 2));
  EXPECT_NE(ids_path(opened(0), vocabulary, cache.path()), path);

  expect_input_error([&] { encode_text(opened(0), vocabulary); }, "set XDG_CACHE_HOME");
  folder.write("file", "");
  expect_input_error([&] { encode_text(opened(0), vocabulary, folder / "file/ids"); }, "file/ids",
                     "cannot be made");
}

TEST(LongText, ProgressIsShown) {
  const TemporaryFolder folder, cache;
  std::map<std::string, std::int64_t> last;
  const auto size = static_cast<std::int64_t>(zipf_text(2'500'000, 1).size());
  const Text text = open_text_file(
      folder.write("a.txt", zipf_text(2'500'000, 1)), Unit::words, Pipes::accepted,
      {.most_in_memory = 0, .progress = [&](const std::string& what, std::int64_t done, std::int64_t all) {
         EXPECT_EQ(all, size);
         EXPECT_GT(done, last[what]);
         last[what] = done;
       }});
  encode_text(text, Vocabulary(text, {}), cache.path());
  EXPECT_EQ(last, (std::map<std::string, std::int64_t>{
                      {"reading", size}, {"counting the symbols", size}, {"encoding", size}}));
}

}  // namespace
}  // namespace rondo
