#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tensor/allocator.h"

namespace rondo {
namespace {

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
