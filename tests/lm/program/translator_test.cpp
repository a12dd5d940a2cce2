// A translator from `lm train` to `lm translate`, `eval`, `info` and `table`; and what these refuse.
#include <algorithm>
#include <regex>
#include <set>

#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

class TranslatorTest : public testing::Test, protected SmallTranslator {};

TEST_F(TranslatorTest, TrainsTranslatesAndIsMeasured) {
  const std::string out = output_of_lm(train("run"));
  expect_contains(out, "400 pairs");
  expect_contains(out, "lm translate " + path("run"));
  const std::vector<Json> log = log_of(path("run"));
  const Json& last = log.back();
  EXPECT_EQ(last.at("split"), "test");
  for (const char* figure : {"bleu", "chrf", "nats", "perplexity"})
    EXPECT_TRUE(last.contains(figure)) << figure;

  // In the order of the input; empty lines stay empty; a line does not depend on its neighbours.
  const std::string one = output_of_lm({"translate", path("run")}, "a b\n");
  const std::string other = output_of_lm({"translate", path("run")}, "c d e f\n");
  EXPECT_EQ(output_of_lm({"translate", path("run")}, "c d e f\n\n  \na b\nzzz\nc d e f"),
            other + "\n\n" + one + output_of_lm({"translate", path("run")}, "zzz\n") + other);
  EXPECT_EQ(output_of_lm({"translate", path("run")}, ""), "");

  // `lm eval` repeats the figures of the end of the training, and those of `lm bleu` on what translate
  // prints.
  const Json eval = json_of_lm({"eval", path("run"), "--split", "test"});
  EXPECT_NEAR(eval.at("bleu"), last.at("bleu"), 1e-9);
  EXPECT_NEAR(eval.at("nats"), last.at("nats"), 1e-6);
  std::set<std::string> words;
  for (const std::string& line : lines_in(bytes_of_file(path("data/train.bb"))))
    for (const char letter : line)
      if (letter != ' ') words.insert({letter});
  const Json kept = objects_in(path("run/evaluations.jsonl")).back();
  EXPECT_EQ(kept.at("types"), words.size() + 1) << "and the end of the line; <unk> is no type of this text";
  EXPECT_EQ(kept.at("vocabulary_size"), lines_of(path("run/vocab.target.txt")));

  const std::string translations =
      output_of_lm({"translate", path("run")}, bytes_of_file(path("data/test.aa")));
  const Json bleu =
      Json::parse(output_of_lm({"bleu", path("data/test.bb"), "--tokenize", "none", "--json"}, translations));
  EXPECT_NEAR(bleu.at("bleu").at("score"), eval.at("bleu"), 1e-9);

  // The same text as another one: the same figures, and a row of the table that they do not change.
  fs::create_directory(path("other"));
  fs::copy(path("data/test.aa"), path("other/pairs.aa"));
  fs::copy(path("data/test.bb"), path("other/pairs.bb"));
  const Json of_other = json_of_lm({"eval", path("run"), path("other/pairs")});
  EXPECT_EQ(of_other.at("text"), path("other/pairs"));
  EXPECT_FALSE(of_other.contains("split"));
  for (const char* same : {"bleu", "chrf", "nats", "sentences", "symbols"})
    EXPECT_EQ(of_other.at(same), eval.at(same)) << same;
  write_bytes(path("other/unknown.aa"), "\n");
  write_bytes(path("other/unknown.bb"), "these words are new\n");
  expect_contains(run_lm_well({"eval", path("run"), path("other/unknown")}).err,
                  "unknown.bb are unknown to the vocabulary");

  EXPECT_NEAR(rows_of_table({path("run")})[0].at("test BLEU"), eval.at("bleu"), 1e-9);
  EXPECT_EQ(json_of_lm({"info", path("run")}).at("source_vocabulary_size"),
            lines_of(path("run") + "/vocab.source.txt"));
  expect_contains(output_of_lm({"info", path("run")}), "general attention");
}

