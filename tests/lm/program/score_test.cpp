// `lm score` of files, with several runs. Of one run and standard input: program_test.cpp.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "data/files/input_file.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// The same numbers, to float rounding.
void expect_near(const std::vector<std::vector<std::string>>& a,
                 const std::vector<std::vector<std::string>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size()) << "row " << i;
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      char* end = nullptr;
      const double x = std::strtod(a[i][j].c_str(), &end);
      if (*end == '\0')
        EXPECT_NEAR(x, std::stod(b[i][j]), 1e-5 * std::max(1.0, std::abs(x))) << "row " << i;
      else
        EXPECT_EQ(a[i][j], b[i][j]) << "row " << i;
    }
  }
}

class ScoreTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("a", {"--epochs", "1"});
    data->trained("b", {"--epochs", "2", "--seed", "2"});
    data->trained("letters", {"--epochs", "1", "--set", "data.unit=characters"});
    write_bytes(*data / "one.txt", "the cat sat\n\nthe zebra\n");
    write_bytes(*data / "two.txt", "on a mat\n");
  }
  static void TearDownTestSuite() { delete data; }

  using Rows = std::vector<std::vector<std::string>>;
  static Rows rows(std::vector<std::string> words, const std::string& input = "") {
    words.insert(words.begin(), {"score"});
    words.insert(words.end(), {"--threads", "1"});
    const Result result = run_lm(words, {.input = input});
    EXPECT_EQ(result.status, 0) << result.err;
    Rows rows;
    std::istringstream lines(result.out);
    for (std::string line, cell; std::getline(lines, line);) {
      std::istringstream cells(line);
      for (rows.emplace_back(); std::getline(cells, cell, '\t');) rows.back().push_back(cell);
    }
    return rows;
  }
  static std::string path(const std::string& name) { return data->path(name); }

  static SmallData* data;
};
SmallData* ScoreTest::data = nullptr;

TEST_F(ScoreTest, Files) {
  const Rows plain = rows({path("a")}, bytes_of_file(*data / "one.txt"));
  expect_near(rows({path("a"), path("one.txt")}), plain);
  EXPECT_EQ(rows({path("a"), "-"}, bytes_of_file(*data / "one.txt")), plain);
  EXPECT_EQ(rows({path("a"), "-", path("two.txt"), "--per-symbol"}, "the cat\n")[0].at(0), "-:1");
  EXPECT_EQ(rows({path("a"), "-", path("two.txt"), "--per-symbol"}, "the cat\n")[3].at(0),
            path("two.txt") + ":1");
  expect_refused(run_lm({"score", path("a"), path("none.txt")}), "none.txt: cannot be opened");
}

// Another program may wait for it before it writes the next line.
TEST_F(ScoreTest, ARowOfStandardInputComesWithItsLine) {
  const std::string pipe = path("pipe"), out = path("row");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"score", path("a")}, {"score", path("a"), "-"}}) {
    write_bytes(out, "");
    Program program(words, {.stdin_file = pipe, .stdout_file = out, .max_seconds = 30});
    std::ofstream to(pipe);
    to << "the cat sat\n" << std::flush;
    EXPECT_TRUE(program.wait_until([&] { return lines_of(out) == 1; })) << words.size();
    to.close();
    EXPECT_EQ(program.end().status, 0);
  }
}

TEST_F(ScoreTest, PackedFiles) {
  if (!can_unpack(".gz")) GTEST_SKIP() << "built without zlib";
  write_bytes(*data / "packed.txt", "the cat sat\na dog ran\n");
  ASSERT_EQ(std::system(fmt::format("gzip --keep '{}'", path("packed.txt")).c_str()), 0);
  EXPECT_EQ(output_of_lm({"score", path("a"), path("packed.txt.gz")}),
            output_of_lm({"score", path("a"), path("packed.txt")}));
  const auto generated = [&](const std::string& file) {
    return output_of_lm({"generate", path("a"), "--seed", "1", "-n", "5", "--prompt-file", path(file)});
  };
  EXPECT_EQ(generated("packed.txt.gz"), generated("packed.txt"));
}

