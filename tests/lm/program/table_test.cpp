// `lm table`: which runs share a row, its columns, what it knows of finished, stopped, imported and older
// runs, where published figures stand beside measured ones, and what it refuses.
#include <cmath>
#include <filesystem>

#include "data/files/input_file.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// A run on words, and one on characters that a paper reports in bits; data for runs of a test's own.
class TableTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("words", {"--epochs", "2", "published.valid=5.5", "published.test=4.25"});
    data->trained("letters",
                  {"--epochs", "1", "data.unit=characters", "published.test=1.375", "published.unit=bits"});
  }

  static std::string words() { return data->path("words"); }
  static std::string letters() { return data->path("letters"); }
  static std::string log() { return bytes_of_file(fs::path(words()) / "log.jsonl"); }
  /// A copy of the run on words with another log and no evaluations; empty: without a log.
  static std::string with_log(const std::string& log) {
    const fs::path copy = *data / "copy";
    fs::remove_all(copy);
    fs::copy(words(), copy);
    fs::remove(copy / "log.jsonl");
    fs::remove(copy / "evaluations.jsonl");
    if (!log.empty()) write_bytes(copy / "log.jsonl", log);
    return copy;
  }
  /// The cells of a table in Markdown.
  static std::vector<Words> markdown_of(const Words& runs) {
    std::vector<Words> rows = cells_of(output_of_lm(Words{"table", "--markdown"} + runs), '|');
    for (Words& row : rows) row.erase(row.begin());  // before the first '|'
    return rows;
  }

  SmallData other;
};

TEST_F(TableTest, HasWhatTheRunsMeasured) {
  const Json rows = rows_of_table({letters(), words()});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("recipe"), "small (letters)") << "in the order given";
  EXPECT_EQ(rows[0].at("unit"), "characters") << "a setting that differs is a column";
  const Json& row = rows[1];
  Json valid, test;
  for (const Json& entry : log_of(words())) {
    if (entry.value("split", "") == "test") test = entry;
    if (entry.value("split", "") == "valid") valid = entry;  // the last is that of the best model
  }
  for (const char* key : {"nats", "perplexity", "symbols"}) {
    EXPECT_EQ(row.at(std::string("valid ") + key), valid.at(key)) << key;
    EXPECT_EQ(row.at(std::string("test ") + key), test.at(key)) << key;
  }
  EXPECT_EQ(row.at("test reading"), "one stream");
  EXPECT_EQ(row.at("valid published"), 5.5);
  EXPECT_EQ(row.at("test published"), 4.25);
  EXPECT_EQ(rows[0].at("valid published"), nullptr);
  EXPECT_EQ(rows[0].at("test published"), 1.375);
  EXPECT_EQ(row.at("epochs"), 2);
  EXPECT_GT(row.at("training time"), 0);
  EXPECT_EQ(row.at("parameters"), json_of_lm({"info", words()}).at("parameters"));
  EXPECT_EQ(row.at("test bits"), nullptr) << "of words";
  EXPECT_EQ(rows[0].at("test perplexity"), nullptr) << "of characters";
  // Figures per symbol of words and of characters cannot be compared, bits per byte of one text can.
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(rows[i].at("test bits/byte"),
              json_of_lm({"eval", i == 0 ? letters() : words(), "--split", "test"}).at("bits_per_byte"));
  EXPECT_FALSE(rows_of_table({words()})[0].contains("test bits/byte"));

  const std::vector<Words> cells = markdown_of({letters(), words()});
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_EQ(cells[0].size(), rows[0].size());
  for (const auto& line : cells) EXPECT_EQ(line.size(), cells[0].size());
  EXPECT_EQ(cells[2][0], "`small (letters)`");
  EXPECT_EQ(cells[2][3], "1.375 bits");
  EXPECT_NEAR(std::stod(cells[3][4]), row.at("test nats"), 5e-5);
}

