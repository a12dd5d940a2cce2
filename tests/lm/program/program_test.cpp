// The program from end to end: train, evaluate, score, sample, describe. What it refuses: refusals_test.cpp.
// Runs that are interrupted: resume_test.cpp.
#include "tests/lm/program/program.h"

#include <algorithm>
#include <cmath>
#include <regex>

namespace rondo {
namespace {

/// One run that the tests of this file read, and data for others.
class ProgramTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("run");
  }

  static std::string run() { return data->path("run"); }
  static std::vector<Words> score(const std::string& text, const Words& more = {}) {
    return cells_of(output_of_lm(Words{"score", run()} + more, text));
  }

  SmallData other;
};

TEST_F(ProgramTest, LearnsAndLogs) {
  std::vector<Json> updates, valid, test;
  for (const Json& entry : objects_in(*data / "run/log.jsonl"))
    (entry.at("event") == "steps" ? updates : entry.at("split") == "valid" ? valid : test).push_back(entry);
  ASSERT_EQ(test.size(), 1u);
  const auto steps = updates.size();
  EXPECT_EQ(steps, 12u * 15u) << "(150 x 8 - 1) / 8 symbols a stream, 10 a step";
  EXPECT_EQ(updates.back().at("step"), steps);
  EXPECT_EQ(valid.size(), steps / 5 + 1) << "and the best model once more";
  EXPECT_EQ(std::string(updates[0].at("time")).size(), std::string("2026-01-31T12:00:00Z").size());
  for (const char* key : {"step", "epoch", "nats", "learning_rate", "gradient_norm", "symbols_per_second"})
    EXPECT_TRUE(updates[0].at(key).is_number()) << key;
  for (const char* key : {"nats", "bits", "perplexity", "symbols", "seconds", "peak_bytes"})
    EXPECT_TRUE(test[0].at(key).is_number()) << key;
  EXPECT_EQ(test[0].at("symbols"), 20 * 8 - 1);
  // Three equally likely words: log 3 a word, and nothing for 1 line end in 8.
  const double entropy = 7.0 / 8 * std::log(3);
  EXPECT_GT(test[0].at("nats"), 0.9 * entropy);
  EXPECT_LT(test[0].at("nats"), 0.5 * std::log(13)) << "half of what knowing nothing costs";
}

TEST_F(ProgramTest, SaysWhyTrainingEndsEarly) {
  const std::string out =
      data->trained("early", {"--epochs", "500", "train.early_stopping=2", "train.eval_every=1"});
  expect_contains(out, "\nno improvement in 2 evaluations: the training ends\n");
}

TEST_F(ProgramTest, EndsWithASampleOfItsSeed) {
  const std::string out = other.trained("run", {"--epochs", "1", "report.sample=12", "train.seed=7"});
  expect_contains(out, "\na sample of 12 symbols:\n" +
                           output_of_lm({"generate", other.path("run"), "-n", "12", "--seed", "7"}));
}

TEST_F(ProgramTest, EvaluationsShowTheTrainingLossSinceTheLastOne) {
  const std::string told =
      data->trained("losses", {"--epochs", "2", "train.eval_every=0", "train.log_every=1"});
  std::vector<double> shown;
  for (const std::string& line : lines_in(told))
    if (const std::size_t at = line.find(" train "); line.starts_with("epoch ") && at != std::string::npos) {
      shown.push_back(std::stod(line.substr(at + 7)));
      expect_contains(line, "  evaluated in ");
    }
  std::vector<double> sums{0, 0}, counts{0, 0};  // by epoch; steps of one size weigh the same
  for (const Json& line : log_of(*data / "losses"))
    if (line.at("event") == "steps") {
      const std::size_t epoch = line.at("epoch").get<std::size_t>() - 1;
      sums.at(epoch) += line.at("nats").get<double>();
      ++counts.at(epoch);
    }
  ASSERT_EQ(shown.size(), 2U);
  expect_contains(told, "\nepoch 1    train ");
  expect_contains(data->trained("within", {"--steps", "5"}), "\nepoch 1    step 5       train ");
  for (const std::size_t epoch : {0U, 1U}) EXPECT_NEAR(shown[epoch], sums[epoch] / counts[epoch], 0.02);
}