TEST_F(ScoreTest, FilesThatAreNoText) {
  expect_refused(run_lm({"score", path("a")}, {.input = std::string("\x1f\x8b\x08\0\0\0", 6)}),
                 "standard input: looks like a gzip file; take the text out of it: gzip -dc FILE > NEW");
}

TEST_F(ScoreTest, Totals) {
  const Rows lines = rows({path("a"), path("one.txt")});
  const Rows totals = rows({path("a"), path("one.txt"), path("two.txt"), "--totals"});
  ASSERT_EQ(totals.size(), 3u);
  double sum = 0;
  for (const auto& row : lines) sum += std::stod(row.at(0));
  EXPECT_EQ(totals[0].at(0), path("one.txt"));
  EXPECT_NEAR(std::stod(totals[0].at(1)), sum, 1e-4);
  EXPECT_EQ(totals[0].at(2), "8");
  EXPECT_EQ(totals[0].at(3), "1");
  EXPECT_EQ(totals[0].at(4), "3");
  EXPECT_NEAR(std::stod(totals[0].at(5)), std::exp(-sum / 8), 1e-3);
  EXPECT_EQ(totals[2].at(0), "total");
  EXPECT_EQ(totals[2].at(2), "12");
  write_bytes(path("empty.txt"), "");
  EXPECT_EQ(rows({path("a"), path("empty.txt"), "--totals"})[0].at(5), "-") << "no perplexity";
}

TEST_F(ScoreTest, SeveralRunsAreInterpolated) {
  const auto symbols = [&](const std::vector<std::string>& runs) {
    std::vector<std::string> words = runs;
    words.insert(words.begin() + 1, {path("two.txt"), "--per-symbol"});
    return rows(words);
  };
  const Rows a = symbols({path("a")}), b = symbols({path("b")}),
             even = symbols({path("a"), "--with", path("b")}),
             uneven = symbols({path("a"), "--with", path("b"), "--weights", "3,1"});
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double p = std::exp(std::stod(a[i].at(2))), q = std::exp(std::stod(b[i].at(2)));
    EXPECT_NEAR(std::stod(even[i].at(2)), std::log((p + q) / 2), 1e-5);
    EXPECT_NEAR(std::stod(uneven[i].at(2)), std::log(0.75 * p + 0.25 * q), 1e-5);
  }
  EXPECT_EQ(symbols({path("a"), "--with", path("b"), "--weights", "1,0"}), a);
  const Rows file_last =
      rows({path("a"), "--per-symbol", "--with", path("b"), "--weights", "3,1", path("two.txt")});
  EXPECT_EQ(file_last, uneven);
  EXPECT_EQ(rows({path("a"), "--per-symbol", "--with", path("b"), path("two.txt")}), even);
  expect_refused(run_lm({"score", path("a"), path("two.txt"), "--with", path("letters")}), "its vocabulary");
  expect_refused(run_lm({"score", path("a"), path("two.txt"), "--with", path("b"), "--weights", "1"}),
                 "--weights: give one for RUN and one for each --with, here 2, not 1");
  expect_refused(run_lm({"score", path("a"), path("two.txt"), "--weights", "0"}), "above 0");
}

