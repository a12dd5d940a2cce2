#include <gtest/gtest.h>

#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// Makes a folder the current one while it lives.
class InFolder {
 public:
  explicit InFolder(const fs::path& path) : before_(fs::current_path()) { fs::current_path(path); }
  ~InFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

TEST(RunFolder, TakesTheFirstFreeNumber) {
  const TemporaryFolder folder;
  const InFolder inside(folder.path());
  EXPECT_EQ(make_run_folder("", "demo").path, "runs/demo-1");
  EXPECT_EQ(make_run_folder("", "demo").path, "runs/demo-2");
  EXPECT_EQ(make_run_folder("", "other").path, "runs/other-1");
  write_bytes("runs/demo-3", "a file in the way");
  EXPECT_EQ(make_run_folder("", "demo").path, "runs/demo-4");
  EXPECT_TRUE(fs::is_directory("runs/demo-4"));
}

TEST(RunFolder, IsNamedAfterTheRecipeAndKnowsWhereItsTextIs) {
  const SmallData data;
  const Program::Surroundings inside{.folder = data.path("data")};
  const Result trained =
      run_lm_well({"train", "--recipe", data.path("small.toml"), "data.files=[\"train.txt\"]",
                   "data.block_lines=5", "--epochs", "1", "--threads", "1"},
                  inside);
  const RunFolder run = open_run_folder(data / "data/runs/small-1");
  EXPECT_TRUE(fs::equivalent(read_config(run).made_by.data, data / "data"));
  const Result finetuned = run_lm_well(
      {"finetune", "runs/small-1", "finetune.learning_rate=0.1", "--epochs", "1", "--threads", "1"}, inside);
  EXPECT_TRUE(fs::exists(data / "data/runs/small-finetuned-1/model.safetensors"));
}

TEST(RunFolder, RunsThatCannotBeMade) {
  const TemporaryFolder folder;
  const InFolder inside(folder.path());
  write_bytes("runs", "a file");
  expect_contains(error_of<Error>([] { make_run_folder("", "demo"); }), "runs");
  expect_contains(error_of<Error>([] { make_run_folder("runs/x", "demo"); }), "runs/x");
}

TEST(RunFolder, RefusesWhatIsThere) {
  const TemporaryFolder folder;
  const auto run = folder / "run";
  EXPECT_NO_THROW(check_new_run_folder(run));
  EXPECT_FALSE(fs::exists(run)) << "checking makes nothing";
  fs::create_directory(run);
  EXPECT_NO_THROW(check_new_run_folder(run)) << "empty";
  write_bytes(run / "letter.txt", "dear");
  expect_contains(error_of([&] { make_run_folder(run, "demo"); }), "not empty");
  write_bytes(run / "config.toml", "");
  expect_contains(error_of([&] { make_run_folder(run, "demo"); }), "holds a run already");
  write_bytes(folder / "file", "");
  expect_contains(error_of([&] { check_new_run_folder(folder / "file"); }), "a file of that name");
  EXPECT_EQ(make_run_folder(folder / "deep" / "er", "demo").path, folder / "deep" / "er");
}

TEST(RunFolder, IsWholeOrUnfinished) {
  const TemporaryFolder folder;
  const auto run = folder / "run", link = folder / "link";
  fs::create_directory(run);
  fs::permissions(run, fs::perms::owner_all);
  fs::create_directory_symlink(run, link);
  const auto fail = [](const RunFolder& made) {
    write_bytes(made.path / "part", "");
    throw Error("full");
  };
  EXPECT_EQ(error_of<Error>([&] { make_whole_folder(link, "", fail); }), "full");
  write_bytes(run / "of a user", "");
  expect_contains(error_of([&] { make_run_folder(run, ""); }), "the folder is not empty");
  const auto write = [&](const RunFolder& made) {
    expect_contains(error_of([&] { make_whole_folder(run, "", fail); }), "another process writes into it");
    write_bytes(made.path / "all", "");
  };
  EXPECT_EQ(make_whole_folder(link, "", write).path, link);
  EXPECT_FALSE(fs::exists(run / "unfinished.partial"));
  for (const char* file : {"all", "part", "of a user"}) EXPECT_TRUE(fs::exists(run / file)) << file;
  EXPECT_EQ(fs::status(run).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(fs::is_symlink(link));
  expect_contains(error_of([&] { make_whole_folder(link, "", write); }), "the folder is not empty");
  write_bytes(run / "unfinished.partial", "");
  write_bytes(run / "config.toml", "");
  expect_contains(error_of([&] { make_whole_folder(run, "", write); }), "holds a run already");
}

TEST(RunFolder, ConfigReadsBack) {
  const TemporaryFolder folder;
  const RunFolder run{folder.path()};
  RunConfig config;
  config.recipe = resolve_recipe("zaremba-medium", {parse_setting("model.output_layers=[3, 4]")});
  Provenance& it = config.made_by;
  it.version = "1.2", it.command = "lm train 'a b'", it.data = "/data/ptb",
  it.initialized_from = "/runs/base";
  it.device = Device::cuda, it.precision = Precision::tf32, it.threads = 3, it.ranks = 2;
  it.sha256 = {"00ff  train.txt", "01ff  valid.txt"};
  config.recipe.trainer.optimizer.learning_rate = 0;
  write_config(run, config);
  RunConfig back = read_config(run);
  EXPECT_EQ(write_toml(keys_of(back.recipe)), write_toml(keys_of(config.recipe)));
  EXPECT_EQ(write_toml(keys_of(back.made_by)), write_toml(keys_of(config.made_by)));
  EXPECT_EQ(back.made_by.sha256, it.sha256);
  EXPECT_EQ(back.recipe.trainer.optimizer.learning_rate, 0);
  EXPECT_EQ(back.recipe.finetune.learning_rate, std::nullopt);
}

const std::string made_by = "[made_by]\nversion = \"1\"\nthreads = 1\nsha256 = [\"00ff  a.txt\"]\n";

// Versions before wrote 0 for a rate that was not given, and said so in a comment.
TEST(RunFolder, ARateOfZeroIsTheDefaultWhereAnOldConfigSaysSo) {
  const TemporaryFolder folder;
  const RunFolder run{folder.path()};
  for (const std::string none : {"0", "-1"}) {
    write_bytes(run.config(), "[train]\nlearning_rate = 0  # " + none + ": the optimizer's own default\n" +
                                  "[finetune]\nlearning_rate = 0  # " + none + ": train.learning_rate\n" +
                                  made_by);
    const Recipe recipe = read_config(run).recipe;
    EXPECT_EQ(recipe.trainer.optimizer.learning_rate, none == "0" ? std::nullopt : std::optional(0.0));
    EXPECT_EQ(recipe.finetune.learning_rate, recipe.trainer.optimizer.learning_rate);
  }
}

TEST(RunFolder, AConfigThatCouldNotBeReadIsNotWritten) {
  const TemporaryFolder folder;
  const RunFolder run{folder.path()};
  RunConfig config;
  config.made_by.version = "1";
  config.made_by.threads = 1;
  config.made_by.sha256.assign(35'000, std::string(64, 'a') + "  " + std::string(40, 'b'));
  write_config(run, config);
  EXPECT_EQ(read_config(run).made_by.sha256.size(), 35'000u);
  config.made_by.sha256.resize(40'000, config.made_by.sha256[0]);
  const std::string before = bytes_of_file(run.config());
  expect_contains(error_of([&] { write_config(run, config); }), "let data.files match fewer files");
  EXPECT_TRUE(bytes_of_file(run.config()) == before);
}

TEST(RunFolder, ConfigErrors) {
  const TemporaryFolder folder;
  const RunFolder run{folder.path()};
  write_bytes(run.config(), "[train]\nbatch = 3\nmicro_batch = 2\n" + made_by);
  expect_contains(error_of([&] { read_config(run); }), "config.toml: train.micro_batch");
  for (const char* key : {"version", "threads", "sha256"}) {
    write_bytes(run.config(), made_by.substr(0, made_by.find(key)));
    expect_contains(error_of([&] { read_config(run); }),
                    fmt::format("config.toml: made_by.{} is missing: truncated?", key));
  }
  write_bytes(run.config(), "[made_by]\nthreads = -1\n");
  expect_contains(error_of([&] { read_config(run); }), "config.toml:2:11: made_by.threads = -1");
}

}  // namespace
}  // namespace rondo
