// What the program says without computing: models, memory, settings, itself. Of a run: program_test.cpp.
#include <sched.h>

#include <cmath>
#include <cstdlib>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

using Json = nlohmann::json;

TEST(Info, DescribesARecipe) {
  const Json info = json_of_lm({"info", "--recipe", "zaremba-small", "--vocab-size", "10000"});
  EXPECT_EQ(info.at("parameters"), 10000 * 200 + 2 * (800 * 400 + 1600) + 10000 * 201);
  EXPECT_EQ(
      json_of_lm({"info", "--recipe", "zaremba-small", "--set", "data.max_size=10000"}).at("parameters"),
      info.at("parameters"));
  EXPECT_EQ(info.at("modules").at("decoder"), 10000 * 201);
  // Without memory for it.
  const Json huge = json_of_lm({"info", "--recipe", "zaremba-large", "--vocab-size", "1000000000"});
  EXPECT_EQ(huge.at("parameters"), 1'000'000'000 * int64_t{3001} + 2 * (6000 * 3000 + 12000));
  EXPECT_GT(huge.at("training_bytes"), 1e13);
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

TEST(Info, EstimatesMemory) {
  SmallData other;
  int number = 0;
  const std::vector<std::vector<std::string>> cases{
      {"model.dropout=0", "train.micro_batch=0"},
      {"model.cell=gru_reset_after", "train.micro_batch=0", "train.optimizer=sgd", "train.momentum=0.9"},
      {"model.hidden=200", "model.layers=1", "train.length=100"},
      {"model.cell=bn_lstm", "model.hidden=200", "model.layers=1", "train.length=100"},
      {"model.cell=bn_mi_lstm", "model.dropout=0", "train.length=100"},
      {"model.cell=dt_rnn", "model.transition=[200, 200, 200]", "model.hidden=200", "train.length=100"},
      {"model.cell=dt_lstm", "model.transition=[200, 200]", "model.hidden=200", "train.length=100"},
      {"model.layers=2", "model.hidden=200", "model.major_ratio=0.7", "model.zoneout=0.1",
       "model.recurrent_dropout=0.2", "train.length=100"},
      {"model.hidden=200", "model.major_ratio=0.5", "train.length=100"},
      {"model.hidden=200", "model.zoneout=0.1", "model.zoneout_memory=0.1", "train.length=100"},
      {"model.cell=mlstm", "model.embedding=0", "model.dropout=0", "train.micro_batch=0"},
      {"model.hidden=200", "model.weight_drop=0.5", "model.variational=true"},
      {"model.cell=rhn", "model.hidden=200", "train.length=100"},
      {"model.cell=fs_lstm", "model.hidden=200", "train.length=100"},
      {"model.cell=mogrifier_lstm", "model.hidden=200", "train.length=100"},
      {"model.cell=mogrifier_lstm", "model.hidden=200", "model.weight_drop=0.5", "train.length=100"},
      {"model.cell=mgu", "model.hidden=200", "train.length=100"},
      {"model.cell=mgu", "model.mgu_gate=mgu1", "model.hidden=200", "train.length=100"},
      {"model.cell=ln_gru", "model.hidden=200", "train.length=100"},
      {"model.cell=sru", "model.hidden=200", "model.embedding=200", "train.length=100"},
      {"model.cell=qrnn", "model.hidden=200", "model.layers=2", "train.length=100"},
      {"model.hidden=800", "model.layers=1", "model.weight_drop=0.5", "train.averaging=always"},
      {"model.hidden=50", "model.experts=15", "model.embedding=100", "model.tied=true",
       "model.latent_dropout=0.2", "train.length=100"},
      {"model.hidden=200", "model.output=adaptive", "train.length=100"},
      {"model.hidden=100", "model.embedding=100", "model.tied=true", "model.embedding_dropout=0.1",
       "model.input_dropout=0.4", "model.hidden_dropout=0", "train.length=100"}};
  for (const auto& settings : cases) {
    std::vector<std::string> words;
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    words.insert(words.end(), {"--set", "train.eval_every=0", "--set", "train.learning_rate=0.01"});
    const std::string name = fmt::format("run{}", ++number);
    std::vector<std::string> once = words;
    once.insert(once.end(), {"--steps", "2"});  // the second uses what the first allocated
    other.trained(name, once);
    const std::string log = bytes_of_file(other / name / "log.jsonl");
    const double measured = Json::parse(log.substr(log.rfind("\n{") + 1)).at("peak_bytes");
    words.insert(words.begin(), {"info", "--recipe", other.path("small.toml"), "--vocab-size", "14"});
    const double estimated = json_of_lm(words).at("training_bytes");
    EXPECT_GT(measured / estimated, 0.75) << name;
    EXPECT_LT(measured / estimated, 1.25) << name;
  }
}

TEST(Info, ListsOperatorsAndKeys) {
  const Json operators = json_of_lm({"info", "--operators"}).at("operators");
  const auto lstm = std::find_if(operators.begin(), operators.end(),
                                 [](auto& it) { return it.at("name") == "lstm_gates"; });
  ASSERT_NE(lstm, operators.end());
  EXPECT_EQ(lstm->at("inputs"), 5);
  EXPECT_EQ(lstm->at("outputs"), 2);
  expect_contains(output_of_lm({"info", "--operators"}), lstm->at("equation"));
  const Json keys = json_of_lm({"info", "--keys"}).at("keys");
  const auto hidden =
      std::find_if(keys.begin(), keys.end(), [](auto& it) { return it.at("name") == "model.hidden"; });
  ASSERT_NE(hidden, keys.end());
  EXPECT_EQ(hidden->at("default"), "[200]");
  expect_contains(output_of_lm({"info", "--keys"}), "model.hidden = [200]\n");
}

TEST(Info, ListsTheValuesOfARecipeBesideDefaults) {
  const std::vector<std::string> words{"info",  "--keys",          "--recipe", "char-lstm",
                                       "--set", "train.batch=117", "--set",    "model.hidden=200"};
  const std::string text = output_of_lm(words);
  expect_contains(text, "\ntrain.batch = 117  # default 20\n");
  expect_contains(text, "\nmodel.hidden = [200]\n");
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const Json keys = json_of_lm(as_json).at("keys");
  const auto batch =
      std::find_if(keys.begin(), keys.end(), [](auto& it) { return it.at("name") == "train.batch"; });
  ASSERT_NE(batch, keys.end());
  EXPECT_EQ(batch->at("value"), "117");
  EXPECT_EQ(batch->at("default"), "20");
  expect_contains(output_of_lm({"info", "--keys", "--recipe", "attention-multi30k"}), "recipe.task = ");
}

TEST(Info, HelpAndVersion) {
  for (const std::string command : {"train", "eval", "score", "generate", "info", "recipes"})
    expect_contains(output_of_lm({command, "--help"}), "Example");
  expect_contains(output_of_lm({"--version"}), RONDO_VERSION);
}

}  // namespace
}  // namespace rondo
