// `lm eval --dynamic --cache --tune` from end to end, and data.vocabulary. The numbers themselves:
// tests/lm/evaluation/adaptive_evaluation_in_double_test.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "data/text/streams.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/recipe.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

class AdaptiveTest : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("run", {"--epochs", "4"});
  }

  static Words eval(const Words& more) {
    Words words{"eval", data->path("run"), "--threads", "1", "dynamic.statistics_streams=10"};
    if (std::ranges::find(more, "--dynamic") == more.end()) words.resize(4);
    return words + more;
  }
  static Json json_of(const Words& more) { return json_of_lm(eval(more)); }
  static double nats_of(const Words& more) { return json_of(more).at("nats"); }
};

TEST_F(AdaptiveTest, SaysWhatWasDone) {
  const std::string text = output_of_lm(
      eval({"--dynamic", "--cache", "--split", "test", "cache.theta=0.5", "dynamic.decay=0.01"}));
  expect_contains(text, "adapting: dynamic.learning_rate=5e-05, dynamic.decay=0.01, dynamic.epsilon=2e-05, ");
  expect_contains(text, ", cache.window=2000, cache.theta=0.5, cache.lambda=0.1\n");
  expect_contains(text, "test: 159 symbols in one stream\n");
  expect_contains(text, "\nunknowns    0\n");

  const Json json = json_of({"--dynamic", "--cache", "dynamic.style=old"});
  EXPECT_EQ(json.at("dynamic").at("style"), "old");
  // (150 x 8 - 1) / 10 steps of 10 streams, in 24 chunks of 5.
  EXPECT_EQ(json.at("dynamic").at("statistics_symbols"), 1190);
  EXPECT_EQ(json.at("dynamic").at("statistics_batches"), 24);
  EXPECT_EQ(json.at("dynamic").at("length"), 5);
  EXPECT_EQ(json.at("cache").at("window"), 2000);
  EXPECT_EQ(json.at("streams"), 1);
  EXPECT_EQ(json.at("symbols"), 159);
  EXPECT_FALSE(json.contains("tuning"));
  const Json as_it_is = json_of({});
  EXPECT_FALSE(as_it_is.contains("dynamic"));
  EXPECT_FALSE(as_it_is.contains("cache"));
}

TEST_F(AdaptiveTest, WarnsOfFiguresThatSayNothing) {
  const auto warning_of = [](const Words& more) { return run_lm_well(eval(more)).err; };
  expect_contains(warning_of({"--dynamic", "dynamic.learning_rate=1e9"}), "; this costs more\n");
  EXPECT_EQ(warning_of({"--dynamic", "--cache", "dynamic.length=100"}).find("warning"), std::string::npos);
}

// What has probability 0 is no number less among the known symbols.
TEST(Evaluation, CountsUnknownsApart) {
  Evaluation it;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  it.add({1, 0, 2, Chunk::ignore_index}, {std::log(4.0), infinity, std::log(4.0), infinity}, 0);
  EXPECT_EQ(it.symbols, 3);
  EXPECT_EQ(it.unknowns, 1);
  EXPECT_EQ(it.nats(), infinity);
  EXPECT_NEAR(it.perplexity_without_unknowns(), 4, 1e-12);
}

TEST_F(AdaptiveTest, FindsTextThatHasMoved) {
  SmallData other;
  other.trained("run", {"--epochs", "1"});
  const std::string run = other.path("run"), moved = other.path("moved");
  const double nats = json_of_lm({"eval", run}).at("nats");
  fs::rename(other / "data", moved);
  expect_refused({"eval", run}, "no such file or folder");
  EXPECT_EQ(json_of_lm({"eval", run, "--data", moved}).at("nats"), nats);
  expect_refused(other.resume("run"), "it has this run's text: --data says where it is now");
  output_of_lm(other.resume("run", {"--epochs", "2", "--data", moved}));
  output_of_lm({"eval", run});  // the run knows where it is now
}

