// Files of a run that somebody has replaced: by links, pipes, folders, or a size without end. Those that say
// something wrong: refusals_test.cpp.
#include <sys/stat.h>

#include <functional>

#include "tests/address_sanitizer.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

class HostileFilesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    data = new SmallData;
    data->trained("run", {"--epochs", "1"});
  }
  static void TearDownTestSuite() { delete data; }

  /// A copy of the run.
  static fs::path copy() {
    const fs::path run = *data / "copy";
    fs::remove_all(run);
    fs::copy(*data / "run", run);
    return run;
  }

  static SmallData* data;
};
SmallData* HostileFilesTest::data = nullptr;

TEST_F(HostileFilesTest, NothingIsWrittenThroughALink) {
  const std::string precious = "precious\n";
  const fs::path target = *data / "precious.txt";
  write_bytes(target, precious);
  for (const std::string file : {"config.toml", "vocab.txt", "model.safetensors", "state.safetensors"}) {
    const fs::path run = copy();
    fs::create_symlink(target, run / (file + ".partial"));
    output_of_lm(data->resume("copy", {"--epochs", "2"}));
    EXPECT_EQ(bytes_of_file(target), precious) << file;
    EXPECT_FALSE(fs::is_symlink(run / file));
  }
  const fs::path run = copy();
  for (const std::string file : {"log.jsonl", "evaluations.jsonl"}) {
    fs::rename(run / file, *data / file);
    fs::create_symlink(*data / file, run / file);
  }
  const std::string evaluations = bytes_of_file(*data / "evaluations.jsonl"),
                    log = bytes_of_file(*data / "log.jsonl");
  expect_refused(run_lm(data->resume("copy", {"--epochs", "2"})), "log.jsonl: a symbolic link");
  const Result measured = run_lm({"eval", run});
  EXPECT_EQ(measured.status, 0);
  expect_contains(measured.err, "not kept with the run: ");
  expect_contains(measured.err, "evaluations.jsonl: a symbolic link");
  EXPECT_TRUE(bytes_of_file(*data / "evaluations.jsonl") == evaluations);
  EXPECT_TRUE(bytes_of_file(*data / "log.jsonl") == log);
  expect_contains(output_of_lm({"table", run}), "small");  // reading them changes nothing
}

TEST_F(HostileFilesTest, WhatIsNoFileOfLines) {
  const std::vector<std::pair<std::string, std::function<void(const fs::path&)>>> kinds{
      {"a folder", [](const fs::path& path) { fs::create_directory(path); }},
      {"a pipe", [](const fs::path& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
      {"a line of more than", [](const fs::path& path) {
         write_bytes(path, "");
         fs::resize_file(path, std::uintmax_t{3} << 30);
       }}};
  for (const auto& [what, make] : kinds)
    for (const std::string file : {"log.jsonl", "evaluations.jsonl"}) {
      const fs::path run = copy();
      fs::remove(run / file);
      make(run / file);
      expect_refused(run_lm({"table", run}), file + ": " + what);
      if (file == "evaluations.jsonl") {
        expect_contains(run_lm({"eval", run}).err, file + ": " + what);
      } else if (what == "a line of more than") {
        expect_refused(run_lm(data->resume("copy")), file + ": was changed since the state");
        EXPECT_EQ(fs::file_size(run / file), std::uintmax_t{3} << 30);
      } else {
        expect_refused(run_lm(data->resume("copy")), file + ": " + what);
      }
    }
}

// A line that somebody has put in would be the begin of another.
TEST_F(HostileFilesTest, ALogThatWasEdited) {
  const fs::path run = copy();
  const std::string log = "# my notes\n" + bytes_of_file(run / "log.jsonl"),
                    config = bytes_of_file(run / "config.toml");
  write_bytes(run / "log.jsonl", log);
  expect_refused(run_lm(data->resume("copy", {"--epochs", "2"})), "log.jsonl: was changed since the state");
  EXPECT_TRUE(bytes_of_file(run / "log.jsonl") == log);
  EXPECT_TRUE(bytes_of_file(run / "config.toml") == config);
  fs::rename(run / "log.jsonl", run / "notes");
  output_of_lm(data->resume("copy", {"--epochs", "2"}));
}

TEST_F(HostileFilesTest, ALastLineWithoutItsNewline) {
  const fs::path run = copy(), file = run / "evaluations.jsonl";
  const std::string whole = bytes_of_file(file);
  write_bytes(file, whole.substr(0, whole.size() - 1));
  output_of_lm({"eval", run});
  EXPECT_TRUE(bytes_of_file(file).starts_with(whole));
}

// A pipe that nobody writes into is not waited for.
TEST_F(HostileFilesTest, APipeInThePlaceOfTheText) {
  const fs::path run = copy(), folder = *data / "pipes";
  fs::copy(*data / "data", folder);
  fs::remove(folder / "valid.txt");
  ASSERT_EQ(mkfifo((folder / "valid.txt").c_str(), 0600), 0);
  const Program::Surroundings no_waiting{.max_seconds = 60};
  std::vector<std::string> words = data->train("never", {"--epochs", "1"});
  words[4] = folder;
  expect_refused(run_lm(words, no_waiting), "valid.txt: a pipe, where a file is expected");
  const std::string config = bytes_of_file(run / "config.toml"), text = data->path("data");
  for (const std::string& place : {std::string(folder), std::string(folder / "valid.txt")}) {
    std::string changed = config;
    changed.replace(changed.find(text + '"'), text.size(), place);
    write_bytes(run / "config.toml", changed);
    for (const auto& command : std::vector<std::vector<std::string>>{{"eval", run}, data->resume("copy")})
      expect_refused(run_lm(command, no_waiting), "valid.txt: a pipe, where a file is expected");
  }
}

TEST_F(HostileFilesTest, NoMoreFilesToOpenAreNoFaultOfTheInput) {
#ifdef RONDO_ADDRESS_SANITIZER
  GTEST_SKIP() << "the sanitizer opens files of its own";
#endif
  copy();
  expect_refused(run_lm(data->resume("copy"), {.max_open_files = 2}), "Too many open files", 1);
}

TEST_F(HostileFilesTest, ALinkToItself) {
  const fs::path run = copy();
  fs::remove(run / "model.safetensors");
  fs::create_symlink("model.safetensors", run / "model.safetensors");
  for (const std::string command : {"eval", "table"})
    expect_refused(run_lm({command, run}), "Too many levels of symbolic links");
}

}  // namespace
}  // namespace rondo
