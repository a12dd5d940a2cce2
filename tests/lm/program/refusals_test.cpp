// Bad input to the program: exit status 2, one line on stderr, nothing on stdout, and no half-written run
// folder. What a resumed training refuses: resume_test.cpp.
#include <algorithm>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class RefusalsTest : public SmallRunTest {
 protected:
  static void SetUpTestSuite() {
    SmallRunTest::SetUpTestSuite();
    data->trained("letters", {"--epochs", "1", "data.unit=characters"});
    fs::remove(*data / "data/test.txt");
    fs::create_directory(*data / "empty");
    write_bytes(*data / "empty.txt", "");
    write_bytes(*data / "latin.txt", std::string(200, 'a') + "\n\xe4\n" + std::string(200, 'b'));
  }

  static void expect_data_refused(const std::string& text, const std::string& part, const Words& more = {}) {
    expect_refused(data->train_on(text, "new", more), part);
    EXPECT_FALSE(fs::exists(*data / "new"));
  }
  /// A copy of the run in which one file has other bytes (none: the file is gone) is not opened, which every
  /// command does in the same way.
  static void expect_broken(const std::string& file, const std::optional<std::string>& bytes,
                            const std::string& part) {
    const fs::path copy = *data / "broken";
    fs::remove_all(copy);
    fs::copy(*data / "run", copy);
    fs::remove(copy / file);
    if (bytes) write_bytes(copy / file, *bytes);
    expect_refused({"eval", copy}, part);
  }
  static std::string run() { return data->path("run"); }
};

TEST_F(RefusalsTest, RunsThatAreMeant) {
  expect_refused({"train", "--recipe", run(), "--data", "x"}, "a folder, where a file is expected");
  expect_refused({"train", "--out", run()}, "to continue a run, --out RUN --resume");
  expect_refused({"eval", run(), run() + "/vocab.txt", run() + "/vocab.txt"}, "unexpected argument");
  expect_refused({"eval", "one"}, "no run at one: no such folder");
  expect_refused({"train", "--recipe", "char-lstm"}, "--data");
  expect_refused({"train", "--recipe", "char-lstm", "--data", "-"}, "standard input cannot be read again");
  expect_refused({"info", "--recipe", "zaremba-small"}, "--vocab-size");
}

// Which recipes and settings are refused, and how: settings_test.cpp, toml_test.cpp, recipes_test.cpp.
TEST_F(RefusalsTest, Settings) {
  expect_refused_training(*data, {"model.hiden=3"}, "model.hidden");
  expect_refused_training(*data, {"model.hidden=1000000"}, "training would take more than");
  expect_refused_training(*data, {"data.batching=crops", "train.length=100000"}, "crops of 100000");
  expect_refused_training(*data, {"--epochs", "0"}, "--epochs 0");
  expect_refused_training(*data, {"--seed", "-1"}, "--seed -1");
}

