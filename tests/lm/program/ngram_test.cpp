// `lm ngram`: as a user starts it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class LmNgram : public testing::Test {
 protected:
  const SmallData data;
  const std::string folder = data.path("data");
};

TEST_F(LmNgram, MeasuresTheEstimate) {
  const Words words{"ngram", "--data", folder, "--order", "3"};
  const std::string text = output_of_lm(words);
  expect_contains(text,
                  "modified Kneser-Ney, interpolated, order 3, a vocabulary of 14 words; estimated in ");
  expect_contains(text, "        15 1-grams, discounts ");
  expect_contains(text, "valid.txt: 160 symbols in lines\nnats ");

  const Json json = json_of_lm(words);
  EXPECT_EQ(json.at("ngrams").at(0), 15);
  EXPECT_EQ(json.at("discounts").size(), 3u);
  for (const char* split : {"valid", "test"}) {
    const Json& it = json.at(split);
    EXPECT_EQ(it.at("symbols"), 160);
    // Three words may follow a word; where a line ends, a trigram has to guess.
    EXPECT_LT(it.at("perplexity").get<double>(), 5.5);
    EXPECT_GT(it.at("perplexity").get<double>(), 3);
  }
}

TEST_F(LmNgram, WhatItWritesItReads) {
  for (const char* unit : {"words", "characters", "bytes"}) {
    const Words words{"ngram", "--data", folder, "--unit", unit};
    const Json estimated = json_of_lm(words + Words{"--order", "4", "--out", data.path("a.arpa")}),
               read = json_of_lm(words + Words{"--arpa", data.path("a.arpa")});
    EXPECT_EQ(read.at("ngrams"), estimated.at("ngrams"));
    EXPECT_FALSE(read.contains("discounts"));
    for (const char* split : {"valid", "test"})
      EXPECT_NEAR(read.at(split).at("nats").get<double>(), estimated.at(split).at("nats").get<double>(),
                  1e-7);
  }
  EXPECT_FALSE(fs::exists(data.path("a.arpa.partial")));
}

TEST_F(LmNgram, MeasuresAnotherText) {
  const std::string test = data.path("data/test.txt"), arpa = data.path("model.arpa");
  const Json splits = json_of_lm({"ngram", "--data", folder, "--order", "3", "--out", arpa});
  const Json other = json_of_lm({"ngram", "--data", folder, "--order", "3", "--text", test});
  EXPECT_EQ(other.at("text").at("nats"), splits.at("test").at("nats"));
  EXPECT_FALSE(other.contains("valid") || other.contains("test"));
  const Json read = json_of_lm({"ngram", "--arpa", arpa, "--text", test});
  EXPECT_NEAR(read.at("text").at("nats"), splits.at("test").at("nats"), 1e-7)
      << "an ARPA file needs no --data";
  expect_contains(output_of_lm({"ngram", "--arpa", arpa, "--text", "-"}, bytes_of_file(test)),
                  "160 symbols in ");
}

// Its </s>, which other toolkits ask for, is no symbol of a text without line ends.
TEST_F(LmNgram, OfATextWithoutLineEndsReadsBackTheSame) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "abcab "[(i * i + i / 7) % 6];
  write_bytes(data / "data/train.txt", text);
  write_bytes(data / "data/valid.txt", "ab ca\nb");
  const Words words{"ngram", "--data", folder, "--unit", "characters"};
  const auto nats = [&](const char* option) {
    return json_of_lm(words + Words{option, data.path("model.arpa")}).at("valid").at("nats").get<double>();
  };
  const double estimated = nats("--out");
  EXPECT_TRUE(std::isfinite(estimated));
  EXPECT_NEAR(nats("--arpa"), estimated, 1e-6);
}

TEST_F(LmNgram, RefusesProbabilitiesAboveOne) {
  write_bytes(data / "wrong.arpa", R"(\data\
ngram 1=4
ngram 2=1

\1-grams:
-1 <s> 300
-1 </s>
-1 <unk> 300
-1 the 300

\2-grams:
-1 <s> the

\end\
)");
  expect_refused({"ngram", "--data", folder, "--arpa", data.path("wrong.arpa"), "--json"},
                 "a probability above 1");
}

TEST_F(LmNgram, CountsUnknownsAndWarnsOfZero) {
  write_bytes(data / "data/valid.txt", "the zebra sat\n");
  const Json json = json_of_lm({"ngram", "--data", folder});
  EXPECT_EQ(json.at("valid").at("unknowns"), 1);
  EXPECT_GT(json.at("valid").at("perplexity"), json.at("valid").at("perplexity_without_unknowns"));
  write_bytes(data / "zero.arpa", "\\data\\\nngram 1=2\n\\1-grams:\n-0.5 </s>\n-99 <unk>\n\\end\\\n");
  const Result zero = run_lm_well({"ngram", "--data", folder, "--arpa", data.path("zero.arpa"), "--json"});
  EXPECT_TRUE(Json::parse(zero.out).at("valid").at("nats").is_null());
  expect_contains(zero.err, "valid.txt: 3 symbols have probability 0 in this model");
}

