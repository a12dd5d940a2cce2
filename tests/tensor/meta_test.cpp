// A device without memory.
#include <gtest/gtest.h>

#include "tensor/allocator.h"
#include "tensor/products/gemm.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

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
