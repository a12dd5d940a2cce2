// What tests of the GPU begin with.
#pragma once

#include <gtest/gtest.h>

#include "cuda/runtime.h"
#include "tensor/tensor.h"

/// Skips the test where there is no GPU: in a build with CUDA on a machine without.
#define NEED_GPU() \
  if (!rondo::cuda::unavailable().empty()) GTEST_SKIP() << rondo::cuda::unavailable()