TEST_F(ProgramTest, ResumedRunsSayWhereTheyContinue) {
  data->trained("continued", {"--epochs", "1"});
  expect_contains(output_of_lm(data->resume("continued")), "finished already, at step ");
  data->trained("beyond", {"--steps", "20"});  // within the second epoch
  EXPECT_TRUE(std::regex_search(output_of_lm({"table", "--markdown", data->path("beyond")}),
                                std::regex("1\\.[0-9][0-9] \\(20 steps\\)")));
  expect_contains(output_of_lm(data->resume("beyond", {"--epochs", "1"})),  // epochs in place of steps
                  "finished already, at step 20, epoch 2 of 1; --epochs N or --steps N train on\n");
  const Result table = run_lm({"table", "--markdown", data->path("beyond")});
  EXPECT_TRUE(std::regex_search(table.out, std::regex("[0-9]\\.[0-9][0-9] of 1 "))) << table.out;
  EXPECT_TRUE(std::regex_search(output_of_lm(data->resume("continued", {"--epochs", "2"})),
                                std::regex("resumed at step [1-9][0-9]*, epoch 2 of 2\n")));
}

TEST_F(ProgramTest, TheSizeOfTheVocabularyIsOneNumber) {
  expect_contains(data->trained("sized", {"--epochs", "1"}), "symbols, a vocabulary of 14 symbols, ");
  expect_contains(output_of_lm({"info", data->path("sized")}), "vocabulary  14 words");
  const Json counted =
      json_of_lm({"info", "--recipe", data->path("small.toml"), "--data", data->path("data")});
  EXPECT_EQ(counted.at("vocabulary_size"), 14);
  EXPECT_EQ(counted.at("parameters"), json_of_lm({"info", data->path("sized")}).at("parameters"));
  expect_refused({"info", "--recipe", "attention-multi30k", "--data", data->path("data")},
                 "--data: counts the vocabulary of language models");
}

TEST_F(ProgramTest, EvaluatesWhatTrainingReported) {
  double best = 1e9, test = 0;
  for (const Json& entry : log_of(run())) {
    if (!entry.contains("split")) continue;
    if (entry.at("split") == "valid") best = std::min(best, entry.at("nats").get<double>());
    if (entry.at("split") == "test") test = entry.at("nats");
  }
  const Json on_valid = json_of_lm({"eval", run(), "--threads", "1"});
  EXPECT_EQ(on_valid.at("nats"), best);
  EXPECT_EQ(on_valid.at("symbols"), 20 * 8 - 1) << "the first symbol is context";
  EXPECT_EQ(on_valid.at("unknowns"), 0);
  EXPECT_NEAR(on_valid.at("bits"), best / std::log(2), 1e-12);
  EXPECT_NEAR(on_valid.at("perplexity"), std::exp(best), 1e-9);
  EXPECT_EQ(json_of_lm({"eval", run(), "--split", "test", "--threads", "1"}).at("nats"), test);
  const std::string file = data->path("data/valid.txt");
  EXPECT_EQ(json_of_lm({"eval", run(), "--text", file, "--threads", "1"}).at("nats"), best);
  EXPECT_EQ(json_of_lm({"eval", run(), file, "--threads", "1"}).at("nats"), best);
  const std::string from_input =
      output_of_lm({"eval", run(), "-", "--json", "--threads", "1"}, bytes_of_file(file));
  EXPECT_EQ(Json::parse(from_input).at("nats"), best);
  expect_refused({"eval", run(), "test"}, "cannot be opened");
  const Json wide = json_of_lm({"eval", run(), "--streams", "7"});
  EXPECT_EQ(wide.at("symbols"), 20 * 8 - 1);
  EXPECT_NE(wide.at("nats"), best);
  expect_contains(output_of_lm({"eval", run()}), "159 symbols in ");
}

