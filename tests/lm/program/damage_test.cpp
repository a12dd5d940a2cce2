// Files of a run that are not what was written: links, pipes, folders, edited logs, damaged models. What is
// said of them; that each is refused at once and without taking memory, and that flipped bits are noticed:
// tests/mutations. Files that say something wrong: refusals_test.cpp.
#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "data/files/safetensors.h"
#include "tests/address_sanitizer.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class DamageTest : public SmallRunTest {
 protected:
  /// A copy of the run.
  static fs::path fresh() {
    const fs::path copy = *data / "copy";
    fs::remove_all(copy);
    fs::copy(*data / "run", copy);
    return copy;
  }

  const fs::path run = fresh();
};

/// What may stand in the place of a file, and what is said of it where lines are expected.
const std::pair<std::string, std::function<void(const fs::path&)>> others[] = {
    {"a folder", [](const fs::path& path) { fs::create_directory(path); }},
    {"a pipe", [](const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
    {"a line of more than", [](const fs::path& path) {
       write_bytes(path, "");
       fs::resize_file(path, std::uintmax_t{3} << 30);
     }}};

TEST_F(DamageTest, LinesThatAreSomethingElse) {
  for (const auto& [what, make] : others)
    for (const std::string file : {"log.jsonl", "evaluations.jsonl"}) {
      fresh();
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
  for (const std::string file : {"config.toml", "vocab.txt", "model.safetensors"}) {
    fs::rename(run / file, *data / file);
    fs::create_symlink(*data / file, run / file);
  }
  EXPECT_EQ(output_of_lm({"eval", run, "--threads", "1"}),
            output_of_lm({"eval", *data / "run", "--threads", "1"}));
  fs::remove(run / "model.safetensors");
  fs::create_symlink("model.safetensors", run / "model.safetensors");
  for (const std::string command : {"eval", "table"})
    expect_refused({command, run}, "Too many levels of symbolic links");
}

TEST_F(DamageTest, NoEvaluationIsWrittenThroughALink) {
  const fs::path kept = *data / "kept.jsonl";
  fs::rename(run / "evaluations.jsonl", kept);
  fs::create_symlink(kept, run / "evaluations.jsonl");
  const std::string evaluations = bytes_of_file(kept);
  const Result measured = run_lm_well({"eval", run});
  expect_contains(measured.err, "not kept with the run: ");
  expect_contains(measured.err, "evaluations.jsonl: a symbolic link");
  EXPECT_TRUE(bytes_of_file(kept) == evaluations);
  expect_contains(output_of_lm({"table", run}), "small");  // reading them changes nothing
}

// A line that somebody has put in would be the begin of another.
TEST_F(DamageTest, ALogThatWasEdited) {
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
  const fs::path file = run / "evaluations.jsonl";
  const std::string whole = bytes_of_file(file);
  write_bytes(file, whole.substr(0, whole.size() - 1));
  output_of_lm({"eval", run});
  EXPECT_TRUE(bytes_of_file(file).starts_with(whole));
}

// A pipe that nobody writes into is not waited for.
TEST_F(DamageTest, APipeInThePlaceOfTheText) {
  const fs::path folder = *data / "pipes";
  fs::copy(*data / "data", folder);
  fs::remove(folder / "valid.txt");
  ASSERT_EQ(mkfifo((folder / "valid.txt").c_str(), 0600), 0);
  const Program::Surroundings no_waiting{.max_seconds = 60};
  expect_refused(run_lm(data->train_on(folder, "never"), no_waiting),
                 "valid.txt: a pipe, where a file is expected");
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
  expect_refused(run_lm(data->resume("copy"), {.max_open_files = 2}), "Too many open files", 1);
}

TEST_F(DamageTest, OfAStateIsFoundBeforeARunGoesOn) {
  const fs::path state = run / "state.safetensors";
  flip_bit(state, 8 * fs::file_size(state) - 1);
  expect_refused(data->resume("copy", {"--epochs", "2"}), "state.safetensors: damaged: its values");
}

// Not when the resumed training has ended, and reads its best model for the last figures.
TEST_F(DamageTest, OfTheBestModelIsFoundBeforeARunGoesOn) {
  const fs::path model = run / "model.safetensors";
  const std::string state = bytes_of_file(run / "state.safetensors"), log = bytes_of_file(run / "log.jsonl");
  flip_bit(model, 8 * fs::file_size(model) - 1);
  expect_refused(data->resume("copy", {"--epochs", "2"}), "model.safetensors: damaged: its values");
  expect_refused(data->resume("copy", {"--epochs", "2"}), "restore a copy");
  fs::remove(model);
  expect_refused(data->resume("copy", {"--epochs", "2"}), "model.safetensors: missing");
  EXPECT_TRUE(bytes_of_file(run / "state.safetensors") == state);
  EXPECT_EQ(bytes_of_file(run / "log.jsonl"), log);
}

TEST_F(DamageTest, FilesWithoutDigestsAreReadWithOneWarning) {
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
