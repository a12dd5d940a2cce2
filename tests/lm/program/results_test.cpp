// The tables of docs/results.md are those that `lm table` makes of what is kept of the runs in docs/runs.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

TEST(Results, TablesAreWhatLmTablePrints) {
  const std::string folder = RONDO_SOURCE_DIR "/", document = bytes_of_file(folder + "docs/results.md");
  const std::string begin = "<!-- lm table --markdown ", end = "<!-- end of lm table -->\n";
  int tables = 0;
  for (std::size_t at = 0; (at = document.find(begin, at)) != std::string::npos; ++tables) {
    at += begin.size();
    const std::size_t close = document.find(" -->\n", at), last = document.find(end, at);
    ASSERT_NE(last, std::string::npos);
    std::vector<std::string> words{"table", "--markdown"};
    std::istringstream runs(document.substr(at, close - at));
    for (std::string run; runs >> run;) words.push_back(folder + run);
    EXPECT_EQ(document.substr(close + 5, last - close - 5), output_of_lm(words))
        << "put between the two comments what lm table prints";
  }
  EXPECT_GT(tables, 0);
}

}  // namespace
}  // namespace rondo