TEST_F(ScoreTest, ARunAndAnNgramModelAreInterpolated) {
  const std::string arpa = path("three.arpa"), text = path("one.txt");
  output_of_lm({"ngram", "--data", path("data"), "--order", "3", "--out", arpa});
  const auto table = [](const std::string& out) {
    std::vector<std::pair<std::string, double>> symbols;  // line and symbol, log p
    for (const std::string_view line : split_lines(out)) {
      const std::size_t tab = line.rfind('\t');
      symbols.emplace_back(line.substr(0, tab), std::stod(std::string(line.substr(tab + 1))));
    }
    return symbols;
  };
  const std::vector<std::string> score{"score", path("a"), text, "--per-symbol", "--threads", "1"};
  const auto scored = [&](std::vector<std::string> more) {
    more.insert(more.begin(), score.begin(), score.end());
    return table(output_of_lm(more));
  };
  const auto a = scored({}), mixed = scored({"--with", arpa, "--weights", "3,1"}),
             ngrams = table(output_of_lm({"ngram", "--arpa", arpa, "--text", text, "--per-symbol"}));
  ASSERT_EQ(a.size(), 8u);
  ASSERT_EQ(ngrams.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(mixed[i].first, ngrams[i].first);
    EXPECT_NEAR(mixed[i].second, std::log(0.75 * std::exp(a[i].second) + 0.25 * std::exp(ngrams[i].second)),
                1e-5);
  }
  expect_refused(run_lm({"score", path("letters"), text, "--with", arpa}), "three.arpa");
  write_bytes(path("other.txt"), "a cat on a mat\na cat on a mat\na cat on a mat\n");
  output_of_lm({"ngram", "--data", path("other.txt"), "--order", "2", "--out", path("other.arpa")});
  expect_refused(run_lm({"score", path("a"), text, "--with", path("other.arpa")}),
                 "and both must have the same symbols");
  write_bytes(path("more.txt"), "the zebra sat\n" + bytes_of_file(*data / "data/train.txt"));
  output_of_lm({"ngram", "--data", path("more.txt"), "--order", "2", "--out", path("more.arpa")});
  expect_refused(run_lm({"score", path("a"), text, "--with", path("more.arpa")}),
                 "and both must have the same symbols");
  write_bytes(path("three.lm"), bytes_of_file(arpa));
  EXPECT_EQ(run_lm({"score", path("a"), text, "--with", path("three.lm")}).status, 0) << "any name";
}

TEST_F(ScoreTest, BatchesGiveTheRowsOfLineByLine) {
  write_bytes(*data / "long.txt", "the cat sat\n\nzebra\n" + data->text(60) +
                                      "a mat on the cat the mat on a rug the cat the dog sat on a rug\n");
  const std::string text = bytes_of_file(*data / "long.txt");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--per-symbol"}, {"--with", path("b"), "--weights", "3,1"}}) {
    std::vector<std::string> one_by_one = {path("a")};
    one_by_one.insert(one_by_one.end(), more.begin(), more.end());
    std::vector<std::string> side_by_side = one_by_one;
    side_by_side.insert(side_by_side.begin() + 1, path("long.txt"));
    expect_near(rows(side_by_side), rows(one_by_one, text));
  }
}

TEST_F(ScoreTest, StatefulLinesAreOneText) {
  // Line by line with the state carried on is what one line gives, with its line ends in other places.
  const Rows lines = rows({path("a"), "--stateful", "--per-symbol"}, "the cat\nsat on\n");
  ASSERT_EQ(lines.size(), 6u);
  const Rows alone = rows({path("a"), "--per-symbol"}, "the cat\nsat on\n");
  EXPECT_EQ(lines[2], alone[2]);
  EXPECT_NE(lines[3].at(2), alone[3].at(2));
}

TEST_F(ScoreTest, LongLinesAreReadInParts) {
  std::string line;
  for (int i = 0; i < 700; ++i) line += "the cat sat on a mat ";
  write_bytes(*data / "parts.txt", "a mat\n" + line + "\nthe\n");
  const Rows rows_of_parts = rows({path("a"), path("parts.txt")});
  ASSERT_EQ(rows_of_parts.size(), 3u);
  EXPECT_EQ(rows_of_parts[1].at(1), "4201");
  expect_near(rows_of_parts, rows({path("a")}, bytes_of_file(*data / "parts.txt")));
}

TEST_F(ScoreTest, InvalidUtf8IsRefusedWhereTrainingRefusesIt) {
  write_bytes(*data / "latin.txt", "a\n\xe4\n");
  expect_contains(run_lm({"score", path("letters"), path("latin.txt")}).err, "latin.txt, line 2");
}

TEST_F(ScoreTest, WarnsOfALargeShareOfUnknownSymbols) {
  const Result result = run_lm({"score", path("a")}, {.input = "der hund lief weg\n"});
  expect_contains(result.err, "80.00 % of the 5 symbols of the input are unknown");
  EXPECT_EQ(run_lm({"score", path("a")}, {.input = "the cat sat\n"}).err, "");
}

}  // namespace
}  // namespace rondo