TEST_F(TableTest, TextStandsInColumns) {
  const Words lines = lines_in(output_of_lm({"table", words(), letters()}));
  ASSERT_GE(lines.size(), 6u);
  EXPECT_TRUE(lines[0].starts_with("in all rows: test reading: one stream; valid reading: one stream"));
  EXPECT_TRUE(lines[4].starts_with("small (words)    "));
  EXPECT_TRUE(lines[5].starts_with("small (letters)  "));
  const std::size_t end = lines[3].find("parameters") + 10;  // numbers end where the header ends
  for (int row : {4, 5}) EXPECT_EQ(lines[row].find(' ', end - 1), end) << lines[row];
  for (const std::string& line : lines) EXPECT_LE(columns_of(line), 120) << line;
}

TEST_F(TableTest, RunsThatDifferInTheirSeedAreOneLine) {
  Words runs;
  std::vector<double> nats;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("run-{}", i);
    other.trained(
        name, {"--epochs", "1", "--seed", i == 1 ? "2" : "1", i < 2 ? "model.dropout=0" : "model.dropout=0.5",
               i == 1 ? "train.probe_every=1" : "train.probe_every=0"});  // changes no figure
    runs.push_back(other.path(name));
    nats.push_back(rows_of_table({runs.back()})[0].at("test nats"));
  }
  const Json rows = rows_of_table(runs);
  ASSERT_EQ(rows.size(), 2u) << "another dropout is another line";
  const double mean = (nats[0] + nats[1]) / 2, deviation = std::abs(nats[0] - nats[1]) / std::sqrt(2.0);
  EXPECT_EQ(rows[0].at("runs"), 2);
  EXPECT_EQ(rows[0].at("test nats").at("n"), 2);
  EXPECT_NEAR(rows[0].at("test nats").at("mean"), mean, 1e-12);
  EXPECT_NEAR(rows[0].at("test nats").at("deviation"), deviation, 1e-12);
  EXPECT_EQ(rows[1].at("dropout"), 0.5);
  EXPECT_EQ(rows[1].at("test nats"), nats[2]);
  expect_contains(output_of_lm({"table", "--markdown", runs[0], runs[1]}),
                  fmt::format("| {:.4f} ± {:.4f} |", mean, deviation));

  // A seed counts once, two folders of one name are told apart by their paths, and figures of different
  // settings have no mean.
  fs::create_directories(other / "copy");
  fs::copy(runs[0], other / "copy/run-0", fs::copy_options::recursive);
  const Json twice = rows_of_table({runs[0], other.path("copy/run-0")});
  ASSERT_EQ(twice.size(), 2u);
  EXPECT_EQ(twice[1].at("recipe"), "small (" + other.path("copy/run-0") + ")");
  output_of_lm({"eval", runs[0], "--split", "test", "--cache"});
  EXPECT_EQ(rows_of_table({runs[0], runs[1]})[0].at("test cache perplexity"),
            rows_of_table({runs[0]})[0].at("test cache perplexity"));
  output_of_lm({"eval", runs[1], "--split", "test", "--cache", "cache.lambda=0.5"});
  EXPECT_FALSE(rows_of_table({runs[0], runs[1]})[0].contains("test cache perplexity"));
}

TEST_F(TableTest, RunsOnSeveralTextsSayOnWhich) {
  write_bytes(other / "data/train.txt", other.text(200));
  other.trained("run", {"--epochs", "1"});
  EXPECT_FALSE(rows_of_table({words(), letters()})[0].contains("text")) << "one text";
  expect_contains(run_lm({"table", words(), letters()}).err, "runs of one text have vocabularies of");
  EXPECT_EQ(run_lm({"table", words(), words()}).err.find("vocabularies"), std::string::npos);
  const Json rows = rows_of_table({words(), letters(), other.path("run")});
  EXPECT_EQ(rows[0].at("text"), rows[1].at("text"));
  std::string digests;
  for (const char* split : {"train.txt", "valid.txt", "test.txt"})
    digests += (digests.empty() ? "" : "\n") + sha256_hex(bytes_of_file(other / "data" / split));
  EXPECT_EQ(rows[2].at("text"), "data " + sha256_hex(digests).substr(0, 8));
}

