// Files of a run that are not what was written: single flipped bits, and something else altogether in their
// place. Each ends in one line, at once and without taking memory.
#include <sys/stat.h>

#include <random>

#include "lm/training/checkpoint.h"
#include "tests/lm/program/program.h"
#include "tests/lm/training/small_training.h"
#include "tests/lm/training/training.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

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

class DamageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("run", {"--epochs", "2"});
  }
  static void TearDownTestSuite() { delete data; }

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
  static void expect_refused_at_once(const std::vector<std::string>& words, const std::string& part) {
    SCOPED_TRACE(words.front());
    Program program(words);
    const auto begin = std::chrono::steady_clock::now();
    const bool hangs = program.wait_until(
        [&] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(60); });
    EXPECT_FALSE(hangs);
    const Result result = program.end(hangs ? SIGKILL : 0);
    expect_refused(result, part);
    EXPECT_LT(result.processor_seconds, 5);
    EXPECT_LT(result.max_kibibytes, kibibytes_at_the_beginning() + 60 * 1024);
  }
  static void expect_refused_by_all(const fs::path& run, const std::string& part) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"info", run}, {"eval", run}, {"score", run}, {"generate", run}})
      expect_refused_at_once(words, part);
    expect_refused_at_once(data->resume("copy"), part);
  }

  static SmallData* data;
};
SmallData* DamageTest::data = nullptr;

void make_random(const fs::path& path) {
  std::mt19937_64 random(1);
  std::string bytes(1 << 20, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  write_bytes(path, bytes);
}
void make_sparse(const fs::path& path) {
  write_bytes(path, "");
  fs::resize_file(path, std::uintmax_t{3} << 30);
}
void make_pipe(const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0666), 0); }
void make_folder(const fs::path& path) { fs::create_directory(path); }
void make_loop(const fs::path& path) { fs::create_symlink(path, path); }

TEST_F(DamageTest, FilesThatAreSomethingElse) {
  for (const auto& replace : {make_random, make_sparse, make_pipe, make_folder})
    for (const std::string file : {"config.toml", "vocab.txt", "model.safetensors"}) {
      const fs::path run = fresh();
      fs::remove(run / file);
      replace(run / file);
      expect_refused_by_all(run, file);
    }
  for (const auto& replace : {make_random, make_sparse, make_pipe, make_folder}) {
    const fs::path run = fresh();
    fs::remove(run / "state.safetensors");
    replace(run / "state.safetensors");
    expect_refused_at_once(data->resume("copy"), "state.safetensors");
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
  make_loop(run / "model.safetensors");
  expect_refused_at_once({"info", run}, "model.safetensors: cannot be opened");
}

// The layouts are compared before any memory is taken.
TEST_F(DamageTest, AConfigurationOfAHugeModel) {
  const fs::path run = fresh();
  std::string config = bytes_of_file(run / "config.toml");
  const std::string hidden = "\nhidden = [32]";
  ASSERT_NE(config.find(hidden), std::string::npos);
  write_bytes(run / "config.toml", config.replace(config.find(hidden), hidden.size(), "\nhidden = [20000]"));
  expect_refused_by_all(run, "belongs to another recipe");
  expect_refused_at_once({"finetune", run, "--out", data->path("new"), "--set", "finetune.learning_rate=1"},
                         "belongs to another recipe");
  EXPECT_FALSE(fs::exists(*data / "new"));
}

// Not when the resumed training has ended, and reads its best model for the last figures.
TEST_F(DamageTest, OfTheBestModelIsFoundBeforeARunGoesOn) {
  const fs::path run = fresh(), model = run / "model.safetensors";
  const std::string state = bytes_of_file(run / "state.safetensors"), log = bytes_of_file(run / "log.jsonl");
  flip_bit(model, 8 * fs::file_size(model) - 1);
  expect_refused_at_once(data->resume("copy", {"--epochs", "3"}), "model.safetensors: damaged: its values");
  expect_refused_at_once(data->resume("copy", {"--epochs", "3"}), "restore a copy, or train a new run");
  fs::remove(model);
  expect_refused_at_once(data->resume("copy", {"--epochs", "3"}), "model.safetensors: missing");
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
  const Result result = run_lm({"eval", run, "--threads", "1"});
  EXPECT_EQ(result.status, 0) << result.err;
  expect_contains(result.err, "lm: warning: " + run.string() + "/model.safetensors: written without SHA-256");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  const Result resumed = run_lm(data->resume("copy", {"--epochs", "3"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  expect_contains(resumed.err, "state.safetensors: written without SHA-256");
  EXPECT_TRUE(Safetensors(run / "state.safetensors").has_digests());
}

}  // namespace
}  // namespace rondo
