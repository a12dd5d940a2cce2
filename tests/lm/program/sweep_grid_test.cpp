// From lists of settings to runs: what is one value and what is a list, combinations, names, refusals.
#include <gtest/gtest.h>

#include <ctime>

#include "lm/report/sweep.h"
#include "tests/data/files.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using Values = std::vector<std::vector<std::string>>;

Values values_in(const std::string& text) { return parse_swept(text).values; }

TEST(SweptSettings, CommasDivideValuesButNotLists) {
  EXPECT_EQ(values_in("model.hidden=800, 900"), (Values{{"800"}, {"900"}}));
  EXPECT_EQ(values_in("model.hidden=[650, 650]"), (Values{{"[650, 650]"}})) << "one list";
  EXPECT_EQ(values_in("model.hidden=[650,650],[800,800],900"),
            (Values{{"[650,650]"}, {"[800,800]"}, {"900"}}));
  EXPECT_EQ(values_in("data.files=[\"a],b\", 'c]']"), (Values{{"[\"a],b\", 'c]']"}})) << "in quotes";
  EXPECT_EQ(values_in("recipe.description='a, b',\"c,d\",e"), (Values{{"'a, b'"}, {"\"c,d\""}, {"e"}}));
  EXPECT_EQ(values_in("recipe.description=a:b,c"), (Values{{"a:b"}, {"c"}}));
  EXPECT_EQ(values_in("recipe.description=\"\",a"), (Values{{"\"\""}, {"a"}}));
}

TEST(SweptSettings, ColonsJoinKeysThatVaryTogether) {
  const SweptSettings it = parse_swept("model.cell:model.hidden=lstm:[8,9],gru:10");
  EXPECT_EQ(it.keys, (std::vector<std::string>{"model.cell", "model.hidden"}));
  EXPECT_EQ(it.values, (Values{{"lstm", "[8,9]"}, {"gru", "10"}}));
  EXPECT_EQ(it.where, "--set model.cell:model.hidden=lstm:[8,9],gru:10");
}

std::vector<SweepRun> runs_of(const std::vector<std::string>& texts, std::optional<std::int64_t> seeds = {},
                              const std::string& recipe = "char-lstm") {
  std::vector<SweptSettings> swept;
  for (const std::string& text : texts) swept.push_back(parse_swept(text));
  return runs_of_sweep(recipe, swept, seeds);
}
std::vector<std::string> names_of(const std::vector<SweepRun>& runs) {
  std::vector<std::string> names;
  for (const SweepRun& run : runs) names.push_back(run.name);
  return names;
}
using Names = std::vector<std::string>;

TEST(SweepGrid, IsEveryCombinationWithEverySeed) {
  const auto runs = runs_of({"model.hidden=8,16", "train.epochs=2", "model.dropout=0,0.5"}, 2);
  EXPECT_EQ(names_of(runs), (Names{"hidden=8_dropout=0.0_seed=1", "hidden=8_dropout=0.0_seed=2",
                                   "hidden=8_dropout=0.5_seed=1", "hidden=8_dropout=0.5_seed=2",
                                   "hidden=16_dropout=0.0_seed=1", "hidden=16_dropout=0.0_seed=2",
                                   "hidden=16_dropout=0.5_seed=1", "hidden=16_dropout=0.5_seed=2"}));
  EXPECT_EQ(runs[3].recipe.language_model().model.hidden, (std::vector<int64_t>{8}));
  EXPECT_EQ(runs[3].recipe.language_model().model.dropout, 0.5);
  EXPECT_EQ(runs[3].recipe.trainer.epochs, 2) << "of all runs, and not in the names";
  EXPECT_EQ(runs[3].recipe.trainer.seed, 2);
  EXPECT_EQ(runs[3].settings.size(), 4u) << "the seed, too";
}

TEST(SweepGrid, KeysThatVaryTogetherAreNoGrid) {
  const auto runs = runs_of({"model.cell:model.hidden:model.forget_bias=lstm:8:1,gru:10:0"});
  EXPECT_EQ(names_of(runs), (Names{"cell=lstm_hidden=8_forget_bias=1.0_seed=1",
                                   "cell=gru_hidden=10_forget_bias=0.0_seed=1"}));
}

/// Returns the width that the first run gets.
std::int64_t fitted(const std::vector<std::string>& settings) {
  SweepRun run = runs_of(settings)[0];
  fit_width(run.recipe, {50});
  return run.recipe.language_model().model.hidden.front();
}