TEST_F(TableTest, SaysWhatIsUnfinished) {
  // Up to the line of the first evaluation, as when it was stopped there; the state is that of a finished
  // run.
  const std::string first = log().substr(0, log().find("\"split\""));
  const std::string stopped = with_log(log().substr(0, log().find('\n', first.size()) + 1));
  fs::remove(fs::path(stopped) / "state.safetensors");
  Json row = rows_of_table({stopped})[0];
  EXPECT_EQ(row.at("state"), "unfinished");
  EXPECT_LT(row.at("epochs"), 1);
  EXPECT_TRUE(row.at("valid nats").is_number());
  EXPECT_FALSE(row.contains("test nats"));
  expect_contains(output_of_lm({"table", stopped}), "0.34 of 2  unfinished  ");
  for (const std::string& start : {log().substr(0, log().find('\n') + 1), std::string()}) {
    const std::string run = with_log(start);
    row = rows_of_table({run})[0];
    EXPECT_EQ(row.size(), 3u) << "recipe, parameters, state: " << row;
    EXPECT_EQ(row.at("state"), "unfinished");
    expect_contains(run_lm({"table", run}).err, "the run is unfinished");
  }
  // Killed in the middle of a line.
  EXPECT_EQ(rows_of_table({with_log(log() + "{\"step\":1")}), rows_of_table({with_log(log())}));
}

TEST_F(TableTest, CountsTheStepsOfARunThatWasStopped) {
  other.trained("run", {"--steps", "5", "train.eval_every=2"});
  const std::string run = other.path("run"), log = bytes_of_file(fs::path(run) / "log.jsonl");
  expect_contains(output_of_lm({"table", run}), "(5 steps)");
  const std::size_t second = log.find("\"evaluation\"", log.find("\"evaluation\"") + 1);
  write_bytes(fs::path(run) / "log.jsonl", log.substr(0, log.find('\n', second) + 1));
  fs::remove(fs::path(run) / "state.safetensors");
  expect_contains(output_of_lm({"table", run}), "(4 of 5 steps)");
}

TEST_F(TableTest, HasWhatEvalMeasured) {
  other.trained("run", {"--epochs", "1", "published.dynamic_test=3.5"});
  const std::string run = other.path("run");
  const auto eval = [&](Words more) {
    if (more.empty() || more[0] != "--text") more.insert(more.begin(), {"--split", "test"});
    more.insert(more.begin(), {"eval", run});
    return json_of_lm(more);
  };
  const auto row = [&] { return rows_of_table({run})[0]; };
  const Json exact = row();
  EXPECT_NE(eval({"--streams", "4"}).at("nats"), exact.at("test nats"));
  EXPECT_EQ(row(), exact) << "what is read as published goes before";
  const Json dynamic = eval({"--dynamic"});
  eval({"--dynamic", "--cache"});
  const Json both = eval({"--dynamic", "--cache", "cache.theta=0.5"});
  EXPECT_EQ(row().at("test dynamic perplexity"), dynamic.at("perplexity"));
  EXPECT_EQ(row().at("test dynamic published"), 3.5);
  EXPECT_EQ(row().at("test dynamic+cache perplexity"), both.at("perplexity")) << "the last of its kind";
  const Json measured = row();
  eval({"--text", other.path("data/test.txt"), "--cache"});
  EXPECT_EQ(row(), measured) << "a file of the user's";
  eval({"--cache", "cache.lambda=1", "cache.window=1"});
  EXPECT_EQ(row(), measured) << "infinite";
  const std::string text = bytes_of_file(other / "data/test.txt");
  write_bytes(other / "data/test.txt", "the cat sat\n");
  eval({"--cache"});
  eval({});
  EXPECT_EQ(row(), measured) << "of a text that has changed since";
  write_bytes(other / "data/test.txt", text);

  // What was measured of a model that the run has no more is left out; what is left is the log's.
  std::string model = bytes_of_file(other / "run/model.safetensors");
  model.back() ^= 1;
  write_bytes(other / "run/model.safetensors", model);
  EXPECT_FALSE(row().contains("test dynamic perplexity"));
  const std::string kept = bytes_of_file(other / "run/evaluations.jsonl");
  write_bytes(other / "run/evaluations.jsonl", kept + "{}\n");
  expect_refused({"table", run}, "evaluations.jsonl:11: not a line that `lm eval` keeps");
  Json line = Json::parse(kept.substr(0, kept.find('\n')));
  line["symbols"] = 1e300;
  write_bytes(other / "run/evaluations.jsonl", line.dump() + "\n");
  expect_refused(
      run_lm({"table", run}),
      "evaluations.jsonl:1: not a line that `lm eval` keeps (symbols must be a whole number below 2^63)");
}

