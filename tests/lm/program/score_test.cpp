// `lm score` of files, with several runs. Of one run and standard input: program_test.cpp.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "data/files/input_file.h"
#include "data/text/pieces.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// The same numbers, to float rounding.
void expect_near(const std::vector<Words>& a, const std::vector<Words>& b) {
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

class ScoreTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("a", {"--epochs", "1"});
    data->trained("b", {"--epochs", "2", "--seed", "2"});
    data->trained("letters", {"--epochs", "1", "data.unit=characters"});
    write_bytes(*data / "one.txt", "the cat sat\n\nthe zebra\n");
    write_bytes(*data / "two.txt", "on a mat\n");
  }

  using Rows = std::vector<Words>;
  static Rows rows(const Words& words, const std::string& input = "") {
    return cells_of(output_of_lm(Words{"score"} + words + Words{"--threads", "1"}, input));
  }
  static std::string path(const std::string& name) { return data->path(name); }
};

TEST_F(ScoreTest, RequestsOfPrograms) {
  const Rows answers = rows({path("a"), "--json-lines"},
                            "{\"text\": \"the zebra\"}\n{}\nno request\n"
                            "{\"text\": \"the cat\\nsat\"}\n{\"text\": \"the cat\\r\\nsat\"}\n");
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[3], answers[4]) << "both are line ends";
  const auto zebra = nlohmann::json::parse(answers[0][0]);
  const Words row = rows({path("a")}, "the zebra\n").at(0);
  EXPECT_NEAR(zebra["log_probability"].get<double>(), std::stod(row[0]), 1e-5);
  ASSERT_EQ(zebra["symbols"].size(), 3U);
  EXPECT_EQ(zebra["symbols"][1]["unknown"], true);
  EXPECT_EQ(zebra["symbols"][2]["symbol"], "<eos>");
  EXPECT_EQ(nlohmann::json::parse(answers[1][0])["symbols"].size(), 1U);
  EXPECT_EQ(answers[2][0], R"({"error":"a request is one JSON object"})");
}

TEST_F(ScoreTest, Files) {
  const Rows plain = rows({path("a")}, bytes_of_file(*data / "one.txt"));
  expect_near(rows({path("a"), path("one.txt")}), plain);
  EXPECT_EQ(rows({path("a"), "-"}, bytes_of_file(*data / "one.txt")), plain);
  EXPECT_EQ(rows({path("a"), "-", path("two.txt"), "--per-symbol"}, "the cat\n")[0].at(0), "-:1");
  EXPECT_EQ(rows({path("a"), "-", path("two.txt"), "--per-symbol"}, "the cat\n")[3].at(0),
            path("two.txt") + ":1");
  expect_refused({"score", path("a"), path("none.txt")}, "none.txt: cannot be opened");
}

