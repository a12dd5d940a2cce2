// The caching allocator: reuse, peaks, errors; what memory is left; Device::meta, which has none.
#include "tensor/allocator.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "tensor/products/gemm.h"
#include "tensor/tensor.h"
#include "tests/temporary_folder.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

TEST(Allocator, HandsOutAlignedBlocksThatDoNotOverlap) {
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t bytes : {0, 1, 63, 64, 65, 257, 320, 321, 1000, 4097, 100000}) {
    auto* block = static_cast<char*>(allocate(Device::cpu, bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::fill(block, block + bytes, static_cast<char>(blocks.size()));
    blocks.emplace_back(block, bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    for (size_t j = 0; j < blocks[i].second; ++j) ASSERT_EQ(blocks[i].first[j], static_cast<char>(i));
    release(Device::cpu, blocks[i].first, blocks[i].second);
  }
}

TEST(Allocator, WastesAtMostAQuarter) {
  for (size_t bytes : {257, 300, 513, 1025, 5000, 65537, 1000000}) {
    const size_t before = memory_statistics(Device::cpu).bytes_in_use;
    void* block = allocate(Device::cpu, bytes);
    const size_t taken = memory_statistics(Device::cpu).bytes_in_use - before;
    EXPECT_GE(taken, bytes);
    EXPECT_LE(taken, bytes + bytes / 4) << bytes;
    release(Device::cpu, block, bytes);
    EXPECT_EQ(memory_statistics(Device::cpu).bytes_in_use, before);
  }
}

TEST(Allocator, CountsTheMostThatWasInUse) {
  const size_t before = memory_statistics(Device::cpu).bytes_in_use;
  reset_peak_bytes(Device::cpu);
  EXPECT_EQ(memory_statistics(Device::cpu).peak_bytes, before);
  { const Tensor first({1024}), second({2048}); }
  const Tensor third({1024});
  EXPECT_EQ(memory_statistics(Device::cpu).peak_bytes, before + 3072 * sizeof(real));
  EXPECT_EQ(memory_statistics(Device::cpu).bytes_in_use, before + 1024 * sizeof(real));
}

TEST(Allocator, RefusesWhatTheSystemDoesNotHave) {
  const auto too_much = [] { allocate(Device::cpu, size_t{1} << 60); };
  EXPECT_NE(any_error_of(too_much).find("[allocate] no memory for 1152921504606846976 bytes"),
            std::string::npos);
}

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

// ---- a device without memory ----

TEST(Meta, HasShapesAndZeros) {
  const Tensor x = Tensor::filled({2, 3}, 5, Device::meta), y({2, 3}, Device::meta);
  EXPECT_EQ(x.to_vector(), std::vector<real>(6, 0)) << "whatever was written";
  EXPECT_EQ(sum(x), 0);
  EXPECT_EQ(sum_on_device(x).device(), Device::meta);
  EXPECT_FALSE(x.shares_memory(y));
  EXPECT_NE(x.data(), y.data());
  EXPECT_TRUE(is_at_offset(x, x.slice_rows(1, 2), 1, 0)) << "views compare addresses";
  const uint64_t before = y.version();
  copy(x, y);
  EXPECT_GT(y.version(), before);
  EXPECT_EQ(x.to(Device::cpu).to_vector(), std::vector<real>(6, 0));
  EXPECT_EQ(any_error_of([&] {
              copy(x, Tensor({3, 2}, Device::meta));
            }),
            any_error_of([] {
              copy(Tensor({2, 3}), Tensor({3, 2}));
            }));
}

/// The peak of products with few rows, which keep a packed weight, and with many.
size_t peak_of_products(Device device) {
  const size_t before = memory_statistics(device).bytes_in_use;
  reset_peak_bytes(device);
  const Tensor weight = Tensor::zeros({300, 200}, device), few = Tensor::zeros({20, 200}, device),
               many = Tensor::zeros({700, 200}, device);
  for (const Tensor& x : {few, many}) {
    const Tensor y({x.rows(), 300}, device), dx({x.rows(), 200}, device);
    weight_gemm(x, weight, Transpose::yes, {}, y);
    weight_gemm(y, weight, Transpose::no, {}, dx);
    gemm(y, Transpose::yes, x, Transpose::no, false, Tensor({300, 200}, device));
  }
  return memory_statistics(device).peak_bytes - before;
}

TEST(Meta, CountsWhatACpuTakes) { EXPECT_EQ(peak_of_products(Device::meta), peak_of_products(Device::cpu)); }

TEST(Meta, CountsTheGapsOfAGpu) {
  const size_t before = memory_statistics(Device::meta_gpu).bytes_in_use;
  const Tensor x({100, 13}, Device::meta_gpu);
  EXPECT_EQ(x.row_stride(), aligned_row_stride({100, 13}));
  EXPECT_GE(memory_statistics(Device::meta_gpu).bytes_in_use - before, 100 * 16 * sizeof(real));
}

TEST(Meta, HasAnEnd) {
  const Tensor huge({int64_t{1} << 50}, Device::meta);  // 4 PiB
  expect_contains(any_error_of([] { Tensor({int64_t{1} << 58}, Device::meta); }), "[allocate] no memory");
}

}  // namespace
}  // namespace rondo
