// The same on a GPU.
#include "tests/cuda/device.h"
#include "tests/lm/program/measured_memory.h"

namespace rondo {
namespace {

TEST(MemoryOnGpu, OfTrainingsIsWhatIsMeasuredWithout) {
  NEED_GPU();
  expect_estimates_near_peaks(Device::cuda);
}

}  // namespace
}  // namespace rondo
