// A translator from `lm train` to `lm translate`, `eval`, `info` and `table`; and what these refuse.
#include <algorithm>
#include <set>

#include "data/reversal_task.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void write_pairs(const fs::path& folder, const std::string& name, const TextPair& pairs) {
  write_bytes(folder / (name + ".aa"), pairs.source.content);
  write_bytes(folder / (name + ".bb"), pairs.target.content);
}

/// A small parallel text, and the words of a training on it that takes about a second.
class TranslatorTest : public testing::Test {
 protected:
  TranslatorTest() {
    write_pairs(folder_ / "", "train", reversal_task(1, 400, {.letters = 6, .max_length = 6}));
    write_pairs(folder_ / "", "valid", reversal_task(2, 30, {.letters = 6, .max_length = 6}));
    write_pairs(folder_ / "", "test", reversal_task(3, 30, {.letters = 6, .max_length = 6}));
  }

  std::string path(const std::string& name) const { return folder_ / name; }

  std::vector<std::string> train(const std::string& run,
                                 const std::vector<std::string>& settings = {}) const {
    std::vector<std::string> words{"train", "--recipe", "attention-multi30k", "--data", path(""),
                                   "--out", path(run),  "--threads",          "1",      "--epochs",
                                   "2"};
    for (const char* setting :
         {"data.source_language=aa", "data.target_language=bb", "data.train_files=train",
          "data.valid_files=valid", "data.test_files=test", "model.embedding=12", "model.hidden=16",
          "model.readout=12", "train.batch=20", "decoding.max_length=12"})
      words.insert(words.end(), {"--set", setting});
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return words;
  }
  void trained(const std::string& run, const std::vector<std::string>& settings = {}) const {
    output_of_lm(train(run, settings));
  }

  TemporaryFolder folder_;
};

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split_lines(text)) lines.emplace_back(line);
  return lines;
}

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
  for (const std::string& line : lines_in(bytes_of_file(path("train.bb"))))
    for (const char letter : line)
      if (letter != ' ') words.insert({letter});
  const Json kept = Json::parse(lines_in(bytes_of_file(path("run/evaluations.jsonl"))).back());
  EXPECT_EQ(kept.at("types"), words.size() + 1) << "and the end of the line; <unk> is no type of this text";
  EXPECT_EQ(kept.at("vocabulary_size"), lines_of(path("run/vocab.target.txt")));

  const std::string translations = output_of_lm({"translate", path("run")}, bytes_of_file(path("test.aa")));
  const Json bleu =
      Json::parse(output_of_lm({"bleu", path("test.bb"), "--tokenize", "none", "--json"}, translations));
  EXPECT_NEAR(bleu.at("bleu").at("score"), eval.at("bleu"), 1e-9);

  const Json table = json_of_lm({"table", path("run")});
  EXPECT_NEAR(table.at("runs")[0].at("test").at("bleu"), eval.at("bleu"), 1e-9);
  expect_contains(output_of_lm({"table", path("run"), "--markdown"}), "test BLEU");
  EXPECT_EQ(json_of_lm({"info", path("run")}).at("source_vocabulary_size"),
            lines_of(path("run") + "/vocab.source.txt"));
  expect_contains(output_of_lm({"info", path("run")}), "general attention");
  EXPECT_EQ(output_of_lm({"info", path("run"), "--verify"}).find("broken"), std::string::npos);
}

TEST_F(TranslatorTest, PrintsSeveralTranslationsWithScoresAndAttention) {
  trained("run");
  const std::vector<std::string> lines = lines_in(
      output_of_lm({"translate", path("run"), "--n-best", "3", "--scores", "--attention", path("a.jsonl")},
                   "a b c\nd e\n"));
  ASSERT_EQ(lines.size(), 6u);
  for (const std::size_t first : {0, 3})
    for (const std::size_t i : {first, first + 1})
      EXPECT_GE(std::stod(lines[i]), std::stod(lines[i + 1])) << "the best first";
  std::vector<std::string> alignments = lines_in(bytes_of_file(path("a.jsonl")));
  ASSERT_EQ(alignments.size(), 6u);
  const Json first = Json::parse(alignments[0]);
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
  EXPECT_EQ(squares("<rect") - 1, squares("rotate(-90)") * squares("text-anchor"));
}

TEST_F(TranslatorTest, ResumesInTheSameBytes) {
  const std::vector<std::string> settings{"train.save_every=0.0001", "train.batch=10", "model.dropout=0.3"};
  trained("whole", settings);
  Program program(train("killed", settings));
  program.wait_until([&] { return fs::exists(path("killed/state.safetensors")); });
  program.end(SIGKILL);
  output_of_lm({"train", "--out", path("killed"), "--resume", "--threads", "1"});
  EXPECT_EQ(bytes_of_file(path("killed/model.safetensors")) == bytes_of_file(path("whole/model.safetensors")),
            true);
}

