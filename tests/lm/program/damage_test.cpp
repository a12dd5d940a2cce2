// Files of a run that are not what was written: flipped bits, links, pipes, folders, a size without end. Each
// ends in one line, at once and without taking memory. Files that say something wrong: refusals_test.cpp.
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <random>

#include "lm/training/checkpoint.h"
#include "tests/address_sanitizer.h"
#include "tests/lm/program/program.h"
#include "tests/lm/training/small_training.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

// ---- flipped bits, noticed by what reads the files ----

/// Flips random bits of a file, one at a time; how many of them `read` refuses in one line.
template <class Read>
int noticed(const fs::path& path, int flips, Read read) {
  EXPECT_NO_THROW(read());
  const std::uintmax_t bits = 8 * fs::file_size(path);
  std::mt19937_64 random(1);
  int count = 0;
  for (int i = 0; i < flips; ++i) {
    const std::size_t bit = random() % bits;
    flip_bit(path, bit);
    try {
      read();
      ADD_FAILURE() << "bit " << bit % 8 << " of byte " << bit / 8;
    } catch (const InputError& error) {
      const std::string line = error.what();
      count += line.starts_with(path.string()) && line.find('\n') == std::string::npos;
    }
    flip_bit(path, bit);
  }
  EXPECT_NO_THROW(read());
  return count;
}

TEST(Damage, EveryFlippedBitIsNoticed) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = some_ids();
  const Recipe recipe = small_recipe("lstm");
  Training training(recipe, 11, ids);
  advance(training, 3);
  const fs::path model = folder / "model", state = folder / "state";
  save_model(model, training.model);
  training.trainer.save(state, 42);
  const LanguageModel layout(training.model.options(), 11, 1, Device::meta);
  constexpr int flips = 500;
  EXPECT_EQ(noticed(model, flips, [&] { load_model(model, training.model); }), flips);
  EXPECT_EQ(noticed(model, flips, [&] { check_model(model, layout); }), flips);
  EXPECT_EQ(noticed(state, flips, [&] { training.trainer.load(state); }), flips);
}

// ---- something else in the place of a file ----

class DamageTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("run", {"--epochs", "1"});
  }

  /// A copy of the run.
  static fs::path fresh() {
    const fs::path copy = *data / "copy";
    fs::remove_all(copy);
    fs::copy(*data / "run", copy);
    return copy;
  }

  /// Of the program and its libraries alone: CUDA's are large.
  static int64_t kibibytes_at_the_beginning() {
    static const int64_t kibibytes = run_lm({"--version"}).max_kibibytes;
    return kibibytes;
  }
  /// EXPECT that these words are refused in one line that contains `part`, in no time and memory.
  static void expect_refused_at_once(const Words& words, const std::string& part) {
    SCOPED_TRACE(words.front());
    const Result result = run_lm(words, {.max_seconds = 60});
    expect_refused(result, part);
    EXPECT_LT(result.processor_seconds, 5);
    EXPECT_LT(result.max_kibibytes, kibibytes_at_the_beginning() + 60 * 1024);
  }
  static void expect_not_opened(const fs::path& run, const std::string& part) {
    expect_refused_at_once({"eval", run}, part);
    expect_refused_at_once(data->resume("copy"), part);
  }
};