TEST_F(TranslatorTest, PrintsSeveralTranslationsWithScoresAndAttention) {
  trained("run");
  const Words lines = lines_in(output_of_lm(
      {"translate", path("run"), "decoding.n_best=3", "--attention", path("a.jsonl")}, "a b c\n\nd e\n"));
  ASSERT_EQ(lines.size(), 7u) << "one of the empty line";
  EXPECT_EQ(lines[3], "1 |||  ||| 0.0000");
  for (const std::size_t first : {std::size_t{0}, std::size_t{4}})
    for (const std::size_t i : {first, first + 1, first + 2}) {
      EXPECT_TRUE(lines[i].starts_with(first == 0 ? "0 ||| " : "2 ||| ")) << lines[i];
      const auto score = [&](std::size_t of) {
        return std::stod(lines[of].substr(lines[of].rfind(" ||| ") + 5));
      };
      EXPECT_GE(score(std::max(first + 1, i) - 1), score(i)) << "the best first";
    }
  const std::vector<Json> alignments = objects_in(path("a.jsonl"));
  ASSERT_EQ(alignments.size(), 7u) << "an object for each line";
  EXPECT_EQ(alignments[3].at("source"), Json::array());
  const Json& first = alignments[0];
  EXPECT_EQ(first.at("source"), Json({"a", "b", "c", "</s>"}));
  ASSERT_EQ(first.at("weights").size(), first.at("target").size());
  for (const Json& row : first.at("weights")) {
    ASSERT_EQ(row.size(), 4u);
    double sum = 0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  output_of_lm({"translate", path("run"), "--attention", path("a.svg")}, "a b c\n");
  const std::string picture = bytes_of_file(path("a.svg"));
  EXPECT_TRUE(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
  const auto squares = [&](const std::string& of) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = picture.find(of, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(squares("<rect"), squares("rotate(-90)") * squares("text-anchor='end'"));
}

// classification_test.cpp tests what the runs of any task refuse.
TEST_F(TranslatorTest, RefusesInOneLine) {
  trained("run");
  const auto refuses = [&](const Words& words, const std::string& part, const std::string& input = "a\n") {
    expect_refused(run_lm(words, {.input = input}), part);
  };
  refuses({"translate", path("run"), "--beam", "0"}, "--beam");
  const std::string range = "expected an integer, 1 to 10000";  // the same of each
  refuses({"translate", path("run"), "--beam", "10001"}, range);
  refuses({"translate", path("run"), "model.hidden=9"}, "only settings of [decoding] can change");
  refuses(train("other", {"train.eval_beam=10001"}), range);
  refuses({"translate", path("run"), "--beam", "2", "decoding.n_best=3"},
          "decoding.n_best = 3: a beam of 2 keeps fewer hypotheses; set beam to 3 or more");
  refuses({"translate", path("run"), "decoding.length_penalty=-1"}, "decoding.length_penalty");
  refuses({"translate", path("run"), "--task", "none"}, "--task none");
  refuses({"score", path("run")}, "one of language_modelling is needed\n");
  refuses({"classify", path("run")}, "lm translate " + path("run") + "\n");
  refuses({"eval", path("run"), path("data/test.aa")},
          "test.aa.aa: missing: a side of a text of pairs, which is named without .aa");
  fs::create_directory(path("other"));
  for (const std::string name : {"train.aa", "train.bb", "valid.aa", "valid.bb"})
    fs::copy(path("data/" + name), path("other/" + name));
  refuses({"eval", path("run"), "--data", path("other")}, "not the text of this run");

  write_bytes(path("run/vocab.target.txt"), bytes_of_file(path("run/vocab.source.txt")) + "more\n");
  refuses({"translate", path("run")}, "not the vocabulary");
}

TEST_F(TranslatorTest, SaysWhatItDoesNotRead) {
  for (const std::string language : {"aa", "bb"}) {
    const std::string train = path("data/train." + language);
    write_bytes(train, bytes_of_file(train) + (language == "aa" ? "a\n\n" : "\n \n"));
    fs::remove(path("data/test." + language));
  }
  const std::string told = output_of_lm(train("run"));
  expect_contains(told, "2 of 402 training pairs have an empty side: left out");
  expect_contains(told, "400 pairs");
  expect_contains(told, "test.aa: no such file, and so no test text");
}

TEST_F(TranslatorTest, ReplacesUnknownWordsByThoseAttendedTo) {
  write_pairs("train", reversal_task(1, 400, {.letters = 6, .min_length = 3, .max_length = 6}));
  // `<unk>`, `<eos>` and one letter.
  trained("run", {"data.max_size=3", "train.learning_rate=0.01"});
  const std::string input = "q r\vs\n";
  expect_contains(output_of_lm({"translate", path("run"), "--allow-unk"}, input), "<unk>");
  const std::string replaced =
      output_of_lm({"translate", path("run"), "--replace-unk", "--attention", path("a.jsonl")}, input);
  EXPECT_EQ(Json::parse(bytes_of_file(path("a.jsonl"))).at("source"), Json({"q", "r", "s", "</s>"}));
  EXPECT_EQ(replaced.find("<unk>"), std::string::npos) << replaced;
  EXPECT_NE(replaced.find_first_of("qrs"), std::string::npos) << replaced;

  // A word of bars is none of those that divide a line of several translations. As Moses escapes it.
  const std::string best =
      output_of_lm({"translate", path("run"), "--replace-unk", "decoding.n_best=2"}, "||| |||\n");
  expect_contains(best, "&#124;&#124;&#124;");
  for (const std::string& line : lines_in(best))
    EXPECT_TRUE(std::regex_match(line, std::regex("0 \\|{3} [^|]* \\|{3} [-0-9.]+"))) << line;
}

TEST_F(TranslatorTest, OfAFixedContextHasNoAttentionToShow) {
  trained("run", {"model.attention=none"});
  expect_refused(run_lm({"translate", path("run"), "--replace-unk"}, {.input = "a\n"}), "no attention");
  EXPECT_EQ(lines_in(output_of_lm({"translate", path("run")}, "a b\nc\n")).size(), 2u);
}

// Without data, and again the same text for `lm eval` and `lm train --resume`.
TEST_F(TranslatorTest, LearnsFromGeneratedText) {
  output_of_lm({"train", "--recipe", "copy-reverse", "--out", path("run"), "--threads", "1", "--epochs", "1",
                "data.generated_pairs=300"});
  expect_refused({"eval", path("run"), "--data", path("")}, "leave --data out");
  expect_refused({"eval", path("run"), path("test")}, "is generated (data.generated_pairs)");
  const Result eval = run_lm({"eval", path("run"), "--split", "test", "--json"});
  EXPECT_EQ(eval.err.find("has changed"), std::string::npos) << eval.err;
  EXPECT_EQ(Json::parse(eval.out).at("sentences"), 30);
  output_of_lm({"train", "--out", path("run"), "--resume", "--epochs", "2"});
  expect_contains(output_of_lm({"info", path("run")}), "of generated text");

  // As of a version that generated another one.
  std::string config = bytes_of_file(path("run/config.toml"));
  const std::string before = "sha256 = [\"";
  char& digit = config.at(config.find(before) + before.size());
  digit = digit == '0' ? '1' : '0';
  write_bytes(path("run/config.toml"), config);
  expect_contains(run_lm({"eval", path("run")}).err, "generated text has changed since this run was made");
  expect_refused({"train", "--out", path("run"), "--resume", "--epochs", "3"},
                 "generated text: the text has changed");
}

TEST_F(TranslatorTest, LearnsToReverseAlmostAllLines) {
  output_of_lm({"train", "--recipe", "copy-reverse", "--out", path("run"), "--threads", "1"});
  const TextPair unseen = reversal_task(7, 1000);
  const Words expected = lines_in(unseen.target.content),
              found = lines_in(output_of_lm({"translate", path("run")}, unseen.source.content));
  ASSERT_EQ(found.size(), expected.size());
  int correct = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) correct += found[i] == expected[i];
  EXPECT_GT(correct, 990);
}

/// With the defaults of most keys, and a word that is rare.
struct FewReversals : Reversals {
  FewReversals()
      : Reversals(R"(
[model]
embedding = 4
hidden = 6
readout = 4
[train]
batch = 10
learning_rate = 0.02
log_every = 1
)",
                  60, 10) {
    write("data/train.aa", bytes_of_file(path("data/train.aa")) + "rare a b c\n");
    write("data/train.bb", bytes_of_file(path("data/train.bb")) + "c b a rare\n");
  }
};

TEST(TranslatorRun, ResumesToTheSameBytes) {
  expect_resumes_to_the_same_bytes(FewReversals(), {"--epochs", "12", "model.dropout=0.3"}, {1, 20, 50});
}

// A value of each key that changes what a training of an epoch logs.
TEST(TranslatorRun, EachKeyOfItsSectionsHasAnEffect) {
  FewReversals data;
  expect_each_has_an_effect(data, R"(
    data.train_files=valid data.valid_files=test data.test_files=valid data.unit=characters
    data.min_count=2 data.max_size=3 data.shared_vocabulary=true data.max_length=4 data.pairs_share=0.5
    model.cell=gru&model.forget_bias=0 model.embedding=5 model.embedding_init=normal model.embedding_range=0.5
    model.hidden=8 model.encoder_layers=2 model.decoder_layers=2 model.bidirectional=false
    model.attention=additive model.input_feeding=true model.bridge=copy model.readout=3 model.tied=output
    model.dropout=0.5 model.dropout=0.5&model.variational=true model.init_all=0.05
    model.trained_initial_states=true model.weight_drop=0.5 model.recurrent_dropout=0.5 model.zoneout=0.5
    model.zoneout_memory=0.5 model.biases=1 model.forget_bias=2
    train.batch=5 train.batch_by=symbols train.reverse_source=true train.label_smoothing=0.1
    train.eval_beam=2)");
}

}  // namespace
}  // namespace rondo
