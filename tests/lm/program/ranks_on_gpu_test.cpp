// `mpirun -n N lm train --device cuda`, with a GPU for each rank, beside one process. On CPUs:
// tests/lm/program/ranks_test.cpp.
#include "tests/cuda/other_gpu.h"
#include "tests/lm/program/mpirun.h"
#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

void expect_losses_of(const fs::path& run, const fs::path& alone, size_t steps) {
  const std::vector<double> expected = losses_of(alone), losses = losses_of(run);
  ASSERT_EQ(expected.size(), steps);
  ASSERT_EQ(losses.size(), steps);
  for (size_t i = 0; i < steps; ++i) EXPECT_NEAR(losses[i], expected[i], 1e-4) << i;
}

// They resume on GPUs what ranks on CPUs have begun, and the other way round.
TEST_F(RanksOfMpirun, TrainOnGpusAsOneProcess) {
  NEED_EMULATED_GPU();
  const WithGpu gpus("gpus=2");
  const SmallData data;
  data.trained("alone", {"--steps", "30"});
  const Result begun = mpirun("-n 4 " + quoted(data.train("together", {"--steps", "10"})));
  ASSERT_EQ(begun.status, 0) << begun.err;
  const Result result =
      mpirun("-n 2 " + quoted(data.resume("together", {"--steps", "20", "--device", "cuda"})));
  ASSERT_EQ(result.status, 0) << result.err;
  expect_contains(result.out, "2 ranks of emulated GPU");
  output_of_lm(data.resume("together", {"--steps", "30", "--device", "cpu"}));
  expect_losses_of(data / "together", data / "alone", 30);
}

// 3 do not divide the batches of 20 sentences: the shapes of a step differ from GPU to GPU.
TEST_F(RanksOfMpirun, TrainATranslatorOnGpusAsOneProcess) {
  NEED_EMULATED_GPU();
  const WithGpu gpus("gpus=3");
  const SmallTranslator data;
  const std::vector<std::string> settings = {"train.log_every=1"};
  data.trained("alone", settings);
  const Result result = mpirun("-n 3 " + quoted(data.train("together", settings)) + " --device cuda");
  ASSERT_EQ(result.status, 0) << result.err;
  expect_losses_of(data.path("together"), data.path("alone"), 40);
}

TEST_F(RanksOfMpirun, ThatAreMoreThanTheGpusSaySoOnce) {
  NEED_EMULATED_GPU();
  const WithGpu gpus("gpus=1");
  const SmallData data;
  const Result result = mpirun("-n 2 " + quoted(data.train("run", {"--device", "cuda"})));
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  expect_contains(result.err, "process 2 of this machine needs a GPU of its own, and there is 1");
  EXPECT_FALSE(fs::exists(data / "run"));

  setenv("CUDA_VISIBLE_DEVICES", "3", 1);  // each sees another one, and no other
  const Result shown = mpirun("-n 2 " + quoted(data.train("run", {"--device", "cuda", "--steps", "2"})));
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(shown.status, 0) << shown.err;
}

}  // namespace
}  // namespace rondo