TEST_F(AdaptiveTest, SettingsAct) {
  const std::string model = data->model_digest("run");
  const double as_it_is = nats_of({}), dynamic = nats_of({"--dynamic"}), cache = nats_of({"--cache"});
  EXPECT_NE(dynamic, as_it_is);
  EXPECT_NE(cache, as_it_is);
  EXPECT_EQ(nats_of({"--dynamic"}), dynamic) << "the same bits again";
  EXPECT_NEAR(nats_of({"--dynamic", "dynamic.learning_rate=0"}), as_it_is, 1e-6);
  EXPECT_NEAR(nats_of({"--cache", "cache.lambda=0"}), as_it_is, 1e-12);
  EXPECT_EQ(nats_of({"--text", data->path("data/valid.txt"), "--dynamic"}), dynamic);

  const double both = nats_of({"--dynamic", "--cache"});
  EXPECT_NE(both, cache);
  std::set<std::string> acting, keys;
  for (const std::string& other :
       words_in("dynamic.learning_rate=0.001 dynamic.decay=0.1 dynamic.epsilon=0.1 dynamic.length=3 "
                "dynamic.statistics_streams=20 dynamic.style=old cache.window=5 cache.theta=0.5 "
                "cache.lambda=0.5")) {
    EXPECT_NE(nats_of({"--dynamic", "--cache", other}), both) << other;
    acting.insert(other.substr(0, other.find('=')));
  }
  Recipe recipe;
  for (const Key& key : keys_of(recipe))
    if (key.name.starts_with("dynamic.") || key.name.starts_with("cache.")) keys.insert(key.name);
  EXPECT_EQ(acting, keys);
  EXPECT_EQ(data->model_digest("run"), model);
}

TEST_F(AdaptiveTest, Refuses) {
  const auto refused = [&](const Words& more, const std::string& part) { expect_refused(eval(more), part); };
  refused({"--cache", "--streams", "2"}, "--streams 2: --dynamic and --cache read one stream");
  output_of_lm(eval({"--cache", "--streams", "1"}));
  refused({"--cache", "model.layers=3"}, "--set model.layers=3: a run is evaluated as it was trained");
  refused({"--cache", "cache.thta=3"}, "did you mean 'cache.theta'");
  refused({"--cache", "--set", "lambda=0.1"}, "did you mean 'cache.lambda'?");
  refused({"--cache", "cache.lambda=1.5"}, "0 to 1");
  refused({"--cache", "cache.window=1000000000"}, "are available: make it smaller");
  refused({"--cache", "dynamic.decay=0"}, "goes with --dynamic");
  refused({"cache.theta=2"}, "goes with --cache");
  refused({"--tune"}, "give one of them");
  refused({"--cache", "--budget", "10"}, "--budget requires --tune");
  refused({"--dynamic", "--tune", "--budget", "5"}, "--budget 5: the search reads the text 9 times");
  refused({"--dynamic", "dynamic.epsilon=0"}, "dynamic.epsilon");
  refused({"--dynamic", "dynamic.statistics_streams=100000"}, "100000 streams");
  const Result ruined = run_lm(eval({"--dynamic", "dynamic.learning_rate=3e38"}));
  EXPECT_EQ(ruined.status, 1);
  expect_contains(ruined.out, "adapting: dynamic.learning_rate=3e+38");  // said before it begins
  expect_contains(ruined.err, "try a dynamic.learning_rate below 3e+38");
  SmallData lines;
  lines.trained("lines", {"--epochs", "1", "data.batching=lines"});
  expect_refused({"eval", lines.path("lines"), "--cache"}, "each line from the initial state");
}

/// The least nats of the trials of one kind.
const Json& best_of(const Json& trials, bool with_cache) {
  const Json* best = nullptr;
  for (const Json& trial : trials)
    if (trial.contains("cache") == with_cache && trial.at("nats").is_number() &&
        (!best || trial.at("nats") < best->at("nats")))
      best = &trial;
  return *best;
}