// Folders and files that are missing, empty or short: tests/data/text/corpus_test.cpp.
TEST_F(RefusalsTest, Texts) {
  expect_data_refused(data->path("empty.txt"), "empty.txt: empty");
  expect_data_refused(data->path("latin.txt"),
                      "iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW, or --set data.unit=bytes",
                      {"data.unit=characters"});
  expect_data_refused(data->path("latin.txt"), "batch", {"train.batch=5000", "train.micro_batch=0"});

  // Before the first step, not at the first evaluation; of the text for tests as well.
  expect_refused_training(
      *data, {"train.eval_streams=160"},
      "train.eval_streams: 160 evaluation streams are too many for 160 symbols; use fewer\n");
  write_bytes(*data / "data/test.txt", "the cat sat\n");
  expect_refused_training(
      *data, {"train.final_streams=8"},
      "train.final_streams: 8 evaluation streams are too many for 4 symbols; use fewer\n");
  fs::remove(*data / "data/test.txt");

  write_bytes(*data / "one_symbol.txt", std::string(300, 'a'));
  expect_data_refused(data->path("one_symbol.txt"), "one symbol only", {"data.unit=bytes"});
  expect_data_refused("/dev/zero", "a device, where a file is expected");

  fs::create_directory(*data / "partial");
  write_bytes(*data / "partial/train.txt", data->text(20));
  write_bytes(*data / "partial/valid.txt", "a");
  expect_data_refused(data->path("partial"), "the first being context",
                      {"data.unit=characters", "data.strip_lines=false"});
  if (geteuid() != 0) {
    fs::permissions(*data / "partial/train.txt", fs::perms::none);
    expect_data_refused(data->path("partial"), "cannot be opened");
  }

  expect_refused({"eval", run(), "--text", data->path("empty.txt")}, "empty");
  expect_refused({"eval", run(), "--text", data->path("empty")}, "a folder");
  expect_refused({"eval", data->path("letters"), "--text", data->path("latin.txt")},
                 "not UTF-8 at byte 201 (line 2)");
  const Result missing = run_lm({"eval", run(), "--split", "test"});
  EXPECT_EQ(missing.status, 2);
  expect_contains(missing.err, "there is no test text");

  const Result score = run_lm({"score", data->path("letters")}, {.input = "the cat\n\xff\n"});
  EXPECT_EQ(score.status, 2);
  expect_contains(score.err, "standard input, line 2: not UTF-8 at byte 0: 0xff");
  const Result endless = run_lm({"score", run()}, {.input = "the cat\n" + std::string(4'194'305, 'x')});
  EXPECT_EQ(endless.status, 2);
  EXPECT_EQ(std::ranges::count(endless.out, '\n'), 1);
  expect_contains(endless.err, "standard input, line 2: longer than 4194304 bytes; split it");
}

TEST_F(RefusalsTest, OutputFolders) {
  const std::string before = data->model_digest("run");
  expect_refused(data->train("run"), "holds a run already");
  EXPECT_EQ(data->model_digest("run"), before);
}

// Damaged weights: tests/data/files/safetensors_test.cpp, tests/mutations.
TEST_F(RefusalsTest, BrokenRuns) {
  for (const std::string command : {"eval", "score", "generate", "info"}) {
    expect_refused({command, data->path("none")}, "no run at");
    expect_refused({command, data->path("data")}, "config.toml");
    expect_refused({command, data->path("empty.txt")}, "it is a file");
  }
  const std::string model = data->model_bytes("run"), vocabulary = bytes_of_file(*data / "run/vocab.txt"),
                    config = bytes_of_file(*data / "run/config.toml"), hidden = "\nhidden = [32]";
  std::string wider = config;
  ASSERT_NE(config.find(hidden), std::string::npos);
  wider.replace(config.find(hidden), hidden.size(), "\nhidden = [33]");
  const std::string weights = "model.safetensors", of_model = "vocab.txt: not the vocabulary";
  expect_broken(weights, std::nullopt, "holds no model");
  expect_broken(weights, model.substr(0, model.size() - 1), weights);
  expect_broken(weights, data->model_bytes("letters"), "belongs to another recipe");
  expect_broken("vocab.txt", std::nullopt, "vocab.txt");
  for (const std::string& bytes : {std::string(), vocabulary + "zebra\n", vocabulary + "\\q\n"})
    expect_broken("vocab.txt", bytes, of_model);
  expect_broken("config.toml", "", "config.toml: made_by.version is missing: truncated?");
  expect_broken("config.toml", config.substr(0, config.find("[made_by]")), "is missing: truncated?");
  expect_broken("config.toml", wider, "another recipe");
}

TEST_F(RefusalsTest, StandardOutputThatIsFull) {
  for (const Words& words : {Words{"eval", run()}, {"generate", run(), "--seed", "1"}, {"info", run()}}) {
    const Result result = run_lm(words, {.stdout_file = "/dev/full"});
    EXPECT_EQ(result.status, 1);
    expect_contains(result.err, "standard output");
  }
}

}  // namespace
}  // namespace rondo