TEST(SweepGrid, WidthsAreChosenForANumberOfParameters) {
  auto runs = runs_of({"model.cell=lstm,gru,mlstm", "model.hidden=fit:76.5k"});
  EXPECT_EQ(names_of(runs), (Names{"cell=lstm_seed=1", "cell=gru_seed=1", "cell=mlstm_seed=1"}));
  for (SweepRun& run : runs) {
    Task& task = *run.recipe.task;
    std::vector<std::int64_t>& hidden = run.recipe.language_model().model.hidden;
    fit_width(run.recipe, {50});
    ASSERT_EQ(hidden.size(), 1u);
    const std::int64_t chosen = hidden.front();
    const auto distance = [&](std::int64_t width) {
      hidden = {width};
      return std::abs(task.make_layout({50})->parameter_count() - 76'500);
    };
    const std::int64_t least = distance(chosen);
    EXPECT_LE(least, distance(chosen - 1)) << run.name;
    EXPECT_LE(least, distance(chosen + 1)) << run.name;
  }
  EXPECT_EQ(names_of(runs_of({"model.hidden=fit:1M,64"})),
            (Names{"hidden=fit%3A1M_seed=1", "hidden=64_seed=1"}));
  EXPECT_EQ(fitted({"model.cell=slstm", "model.layers=1", "model.heads=2", "model.hidden=fit:80k"}), 134)
      << "odd ones cannot be";
  EXPECT_EQ(fitted({"model.cell=trnn", "model.hidden=fit:1M"}), 82) << "two layers of H * H * I weights";
  SweepRun adaptive = runs_of({"model.hidden=fit:600k"}, 1, "lstm-adaptive-small-wt2")[0];
  fit_width(adaptive.recipe, {2500});
  EXPECT_GT(adaptive.recipe.language_model().model.hidden.front(), 15) << "narrower ones cannot be";
  EXPECT_EQ(runs_of({"model.hidden=fit:1M,64"})[1].recipe.fitted_parameters, 0);
  expect_input_error([] { runs_of({"model.hidden=fit:many"}); }, "as in fit:2.1M");
  expect_input_error([] { fitted({"model.hidden=fit:9"}); }, "the narrowest possible width, 1, has");
  expect_input_error(
      [] {
        fitted({"model.hidden=fit:500k", "model.tied=true", "model.embedding=256"});
      },
      "the narrowest possible width, 256, has");
  expect_input_error([] { fitted({"model.hidden=fit:900G"}); }, "the widest possible width, 65536, has");
  expect_input_error([] { fitted({"model.hidden=fit:80k", "model.layers=0"}); }, "model.layers");
}

TEST(SweepGrid, SeedsAreNumberedFromTheRecipes) {
  EXPECT_EQ(names_of(runs_of({}, 2)), (Names{"seed=1", "seed=2"}));
  const auto swept = runs_of({"train.seed=7,3"});
  EXPECT_EQ(names_of(swept), (Names{"seed=7", "seed=3"}));
  EXPECT_EQ(swept[1].recipe.trainer.seed, 3);
}

TEST(SweepGrid, NamesOfFoldersStandForOneCombination) {
  EXPECT_EQ(names_of(runs_of({"model.layers=2", "model.hidden=[8,8],[8, 9],9"})),
            (Names{"hidden=%5B8,8%5D_seed=1", "hidden=%5B8,9%5D_seed=1", "hidden=9_seed=1"}));
  EXPECT_EQ(names_of(runs_of({"recipe.description=a/b,a%2Fb"})),
            (Names{"description=a%2Fb_seed=1", "description=a%252Fb_seed=1"}));
  EXPECT_EQ(names_of(runs_of({"train.epochs=1,2", "finetune.epochs=3,4"})).front(),
            "train.epochs=1_finetune.epochs=3_seed=1")
      << "two keys of one name";
}

std::string error_in(const std::vector<std::string>& texts, std::optional<std::int64_t> seeds = {}) {
  return error_of([&] { runs_of(texts, seeds); });
}

TEST(SweepGrid, RefusalsSayWhatToDo) {
  expect_contains(error_in({"model.hiden=8,9"}), "unknown key 'model.hiden'; did you mean 'model.hidden'?");
  expect_contains(error_in({"model.hidden="}), "--set model.hidden=: no value is given; as in");
  expect_contains(error_in({"model.hidden"}), "expected key=value");
  expect_contains(error_in({"model.cell=lstm,gru", "model.forget_bias=1"}),
                  "set it to its default, --set model.forget_bias=0");
  for (const char* text : {"model.hidden=8,", "model.hidden=,8", "model.hidden=8,,9"})
    expect_contains(error_in({text}), "a comma too many");
  expect_contains(error_in({"model.hidden=8,9,[8]"}), "hidden=8_seed=1: a value is given twice; a list is");
  expect_contains(error_in({"model.hidden=8,9", "model.layers:model.hidden=1:8,2:9"}),
                  "model.hidden has values already");
  expect_contains(error_in({"model.hidden=8,x"}), "--set model.hidden=x: model.hidden = x: expected a list");
  expect_contains(error_in({"model.layers:model.hidden=1:8,2"}), "'2' has another number of values; as in");
  expect_contains(error_in({"train.seed=1,2"}, 3), "--seeds: train.seed has values already");
  expect_contains(error_in({"recipe.task=translation,language_modelling"}), "the task is the recipe's");
  expect_contains(error_in({"model.hidden=8,9", "train.epochs=1,2,3,4,5,6"}, 1000), "more than 10000 runs");
  expect_contains(error_in({"recipe.description=a," + std::string(300, 'b')}), "may have 255: shorten");
}

// At once, and not after half a minute: before the combinations are made.
TEST(SweepGrid, FindsABadValueAmongManyAtOnce) {
  std::string values = "model.hidden=";
  for (int i = 1; i < 4000; ++i) values += fmt::format("{},", i);
  const std::clock_t start = std::clock();
  expect_contains(error_in({values + "x", "model.dropout=0,0.5"}), "--set model.hidden=x: model.hidden = x");
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

TEST(SweepGrid, SaysWhichCombinationContradictsItself) {
  const std::string error = error_in({"model.hidden=8,9", "model.cell=lstm,gru", "model.forget_bias=1"});
  EXPECT_TRUE(error.starts_with("hidden=8_cell=gru_seed=1: char-lstm: model.forget_bias is for ")) << error;
  EXPECT_TRUE(error_in({"model.cell=gru", "model.forget_bias=1"})
                  .starts_with("seed=1: char-lstm: model.forget_bias is for "));
}

}  // namespace
}  // namespace rondo