// Another program may wait for it before it writes the next line.
TEST_F(ScoreTest, ARowOfStandardInputComesWithItsLine) {
  const std::string pipe = path("pipe"), out = path("row");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const Words& words : {Words{"score", path("a")}, {"score", path("a"), "-"}}) {
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
  const auto symbols = [&](const Words& runs) {
    Words words = runs;
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
  expect_refused({"score", path("a"), path("two.txt"), "--with", path("letters")}, "its vocabulary");
  expect_refused({"score", path("a"), path("two.txt"), "--with", path("b"), "--weights", "1"},
                 "--weights: give one for RUN and one for each --with, here 2, not 1");
  expect_refused({"score", path("a"), path("two.txt"), "--weights", "0"}, "above 0");
}

TEST_F(ScoreTest, ARunAndAnNgramModelAreInterpolated) {
  const std::string arpa = path("three.arpa"), text = path("one.txt");
  output_of_lm({"ngram", "--data", path("data"), "--order", "3", "--out", arpa});
  const auto scored = [&](const Words& more) { return rows(Words{path("a"), text, "--per-symbol"} + more); };
  const Rows a = scored({}), mixed = scored({"--with", arpa, "--weights", "3,1"}),
             ngrams = cells_of(output_of_lm({"ngram", "--arpa", arpa, "--text", text, "--per-symbol"}));
  ASSERT_EQ(a.size(), 8u);
  ASSERT_EQ(ngrams.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(mixed[i].at(0), ngrams[i].at(0));
    EXPECT_EQ(mixed[i].at(1), ngrams[i].at(1));
    EXPECT_NEAR(
        std::stod(mixed[i].at(2)),
        std::log(0.75 * std::exp(std::stod(a[i].at(2))) + 0.25 * std::exp(std::stod(ngrams[i].at(2)))), 1e-5);
  }
  expect_refused({"score", path("letters"), text, "--with", arpa}, "three.arpa");
  write_bytes(path("other.txt"), "a cat on a mat\na cat on a mat\na cat on a mat\n");
  output_of_lm({"ngram", "--data", path("other.txt"), "--order", "2", "--out", path("other.arpa")});
  expect_refused({"score", path("a"), text, "--with", path("other.arpa")},
                 "and both must have the same symbols");
  write_bytes(path("more.txt"), "the zebra sat\n" + bytes_of_file(*data / "data/train.txt"));
  output_of_lm({"ngram", "--data", path("more.txt"), "--order", "2", "--out", path("more.arpa")});
  expect_refused({"score", path("a"), text, "--with", path("more.arpa")},
                 "and both must have the same symbols");
  write_bytes(path("three.lm"), bytes_of_file(arpa));
  run_lm_well({"score", path("a"), text, "--with", path("three.lm")});
}

// One of the lines is so long that it is read in parts.
TEST_F(ScoreTest, BatchesGiveTheRowsOfLineByLine) {
  std::string line;
  for (int i = 0; i < 700; ++i) line += "the cat sat on a mat ";
  write_bytes(*data / "long.txt", "the cat sat\n\nzebra\n" + data->text(60) + line + "\nthe\n");
  const std::string text = bytes_of_file(*data / "long.txt");
  for (const Words& more : {Words{}, {"--per-symbol"}, {"--with", path("b"), "--weights", "3,1"}}) {
    expect_near(rows(Words{path("a"), path("long.txt")} + more), rows(Words{path("a")} + more, text));
  }
  EXPECT_EQ(rows({path("a"), path("long.txt")}).at(63).at(1), "4201");
}

TEST_F(ScoreTest, WordsAreSumsOfTheirSymbols) {
  const std::string text = "the  cat sat\n\n the zebra\n";
  write_bytes(*data / "words.txt", text);
  Words runs{"a", "letters"};
  if (has_sentencepiece()) {
    data->trained("pieces", {"--epochs", "1", "data.unit=pieces", "data.pieces=252"});
    runs.push_back("pieces");
  }
  for (const std::string& run : runs) {
    // White space belongs to what follows it.
    std::vector<std::pair<std::string, double>> expected;
    std::string word;
    double nats = 0;
    for (const Words& symbol : rows({path(run), path("words.txt"), "--per-symbol"})) {
      std::string it = unescape_symbol(symbol.at(1)).value();
      const bool ends_line = it == "<eos>" || it == "\n", begins = run == "a" || it[0] == ' ';
      if (!stripped(word).empty() && (ends_line || begins)) {
        expected.emplace_back(stripped(word), nats);
        word = "", nats = 0;
      }
      nats -= std::stod(symbol.at(2));
      word += it;
      if (!ends_line) continue;
      expected.emplace_back("<eos>", nats);
      word = "", nats = 0;
    }
    const Json words = json_of_lm({"score", path(run), path("words.txt"), "--words"}).at("rows");
    ASSERT_EQ(words.size(), 8u) << run;
    ASSERT_EQ(expected.size(), words.size()) << run;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_unknown = run != "pieces" && i == 6;
      EXPECT_EQ(words[i].at("word"), is_unknown ? "zebra" : expected[i].first) << "as it stands in the text";
      EXPECT_EQ(words[i].at("unknown"), is_unknown ? 1 : 0) << run << i;
      EXPECT_NEAR(words[i].at("bits").get<double>(), expected[i].second / std::log(2), 2e-5) << run << i;
    }
    EXPECT_EQ(words[5].at("line"), 3);
    EXPECT_EQ(words[6].at("index"), 2);
    EXPECT_EQ(words[1].at("symbols"), run == "letters" ? 5 : words[1].at("symbols").get<int>());
  }
}

