// What tensors are said to take, beside what they take; and the refusal of what does not fit. Of trainings:
// tests/lm/program/program_test.cpp.
#include "lm/program/memory_estimate.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "lm/evaluation/dynamic_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/model.h"
#include "lm/program/recipes.h"
#include "tensor/allocator.h"
#include "tensor/available_memory.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

Recipe language_model_recipe_with(const std::vector<std::string>& settings) {
  std::vector<Setting> parsed;
  for (const std::string& it : settings) parsed.push_back(parse_setting(it));
  return resolve_recipe("zaremba-small", parsed);
}

TEST(MemoryEstimate, OfEvaluationsIsWithinAQuarter) {
  const std::vector<std::vector<std::string>> cases{
      {},
      {"model.hidden=600"},
      {"train.eval_streams=20", "model.cell=mlstm"},
      {"model.hidden=300", "model.embedding=100", "model.major_ratio=0.7"},
      {"model.experts=15", "model.embedding=100", "model.tied=true"},
      {"model.output=adaptive"},
      {"model.output=adaptive", "model.hidden=500", "model.cutoffs=[20, 1500]"},
      {"model.hidden=300", "model.output_layers=[200]"},
      {"model.cell=rhn", "model.biases=2"},
      {"model.cell=fs_lstm", "model.biases=2"},
      {"model.cell=mogrifier_lstm"},
      {"model.cell=dt_gru"},
      {"model.cell=bn_lstm"},
      {"model.cell=ln_lstm", "model.biases=2"},
      {"model.cell=sru", "model.biases=2"},
      {"model.cell=qrnn", "model.biases=2"}};
  const int64_t V = 2000;
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 1100; ++i) ids.push_back(i * 7 % V);
  for (const auto& settings : cases) {
    const Recipe recipe = language_model_recipe_with(settings);
    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    reset_peak_bytes(Device::cpu);
    LanguageModel model(model_options(recipe), V);
    evaluate_ids(model, ids, {recipe.task.eval_streams, {}});
    const auto measured = static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before);
    const auto estimated = static_cast<double>(evaluation_bytes(recipe, model));
    const std::string which = fmt::format("{}", fmt::join(settings, " "));
    EXPECT_GT(measured / estimated, 0.75) << which << ": " << measured;
    EXPECT_LT(measured / estimated, 1.25) << which << ": " << measured;
  }
}

TEST(MemoryEstimate, OfTheStatisticsOfDynamicEvaluation) {
  const int64_t V = 2000;
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 5000; ++i) ids.push_back(i * 7 % V);
  for (const std::vector<std::string>& settings :
       std::vector<std::vector<std::string>>{{"dynamic.statistics_streams=100"},
                                             {"model.hidden=300", "dynamic.statistics_streams=200",
                                              "dynamic.length=10", "model.weight_drop=0.5"}}) {
    const Recipe recipe = language_model_recipe_with(settings);
    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    LanguageModel model(model_options(recipe), V);
    reset_peak_bytes(Device::cpu);
    gradient_statistics(model, ids, recipe.dynamic, [](int64_t) {});
    const auto measured = static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before);
    const auto estimated = static_cast<double>(dynamic_bytes(recipe, model));
    EXPECT_GT(measured / estimated, 0.75) << settings.front() << ": " << measured;
    EXPECT_LT(measured / estimated, 1.25) << settings.front() << ": " << measured;
    EXPECT_NO_THROW(check_dynamic_fits(recipe, model, dynamic_bytes(recipe, model)));
    expect_contains(error_of([&] { check_dynamic_fits(recipe, model, dynamic_bytes(recipe, model) - 1); }),
                    "the statistics would take about");
  }
}