/// What may stand in the place of a file, and what is said of it where lines are expected.
struct Other {
  std::string text;
  std::function<void(const fs::path&)> make;
};
const std::vector<Other> others = {
    {"a folder", [](const fs::path& path) { fs::create_directory(path); }},
    {"a pipe", [](const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
    {"a line of more than",
     [](const fs::path& path) {
       write_bytes(path, "");
       fs::resize_file(path, std::uintmax_t{3} << 30);
     }},
};

TEST_F(DamageTest, FilesThatAreSomethingElse) {
  for (const Other& other : others)
    for (const std::string file : {"config.toml", "vocab.txt", "model.safetensors", "state.safetensors"}) {
      const fs::path run = fresh();
      fs::remove(run / file);
      other.make(run / file);
      if (file == "state.safetensors")
        expect_refused_at_once(data->resume("copy"), file);
      else
        expect_not_opened(run, file);
    }
}

TEST_F(DamageTest, LinesThatAreSomethingElse) {
  for (const auto& [what, make] : others)
    for (const std::string file : {"log.jsonl", "evaluations.jsonl"}) {
      const fs::path run = fresh();
      fs::remove(run / file);
      make(run / file);
      expect_refused({"table", run}, file + ": " + what);
      if (file == "evaluations.jsonl")
        expect_contains(run_lm({"eval", run}).err, file + ": " + what);
      else
        expect_refused(data->resume("copy"),
                       file + ": " + (what.starts_with("a line") ? "was changed since the state" : what));
    }
}

TEST_F(DamageTest, LinksAreReadThrough) {
  const fs::path run = fresh();
  for (const std::string file : {"config.toml", "vocab.txt", "model.safetensors"}) {
    fs::rename(run / file, *data / file);
    fs::create_symlink(*data / file, run / file);
  }
  EXPECT_EQ(output_of_lm({"eval", run, "--threads", "1"}),
            output_of_lm({"eval", *data / "run", "--threads", "1"}));
  fs::remove(run / "model.safetensors");
  fs::create_symlink("model.safetensors", run / "model.safetensors");
  for (const std::string command : {"eval", "table"})
    expect_refused_at_once({command, run}, "Too many levels of symbolic links");
}

TEST_F(DamageTest, NothingIsWrittenThroughALink) {
  const std::string precious = "precious\n";
  const fs::path target = *data / "precious.txt";
  write_bytes(target, precious);
  for (const std::string file : {"config.toml", "vocab.txt", "model.safetensors", "state.safetensors"}) {
    const fs::path run = fresh();
    fs::create_symlink(target, run / (file + ".partial"));
    output_of_lm(data->resume("copy", {"--epochs", "2"}));
    EXPECT_EQ(bytes_of_file(target), precious) << file;
    EXPECT_FALSE(fs::is_symlink(run / file));
  }
  const fs::path run = fresh();
  for (const std::string file : {"log.jsonl", "evaluations.jsonl"}) {
    fs::rename(run / file, *data / file);
    fs::create_symlink(*data / file, run / file);
  }
  const std::string evaluations = bytes_of_file(*data / "evaluations.jsonl"),
                    log = bytes_of_file(*data / "log.jsonl");
  expect_refused(data->resume("copy", {"--epochs", "2"}), "log.jsonl: a symbolic link");
  const Result measured = run_lm_well({"eval", run});
  expect_contains(measured.err, "not kept with the run: ");
  expect_contains(measured.err, "evaluations.jsonl: a symbolic link");
  EXPECT_TRUE(bytes_of_file(*data / "evaluations.jsonl") == evaluations);
  EXPECT_TRUE(bytes_of_file(*data / "log.jsonl") == log);
  expect_contains(output_of_lm({"table", run}), "small");  // reading them changes nothing
}

// A line that somebody has put in would be the begin of another.
TEST_F(DamageTest, ALogThatWasEdited) {
  const fs::path run = fresh();
  const std::string log = "# my notes\n" + bytes_of_file(run / "log.jsonl"),
                    config = bytes_of_file(run / "config.toml");
  write_bytes(run / "log.jsonl", log);
  expect_refused(data->resume("copy", {"--epochs", "2"}), "log.jsonl: was changed since the state");
  EXPECT_TRUE(bytes_of_file(run / "log.jsonl") == log);
  EXPECT_TRUE(bytes_of_file(run / "config.toml") == config);
  fs::rename(run / "log.jsonl", run / "notes");
  output_of_lm(data->resume("copy", {"--epochs", "2"}));
}

TEST_F(DamageTest, ALastLineWithoutItsNewline) {
  const fs::path run = fresh(), file = run / "evaluations.jsonl";
  const std::string whole = bytes_of_file(file);
  write_bytes(file, whole.substr(0, whole.size() - 1));
  output_of_lm({"eval", run});
  EXPECT_TRUE(bytes_of_file(file).starts_with(whole));
}

// A pipe that nobody writes into is not waited for.
TEST_F(DamageTest, APipeInThePlaceOfTheText) {
  const fs::path run = fresh(), folder = *data / "pipes";
  fs::copy(*data / "data", folder);
  fs::remove(folder / "valid.txt");
  ASSERT_EQ(mkfifo((folder / "valid.txt").c_str(), 0600), 0);
  const Program::Surroundings no_waiting{.max_seconds = 60};
  Words words = data->train("never", {"--epochs", "1"});
  words[4] = folder;
  expect_refused(run_lm(words, no_waiting), "valid.txt: a pipe, where a file is expected");
  const std::string config = bytes_of_file(run / "config.toml"), text = data->path("data");
  for (const std::string& place : {std::string(folder), std::string(folder / "valid.txt")}) {
    write_bytes(run / "config.toml", config);
    replace_in_file(run / "config.toml", text + '"', place + '"');
    for (const auto& command : std::vector<Words>{{"eval", run}, data->resume("copy")})
      expect_refused(run_lm(command, no_waiting), "valid.txt: a pipe, where a file is expected");
  }
}

TEST_F(DamageTest, NoMoreFilesToOpenAreNoFaultOfTheInput) {
#ifdef RONDO_ADDRESS_SANITIZER
  GTEST_SKIP() << "the sanitizer opens files of its own";
#endif
  fresh();
  expect_refused(run_lm(data->resume("copy"), {.max_open_files = 2}), "Too many open files", 1);
}

// The layouts are compared before any memory is taken.
TEST_F(DamageTest, AConfigurationOfAHugeModel) {
  const fs::path run = fresh();
  replace_in_file(run / "config.toml", "\nhidden = [32]", "\nhidden = [20000]");
  expect_not_opened(run, "belongs to another recipe");
  expect_refused_at_once({"finetune", run, "--out", data->path("new"), "finetune.learning_rate=1"},
                         "belongs to another recipe");
  EXPECT_FALSE(fs::exists(*data / "new"));
}

// Not when the resumed training has ended, and reads its best model for the last figures.
TEST_F(DamageTest, OfTheBestModelIsFoundBeforeARunGoesOn) {
  const fs::path run = fresh(), model = run / "model.safetensors";
  const std::string state = bytes_of_file(run / "state.safetensors"), log = bytes_of_file(run / "log.jsonl");
  flip_bit(model, 8 * fs::file_size(model) - 1);
  expect_refused_at_once(data->resume("copy", {"--epochs", "2"}), "model.safetensors: damaged: its values");
  expect_refused_at_once(data->resume("copy", {"--epochs", "2"}), "restore a copy");
  fs::remove(model);
  expect_refused_at_once(data->resume("copy", {"--epochs", "2"}), "model.safetensors: missing");
  EXPECT_TRUE(bytes_of_file(run / "state.safetensors") == state);
  EXPECT_EQ(bytes_of_file(run / "log.jsonl"), log);
}

TEST_F(DamageTest, FilesWithoutDigestsAreReadWithOneWarning) {
  const fs::path run = fresh();
  for (const std::string name : {"model.safetensors", "state.safetensors"}) {
    std::string bytes = bytes_of_file(run / name);
    for (const std::string digest : {"\"header_sha256\"", "\"values_sha256\""}) {
      const std::size_t at = bytes.find(digest);
      const std::size_t end = bytes.find('"', at + digest.size() + 2) + 1;
      const std::size_t comma = bytes[at - 1] == ',' ? at - 1 : at;  // blanks keep the header's length
      bytes.replace(comma, end - comma, std::string(end - comma, ' '));
    }
    write_bytes(run / name, bytes);
  }
  const Result result = run_lm_well({"eval", run, "--threads", "1"});
  expect_contains(result.err, "lm: warning: " + run.string() + "/model.safetensors: written without SHA-256");
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  const Result resumed = run_lm_well(data->resume("copy", {"--epochs", "2"}));
  expect_contains(resumed.err, "state.safetensors: written without SHA-256");
  EXPECT_TRUE(Safetensors(run / "state.safetensors").has_digests());
}

}  // namespace
}  // namespace rondo