TEST_F(ScoreTest, WordsOfTables) {
  write_bytes(*data / "stimuli.tsv", "item\tsentence\tcondition\r\n1\tthe \"cat\",\t=a\r\n2\t-\tb\r\n");
  const Words words{"score", path("a"), path("stimuli.tsv"), "--words"};
  const Words csv = lines_in(output_of_lm(words + Words{"--column", "sentence", "--csv"}));
  ASSERT_EQ(csv.size(), 6u);
  EXPECT_EQ(csv[0], "item,condition,line,index,word,symbols,bits,unknown");
  EXPECT_TRUE(csv[1].starts_with("1,=a,1,1,the,1,")) << csv[1];
  EXPECT_TRUE(csv[2].starts_with("1,=a,1,2,\"\"\"cat\"\",\",1,")) << csv[2];
  EXPECT_TRUE(csv[4].starts_with("2,b,2,1,-,1,") && csv[4].ends_with(",1")) << csv[4];
  expect_contains(output_of_lm(words + Words{"--column", "sentence", "--latex"}),
                  "\\begin{tabular}{llrrlrrr}");
  expect_refused(words + Words{"--column", "text"}, "not one column 'text'");
  write_bytes(*data / "stimuli.tsv", "item\tsentence\n");
  EXPECT_EQ(output_of_lm(words + Words{"--column", "sentence", "--csv"}),
            "item,line,index,word,symbols,bits,unknown\n");
  EXPECT_EQ(json_of_lm(words + Words{"--column", "sentence"}).at("rows").size(), 0u);
  output_of_lm(words + Words{"--column", "sentence"});
  write_bytes(*data / "stimuli.tsv", "sentence\tsentence\na\tb\n");
  expect_refused(words + Words{"--column", "sentence"}, "not one column 'sentence'");
  write_bytes(*data / "stimuli.tsv", "item\tsentence\n1\n");
  expect_refused(words + Words{"--column", "sentence"}, "line 2: 1 cells, where the first row has 2");
  write_bytes(*data / "stimuli.tsv", "item\tsentence\n1\t\"the cat\"\n");
  expect_refused(words + Words{"--column", "sentence"}, "line 2: \"the cat\" is in quotes");
  write_bytes(*data / "stimuli.tsv", "bits\tsentence\n1\tthe cat\n");
  expect_refused(words + Words{"--column", "sentence"}, "two columns would be called 'bits'");
  write_bytes(*data / "stimuli.tsv", "item\tsentence\n1\tthe cat\n");
  write_bytes(*data / "more.tsv", "sentence\titem\nthe dog\t2\n");
  const Words of_two = words + Words{path("more.tsv"), "--column", "sentence", "--csv"};
  EXPECT_TRUE(lines_in(output_of_lm(of_two)).at(4).starts_with("2,"));
  write_bytes(*data / "more.tsv", "sentence\tgroup\nthe dog\t2\n");
  expect_refused(of_two, "more.tsv, line 1: its columns are not those of the tables before it");
}

