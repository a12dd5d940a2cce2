// `lm quantize`: runs with weights in int8, and what uses them.
#include <gtest/gtest.h>

#include <cmath>

#include "lm/program/run.h"
#include "lm/training/checkpoint.h"
#include "tests/data/files/tensors_in_memory.h"
#include "tests/lm/program/program.h"
#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

class Quantize : public SmallDataTest {
 protected:
  static void SetUpTestSuite() {
    SmallDataTest::SetUpTestSuite();
    data->trained("run", {"--epochs", "3"});
    output_of_lm({"quantize", data->path("run"), "--out", data->path("run8")});
  }
};

TEST_F(Quantize, TheRunCostsLittleAndSaysSo) {
  const std::string run = data->path("run"), run8 = data->path("run8");
  expect_contains(output_of_lm({"quantize", run, "--out", data->path("again")}),
                  "lm eval " + data->path("again"));
  EXPECT_EQ(data->model_digest("again"), data->model_digest("run8"));
  const auto nats = [&](const std::string& of, const Words& more) {
    return json_of_lm(Words{"eval", of, "--split", "test"} + more).at("nats").get<double>();
  };
  const double before = nats(run, {}), after = nats(run8, {});
  EXPECT_NE(before, after);
  EXPECT_NEAR(before, after, 0.02 * before);
  EXPECT_EQ(objects_in(data->path("run8/evaluations.jsonl")).back().at("precision"), "int8");
  EXPECT_EQ(nats(run8, {"--streams", "1"}), nats(run8, {"--streams", "1", "--precision", "INT8"}));
  EXPECT_NEAR(nats(run8, {"--precision", "fp32"}), after, 0.01 * before);
  expect_contains(output_of_lm({"info", run8}), "in int8");
  EXPECT_EQ(output_of_lm({"score", run8}, "the cat\n"),
            output_of_lm({"score", run8, "--precision", "int8"}, "the cat\n"));
  EXPECT_NE(output_of_lm({"score", run8}, "the cat\n"), output_of_lm({"score", run}, "the cat\n"));
  output_of_lm({"generate", run8, "-n", "20", "--seed", "1"});
  output_of_lm({"table", run8});
}

// Each matrix has a byte for each weight and a scale for each row, all else is as it was; each row is within
// half a step of what it was, and the same file comes of what was read.
TEST_F(Quantize, TheFileHoldsMultiplesOfScales) {
  const TensorsInMemory before(*data / "run/model.safetensors"), after(*data / "run8/model.safetensors");
  std::size_t matrices = 0;
  for (const TensorEntry& it : before.entries) {
    const auto now = std::ranges::find(after.entries, it.name, &TensorEntry::name);
    ASSERT_NE(now, after.entries.end()) << it.name;
    EXPECT_EQ(now->shape, it.shape);
    if (it.shape.size() < 2) {
      EXPECT_EQ(after.values.at(it.name), before.values.at(it.name)) << it.name;
      continue;
    }
    ++matrices;
    EXPECT_EQ(now->dtype, "I8");
    const std::size_t rows = std::size_t(it.shape[0]), columns = std::size_t(it.shape[1]);
    std::vector<float> numbers(rows * columns), scales(rows);
    std::memcpy(numbers.data(), before.values.at(it.name).data(), numbers.size() * sizeof(float));
    std::memcpy(scales.data(), after.values.at(it.name + ".row_scales").data(),
                scales.size() * sizeof(float));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      ASSERT_NEAR(numbers[i] / scales[i / columns], double(static_cast<int8_t>(after.values.at(it.name)[i])),
                  0.501)
          << it.name;
  }
  EXPECT_EQ(after.entries.size(), before.entries.size() + matrices);
  const OpenRun run = open_run(data->path("run8"));
  save_model_in_int8(*data / "saved_again", *run.model);
  const TensorsInMemory again(*data / "saved_again");
  for (const TensorEntry& it : after.entries)
    if (it.dtype == "I8") {
      EXPECT_EQ(again.values.at(it.name), after.values.at(it.name)) << it.name;
    }
}

TEST_F(Quantize, WhatItCannotDoIsRefused) {
  const std::string run = data->path("run"), run8 = data->path("run8"), out = data->path("new");
  expect_refused({"quantize", run8, "--out", out}, "its weights are in int8 already");
  expect_refused({"quantize", run, "--out", run8}, "holds a run already");
  expect_refused({"quantize", data->path("none"), "--out", out}, "no such folder");
  expect_refused({"train", "--out", run8, "--resume"}, "in int8, for use and not for training");
  expect_refused({"finetune", run8, "--out", out}, "in int8, for use and not for training");
  expect_refused({"train", "--init-from", run8, "--data", data->path("data"), "--out", out},
                 "in int8, for use and not for training");
  expect_refused(data->train("new", {"--precision", "int8"}), "for using a model, not for training");
  expect_refused({"eval", run8, "--dynamic"}, "weights in int8 are not trained");
  expect_refused({"eval", run8, "--device", "cuda", "--precision", "int8"}, "is for a CPU");
  EXPECT_FALSE(fs::exists(out));
}

// In either kind of file, with digests that fit.
TEST_F(Quantize, BrokenFilesAreRefused) {
  const auto changed = [&](const std::string& name, auto change) {
    fs::remove_all(*data / name);
    fs::copy(*data / (name == "of_run" ? "run" : "run8"), *data / name);
    TensorsInMemory file(*data / name / "model.safetensors");
    change(file);
    write_safetensors(*data / name / "model.safetensors", file.tensors(), file.metadata);
    return data->path(name);
  };
  const std::string scales = "embedding.weight.row_scales";
  const auto first = [](const std::string& tensor, float number) {
    return [=](TensorsInMemory& file) { file.set_first(tensor, number); };
  };
  expect_refused({"quantize", changed("of_run", first("embedding.weight", NAN)), "--out", data->path("new")},
                 "not finite");
  for (const float bad : {float(NAN), float(INFINITY), 3e38f})
    expect_refused({"eval", changed("bad", first(scales, bad))}, "not finite");
  expect_refused({"eval", changed("bad", first(scales, -1))}, "holds -1, which is below 0");
  const auto without_scales = [&](TensorsInMemory& file) {
    std::erase_if(file.entries, [&](const TensorEntry& it) { return it.name == scales; });
  };
  const auto under_another_name = [&](TensorsInMemory& file) {
    std::ranges::find(file.entries, scales, &TensorEntry::name)->name = "others";
    file.values["others"] = file.values.at(scales);
  };
  expect_refused({"eval", changed("bad", without_scales)}, "the file belongs to another recipe");
  expect_refused({"eval", changed("bad", under_another_name)}, scales);
}

TEST(QuantizedTranslator, TranslatesNearlyTheSame) {
  const SmallTranslator translator;
  translator.trained("run");
  output_of_lm({"quantize", translator.path("run"), "--out", translator.path("run8")});
  const auto nats = [&](const std::string& run) {
    return json_of_lm({"eval", translator.path(run)}).at("nats").get<double>();
  };
  EXPECT_NEAR(nats("run8"), nats("run"), 0.02 * nats("run"));
  EXPECT_EQ(lines_in(output_of_lm({"translate", translator.path("run8")}, "a b\nb c d\n")).size(), 2u);
}

}  // namespace
}  // namespace rondo
