// `mpirun -n N lm train --device cuda`, with a GPU for each rank, beside one process. On CPUs:
// tests/lm/program/ranks_test.cpp.
#include "tests/cuda/other_gpu.h"
#include "tests/lm/program/mpirun.h"
#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

/// On a GPU rows of 30 numbers have gaps between them.
const Words small_states = {"model.hidden=30"};

// They resume on GPUs what ranks on CPUs have begun, and the other way round.
TEST_F(RanksOfMpirun, TrainOnGpusAsOneProcess) {
  NEED_EMULATED_GPU();
  const WithGpu gpus("gpus=2");
  const SmallData data;
  data.trained("alone", Words{"--steps", "30"} + small_states);
  const Result begun =
      mpirun("-n 4 " + quoted(data.train("together", Words{"--steps", "10"} + small_states)));
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
  const Words settings = {"train.log_every=1"};
  data.trained("alone", settings);
  const Result result = mpirun("-n 3 " + quoted(data.train("together", settings)) + " --device cuda");
  ASSERT_EQ(result.status, 0) << result.err;
  expect_losses_of(data.path("together"), data.path("alone"), 40);
}

TEST_F(RanksOfMpirun, NeedAGpuEach) {
  NEED_EMULATED_GPU();
  const SmallData data;
  const std::string train = quoted(data.train("run", {"--device", "cuda", "--steps", "2"}));
  {
    const WithGpu gpus("gpus=2");
    expect_one_line_and_failure(mpirun("-n 4 " + train),
                                "rank 2 of this machine needs a GPU of its own, and there are 2");
    expect_one_line_and_failure(mpirun("-n 1 " + quoted(data.train("run")) + " : -n 1 " + train),
                                "1 of 2 ranks have other settings");
    EXPECT_FALSE(fs::exists(data / "run"));
  }
  // A scheduler shows each rank one alone.
  const WithGpu gpus("gpus=1");
  const std::string shown = "env CUDA_VISIBLE_DEVICES=";
  const Result result = mpirun("-n 1 " + shown + "0 " + train + " : -n 1 " + shown + "1 " + train);
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string other = quoted(data.train("other", {"--device", "cuda", "--steps", "2"}));
  expect_contains(mpirun("-n 2 " + shown + "0 " + other).err,
                  "Duplicate GPU detected; start one process for each GPU");
}

TEST_F(RanksOfMpirun, EndWhereAGpuIsLostOrATrainingDiverges) {
  NEED_EMULATED_GPU();
  const WithGpu gpus("gpus=2");
  const SmallData data;
  const std::string train = quoted(data.train("run", {"--device", "cuda", "--epochs", "100"}));
  expect_contains(
      mpirun("-n 1 " + train + " : -n 1 env RONDO_EMULATED_GPU=gpus=2,fails_at=2000 " + train).err,
      "an illegal memory access was encountered");
  const Result diverged = mpirun(
      "-n 2 " + quoted(data.train("other", {"--device", "cuda", "--epochs", "100", "train.optimizer=sgd",
                                            "train.learning_rate=1e38", "train.clip=0"})));
  expect_one_line_and_failure(diverged, "Training stops");
}

}  // namespace
}  // namespace rondo
