// The program with --device cuda beside --device cpu: training, evaluation, sampling, and runs that go from
// one to the other. tests/lm/program/failures_on_gpu_test.cpp: a GPU that is not as it should be.
#include "tests/cuda/device.h"

#include "tests/lm/program/measured_memory.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* devices[] = {"cpu", "cuda"};

Words on(const std::string& device, const Words& more = {}) { return Words{"--device", device} + more; }

/// Relative: steps of training carry on what the devices' floats are apart by.
constexpr double apart = 1e-4;

/// EXPECT that b is a, and a number in it only close to it.
void expect_close(const Json& a, const Json& b, const std::string& where) {
  if (a.is_number_float() && b.is_number_float()) {
    const double x = a, y = b;
    EXPECT_LE(std::abs(x - y), apart * std::max(std::abs(x), std::abs(y)))
        << where << ": " << x << " and " << y;
  } else if (a.is_object() && b.is_object()) {
    EXPECT_EQ(a.size(), b.size()) << where;
    for (const auto& [name, value] : a.items()) {
      ASSERT_TRUE(b.contains(name)) << where << ": no " << name;
      expect_close(value, b.at(name), where + " " + name);
    }
  } else if (a.is_array() && b.is_array()) {
    ASSERT_EQ(a.size(), b.size()) << where;
    for (size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i], fmt::format("{} {}", where, i));
  } else {
    EXPECT_EQ(a, b) << where;
  }
}
void expect_close(const std::vector<Json>& a, const std::vector<Json>& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  for (size_t i = 0; i < a.size(); ++i) expect_close(a[i], b[i], a[i].dump());
}

struct TrainedModel {
  std::string name;
  Words settings;
  bool dynamic = true;  // whether dynamic evaluation takes it

  friend void PrintTo(const TrainedModel& model, std::ostream* to) { *to << model.name; }
};
/// What a model of the literature asks of a GPU, in small.
const std::vector<TrainedModel> models = {
    {"lstm_with_adam", {}},
    {"major_minor_mixture",
     {"model.hidden=[32,20]", "model.major_ratio=[0.75,0.6]", "model.experts=3", "model.tied=true",
      "model.variational=true", "model.embedding_dropout=0.1", "model.latent_dropout=0.2",
      "model.weight_drop=0.3", "train.optimizer=sgd", "train.learning_rate=2", "train.clip=0.25",
      "train.weight_decay=1.2e-6", "train.averaging=non_monotonic", "train.averaging_interval=1",
      "train.length_deviation=2", "train.activation_regularization=2", "train.temporal_regularization=1"}},
    {"adaptive_softmax", {"model.output=adaptive", "model.cutoffs=[3, 6]", "model.dropout=0.2"}},
    {"batch_norm",
     {"model.cell=bn_lstm", "train.optimizer=sgd", "train.learning_rate=1", "train.micro_batch=0"},
     false},
    {"multiplicative_lstm_of_one_hot_lines",
     {"model.cell=mlstm", "model.embedding=0", "data.batching=lines", "train.optimizer=rmsprop",
      "train.learning_rate=0.001"},
     false},
};

/// Enough for some steps and two evaluations an epoch.
struct FewLines : SmallData {
  FewLines() {
    write_bytes(*this / "data/train.txt", text(70));
    write_bytes(*this / "data/valid.txt", text(8));
    write_bytes(*this / "data/test.txt", text(8));
  }
};

class TrainingOnGpu : public testing::TestWithParam<TrainedModel> {};

