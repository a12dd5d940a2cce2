// Another emulated GPU than that of the tests, for programs that they start:
// tests/emulated_gpu/emulated_gpu.h.
#pragma once

#include <cstdlib>
#include <string>

#include "tests/cuda/device.h"

/// Skips where the GPU is a real one.
#define NEED_EMULATED_GPU()                                      \
  NEED_GPU();                                                    \
  if (cuda::description().find("emulated") == std::string::npos) \
  GTEST_SKIP() << "only an emulated GPU is as it is told to be"

namespace rondo {

/// What programs that are started meanwhile find, beside what they would find otherwise.
class WithGpu {
 public:
  explicit WithGpu(const std::string& settings) {
    if (const char* given = std::getenv("RONDO_EMULATED_GPU")) before_ = given;
    setenv("RONDO_EMULATED_GPU", (before_ + "," + settings).c_str(), 1);
  }
  ~WithGpu() { setenv("RONDO_EMULATED_GPU", before_.c_str(), 1); }
  WithGpu(const WithGpu&) = delete;
  WithGpu& operator=(const WithGpu&) = delete;

 private:
  std::string before_;
};

}  // namespace rondo
