// What the program says without computing: models, memory, settings, itself. Of a run: program_test.cpp.
#include <sched.h>

#include <cstdlib>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

TEST(Info, DescribesARecipe) {
  const Json info = json_of_lm({"info", "--recipe", "zaremba-small", "--vocab-size", "10000"});
  EXPECT_EQ(info.at("parameters"), 10000 * 200 + 2 * (800 * 400 + 1600) + 10000 * 201);
  EXPECT_EQ(json_of_lm({"info", "--recipe", "zaremba-small", "data.max_size=10000"}).at("parameters"),
            info.at("parameters"));
  EXPECT_EQ(info.at("modules").at("decoder"), 10000 * 201);
  // Without memory for it.
  const Json huge = json_of_lm({"info", "--recipe", "zaremba-large", "--vocab-size", "1000000000"});
  EXPECT_EQ(huge.at("parameters"), 1'000'000'000 * int64_t{3001} + 2 * (6000 * 3000 + 12000));
  EXPECT_GT(huge.at("training_bytes"), 1e13);
}

TEST(Info, ChoosesAWidthAndEstimatesTheTime) {
  const SmallData data;
  const Json info = json_of_lm(
      {"info", "--recipe", data.path("small.toml"), "--data", data.path("data"), "model.hidden=fit:5k"});
  EXPECT_NEAR(info.at("parameters").get<double>(), 5000, 200);
  EXPECT_GT(info.at("training_seconds"), 0);
  expect_contains(info.at("time").get<std::string>(), " to train, without evaluations");
  const Json large = json_of_lm(
      {"info", "--recipe", data.path("small.toml"), "--data", data.path("data"), "train.batch=5000"});
  EXPECT_FALSE(large.contains("time")) << "the text is too short for it";
  EXPECT_GT(large.at("training_bytes"), info.at("training_bytes"));
  data.trained("fit", {"--steps", "1", "model.hidden=fit:5k"});
  EXPECT_EQ(json_of_lm({"info", data.path("fit")}).at("parameters"), info.at("parameters"));
  expect_contains(bytes_of_file(data / "fit/config.toml"), "\nhidden = [");
}

TEST(Info, TakesItsThreadsFromTheEnvironment) {
  const char* const wanted = std::getenv("OMP_NUM_THREADS");
  const std::string before = wanted ? wanted : "";
  const auto threads_with = [](const char* value) {
    setenv("OMP_NUM_THREADS", value, 1);
    return json_of_lm({"info", "--recipe", "demo", "--vocab-size", "50"}).at("threads");
  };
  EXPECT_EQ(threads_with("3"), 3);
  cpu_set_t usable, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  EXPECT_EQ(threads_with("many"), CPU_COUNT(&usable));
  CPU_ZERO(&one);
  for (int i = 0; CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &usable)) CPU_SET(i, &one);
  sched_setaffinity(0, sizeof one, &one);
  EXPECT_EQ(threads_with(""), 1);
  sched_setaffinity(0, sizeof usable, &usable);
  wanted ? setenv("OMP_NUM_THREADS", before.c_str(), 1) : unsetenv("OMP_NUM_THREADS");
}

// On made-up data, of which a batch is as large as one of the real data. What may differ, the packed weights
// of a last batch of few rows, is small beside the activations.
TEST(Info, MeasuresTheMemoryOfATraining) {
  SmallData data;
  write_bytes(data / "data/train.txt", data.text(600));
  write_bytes(data / "data/valid.txt", data.text(150));
  const Words settings{"model.hidden=200", "train.length=300", "train.eval_every=0"};
  data.trained("run", settings + Words{"--steps", "2"});
  const double measured = objects_in(data / "run/log.jsonl").back().at("peak_bytes");
  const Words info{"info", "--recipe", data.path("small.toml"), "--vocab-size", "14"};
  EXPECT_NEAR(json_of_lm(info + settings).at("training_bytes").get<double>() / measured, 1, 0.1);
}

TEST(Info, MeasuresTheMemoryOfEachTask) {
  for (const char* recipe : {"demo", "awd-lstm-mos-ptb", "lstm-adaptive-small-wt2", "cooijmans-ptb-bn-lstm",
                             "attention-multi30k", "multi-task-one-to-many-multi30k", "classify-trec",
                             "attentive-reader", "skip-thought", "speech-digits"}) {
    const Json info = json_of_lm({"info", "--recipe", recipe, "--vocab-size", "1000"});
    EXPECT_GT(info.at("training_bytes"), 8 * info.at("parameters").get<double>()) << recipe;
    EXPECT_GT(info.at("training_bytes"), info.at("evaluation_bytes")) << recipe;
  }
  expect_refused(
      {"info", "--recipe", "demo", "--vocab-size", "50", "train.batch=1000000", "train.length=1000000"},
      "a batch of 1e+12 symbols is too large");
}

/// The entry of this name.
Json entry_of(const Json& all, const std::string& name) {
  for (const Json& it : all)
    if (it.at("name") == name) return it;
  ADD_FAILURE() << "no " << name;
  return {};
}

TEST(Info, ListsOperatorsAndKeys) {
  const Json lstm = entry_of(json_of_lm({"info", "--operators"}).at("operators"), "lstm_gates");
  EXPECT_EQ(lstm.at("inputs"), 5);
  EXPECT_EQ(lstm.at("outputs"), 2);
  expect_contains(output_of_lm({"info", "--operators"}), lstm.at("equation"));
  EXPECT_EQ(entry_of(json_of_lm({"info", "--keys"}).at("keys"), "model.hidden").at("default"), "[200]");
  expect_contains(output_of_lm({"info", "--keys"}), "model.hidden = [200]\n");
}

TEST(Info, ListsTheValuesOfARecipeBesideDefaults) {
  const Words words{"info", "--keys", "--recipe", "char-lstm", "train.batch=117", "model.hidden=200"};
  const std::string text = output_of_lm(words);
  expect_contains(text, "\ntrain.batch = 117  # default 20\n");
  expect_contains(text, "\nmodel.hidden = [200]\n");
  const Json batch = entry_of(json_of_lm(words).at("keys"), "train.batch");
  EXPECT_EQ(batch.at("value"), "117");
  EXPECT_EQ(batch.at("default"), "20");
  expect_contains(output_of_lm({"info", "--keys", "--recipe", "attention-multi30k"}), "recipe.task = ");
  expect_refused(words + Words{"model.hidden=fit:5k"}, "needs the number of symbols: leave out --keys");
}

}  // namespace
}  // namespace rondo
