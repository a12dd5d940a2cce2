// `lm finetune`: the program itself, on runs of a second.
#include <gtest/gtest.h>

#include "data/files/files.h"
#include "data/files/safetensors.h"
#include "lm/program/run.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// Words of a base run: few epochs of SGD, so that there is something left to win.
const Words base_settings = words_in(
    "--epochs 2 train.optimizer=sgd train.learning_rate=4 train.clip=0.25 train.schedule=constant "
    "train.eval_every=0");

class Finetune : public testing::Test {
 protected:
  Finetune() { data.trained("base", base_settings); }
  Words finetune(const std::string& base, const std::string& name, const Words& more = {}) const {
    return Words{"finetune", data.path(base), "--out", data.path(name), "--threads", "1"} + more;
  }
  double valid_nats(const std::string& run) const {
    return json_of_lm({"eval", data.path(run), "--split", "valid", "--threads", "1"}).at("nats");
  }

  SmallData data;
};

TEST_F(Finetune, OfATrainingThatIsNotFinished) {
  data.trained("part", {"--epochs", "5", "--steps", "1"});
  replace_in_file(data / "part/config.toml", "\nsteps = 1", "\nsteps = 0");
  const Result result = run_lm(finetune("part", "better"));
  expect_refused(result, "its training is not finished; finish it first: ");
  expect_contains(result.err, fmt::format("lm train --out {} --resume", data.path("part")));
}

TEST_F(Finetune, BeginsWithTheBestModelAndIsBetterOrTheSame) {
  const std::string base_model = data.model_digest("base"),
                    base_state = bytes_of_file(data / "base/state.safetensors");
  const double base = valid_nats("base");
  const std::string out = output_of_lm(finetune("base", "better", {"--epochs", "6"}));
  expect_contains(out, fmt::format("base model valid {:.4f} nats", base));
  expect_contains(out, "the average of the weights after each step, from the first on");
  expect_contains(out, "test (best checkpoint)");
  EXPECT_EQ(out.find("the training ends"), std::string::npos) << "all its epochs are trained";
  const double better = valid_nats("better");
  EXPECT_LT(better, base - 0.01);

  const RunConfig config = read_config(open_run_folder(data / "better"));
  EXPECT_EQ(config.made_by.finetuned_from, data.path("base"));
  EXPECT_EQ(config.recipe.trainer.averaging, Averaging::always);
  EXPECT_EQ(config.recipe.trainer.epochs, 6);
  EXPECT_EQ(config.recipe.trainer.optimizer.learning_rate, 4);
  EXPECT_EQ(bytes_of_file(data / "better/vocab.txt"), bytes_of_file(data / "base/vocab.txt"));

  // At a rate that ruins the model, what it began with is kept.
  output_of_lm(finetune("base", "worse", {"--epochs", "2", "finetune.learning_rate=500", "train.clip=0"}));
  EXPECT_EQ(data.model_digest("worse"), base_model);
  EXPECT_EQ(data.model_digest("base"), base_model);
  EXPECT_TRUE(bytes_of_file(data / "base/state.safetensors") == base_state);

  // Again, from a finetuned run; its text has moved.
  fs::rename(data / "data", data / "moved");
  expect_refused(finetune("better", "again", {"--epochs", "1"}), "data: no such file or folder");
  Words words = {"--epochs", "1", "--data", data.path("moved")};
  for (const char* setting :
       {"model.dropout=0.1", "model.weight_drop=0.1", "model.zoneout=0.1", "train.weight_decay=0.001"})
    words.push_back(setting);
  output_of_lm(finetune("better", "again", words));
  const Recipe again = read_config(open_run_folder(data / "again")).recipe;
  EXPECT_EQ(again.language_model().model.regularization.zoneout, 0.1);
  EXPECT_EQ(again.trainer.optimizer.weight_decay, 0.001);
  EXPECT_LE(valid_nats("again"), better);
}

TEST_F(Finetune, DivergenceNamesItsOwnRate) {
  const Result result = run_lm(finetune("base", "run", {"finetune.learning_rate=1e38", "train.clip=0"}));
  EXPECT_EQ(result.status, 1);
  expect_contains(result.err,
                  "the best model stays; try a lower finetune.learning_rate or stronger clipping");
  EXPECT_EQ(data.model_digest("run"), data.model_digest("base"));
}

