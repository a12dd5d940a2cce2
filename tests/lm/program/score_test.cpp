// `lm score` of files, with several runs. Of one run and standard input: program_test.cpp.
#include <cmath>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

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

TEST_F(ScoreTest, FilesIdsAndLengths) {
  const Rows plain = rows({path("a")}, bytes_of_file(*data / "one.txt"));
  EXPECT_EQ(rows({path("a"), path("one.txt")}), plain);
  const Rows one = rows({path("a"), path("one.txt"), "--ids", "--per-length"});
  ASSERT_EQ(one.size(), 3u);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].at(0), std::to_string(i + 1));
    EXPECT_EQ(one[i].at(1), plain[i].at(0));
    EXPECT_NEAR(std::stod(one[i].at(4)), std::stod(plain[i].at(0)) / std::stod(plain[i].at(1)), 1e-5);
  }
  const Rows both = rows({path("a"), path("one.txt"), path("two.txt"), "--ids"});
  ASSERT_EQ(both.size(), 4u);
  EXPECT_EQ(both[3].at(0), path("two.txt") + ":1");
  expect_refused(run_lm({"score", path("a"), path("none.txt")}), "none.txt: cannot be opened");
  EXPECT_EQ(rows({path("a"), "-"}, bytes_of_file(*data / "one.txt")), plain);
  EXPECT_EQ(rows({path("a"), "-", path("two.txt"), "--ids"}, "the cat\n")[0].at(0), "-:1");
}

TEST_F(ScoreTest, FilesThatAreNoText) {
  const std::string packed("\x1f\x8b\x08\0\0\0", 6);
  write_bytes(*data / "one.txt.gz", packed);
  expect_refused(run_lm({"score", path("a"), path("one.txt.gz")}),
                 "one.txt.gz: looks like a gzip file; unpack it first, as by: gunzip --keep FILE");
  expect_refused(run_lm({"score", path("a")}, {.input = packed}), "standard input: looks like a gzip file");
  const auto warning = [&](const std::string& input) {
    return run_lm({"score", path("a")}, {.input = input}).err;
  };
  expect_contains(warning(std::string("the cat\0\n", 9)), "standard input has NUL bytes");
  expect_contains(warning("{\"the\": 1}\n"), "standard input looks like lines of JSON");
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
                 "--weights: 1 for 2 runs");
  expect_refused(run_lm({"score", path("a"), path("two.txt"), "--weights", "0"}), "above 0");
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
