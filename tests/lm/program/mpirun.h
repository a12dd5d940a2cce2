// `mpirun` with the program under test.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/lm/program/program.h"

namespace rondo {

class RanksOfMpirun : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "there is no mpirun";
    // mpirun refuses to run for root, and to start more ranks than there are cores, unless told otherwise.
    for (const char* const name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
      setenv(name, "1", 1);
#ifndef RONDO_MPI
    GTEST_SKIP() << "this lm was built without MPI";
#endif
  }

  static std::string quoted(const Words& words) {
    std::string text = "'" RONDO_PROGRAM "'";
    for (const std::string& word : with_set(words)) text += " '" + word + "'";
    return text;
  }
  /// Of `mpirun` with these words for the shell; what the ranks print goes to files, mpirun's own words
  /// nowhere. Ranks that wait for each other for ever end with status 124.
  Result mpirun(const std::string& words) {
    const std::string out = folder_ / "out", err = folder_ / "err";
    const int status = std::system(
        fmt::format("timeout 300 mpirun -q {} > '{}' 2> '{}' < /dev/null", words, out, err).c_str());
    return {.status = WEXITSTATUS(status), .out = bytes_of_file(out), .err = bytes_of_file(err)};
  }

  TemporaryFolder folder_;
};

/// EXPECT that the ranks failed, and that one line says why.
inline void expect_one_line_and_failure(const Result& result, const std::string& part) {
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  expect_contains(result.err, part);
}

/// The losses of the updates.
inline std::vector<double> losses_of(const fs::path& run) {
  std::vector<double> losses;
  for (const Json& line : log_of(run))
    if (line.at("event") == "steps") losses.push_back(line.at("nats"));
  return losses;
}

/// EXPECT that both have so many updates, and the same losses.
inline void expect_losses_of(const fs::path& run, const fs::path& alone, size_t updates) {
  const std::vector<double> expected = losses_of(alone), losses = losses_of(run);
  ASSERT_EQ(expected.size(), updates);
  ASSERT_EQ(losses.size(), updates);
  for (size_t i = 0; i < updates; ++i) EXPECT_NEAR(losses[i], expected[i], 1e-4) << i;
}

}  // namespace rondo