TEST_F(TableTest, AnImportedRunHasNoEpochs) {
  output_of_lm({"export", words(), "--out", data->path("exported")});
  output_of_lm({"import", data->path("exported"), "--out", data->path("imported")});
  const Json rows = rows_of_table({data->path("imported"), words()});
  for (const char* column : {"epochs", "training time"}) EXPECT_EQ(rows[0].at(column), nullptr);
  EXPECT_EQ(rows[0].at("state"), "imported");
  EXPECT_EQ(rows[1].at("state"), "finished");
}

TEST_F(TableTest, KnowsTheEndOfARunWithoutTestText) {
  fs::remove(other / "data/test.txt");
  other.trained("run", {"--epochs", "1"});
  const Json first = rows_of_table({other.path("run")})[0];
  EXPECT_FALSE(first.contains("state"));
  EXPECT_FALSE(first.contains("test nats"));
  output_of_lm(other.resume("run", {"--epochs", "2"}));
  EXPECT_GT(rows_of_table({other.path("run")})[0].at("training time"), first.at("training time"));
}

TEST_F(TableTest, LogsOfVersion02HaveNoTrainingTime) {
  std::string older = log();
  for (std::size_t at; (at = older.find("\"training_seconds\"")) != std::string::npos;)
    older.erase(at, older.find(',', at) + 1 - at);
  EXPECT_FALSE(rows_of_table({with_log(older)})[0].contains("training time"));
}

// JSON has null for what is not finite, as the perplexity of a large loss.
TEST_F(TableTest, AFigureThatIsNotFiniteIsADash) {
  std::string lines;
  for (Json& entry : objects_in(fs::path(words()) / "log.jsonl")) {
    if (entry.value("split", "") == "test") entry["nats"] = entry["perplexity"] = nullptr;
    lines += entry.dump() + '\n';
  }
  const Json rows = rows_of_table({with_log(lines), words()});
  for (const auto& [column, value] : rows[0].items())
    EXPECT_EQ(value.is_null(), column == "test nats" || column == "test perplexity") << column;
}

TEST_F(TableTest, Refusals) {
  expect_refused({"table", data->path("absent")}, "no run at");
  expect_refused({"table", data->path("data")}, "holds no config.toml");
  const Result outcome = run_lm({"table", "--json", data->path("absent"), words()});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(Json::parse(outcome.out).at("rows").size(), 1u) << "a broken folder costs its row alone";
  const std::string good = "{\"step\":1,\"epoch\":1}\n";
  for (const std::string bad :
       {"{\"step\":2,", "[]", "3", "", "{}", "{\"split\":\"valid\",\"nats\":1}",
        "{\"step\":2,\"epoch\":1e300}",
        "{\"split\":\"exam\",\"nats\":1,\"bits\":1,\"perplexity\":1,\"symbols\":1,\"best\":true,\"epoch\":1}",
        "{\"split\":\"test\",\"nats\":\"one\",\"bits\":1,\"perplexity\":1,\"symbols\":1}"})
    expect_refused({"table", with_log(good + bad + "\n")}, "log.jsonl:2: ");
  const std::string copy = with_log(good);
  fs::remove(fs::path(copy) / "vocab.txt");
  expect_refused({"table", copy}, "vocab.txt");
}