TEST_F(Finetune, StopsByItself) {
  const std::string out = output_of_lm(finetune(
      "base", "run", {"--epochs", "50", "finetune.learning_rate=100", "train.averaging_interval=1"}));
  expect_contains(out, "\nvalidation no longer falls: the training ends\n");
  expect_contains(out, "test (best checkpoint)");
  const Json row = rows_of_table({data.path("run")})[0];
  EXPECT_LT(row.at("epochs"), 50);
  EXPECT_TRUE(row.at("state").get<std::string>().starts_with("finished")) << row;
}

// Also before anything was saved.
TEST_F(Finetune, ResumesExactly) {
  const Words more = {"--epochs", "8", "train.length_deviation=2"};
  output_of_lm(finetune("base", "whole", more));
  Words words = finetune("base", "killed", more);
  const auto killed = data / "killed";
  for (const std::size_t lines : {0, 0, 1, 2, 12, 31, 50}) {
    Program program(words);
    const bool runs = program.wait_until([&] {
      return lines == 0 ? fs::exists(killed / "config.toml") : lines_of(killed / "log.jsonl") >= lines;
    });
    ASSERT_TRUE(runs) << "ended before it could be interrupted";
    ASSERT_EQ(program.end(SIGKILL).status, 128 + SIGKILL);
    words = data.resume("killed");
  }
  output_of_lm(words);
  EXPECT_EQ(data.model_digest("killed"), data.model_digest("whole"));
  EXPECT_EQ(log_of(killed), log_of(data / "whole"));
  EXPECT_NE(data.model_digest("whole"), data.model_digest("base"));

  // A run that has begun needs its state.
  const std::string log = bytes_of_file(killed / "log.jsonl");
  fs::remove(killed / "state.safetensors");
  expect_refused(data.resume("killed"), "state.safetensors: missing");
  EXPECT_EQ(data.model_digest("killed"), data.model_digest("whole"));
  EXPECT_EQ(bytes_of_file(killed / "log.jsonl"), log);

  // With nothing but its config left, it begins with the base's model once more.
  for (const char* file : {"vocab.txt", "model.safetensors", "state.safetensors", "log.jsonl"})
    fs::remove(killed / file);
  output_of_lm(data.resume("killed"));
  EXPECT_EQ(data.model_digest("killed"), data.model_digest("whole"));
}

TEST_F(Finetune, Refuses) {
  const auto refused = [&](const Words& more, const std::string& part) {
    expect_refused(finetune("base", "run", more), part);
  };
  expect_refused({"finetune"}, "run is required");
  expect_refused(finetune("none", "run"), "no run at");
  expect_refused(finetune("base", "base"), "holds a run already");
  refused({"data.min_count=2"}, "cannot change in a finetuning");
  refused({"train.epoch=2"}, "unknown key");
  refused({"--epochs", "0"}, "finetune.epochs");
  refused({"model.dropuot=0.1"}, "model.dropout");
  for (const char* setting : {"model.hidden=16", "model.layers=1", "model.embedding=32", "model.cell=gru",
                              "model.experts=2", "model.tied=true", "model.forget_bias=1"})
    refused({setting}, "cannot change in a finetuning; the model is");
  refused({"model.dropout=0", "model.variational=true"},
          "base: model.variational = true says how model.dropout drops, which is 0");
  refused({"train.learning_rate=1"},
          "--set train.learning_rate=1: cannot change in a finetuning; set finetune.learning_rate");
  refused({"train.epochs=1"}, "set finetune.epochs");
  for (const char* setting :
       {"optimizer=adam", "momentum=0.5", "schedule=plateau", "decay=0.1", "decay_at=[2]", "decay_after=1",
        "decay_every=2", "patience=1", "averaging=never", "early_stopping=2", "non_monotonic_stopping=false"})
    refused({fmt::format("train.{}", setting)}, "cannot change in a finetuning, which is averaged SGD");

  const std::string model = data.model_bytes("base");
  fs::remove(data / "base/model.safetensors");
  refused({}, "holds no model to finetune yet");
  write_bytes(data / "base/model.safetensors", model);

  data.trained("adam", {"--epochs", "1"});
  expect_refused(finetune("adam", "run"), "finetune.learning_rate");

  write_bytes(data / "data/valid.txt", data.text(19));
  refused({}, "the text has changed");
  EXPECT_FALSE(fs::exists(data / "run")) << "a refusal leaves nothing behind";
}

}  // namespace
}  // namespace rondo
