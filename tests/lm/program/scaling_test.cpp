// The projection for several ranks: its formula by hand, and `lm info --ranks`.
#include "lm/program/scaling.h"

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

// In seconds, of 4 ranks: 6 messages of 1 ms each, and 6 quarters of a gigabyte at one gigabyte a second; of
// 2: 2 messages of 50 us, and 2 halves of 8 MB at 1.25 GB/s.
TEST(Scaling, OfARingIsAsComputedByHand) {
  const ProjectedStep four = projected(4, 1'000'000'000, 0.494, {.bandwidth = 1e9, .latency = 1e-3});
  EXPECT_DOUBLE_EQ(four.sum, 0.006 + 1.5);
  EXPECT_DOUBLE_EQ(four.step, 2);
  EXPECT_DOUBLE_EQ(four.efficiency, 0.247);
  EXPECT_DOUBLE_EQ(four.speedup(), 0.988);
  const ProjectedStep two = projected(2, 8'000'000, 0.0935, {});
  EXPECT_DOUBLE_EQ(two.sum, 0.0001 + 0.0064);
  EXPECT_DOUBLE_EQ(two.step, 0.1);
  EXPECT_DOUBLE_EQ(two.efficiency, 0.935);
  EXPECT_DOUBLE_EQ(two.speedup(), 1.87);
}

TEST(Scaling, OfOneRankCostsNothing) {
  const ProjectedStep one = projected(1, 1'000'000'000, 0.25, {.bandwidth = 1, .latency = 1});
  EXPECT_EQ(one.sum, 0);
  EXPECT_EQ(one.step, 0.25);
  EXPECT_EQ(one.efficiency, 1);
}

const std::vector<std::string> of_recipe = {"info", "--recipe", "zaremba-small", "--vocab-size", "10000"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Scaling, OfARecipeIsFromItsGradientsAndTheGivenTime) {
  const std::vector<std::string> words =
      with(of_recipe, {"--ranks", "1,4", "--step-time", "0.5", "--bandwidth", "10", "--latency", "20"});
  const nlohmann::json json = json_of_lm(words);
  const double parameters = json.at("parameters"), bytes = json.at("gradient_bytes");
  EXPECT_EQ(parameters, 10000 * 200 + 2 * (800 * 400 + 1600) + 10000 * 201);
  EXPECT_GE(bytes, 4 * parameters);
  EXPECT_LT(bytes, 4.1 * parameters) << "padding";
  EXPECT_FALSE(json.at("measured"));
  ASSERT_EQ(json.at("projected").size(), 2u);
  EXPECT_EQ(json.at("projected")[0].at("step_seconds"), 0.5);
  const nlohmann::json& four = json.at("projected")[1];
  EXPECT_EQ(four.at("ranks"), 4);
  EXPECT_NEAR(four.at("sum_seconds"), 6 * 20e-6 + 1.5 * bytes / 10e9, 1e-12);
  const std::string text = output_of_lm(words), table = output_of_lm(with(words, {"--markdown"}));
  expect_contains(text, "Estimates for zaremba-small");
  expect_contains(table, "| ranks | sum of gradients, s | step, s | efficiency, % | speed-up |");
}

TEST(Scaling, OfARunIsFromTheTimeOfItsSteps) {
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  const nlohmann::json json = json_of_lm({"info", data.path("run"), "--ranks", "2"});
  const std::vector<std::string> lines = [&] {
    std::vector<std::string> all;
    const std::string log = bytes_of_file(data / "run" / "log.jsonl");
    for (const std::string_view line : split_lines(log))
      if (line.find("\"steps\"") != std::string_view::npos) all.emplace_back(line);
    return all;
  }();
  const nlohmann::json last = nlohmann::json::parse(lines.back());
  const double seconds = last.at("training_seconds"), steps = last.at("step");
  EXPECT_DOUBLE_EQ(json.at("step_seconds_of_one"), seconds / steps);
  EXPECT_TRUE(json.at("measured"));
  expect_refused(run_lm({"info", data.path("run"), "--ranks", "2", "--verify"}), "--ranks goes with");
}

TEST(Scaling, RefusesWhatItCannotProject) {
  const auto refused = [](const std::vector<std::string>& more, const std::string& part) {
    expect_refused(run_lm(with(of_recipe, more)), part);
  };
  refused({"--ranks", "2"}, "give --step-time SECONDS");
  for (const char* const ranks : {"0", "-2", "2.5", "2,x", "", "1000001"})
    refused({"--ranks", ranks, "--step-time", "1"}, "--ranks");
  for (const char* const time : {"0", "-1", "nan", "inf", "slow"})
    refused({"--ranks", "2", "--step-time", time}, "--step-time");
  refused({"--ranks", "2", "--step-time", "1", "--bandwidth", "0"}, "--bandwidth");
  refused({"--ranks", "2", "--step-time", "1", "--latency", "-1"}, "--latency");
  for (const char* const option : {"--step-time", "--bandwidth", "--latency"})
    refused({option, "1"}, "--ranks");
  refused({"--markdown"}, "--ranks");
  expect_refused(run_lm({"info", "--cells", "--ranks", "2"}), "--ranks goes with");
}

}  // namespace
}  // namespace rondo