// One line among others that are short: computed with all its padding where something is masked, without it
// otherwise.
TEST(MemoryEstimate, OfLinesCountsThePadding) {
  const int64_t V = 200, line_end = 0, longest = 1000;
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 400; ++i) ids.push_back(i % 10 == 9 ? line_end : 1 + i % (V - 1));
  for (int32_t i = 1; i < longest; ++i) ids.push_back(1 + i % (V - 1));
  ids.push_back(line_end);
  for (const char* dropout : {"model.dropout=0.2", "model.dropout=0"}) {
    const Recipe recipe =
        language_model_recipe_with({dropout, "data.batching=lines", "train.batch=8", "model.hidden=64",
                                    "model.embedding=64", "model.layers=1"});
    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    Training training(recipe, V, ids, line_end);
    reset_peak_bytes(Device::cpu);
    while (training.trainer.next_batch()) training.trainer.step();
    const auto measured = static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before);
    const Batches batches(recipe.task.batches, ids, line_end);
    const ChunkSizeOfStreams size_of = [&](int64_t streams) {
      return batches.max_size(streams, !leaves_out_padding(training.model.options(), Device::cpu));
    };
    const int64_t estimated = training_bytes(recipe, training.model, size_of);
    EXPECT_GT(measured / static_cast<double>(estimated), 0.75) << dropout << ": " << measured;
    EXPECT_LT(measured / static_cast<double>(estimated), 1.25) << dropout << ": " << measured;
    EXPECT_NO_THROW(check_fits(recipe, training.model, estimated, size_of));
    EXPECT_THROW(check_fits(recipe, training.model, estimated - 1, size_of), InputError);
    expect_contains(error_of([&] { check_fits(recipe, training.model, 1000, size_of); }),
                    "the longest lines of the text shorter");
  }
}

TEST(MemoryEstimate, OfTheLargestSettingsIsLargeAndNotNegative) {
  const Recipe recipe = language_model_recipe_with(
      {"model.hidden=1000000", "model.embedding=1000000", "model.layers=100", "train.batch=1000000",
       "train.length=1000000", "train.length_deviation=1000000", "train.eval_streams=1000000",
       "dynamic.statistics_streams=1000000", "dynamic.length=1000000"});
  const LanguageModel model(model_options(recipe), 100'000'000, std::nullopt);
  for (const auto& bytes_of : {evaluation_bytes, dynamic_bytes}) EXPECT_GT(bytes_of(recipe, model), 1e15);
  EXPECT_GT(training_bytes(recipe, model), 1e18);
  expect_contains(error_of([&] { check_fits(recipe, model, int64_t{1} << 50); }), "would take about");
  expect_contains(error_of([&] {
                    const Recipe larger = language_model_recipe_with(
                        {"model.cell=dt_rnn", "model.layers=1000", "model.hidden=1000000",
                         "model.transition=[1000000, 1000000, 1000000]"});
                    LanguageModel(model_options(larger), 10, std::nullopt);
                  }),
                  "more than 1125899906842624 parameters");
}

TEST(MemoryEstimate, NamesAMicroBatchThatFits) {
  const Recipe recipe = language_model_recipe_with({});  // of 20 streams
  const LanguageModel model(model_options(recipe), 10000, std::nullopt);
  EXPECT_NO_THROW(check_fits(recipe, model, training_bytes(recipe, model)));
  Recipe fives = recipe;
  fives.task.micro_batch = 5;
  const int64_t enough_for_five = training_bytes(fives, model);
  expect_contains(error_of([&] { check_fits(recipe, model, enough_for_five); }), "set train.micro_batch=5,");
  EXPECT_THROW(check_fits(recipe, model, enough_for_five), InputError);
  EXPECT_NO_THROW(check_fits(fives, model, enough_for_five));
  expect_contains(error_of([&] { check_fits(recipe, model, 1000); }),
                  "no train.micro_batch makes enough: make");
}

TEST(AvailableMemory, KnowsTheLimitOfTheProcess) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  ASSERT_TRUE(file >> pages);
  constexpr int64_t more = int64_t{64} << 20;
  rlimit narrow = before;
  narrow.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + more);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
  const auto available = available_memory();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_TRUE(available.has_value());
  EXPECT_LE(*available, more);
}

}  // namespace
}  // namespace rondo