TEST(Published, OfARecipeAreOfItsModelAndItsTraining) {
  const auto changed = [](bool finetuned, const Words& texts) {
    std::vector<Setting> settings;
    for (const std::string& text : texts) settings.push_back(parse_setting(text));
    return changed_keys(resolve_recipe("zaremba-small", settings), finetuned);
  };
  EXPECT_EQ(changed(false, {"train.seed=2", "train.eval_every=3", "train.micro_batch=10"}), Words{});
  EXPECT_EQ(changed(false, {"model.dropout=0.1", "train.epochs=1"}),
            (Words{"model.dropout", "train.epochs"}));
  EXPECT_EQ(changed(false, {"train.optimizer=adam", "train.learning_rate=0.01"}),
            (Words{"train.optimizer", "train.learning_rate"}));
  EXPECT_EQ(changed(false, {"finetune.learning_rate=0.5"}), Words{});
  EXPECT_EQ(changed(true, {"finetune.learning_rate=0.5"}), Words{"finetune.learning_rate"});
  EXPECT_EQ(changed(true, {"train.optimizer=adam", "train.learning_rate=0.01"}), Words{});
}

TEST_F(TableTest, PublishedFiguresStandBesideTheRecipeAlone) {
  const auto table = [&](const std::string& name, const Words& settings) {
    const std::string run = other.path(name), tuned = run + "-tuned";
    Words words = other.train(
        name, {"published.vocabulary=0", "published.test_symbols=0", "published.finetuned_test=99"});
    words[2] = "zaremba-small";
    output_of_lm(words + settings);
    output_of_lm({"finetune", run, "--out", tuned, "--threads", "1"});
    return std::pair(run_lm({"table", "--markdown", run}), output_of_lm({"table", "--markdown", tuned}));
  };
  const auto [same, same_tuned] = table("same", {"--seed", "2", "train.eval_every=3"});
  expect_contains(same.out, "114.5 perplexity");
  expect_contains(same_tuned, "99 perplexity");
  const auto [changed, changed_tuned] = table("changed", {"--epochs", "1", "model.hidden=20"});
  EXPECT_EQ(changed.out.find("114.5"), std::string::npos);
  expect_contains(changed.err,
                  "settings are not those of the recipe zaremba-small: model.hidden, train.epochs\n");
  EXPECT_EQ(changed_tuned.find("99 perplexity"), std::string::npos) << "finetuned from another base";
}

TEST_F(TableTest, PublishedFiguresStandBesideTheSameTextAndKindAlone) {
  other.trained("base", {"--epochs", "1", "published.cache_test=3", "published.finetuned_test=4",
                         "published.test=4.25", "published.unit=bits"});
  const std::string config = bytes_of_file(other / "base/config.toml");
  const auto published_beside = [&](const std::string& key, const std::string& number) {
    replace_in_file(other / "base/config.toml", "\n" + key + " = 0", "\n" + key + " = " + number);
    const Result outcome = run_lm({"table", "--markdown", other.path("base")});
    write_bytes(other / "base/config.toml", config);
    const bool beside = outcome.out.find("4.25 bits") != std::string::npos;
    EXPECT_EQ(outcome.err.find("are left out") != std::string::npos, !beside);
    return beside;
  };
  EXPECT_TRUE(published_beside("test_symbols", "0")) << "not known";
  EXPECT_TRUE(published_beside("test_symbols", "160"));
  EXPECT_FALSE(published_beside("test_symbols", "170"));
  EXPECT_FALSE(published_beside("vocabulary", "41"));
  output_of_lm({"finetune", other.path("base"), "--out", other.path("finetuned"),
                "finetune.learning_rate=0.1", "--epochs", "1"});
  const std::vector<Words> rows = markdown_of({other.path("base"), other.path("finetuned")});
  EXPECT_EQ(rows[2][2], "4.25 bits");
  EXPECT_EQ(rows[3][2], "4 bits");
}

}  // namespace
}  // namespace rondo