TEST_F(AdaptiveTest, TuneTakesTheBestOfItsTrialsWithinTheBudget) {
  constexpr int budget = 955;
  const Json json = json_of({"--dynamic", "--cache", "--tune", "--budget", "955", "--split", "test",
                             "dynamic.learning_rate=0.001"});
  const Json& tuning = json.at("tuning");
  EXPECT_EQ(tuning.at("budget"), budget);
  EXPECT_LE(tuning.at("scored"), budget);
  EXPECT_EQ(tuning.at("split"), "valid");
  expect_contains(tuning.at("best"), "--set cache.lambda=");
  int scored = 0, dynamic_trials = 0;
  for (const Json& trial : tuning.at("trials")) {
    EXPECT_EQ(trial.at("symbols"), 95) << "9 of dynamic evaluation, and one reading for the cache";
    if (trial.contains("cache")) continue;
    scored += trial.at("symbols").get<int>();
    ++dynamic_trials;
  }
  EXPECT_EQ(dynamic_trials, 9);
  EXPECT_EQ(tuning.at("scored"), scored + 95);
  EXPECT_EQ(json.at("symbols"), 159) << "all of the test text";

  // The best settings by themselves on the same prefix: twelve lines of seven words and an end.
  const std::string valid = bytes_of_file(*data / "data/valid.txt");
  size_t end = 0;
  for (int line = 0; line < 12; ++line) end = valid.find('\n', end) + 1;
  write_bytes(*data / "prefix.txt", valid.substr(0, end));
  Words words{"--text", data->path("prefix.txt"), "--dynamic", "--cache"};
  const std::string dynamic[] = {"learning_rate", "decay"}, cache[] = {"window", "theta", "lambda"};
  const auto take_best = [&](const std::string& section, const auto& keys, bool with_cache) {
    for (const std::string& key : keys) {
      const Json& value = best_of(tuning.at("trials"), with_cache).at(section).at(key);
      EXPECT_EQ(json.at(section).at(key), value) << key;
      words.push_back(fmt::format("{}.{}={}", section, key, value.dump()));
    }
  };
  take_best("dynamic", dynamic, false);
  take_best("cache", cache, true);
  const Json alone = json_of(words);
  EXPECT_EQ(alone.at("symbols"), 95);
  EXPECT_NEAR(alone.at("nats"), best_of(tuning.at("trials"), true).at("nats"), 1e-6);
}

TEST_F(AdaptiveTest, TunePrintsTrialsAndTheWordsOfTheBest) {
  const Words words = eval({"--dynamic", "--tune", "--budget", "900"});
  const std::string text = output_of_lm(words);
  EXPECT_EQ(output_of_lm(words), text) << "the same again";
  std::size_t trials = 0;
  for (std::size_t at = 0; (at = text.find("\ndynamic.learning_rate=", at)) != text.npos; ++at) ++trials;
  EXPECT_EQ(trials, 9u);
  expect_contains(text, "best: --dynamic --set dynamic.learning_rate=");
  expect_contains(text, "9 trials on the first 100 symbols: 900 scored in all\n");
  expect_contains(text, "159 symbols in one stream");
}

TEST_F(AdaptiveTest, AVocabularyOfAllTexts) {
  SmallData other;
  write_bytes(other / "data/test.txt", "the zebra sat\n");
  other.trained("train", {"--epochs", "1"});
  other.trained("all", {"--epochs", "1", "data.vocabulary=all"});
  const auto unknowns = [&](const std::string& run) {
    return json_of_lm({"eval", other.path(run), "--split", "test"}).at("unknowns");
  };
  EXPECT_EQ(unknowns("train"), 1);
  EXPECT_EQ(unknowns("all"), 0);
  expect_contains(bytes_of_file(other / "all/vocab.txt"), "zebra\n");
  expect_contains(bytes_of_file(other / "all/config.toml"),
                  "vocabulary = \"" + sha256_hex(bytes_of_file(other / "all/vocab.txt")) + "\"");

  // Two symbols exchanged: every figure would be wrong, and nothing else would tell.
  std::string vocabulary = bytes_of_file(other / "all/vocab.txt");
  std::swap(vocabulary[0], vocabulary[1]);
  write_bytes(other / "all/vocab.txt", vocabulary);
  expect_refused({"eval", other.path("all")}, "all/vocab.txt: not the vocabulary");
  // A run that was made before this was noted.
  std::string config = bytes_of_file(other / "all/config.toml");
  const auto begin = config.rfind("vocabulary = "), end = config.find('\n', begin);
  write_bytes(other / "all/config.toml", config.erase(begin, end - begin));
  output_of_lm({"eval", other.path("all")});
}

}  // namespace
}  // namespace rondo
