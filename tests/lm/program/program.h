// The built program `lm`, started as a user starts it. For tests that need no process of their own, call the
// functions of lm/program/*.h. Out of line, because reading JSON is slow to compile: program.cpp.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "data/text/text.h"
#include "tests/temporary_folder.h"

namespace rondo {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The program's words: before each setting, as model.hidden=8, stands --set, unless it is there.
Words with_set(const Words& words);

struct Result {
  int status = -1;  // of exit; 128 + the signal if one ended the program
  std::string out, err;
};

class Program {
 public:
  struct Surroundings {
    std::string input{};                     // on stdin
    std::string stdin_file{};                // instead of the input
    bool input_is_closed = false;            // as after <&-
    std::string stdout_file{};               // instead of Result::out
    std::string folder{};                    // the current one; empty: that of the tests
    std::optional<rlim_t> max_file_bytes{};  // as on a disk that is full
    std::optional<rlim_t> max_open_files{};  // of its own
    bool ignores_broken_pipes = false;       // as after trap '' PIPE
    unsigned max_seconds = 0;                // where it might never end; 0: any
  };

  /// Starts `lm` with these words, where a setting needs no --set: with_set().
  explicit Program(const Words& words) : Program(words, Surroundings()) {}
  Program(const Words& words, const Surroundings& around);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool runs();
  /// Waits until `done` holds or the program has ended; whether it still runs.
  template <class Condition>
  bool wait_until(Condition done) {
    while (runs() && !done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return runs();
  }
  Result end(int signal = 0);

 private:
  TemporaryFolder folder_;
  pid_t process_ = -1;
};

Result run_lm(const Words& words, const Program::Surroundings& around = {});

/// The same, where it must go well.
Result run_lm_well(const Words& words, const Program::Surroundings& around = {});

/// The same; stdout.
std::string output_of_lm(const Words& words, const std::string& input = "");

/// What it prints with --json: of all of stdout, as nothing else may be there.
Json json_of_lm(const Words& words);
/// The rows of `lm table` by the names of its columns.
Json rows_of_table(const Words& runs);

/// EXPECT that `result` is a refusal: this status, one line on stderr that contains `part`, nothing on
/// stdout.
void expect_refused(const Result& result, const std::string& part, int status = 2);
void expect_refused(const Words& words, const std::string& part, int status = 2);

std::size_t lines_of(const fs::path& path);
Words lines_in(const std::string& text);
/// Returns what blanks and ends of lines separate.
Words words_in(const std::string& text);
/// An object a line, as of log.jsonl.
std::vector<Json> objects_in(const fs::path& path);

/// The cells of a table, a row a line, without the blanks around them.
std::vector<Words> cells_of(const std::string& table, char between = '\t');

/// The log without what depends on the clock.
std::vector<Json> log_of(const fs::path& run);

/// A small recipe in a folder of the test, and a folder data/ beside it, which a test's own class fills.
class ToyTraining {
 public:
  explicit ToyTraining(const std::string& recipe, const std::string& file = "toy.toml");

  fs::path operator/(const std::string& name) const { return folder_ / name; }
  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const { write_bytes(folder_ / name, bytes); }

  /// `lm train` of the recipe to the run `name`, with further words; on another text than that of data/.
  Words train(const std::string& name, const Words& more = {}) const { return train_on("data", name, more); }
  Words train_on(const fs::path& text, const std::string& name, const Words& more = {}) const;
  Words resume(const std::string& name, const Words& more = {}) const;
  /// Trains the run `name` where it must go well; what it prints.
  std::string trained(const std::string& name, const Words& more = {}) const;
  std::string model_bytes(const std::string& name) const;
  /// Instead of the bytes, where they are compared: a failure prints both sides.
  std::string model_digest(const std::string& name) const;

  /// Of the log of a training with these settings, without its learning rates: a failure prints both sides.
  std::string digest_of_log(const Words& settings);

 protected:
  /// A random number.
  std::size_t next(std::size_t below);

 private:
  TemporaryFolder folder_;
  std::string recipe_file_;
  std::uint64_t random_ = 1;
  int logs_ = 0;
};

/// EXPECT that a training with these words is refused, before its run is made.
void expect_refused_training(const ToyTraining& data, const Words& more, const std::string& part);

/// EXPECT that each of these settings changes what a training of so many epochs logs. Several are joined by
/// '&'; before '|' stands what the training has besides, where the setting would else have nothing to act on.
void expect_each_has_an_effect(ToyTraining& data, const std::string& settings, int epochs = 1);

/// Trains `whole`, and `killed`, which is killed when its log has `lines` lines, stopped by SIGTERM, killed
/// again, and each time resumed. EXPECT that their models, their logs and these files are the same.
void expect_resumes_to_the_same_bytes(const ToyTraining& data, const Words& more,
                                      const std::array<std::size_t, 3>& lines, const Words& files = {});

/// Of two trainings with these words that differ in train.probe_every = 1 alone, "plain" and "probed": the
/// model and the log are the same but for the lines of probes, which see `layer` and name the `loss`; and
/// `lm probe` shows them.
void expect_probes(const ToyTraining& data, const std::string& layer, const std::string& loss,
                   const Words& more = {});

/// A folder for the ids of long texts, in place of the user's, for this process and the programs it starts.
class CacheFolder {
 public:
  CacheFolder() {
    if (const char* given = std::getenv(name)) before_ = given;
    setenv(name, folder_.path().c_str(), 1);
  }
  ~CacheFolder() { before_ ? setenv(name, before_->c_str(), 1) : unsetenv(name); }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;

  /// Where the program puts its files.
  fs::path path() const { return folder_ / "rondo"; }

 private:
  static constexpr const char* name = "XDG_CACHE_HOME";
  TemporaryFolder folder_;
  std::optional<std::string> before_;
};

/// A data folder and small.toml, a training on it that takes about a second.
class SmallData : public ToyTraining {
 public:
  SmallData();

  /// Lines of a walk through twelve words: after each come only three others, so there is something to learn.
  std::string text(int lines);

 private:
  std::size_t word_ = 0;
};

/// Tests of one data folder and of the runs that their SetUpTestSuite() trains on it.
class SmallDataTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { data = new SmallData; }
  static void TearDownTestSuite() { delete data; }

  inline static SmallData* data = nullptr;
};

/// With a run of one epoch, "run".
class SmallRunTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("run", {"--epochs", "1"});
  }
};

}  // namespace rondo