TEST_P(TrainingOnGpu, IsThatOfTheCpuAndGoesOnOnEitherDevice) {
  NEED_GPU();
  const FewLines data;
  const auto train = [&](const std::string& run, const std::string& device, const std::string& epochs) {
    data.trained(run, on(device, {"--epochs", epochs}) + GetParam().settings);
  };
  const auto go_on = [&](const std::string& run, const std::string& device) {
    output_of_lm(data.resume(run, on(device, {"--epochs", "2"})));
  };
  train("cpu", "cpu", "2");
  train("cuda", "cuda", "2");
  const std::vector<Json> expected = log_of(data / "cpu");
  expect_close(log_of(data / "cuda"), expected);

  train("cpu, then cuda", "cpu", "1");
  train("cuda, then cpu", "cuda", "1");
  fs::copy(data / "cuda, then cpu", data / "cuda, then cuda");
  go_on("cpu, then cuda", "cuda");
  go_on("cuda, then cpu", "cpu");
  output_of_lm(data.resume("cuda, then cuda", {"--epochs", "2"}));  // where it was
  const auto without_test = [](std::vector<Json> entries) {         // which is scored when a training ends
    std::erase_if(entries, [](const Json& entry) { return entry.value("split", "") == "test"; });
    return entries;
  };
  for (const char* run : {"cpu, then cuda", "cuda, then cpu"}) {
    SCOPED_TRACE(run);
    expect_close(without_test(log_of(data / run)), without_test(expected));
  }
  // Sums have a fixed order on the GPU, too, and a state holds everything: the very bytes.
  EXPECT_EQ(data.model_digest("cuda, then cuda"), data.model_digest("cuda"));
  for (const char* run : {"cuda", "cpu, then cuda", "cuda, then cuda"})
    expect_contains(bytes_of_file(data / run / "config.toml"), "device = \"cuda\"");
}

TEST_P(TrainingOnGpu, LeavesAModelThatIsUsedAsOnTheCpu) {
  NEED_GPU();
  const FewLines data;
  data.trained("run", Words{"--epochs", "2"} + GetParam().settings);
  const std::string run = data.path("run");
  const auto of = [](const Words& words, const std::string& input = "") {
    return std::pair{output_of_lm(words + on("cpu"), input), output_of_lm(words + on("cuda"), input)};
  };
  std::vector<Words> ways = {{}};
  if (!GetParam().name.ends_with("lines")) ways.insert(ways.end(), {{"--streams", "3"}, {"--cache"}});
  if (GetParam().dynamic) ways.insert(ways.end(), {{"--dynamic"}, {"--dynamic", "--cache"}});
  for (const Words& way : ways) {
    const auto [cpu, cuda] = of(Words{"eval", run, "--json", "--threads", "1"} + way);
    Json on_cpu = Json::parse(cpu), on_gpu = Json::parse(cuda);
    for (Json* it : {&on_cpu, &on_gpu}) it->erase("seconds");
    expect_close(on_gpu, on_cpu, fmt::format("{}", fmt::join(way, " ")));
  }
  const auto [written, written_on_gpu] =
      of({"generate", run, "-n", "40", "--seed", "3", "--prompt", "the cat"});
  EXPECT_EQ(written_on_gpu, written);
  const auto [scored, scored_on_gpu] = of({"score", run}, "the cat sat\non a mat\n");
  std::istringstream a(scored), b(scored_on_gpu);
  for (double x = 0, y = 0; a >> x;) {
    ASSERT_TRUE(b >> y) << scored_on_gpu;
    EXPECT_NEAR(y, x, apart * std::max(1.0, std::abs(x)));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TrainingOnGpu, testing::ValuesIn(models),
                         [](const auto& instance) { return instance.param.name; });

// The search chooses by losses, so that it must not see others.
TEST(TuningOnGpu, TriesWhatTheCpuTries) {
  NEED_GPU();
  const FewLines data;
  data.trained("run", {"--epochs", "1"});
  const auto tuned = [&](const std::string& device) {
    Json result =
        Json::parse(output_of_lm({"eval", data.path("run"), "--dynamic", "--cache", "--tune", "--budget",
                                  "500", "--json", "--threads", "1", "--device", device}));
    result.erase("seconds");
    return result;
  };
  expect_close(tuned("cuda"), tuned("cpu"), "tuned");
}

TEST(FinetuningOnGpu, LogsTheLossesOfTheCpu) {
  NEED_GPU();
  const FewLines data;
  data.trained("run", {"--epochs", "2"});
  for (const char* device : devices)
    output_of_lm(Words{"finetune", data.path("run"), "--out", data.path(device), "--epochs", "1", "--threads",
                       "1", "finetune.learning_rate=1"} +
                 on(device));
  expect_close(log_of(data / "cuda"), log_of(data / "cpu"));
}

TEST(MemoryOnGpu, OfTrainingsIsWhatIsMeasuredWithout) {
  NEED_GPU();
  expect_estimates_near_peaks(Device::cuda);
}

}  // namespace
}  // namespace rondo