// The interval is nearly that of a normal distribution of the ratio of two means.
TEST_F(ScoreTest, ModelsAreComparedByABootstrap) {
  write_bytes(*data / "many.txt", data->text(80));
  const Rows a = rows({path("a"), path("many.txt")}), b = rows({path("b"), path("many.txt")});
  double bits = 0, symbols = 0, squares = 0;
  const auto difference = [&](std::size_t i) {
    return (std::stod(a[i].at(0)) - std::stod(b[i].at(0))) / std::log(2);
  };
  for (std::size_t i = 0; i < a.size(); ++i) bits += difference(i), symbols += std::stod(a[i].at(1));
  for (std::size_t i = 0; i < a.size(); ++i)
    squares += std::pow(difference(i) - bits / symbols * std::stod(a[i].at(1)), 2);
  const Words compared =
      rows({path("a"), path("many.txt"), "--with", path("b"), "--with", path("a"), "--compare"}).at(0);
  EXPECT_EQ(compared.at(0), path("b"));
  EXPECT_NEAR(std::stod(compared.at(1)), bits / symbols, 2e-5);
  const double low = std::stod(compared.at(2)), high = std::stod(compared.at(3));
  EXPECT_NEAR((high - low) / (2 * 1.96 * std::sqrt(squares) / symbols), 1, 0.1);
  EXPECT_NEAR((high + low) / 2, bits / symbols, (high - low) / 10);
  EXPECT_EQ(std::stod(compared.at(4)) > 0.5, bits < 0);
  EXPECT_EQ(rows({path("a"), path("many.txt"), "--with", path("a"), "--compare"}).at(0),
            (Words{path("a"), "0.00000", "0.00000", "0.00000", "0.0000"}));
  expect_refused({"score", path("a"), "--with", path("b"), "--compare"}, "fewer than two");
}

TEST_F(ScoreTest, WordsAreSeparatedAsInTraining) {
  data->trained("lower", {"--epochs", "1", "data.tokenize=true", "data.lowercase=true"});
  write_bytes(*data / "raw.txt", "The cat, SAT.\n");
  const Json words = json_of_lm({"score", path("lower"), path("raw.txt"), "--words"}).at("rows");
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[1].at("word"), "cat,");
  EXPECT_EQ(words[1].at("symbols"), 2);
  EXPECT_EQ(words[1].at("unknown"), 1) << "the comma";
  EXPECT_EQ(words[0].at("unknown"), 0) << "The is the";
  write_bytes(*data / "separated.txt", "the cat , sat .\n");
  EXPECT_EQ(rows({path("lower"), path("raw.txt")}), rows({path("lower"), path("separated.txt")}));
  const auto evaluated = [&](const char* text) {
    return json_of_lm({"eval", path("lower"), path(text)}).at("nats");
  };
  EXPECT_EQ(evaluated("raw.txt"), evaluated("separated.txt"));
  EXPECT_TRUE(output_of_lm({"generate", path("lower"), "--prompt", "The CAT, ", "-n", "1", "--seed", "1"})
                  .starts_with("the cat , "));
  expect_refused({"score", path("a"), path("one.txt"), "--with", path("lower")}, "its vocabulary");
}

TEST_F(ScoreTest, AnNgramModelHasTheVocabularyOfARun) {
  data->trained("few", {"--epochs", "1", "data.max_size=8"});
  const std::string arpa = path("few.arpa"), text = path("one.txt");
  const Words ngram{"ngram", "--data", path("data"), "--order", "2", "--out", arpa};
  output_of_lm(ngram);
  expect_refused({"score", path("few"), text, "--with", arpa}, "both must have the same symbols");
  const Json model = json_of_lm(ngram + Words{"--vocabulary-from", path("few")});
  EXPECT_EQ(model.at("vocabulary"), 8);
  EXPECT_EQ(rows({path("few"), text, "--with", arpa}).size(), 3u);
  expect_refused(ngram + Words{"--vocabulary-from", path("few"), "--unit", "bytes"}, "excludes");
}

TEST_F(ScoreTest, WarnsOfALargeShareOfUnknownSymbols) {
  const Result result = run_lm({"score", path("a")}, {.input = "der hund lief weg\n"});
  expect_contains(result.err, "80.00 % of the 5 symbols of the input are unknown");
  EXPECT_EQ(run_lm({"score", path("a")}, {.input = "the cat sat\n"}).err, "");
}

}  // namespace
}  // namespace rondo