// Every tenth block is the validation text, and valid.txt is not read.
TEST_F(ProgramTest, EvaluatesTheBlocksOfFilesThatItHeldOut) {
  other.trained("blocks", {"--epochs", "1", "data.files=[\"train.txt\"]", "data.block_lines=5"});
  const Json last = log_of(other / "blocks").back();
  EXPECT_EQ(last.at("symbols"), 3 * 5 * 8 - 1) << "of 30 blocks";
  const Json eval = json_of_lm({"eval", other.path("blocks"), "--threads", "1"});
  EXPECT_EQ(eval.at("symbols"), last.at("symbols"));
  EXPECT_EQ(eval.at("nats"), last.at("nats"));
}

TEST_F(ProgramTest, SaysWhatUnknownSymbolsCost) {
  write_bytes(*data / "zebra.txt", "the cat\nthe zebra\n");
  const Result result = run_lm_well({"eval", run(), "--text", data->path("zebra.txt")});
  expect_contains(result.err, "never trained");
  expect_contains(result.out, "5 symbols in one stream\n");
  const Json json = json_of_lm({"eval", run(), "--text", data->path("zebra.txt")});
  EXPECT_EQ(json.at("unknowns"), 1);
  // The rows of `score` give the same figures: an empty first line is the context that `score` gives by
  // itself.
  write_bytes(*data / "zebra2.txt", "\nthe cat\nthe zebra\n");
  const Json with_context = json_of_lm({"eval", run(), "--text", data->path("zebra2.txt")});
  double all = 0, unknown = 0;
  for (const auto& row : score("the cat\nthe zebra\n", {"--stateful", "--per-symbol"})) {
    all -= std::stod(row.at(2));
    if (row.at(1) == "<unk>") unknown -= std::stod(row.at(2));
  }
  EXPECT_GT(unknown, 0);
  EXPECT_NEAR(with_context.at("nats"), all / 6, 1e-5);
  EXPECT_NEAR(with_context.at("perplexity_without_unknowns"), std::exp((all - unknown) / 5), 1e-3);
}

TEST_F(ProgramTest, WarnsThatTheTextHasChanged) {
  other.trained("run", {"--epochs", "1"});
  EXPECT_EQ(run_lm({"eval", other.path("run")}).err, "");
  write_bytes(other / "data/valid.txt", "the cat sat\n");
  const Result result = run_lm_well({"eval", other.path("run")});
  expect_contains(result.err, "changed");
  const std::string data = other.path("data");
  expect_refused({"eval", other.path("run"), "--data", data},
                 "not the text of this run, by its SHA-256; --data says where that text lies now");
  expect_refused({"probe", other.path("run"), "--data", data}, "not the text of this run");
}

TEST_F(ProgramTest, ScoresLines) {
  const auto rows = score("the cat sat\n\nthe cat sat");  // the last line has no newline
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at(1), "4") << "the line end is scored too";
  EXPECT_EQ(rows[1].at(1), "1");
  EXPECT_EQ(rows[2], rows[0]) << "each line from zero state";
  EXPECT_EQ(rows[0].at(2), "0");
  EXPECT_EQ(score("the cat sat\r\n"), score("the cat sat\n"));
  EXPECT_EQ(output_of_lm({"score", run()}), "");

  const auto symbols = score("the zebra\nsat\n", {"--per-symbol"});
  ASSERT_EQ(symbols.size(), 5u);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"1", "the"}, {"1", "<unk>"}, {"1", "<eos>"}, {"2", "sat"}, {"2", "<eos>"}};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(std::pair(symbols[i].at(0), symbols[i].at(1)), expected[i]);
  const double sum = std::stod(symbols[0].at(2)) + std::stod(symbols[1].at(2)) + std::stod(symbols[2].at(2));
  EXPECT_NEAR(std::stod(score("the zebra\n")[0].at(0)), sum, 1e-5);
  EXPECT_EQ(score("the zebra\n")[0].at(2), "1");
  EXPECT_NE(score("the cat\nthe cat\n", {"--stateful"})[0], score("the cat\nthe cat\n", {"--stateful"})[1]);
}

