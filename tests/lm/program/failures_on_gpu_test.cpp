// A GPU that is absent, too old, too small, or lost on the way: one clear line each, and a run that goes on
// without it. What is wrong with the GPU is the emulated one's to say: tests/emulated_gpu/emulated_gpu.h.
#include "tests/cuda/other_gpu.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

Result run_on(const std::string& fault, const Words& words) {
  const WithGpu gpu(fault);
  return run_lm(words + Words{"--device", "cuda"});
}

TEST(GpuThatCannotBeUsed, IsRefusedByEveryCommandThatComputes) {
  NEED_EMULATED_GPU();
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  const std::string run = data.path("run");
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"absent", "--device cuda: there is no GPU that CUDA can use; use --device cpu"},
      {"old_driver", "the driver of the GPU is older than this program's CUDA; update the driver"},
      {"capability=7.5", "has compute capability 7.5, and this program needs 8.0 or newer; use --device cpu"},
  };
  for (const auto& [fault, line] : faults) {
    expect_refused(run_on(fault, data.train("other", {"--epochs", "1"})), line);
    EXPECT_FALSE(fs::exists(data / "other")) << "nothing was begun";
  }
  const std::vector<Words> commands = {
      {"eval", run},
      {"eval", run, "--dynamic", "--cache"},
      {"generate", run, "--seed", "1"},
      {"score", run},
      {"finetune", run, "--out", data.path("other"), "finetune.learning_rate=1"},
      {"train", "--out", run, "--resume", "--epochs", "2"},
  };
  for (const Words& command : commands) expect_refused(run_on("absent", command), faults[0].second);
  EXPECT_FALSE(fs::exists(data / "other"));
}

/// EXPECT one line at the end of stderr, behind what showed the progress, that says what happened and what to
/// do; and the status of a failure while running.
void expect_one_line(const Result& result, const std::string& what) {
  EXPECT_EQ(result.status, 1) << result.err;
  const size_t begin = result.err.find("lm: ");
  ASSERT_NE(begin, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find('\n', begin), result.err.size() - 1) << result.err;
  expect_contains(result.err.substr(begin), what);
  expect_contains(result.err.substr(begin), "--device cpu");
}

TEST(GpuThatIsTooSmall, IsSaidInOneLine) {
  NEED_EMULATED_GPU();
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  expect_one_line(run_on("memory=60000", {"eval", data.path("run")}), "no memory on the GPU");
  expect_refused(run_on("memory=60000", data.train("other")),
                 "are available: set a smaller train.micro_batch, or make ");
  EXPECT_FALSE(fs::exists(data / "other")) << "there was no room for the model";
}

/// The losses of the steps and of the validation text.
std::vector<Json> without_test(const fs::path& run) {
  std::vector<Json> entries = log_of(run);
  std::erase_if(entries, [](const auto& entry) { return entry.value("split", "") == "test"; });
  return entries;
}

/// EXPECT that a run which `result` ended goes on on the CPU to the losses of `whole`.
void expect_goes_on(const SmallData& data, const std::string& run) {
  output_of_lm(data.resume(run, {"--epochs", "2", "--device", "cpu"}));
  const auto whole = without_test(data / "whole"), parts = without_test(data / run);
  ASSERT_EQ(parts.size(), whole.size()) << "each step is logged once";
  for (size_t i = 0; i < whole.size(); ++i) {
    const double expected = whole[i].at("nats");
    EXPECT_NEAR(parts[i].at("nats").get<double>(), expected, 1e-4 * expected) << whole[i];
  }
}

/// SGD, whose updates are as near to each other as the gradients are.
const Words sgd = {"--epochs", "2", "train.optimizer=sgd", "train.learning_rate=1"};

TEST(GpuThatRunsOutOfMemory, LeavesARunThatGoesOn) {
  NEED_EMULATED_GPU();
  const SmallData data;
  data.trained("whole", sgd);
  // The first steps take new memory; before them nothing is there to go on from.
  for (int work = 100; !fs::exists(data / "run/state.safetensors"); work += 100) {
    fs::remove_all(data / "run");
    const Result result = run_on(fmt::format("full_at={}", work), data.train("run", sgd));
    ASSERT_NE(result.status, 0) << "no memory is taken after a state is there";
    expect_one_line(result, "no memory on the GPU");
  }
  expect_goes_on(data, "run");
}

TEST(GpuThatIsLost, LeavesARunThatGoesOn) {
  NEED_EMULATED_GPU();
  const SmallData data;
  data.trained("whole", sgd);
  for (const int launch : {300, 1500, 6000}) {
    const std::string run = fmt::format("lost at {}", launch);
    expect_one_line(run_on(fmt::format("fails_at={}", launch), data.train(run, sgd)),
                    "an illegal memory access");
    ASSERT_TRUE(fs::exists(data / run / "state.safetensors"));
    expect_goes_on(data, run);
  }
}

// With the average of the weights in force, and with weights that adapt, which both put back what was there.
TEST(GpuThatIsLost, IsSaidByEveryCommandThatComputes) {
  NEED_EMULATED_GPU();
  const SmallData data;
  const Words averaged = {"--epochs", "1", "train.averaging=always", "train.eval_every=3"};
  data.trained("run", averaged);
  const std::string model = data.model_digest("run");
  expect_one_line(run_on("fails_at=100", {"generate", data.path("run"), "--seed", "1"}),
                  "an illegal memory access");
  for (const int launch : {800, 1600, 2400}) {
    const std::string run = fmt::format("lost at {}", launch);
    expect_one_line(run_on(fmt::format("fails_at={}", launch), data.train(run, averaged)),
                    "an illegal memory access");
    expect_one_line(run_on(fmt::format("fails_at={}", launch),
                           {"eval", data.path("run"), "--dynamic", "dynamic.length=5"}),
                    "an illegal memory access");
  }
  EXPECT_EQ(data.model_digest("run"), model);
}

}  // namespace
}  // namespace rondo
