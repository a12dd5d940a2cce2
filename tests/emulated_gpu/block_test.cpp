// Mistakes of kernels show on the emulated GPU: an exchange of values makes a warp wait for its own threads,
// and for no others.
#include <gtest/gtest.h>

#include <vector>

#include "tests/emulated_gpu/queue.h"

namespace rondo::emulated_gpu {
namespace {

constexpr unsigned threads = 3 * warp_threads;

TEST(EmulatedBlock, ExchangesValuesWithinAWarp) {
  for (int order = 0; order < 2; ++order) {
    std::vector<float> first(threads), second(threads);
    run_grid(1, threads, [&] {
      const unsigned i = threadIdx.x;
      first[i] = __shfl_down_sync(0xffffffff, static_cast<float>(i), 5);
      second[i] = __shfl_down_sync(0xffffffff, 10 * first[i], 1);
    });
    const auto after = [](unsigned i, unsigned distance) {
      return i % warp_threads + distance < warp_threads ? i + distance : i;
    };
    for (unsigned i = 0; i < threads; ++i) {
      EXPECT_EQ(first[i], static_cast<float>(after(i, 5))) << i;
      EXPECT_EQ(second[i], static_cast<float>(10 * after(after(i, 1), 5))) << i;
    }
  }
}

// Each thread reads what a thread of the next warp writes: with a barrier it always finds it.
TEST(EmulatedBlock, AnExchangeIsNoBarrierOfTheBlock) {
  const auto missed = [](bool barrier) {
    int count = 0;
    for (int order = 0; order < 2; ++order) {
      std::vector<bool> written(threads);
      run_grid(1, threads, [&] {
        written[threadIdx.x] = true;
        __shfl_down_sync(0xffffffff, 0.f, 1);
        if (barrier) __syncthreads();
        count += !written[(threadIdx.x + warp_threads) % threads];
      });
    }
    return count;
  };
  EXPECT_EQ(missed(true), 0);
  EXPECT_EQ(missed(false), threads);  // in the one order two warps of three, in the other one
}

TEST(EmulatedBlockDeathTest, SomeThreadsAloneCannotExchangeValues) {
  const auto run_if = [](const auto& condition) {
    run_grid(1, threads, [&] {
      if (condition(threadIdx.x)) __shfl_down_sync(0xffffffff, 0.f, 1);
    });
  };
  run_if([](unsigned i) { return i / warp_threads == 1; });
  EXPECT_DEATH(run_if([](unsigned i) { return i % warp_threads < 16; }), "threads of a warp");
  EXPECT_DEATH(run_if([](unsigned i) { return i != 40; }), "threads of a warp");
  EXPECT_DEATH(run_grid(1, threads,
                        [&] {
                          if (threadIdx.x == 40)
                            __syncthreads();
                          else
                            __shfl_down_sync(0xffffffff, 0.f, 1);
                        }),
               "threads of a warp");
  EXPECT_DEATH(run_grid(1, threads,
                        [] {
                          if (threadIdx.x / warp_threads == 1) __syncthreads();
                        }),
               "threads of a block");
}

}  // namespace
}  // namespace rondo::emulated_gpu