// log10 of kenlm for what the model knows: -0.2 -0.3 -0.4, and -0.80103 -0.45 -0.7 around the unknown word.
TEST_F(LmNgram, OfAClosedVocabularyLeavesOutWhatItLacks) {
  write_bytes(data / "closed.arpa", R"(\data\
ngram 1=4
ngram 2=4

\1-grams:
-99 <s> -0.30103
-0.7 </s>
-0.6 a -0.2
-0.5 b -0.1

\2-grams:
-0.2 <s> a
-0.3 a b
-0.4 b </s>
-0.45 b a

\end\
)");
  write_bytes(data / "text", "a b\nb a zz\n");
  const Result result =
      run_lm({"ngram", "--arpa", data.path("closed.arpa"), "--text", data.path("text"), "--json"});
  expect_contains(result.err, "text: 1 of 7 symbols are not in the vocabulary of the model");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json.at("vocabulary"), 3);
  EXPECT_EQ(json.at("ngrams"), (Json{4, 4}));
  EXPECT_EQ(json.at("text").at("symbols"), 6);
  EXPECT_EQ(json.at("text").at("left_out"), 1);
  EXPECT_NEAR(json.at("text").at("nats").get<double>(), 2.85103 / 6 * std::log(10.0), 1e-9);
  write_bytes(data / "text", "zz zz");
  run_lm_well({"ngram", "--arpa", data.path("closed.arpa"), "--text", data.path("text")});
}

TEST_F(LmNgram, AModelOfAnotherUnit) {
  const std::string words = data.path("words.arpa");
  output_of_lm({"ngram", "--data", folder, "--order", "2", "--out", words});
  expect_refused({"ngram", "--data", folder, "--arpa", words, "--unit", "bytes"}, "a model of another unit");
  write_bytes(data / "other.txt", "der hund lief weg und der hund lief und lief\nein hund lief weg\n");
  expect_contains(run_lm({"ngram", "--data", data.path("other.txt"), "--arpa", words}).err,
                  "are unknown to the vocabulary, or <unk> in the text");
  write_bytes(data / "latin.txt", "a caf\xe9\n" + std::string(100, 'a'));
  expect_refused({"ngram", "--data", data.path("latin.txt"), "--unit", "characters"},
                 "not UTF-8 at byte 5 (line 1): 0xe9; convert it to UTF-8, as by: iconv -f WINDOWS-1252 -t "
                 "UTF-8 FILE > NEW, or give --unit bytes");
}

TEST_F(LmNgram, Refusals) {
  expect_refused({"ngram"}, "lm ngram --data ptb --order 5");
  expect_refused({"ngram", "--data", folder, "--per-symbol"}, "--text");
  expect_refused({"ngram", "--data", folder, "--unit", "pieces"},
                 "--unit: pieces not in {words,characters,bytes}");
  expect_refused({"ngram", "--data", data.path("none")}, "no such file or folder");
  expect_refused({"ngram", "--data", folder, "--order", "101"}, "expected an integer, 1 to 100");
  expect_refused({"ngram", "--text", folder + "/test.txt"}, "lm ngram --data ptb --order 5");
  expect_refused({"ngram", "--data", folder, "--text", data.path("none")}, "cannot be opened");
  output_of_lm({"ngram", "--data", folder, "--out", data.path("a.arpa")});
  expect_refused({"score", data.path("a.arpa"), folder + "/test.txt"},
                 "it is a file; give the folder of a run");
  expect_refused({"ngram", "--data", folder, "--text", folder + "/test.txt", "--out", folder + "/test.txt"},
                 "is read by this command");
  expect_refused({"ngram", "--data", folder, "--arpa", "a", "--out", "b"}, "--out excludes --arpa");
  expect_refused({"ngram", "--data", folder, "--arpa", data.path("none")}, "cannot be opened");
  write_bytes(data / "data/train.txt", "a <s> b\n");
  write_bytes(data / "kept.arpa", "kept");
  expect_refused({"ngram", "--data", folder, "--out", data.path("kept.arpa")}, "the text has the word '<s>'");
  EXPECT_EQ(bytes_of_file(data / "kept.arpa"), "kept");
  EXPECT_FALSE(fs::exists(data.path("kept.arpa.partial")));
}

}  // namespace
}  // namespace rondo
