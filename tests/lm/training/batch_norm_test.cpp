// Batch normalisation in trainings and files: its statistics are saved, resumed exactly, and estimated anew
// when a training ends.
#include <nlohmann/json.hpp>

#include "lm/evaluation/evaluation.h"
#include "lm/training/checkpoint.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/lm/program/program.h"
#include "tests/lm/training/small_training.h"

namespace rondo {
namespace {

constexpr int32_t line_end = 3;
/// Lines of ten symbols, four batches of them.
std::vector<int32_t> batch_norm_ids() {
  std::vector<int32_t> ids = some_ids(480);
  for (size_t i = 0; i < ids.size(); ++i) {
    if ((i % 10 == 9) != (ids[i] == line_end)) ids[i] = i % 10 == 9 ? line_end : 4;
  }
  return ids;
}

Recipe batch_norm_recipe(const std::string& cell = "bn_lstm", Batching batching = Batching::streams) {
  Recipe recipe = small_recipe(cell);
  recipe.language_model().train.batches.batching = batching;
  set(recipe, "train.batch=12 train.micro_batch=6");
  return recipe;
}

/// All buffers, one behind another.
std::vector<real> statistics_of(const Module& model) {
  std::vector<real> all;
  for (const Buffer* buffer : model.buffers())
    for (const real number : buffer->tensor().to_vector()) all.push_back(number);
  return all;
}

class BatchNormTraining : public testing::TestWithParam<std::tuple<std::string, Batching>> {};

TEST_P(BatchNormTraining, LearnsAndIsEvaluatedWithStatisticsOfTheWholeText) {
  const std::vector<int32_t> ids = batch_norm_ids();
  const Batching batching = std::get<1>(GetParam());
  Recipe recipe = batch_norm_recipe(std::get<0>(GetParam()), batching);
  set(recipe, "model.dropout=0 train.learning_rate=0.01");
  Training training(recipe, 11, ids, line_end);
  const auto nats = [&] {
    Reading reading;
    if (batching == Batching::lines) reading.line_end = line_end;
    return evaluate_ids(training.model, ids, reading).nats();
  };
  const double before = nats();
  advance(training, 100);
  std::vector<int64_t> told;
  const auto weights = training.model.values().to_vector();
  EXPECT_EQ(training.task.estimate_statistics([&](int64_t done) { told.push_back(done); }),
            training.task.scored_per_epoch());
  Training unread(recipe, 11, ids, line_end);
  size_t chunks = 0;
  while (unread.trainer.next_batch()) ++chunks;
  EXPECT_EQ(told.size(), chunks);
  EXPECT_EQ(told.back(), training.task.scored_per_epoch());
  EXPECT_EQ(training.model.values().to_vector(), weights);
  EXPECT_FALSE(training.model.statistics_momentum().has_value());
  // The rows of both micro-batches are counted; 39 steps in a stream, whose last slot is reused.
  const Buffer& rows = *training.model.buffers()[2];
  EXPECT_EQ(rows.name(), "rnn.rows_seen_ih_l0");
  const auto streams = static_cast<real>(recipe.language_model().train.batches.batch);
  if (batching == Batching::streams) {
    EXPECT_EQ(rows.tensor().to_vector(),
              (std::vector<real>{streams, streams, streams, streams, streams, streams, streams * (39 - 6)}));
  }
  const std::vector<real> once = statistics_of(training.model);
  EXPECT_LT(nats(), before - 0.5);
  EXPECT_EQ(statistics_of(training.model), once) << "an evaluation moves nothing";
  training.task.estimate_statistics([](int64_t) {});
  EXPECT_EQ(statistics_of(training.model), once) << "the same again";
}

INSTANTIATE_TEST_SUITE_P(
    EveryBatching, BatchNormTraining,
    testing::Combine(testing::Values("bn_lstm", "bn_mi_lstm"),
                     testing::Values(Batching::streams, Batching::lines, Batching::crops)),
    [](const auto& it) { return std::get<0>(it.param) + "_" + name_of(std::get<1>(it.param)); });

TEST(BatchNormModel, SavesItsStatisticsButDoesNotCountThem) {
  const TemporaryFolder folder;
  const std::vector<int32_t> ids = batch_norm_ids();
  Training training(batch_norm_recipe(), 11, ids), other(batch_norm_recipe(), 11, ids);
  advance(training, 2);
  save_model(folder / "model", training.model);
  const Safetensors file(folder / "model");
  EXPECT_EQ(file.get("rnn.running_mean_c_l0").shape, (std::vector<int64_t>{7, 6}));
  EXPECT_EQ(file.get("rnn.running_variance_ih_l1").shape, (std::vector<int64_t>{7, 24}));
  EXPECT_EQ(file.get("rnn.rows_seen_hh_l1").shape, (std::vector<int64_t>{7}));
  // 2 layers of 3 norms of 3 buffers.
  EXPECT_EQ(file.tensors().size(), training.model.segments().size() + 18);
  int64_t in_segments = 0;
  for (const Segment& segment : training.model.segments()) in_segments += segment.shape.size();
  EXPECT_EQ(training.model.parameter_count(), in_segments);

  load_model(folder / "model", other.model);
  EXPECT_EQ(other.model.values().to_vector(), training.model.values().to_vector());
  EXPECT_EQ(statistics_of(other.model), statistics_of(training.model));
  save_model(folder / "again", other.model);
  EXPECT_EQ(bytes_of_file(folder / "again"), bytes_of_file(folder / "model"));
}

// The program, from training to evaluation.
TEST(BatchNormProgram, EstimatesItsStatisticsWhenTrainingEnds) {
  const SmallData data;
  const std::vector<std::string> settings{"--epochs", "2", "--set", "model.cell=bn_lstm"};
  auto words = data.train("run", settings);
  const std::string out = output_of_lm(words);
  // 150 lines of 7 words and their ends; 8 streams, the first symbol is context only.
  const std::string said = fmt::format("statistics re-estimated over {} training symbols\n", 1199 / 8 * 8);
  expect_contains(out, said);
  EXPECT_LT(out.find(said), out.find("test (best checkpoint)"));
  const std::string model = data.model_digest("run");
  // A finished run that is resumed says the same and keeps the same model.
  const std::string again = output_of_lm(data.resume("run"));
  expect_contains(again, said);
  EXPECT_EQ(data.model_digest("run"), model);
  // What the training said of the test text is what the saved model gives.
  const auto test = [](const std::string& text) {
    return text.substr(text.find("test (best checkpoint)"), 40);
  };
  EXPECT_EQ(test(again), test(out));
  const auto json = nlohmann::json::parse(
      output_of_lm({"eval", data.path("run"), "--split", "test", "--json", "--threads", "1"}));
  expect_contains(test(out), fmt::format("{:.4f} nats", json.at("nats").get<double>()));
  // 2 layers of 10 steps: mean and variance of 4 x 32, 4 x 32 and 32 units, 3 counts.
  expect_contains(output_of_lm({"info", data.path("run")}),
                  fmt::format("\nstatistics  {}\n", 2 * 10 * (2 * 9 * 32 + 3)));
  EXPECT_EQ(output_of_lm(data.train("plain", {"--epochs", "1"})).find("re-estimated"), std::string::npos);
}

}  // namespace
}  // namespace rondo
