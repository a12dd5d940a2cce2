// `mpirun -n N lm train`: the ranks as processes, against one process. Their arithmetic:
// tests/lm/training/ranks_in_both_test.cpp.
#include "tests/lm/program/mpirun.h"
#include "tests/lm/program/small_translator.h"

namespace rondo {
namespace {

TEST_F(RanksOfMpirun, TrainAsOneProcessAndResumeAsAnother) {
  const SmallData data;
  data.trained("alone", {"--steps", "30"});
  const Result result =
      mpirun("-n 2 " + quoted(data.train("together", {"--steps", "20", "--precision", "fp32"})));
  ASSERT_EQ(result.status, 0) << result.err;
  expect_contains(result.out, "2 ranks of 1 thread");
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "a file, although rank 0 sees a terminal";
  ASSERT_EQ(mpirun("-n 4 " + quoted(data.resume("together", {"--steps", "30"}))).status, 0);
  expect_losses_of(data / "together", data / "alone", 30);
}

// 3 do not divide the batches of 20 sentences, whose shares then differ.
TEST_F(RanksOfMpirun, TrainATranslatorAsOneProcess) {
  const SmallTranslator data;
  const Words settings = {"train.log_every=1"};
  data.trained("alone", settings);
  const Result result = mpirun("-n 3 " + quoted(data.train("together", settings)));
  ASSERT_EQ(result.status, 0) << result.err;
  expect_contains(result.out, "3 ranks of 1 thread");
  expect_losses_of(data.path("together"), data.path("alone"), 40);
}

TEST_F(RanksOfMpirun, ThatCannotDivideTheBatchSaySoOnce) {
  const SmallData data;
  expect_one_line_and_failure(mpirun("-n 3 " + quoted(data.train("run"))),
                              "a batch of 8 cannot be divided among 3 ranks");
  EXPECT_FALSE(fs::exists(data / "run"));
}

TEST_F(RanksOfMpirun, ThatDifferSaySoOnce) {
  const SmallData data;
  const Result other = mpirun("-n 1 " + quoted(data.train("run")) + " : -n 1 " +
                              quoted(data.train("run", {"model.hidden=16"})));
  expect_one_line_and_failure(other,
                              "1 of 2 ranks have other settings, another text or other weights than rank 0");
  const Result failed = mpirun("-n 1 " + quoted(data.train("run")) + " : -n 1 " +
                               quoted({"train", "--recipe", data.path("small.toml"), "--data",
                                       data.path("nowhere"), "--out", data.path("run")}));
  expect_one_line_and_failure(failed, "rank 1: ");
  EXPECT_FALSE(fs::exists(data / "run"));
}

TEST_F(RanksOfMpirun, OneIsKilledAndTheRestEnd) {
  const SmallData data;
  const std::string words = quoted(data.train("run", {"--epochs", "1000"}));
  const int status = std::system(fmt::format("mpirun -q -n 2 {} > /dev/null 2>&1 < /dev/null & mpirun=$!; "
                                             "until [ -s '{}/log.jsonl' ]; do sleep 0.05; done; "
                                             "pkill -9 -n -P $mpirun; wait $mpirun",
                                             words, data.path("run"))
                                     .c_str());
  EXPECT_NE(WEXITSTATUS(status), 0);
  data.trained("whole", {"--steps", "200"});
  output_of_lm(data.resume("run", {"--steps", "200"}));
  EXPECT_EQ(losses_of(data / "run").size(), 200u);
}

}  // namespace
}  // namespace rondo