TEST_F(ProgramTest, LongLinesAreReadInPieces) {
  std::string line = other.text(200);
  std::ranges::replace(line, '\n', ' ');
  write_bytes(*data / "long.txt", "\n" + line + "\n");
  const auto rows = score(line + "\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at(1), "1401");
  const Json json = json_of_lm({"eval", run(), "--text", data->path("long.txt")});
  EXPECT_EQ(json.at("symbols"), 1401);
  EXPECT_NEAR(json.at("nats").get<double>() * 1401, -std::stod(rows[0].at(0)), 1e-2);
}

TEST_F(ProgramTest, Generates) {
  const auto generated = [](const Words& more) {
    return run_lm_well(Words{"generate", run(), "--threads", "1"} + more);
  };
  const Result once = generated({"--seed", "5", "-n", "30"});
  EXPECT_EQ(once.err, "");
  EXPECT_TRUE(once.out.ends_with('\n') && !once.out.ends_with("\n\n")) << once.out;
  EXPECT_EQ(once.out.find("<unk>"), std::string::npos);
  EXPECT_EQ(generated({"--seed", "5", "-n", "30"}).out, once.out);
  EXPECT_NE(generated({"--seed", "6", "-n", "30"}).out, once.out);
  EXPECT_EQ(generated({"--seed", "1", "-n", "30", "--temperature", "0"}).out,
            generated({"--seed", "2", "-n", "30", "--temperature", "0"}).out);
  EXPECT_EQ(generated({"--seed", "1", "-n", "30", "--top-k", "1"}).out,
            generated({"--seed", "2", "-n", "30", "--temperature", "0"}).out);

  const Result drawn = generated({"-n", "30"});
  const std::string said = "seed: ";
  ASSERT_TRUE(drawn.err.starts_with(said)) << drawn.err;
  const std::string seed = drawn.err.substr(said.size(), drawn.err.size() - said.size() - 1);
  EXPECT_EQ(generated({"--seed", seed, "-n", "30"}).out, drawn.out);

  EXPECT_EQ(generated({"--seed", "1", "--prompt", " the  cat ", "-n", "0"}).out, "the cat\n");
  EXPECT_TRUE(generated({"--seed", "1", "--prompt", "the cat", "-n", "3"}).out.starts_with("the cat"));
  EXPECT_EQ(generated({"--seed", "1", "--prompt", "the\n", "-n", "0"}).out, "the\n");
  const Result unknown = generated({"--seed", "1", "--prompt", "the zebra", "-n", "3"});
  EXPECT_TRUE(unknown.out.starts_with("the zebra")) << "as it was written";
  expect_contains(unknown.err, "zebra");
}

TEST_F(ProgramTest, DescribesARun) {
  const Json info = json_of_lm({"info", run()});
  EXPECT_EQ(info.at("vocabulary_size"), 14);
  std::int64_t count = 0;
  for (const Json& tensor : info.at("tensors")) {
    std::int64_t size = 1;
    for (const Json& extent : tensor.at("shape")) size *= extent.get<std::int64_t>();
    count += size;
  }
  EXPECT_EQ(info.at("parameters"), count);
  const std::string text = output_of_lm({"info", run()});
  for (const std::string& part :
       {std::string("weight_hh_l1"), std::string("[128,32]"), std::to_string(count)})
    expect_contains(text, part);
  for (const char* key : {"fp32", "bf16", "memory"}) {
    const std::string described = info.at(key);
    expect_contains(text, described.substr(0, described.find(',')));  // behind it is a ratio of two times
  }
}

// Lines from a zero state, one-hot symbols without a row for unknown ones.
TEST_F(ProgramTest, TrainsAndEvaluatesByLines) {
  other.trained("lines", {"--epochs", "1", "data.batching=lines", "data.unknown=false", "model.embedding=0",
                          "model.tied=false"});
  const Json it = json_of_lm({"eval", other.path("lines"), "--json"});
  EXPECT_EQ(it.at("by_lines"), true);
  EXPECT_EQ(it.at("symbols"), 160) << "the first one too";
  expect_contains(output_of_lm({"eval", other.path("lines")}), "symbols in lines from a zero state");
  const Json carried = json_of_lm({"eval", other.path("lines"), "--streams", "1", "--json"});
  EXPECT_EQ(carried.at("read"), "one stream");
  EXPECT_EQ(carried.at("symbols"), 159);
}

// Evaluations during training may be faster; the last ones are exact, as those of `lm eval` are.
TEST_F(ProgramTest, FinalFiguresAreExact) {
  other.trained("streams", {"--epochs", "1", "train.eval_streams=8"});
  const std::vector<Json> log = log_of(other / "streams");
  const Json& last = log.back();
  EXPECT_EQ(log.at(log.size() - 3).at("read"), "8 streams");
  EXPECT_EQ(last.at("split"), "test");
  EXPECT_EQ(last.at("read"), "one stream");
  const auto nats = [&](const std::string& streams) {
    return json_of_lm({"eval", other.path("streams"), "--split", "test", "--streams", streams}).at("nats");
  };
  EXPECT_EQ(nats("1"), last.at("nats"));
  EXPECT_NE(nats("8"), last.at("nats"));
  // What is kept: two figures of the training, then those of lm eval, with what they are of.
  const std::vector<Json> kept = objects_in(other / "streams/evaluations.jsonl");
  EXPECT_EQ(kept.size(), 4u);
  for (const Json& entry : kept) {
    EXPECT_EQ(entry.at("model"), other.model_digest("streams"));
    expect_contains(entry.at("version"), RONDO_VERSION);
    EXPECT_EQ(entry.at("sha256").size(), 3u);
  }
}

// How the last figures are read: crops in such sequences, and with the state carried on beside that.
TEST_F(ProgramTest, EvaluatesAsItTrains) {
  const std::string crops = "data.batching=crops";
  const std::vector<std::tuple<std::string, std::string, std::string>> rows = {
      {"data.evaluated_as=batching", "sequences of 10 from a zero state", "one stream"},
      {"model.trained_initial_states=true", "sequences of 10 from the trained initial state", "one stream"},
      {"data.evaluated_as=stream", "", "one stream"},
      {"train.final_streams=4", "", "4 streams"}};
  for (const auto& [setting, first, second] : rows) {
    other.trained(setting, {"--epochs", "1", crops, setting});
    const std::vector<Json> log = log_of(other / setting);
    EXPECT_EQ(log.back().at("read"), second) << setting;
    EXPECT_EQ(log.back().at("symbols"), 159);
    if (first.empty()) continue;
    EXPECT_EQ(log.at(log.size() - 2).at("read"), first) << setting;
    EXPECT_EQ(log.at(log.size() - 2).at("split"), "test");
    EXPECT_EQ(json_of_lm({"eval", other.path(setting), "--split", "test"}).at("read"), first);
    EXPECT_EQ(rows_of_table({other.path(setting)})[0].at("test reading"), first);
  }
}

// Characters and bytes, and a text without any line end.
TEST_F(ProgramTest, OtherUnits) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "äbc";
  write_bytes(other / "one.txt", text);
  for (const std::string unit : {"characters", "bytes"}) {
    output_of_lm(other.train_on("one.txt", unit, {"--epochs", "2", "train.batch=4", "data.unit=" + unit}));
    const auto rows = cells_of(output_of_lm({"score", other.path(unit), "--per-symbol"}, "äbc\n"));
    ASSERT_EQ(rows.size(), unit == "bytes" ? 3u : 2u)
        << "the first symbol is context, and no line end is known";
    EXPECT_EQ(rows[0].at(1), unit == "bytes" ? "\\xa4" : "b");
    const std::string written = output_of_lm(
        {"generate", other.path(unit), "--prompt", "ä", "-n", "4", "--seed", "1", "--temperature", "0"});
    EXPECT_TRUE(written.starts_with("ä") && written.ends_with('\n')) << written;
  }
}

}  // namespace
}  // namespace rondo