TEST_F(TranslatorTest, RefusesInOneLine) {
  trained("run");
  const auto refuses = [&](const std::vector<std::string>& words, const std::string& part,
                           const std::string& input = "a\n") {
    expect_refused(run_lm(words, {.input = input}), part);
  };
  refuses({"translate", path("run"), "--beam", "0"}, "--beam");
  refuses({"translate", path("run"), "--beam", "2", "--n-best", "3"}, "n_best = 3");
  const std::string range = "expected an integer, 1 to 10000";  // the same of each
  refuses({"translate", path("run"), "--beam", "10001"}, range);
  refuses({"translate", path("run"), "--n-best", "10001"}, range);
  for (const char* key : {"decoding.beam=10001", "decoding.n_best=10001"})
    refuses({"eval", path("run"), "--set", key}, range);
  refuses(train("other", {"train.eval_beam=10001"}), range);
  refuses({"translate", path("no-run")}, "no-run");
  refuses({"translate", path("run"), "--attention", path("no/such/folder")}, "--attention");
  refuses({"generate", path("run")}, "translation");
  refuses({"score", path("run")}, "translation");
  refuses({"eval", path("run"), "--dynamic"}, "--dynamic");
  refuses({"eval", path("run"), "--budget", "100"}, "--budget: is for language models");
  refuses({"eval", path("run"), "--set", "model.hidden=3"}, "model.hidden");
  refuses({"finetune", path("run"), "--out", path("more")}, "translation");

  write_bytes(path("run/vocab.target.txt"), bytes_of_file(path("run/vocab.source.txt")) + "more\n");
  refuses({"translate", path("run")}, "not the vocabulary");
}

TEST_F(TranslatorTest, VerifyReportsADamagedVocabularyOnceAndNothingOfABrokenConfiguration) {
  trained("run");
  const auto findings = [&](const std::string& condition, int status) {
    const Result result = run_lm({"info", path("run"), "--verify", "--json"});
    EXPECT_EQ(result.status, status);
    std::vector<std::string> files;
    const Json found = Json::parse(result.out);
    for (const Json& it : found.at("files"))
      if (it.at("condition") == condition) files.push_back(it.at("file"));
    return files;
  };
  using Files = std::vector<std::string>;
  EXPECT_EQ(findings("broken", 0), Files{});
  const fs::path target = path("run/vocab.target.txt"), config = path("run/config.toml");
  const std::string symbols = bytes_of_file(target);
  write_bytes(target, symbols + "more\n");
  EXPECT_EQ(findings("broken", 2), Files{"vocab.source.txt and vocab.target.txt"}) << "they have one SHA-256";
  fs::remove(target);
  EXPECT_EQ(findings("missing", 2), Files{"vocab.target.txt"});
  EXPECT_EQ(findings("broken", 2), Files{});
  EXPECT_EQ(findings("unverified", 2), Files{"vocab.source.txt"});
  write_bytes(target, symbols);
  write_bytes(config, "no configuration\n");
  EXPECT_EQ(findings("broken", 2), Files{"config.toml"});
  EXPECT_EQ(findings("missing", 2), Files{}) << "it would say which files there are";
}

TEST_F(TranslatorTest, SaysThatItsTextHasChanged) {
  trained("run");
  const std::string said = "has changed since this run was made";
  EXPECT_EQ(run_lm({"eval", path("run")}).err.find(said), std::string::npos);
  write_pairs(folder_ / "", "valid", reversal_task(4, 10, {.letters = 6, .max_length = 6}));
  const Result result = run_lm({"eval", path("run")});
  EXPECT_EQ(result.status, 0);
  expect_contains(result.err, said);
}

TEST_F(TranslatorTest, RefusesTextsThatAreNoPairs) {
  write_bytes(path("train.bb"), bytes_of_file(path("train.bb")) + "a b\n");
  expect_refused(run_lm(train("run")), "400");
  write_bytes(path("train.bb"), "");
  expect_refused(run_lm(train("run")), "train.bb");
  fs::remove(path("train.bb"));
  expect_refused(run_lm(train("run")), "train.bb");
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(TranslatorTest, RefusesReferencesThatMetricsCannotRead) {
  write_bytes(path("valid.bb"), "\xe4" + bytes_of_file(path("valid.bb")));
  expect_refused(run_lm(train("run")), "valid.bb: line 1: not UTF-8");
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(TranslatorTest, ReplacesUnknownWordsByThoseAttendedTo) {
  write_pairs(folder_ / "", "train", reversal_task(1, 400, {.letters = 6, .min_length = 3, .max_length = 6}));
  // `<unk>`, `<eos>` and one letter.
  trained("run", {"data.max_size=3", "train.learning_rate=0.01"});
  const std::string input = "q r\vs\n";
  expect_contains(output_of_lm({"translate", path("run"), "--allow-unk"}, input), "<unk>");
  const std::string replaced =
      output_of_lm({"translate", path("run"), "--replace-unk", "--attention", path("a.jsonl")}, input);
  EXPECT_EQ(Json::parse(bytes_of_file(path("a.jsonl"))).at("source"), Json({"q", "r", "s", "</s>"}));
  EXPECT_EQ(replaced.find("<unk>"), std::string::npos) << replaced;
  EXPECT_NE(replaced.find_first_of("qrs"), std::string::npos) << replaced;
}

TEST_F(TranslatorTest, OfAFixedContextHasNoAttentionToShow) {
  trained("run", {"model.attention=none"});
  expect_refused(run_lm({"translate", path("run"), "--replace-unk"}, {.input = "a\n"}), "no attention");
  EXPECT_EQ(lines_in(output_of_lm({"translate", path("run")}, "a b\nc\n")).size(), 2u);
}

}  // namespace
}  // namespace rondo
