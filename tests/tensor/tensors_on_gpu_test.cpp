// Tensors and products on the GPU: views, copies between the devices, plain arithmetic, gemm() with every
// transposition; what is refused.
#include "tensor/allocator.h"
#include "tensor/kernels/kernels.h"
#include "tensor/products/gemm.h"
#include "tensor/products/precision.h"
#include "tensor/tensor.h"
#include "tests/cuda/device.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

/// A block of columns of a wider matrix, so that its rows lie apart; the same numbers on both devices.
struct Block {
  Block(int64_t rows, int64_t columns, uint32_t number) : whole({rows, columns + 3}) {
    fill_uniform(whole, {.seed = 3, .draw = number}, -1, 1);
    whole_on_gpu = clone(whole.to(Device::cuda));
    on_cpu = whole.slice_columns(1, columns + 1);
    on_gpu = whole_on_gpu.slice_columns(1, columns + 1);
  }
  /// EXPECT that the block is the same, and what surrounds it.
  void expect_same_on_both(const std::string& what) const { expect_same(whole_on_gpu, whole, what); }

  Tensor whole, whole_on_gpu, on_cpu, on_gpu;
};

TEST(TensorsOnGpu, ComeAndGo) {
  NEED_GPU();
  for (const Shape& shape : awkward_shapes) {
    const Tensor x = samples({shape})[0], there = x.to(Device::cuda);
    EXPECT_EQ(there.device(), Device::cuda);
    EXPECT_EQ(there.to_vector(), x.to_vector());
    EXPECT_EQ(there.to(Device::cpu).to_vector(), x.to_vector());
    if (shape.columns() < 3) continue;
    const Tensor block = there.slice_columns(1, 3), to = Tensor::zeros(shape);
    EXPECT_EQ(block.to_vector(), x.slice_columns(1, 3).to_vector());
    EXPECT_EQ(block.to(Device::cpu).to_vector(), x.slice_columns(1, 3).to_vector());
    copy(block, to.slice_columns(0, 2));                      // down, into rows that lie apart
    copy(to.slice_columns(0, 2), there.slice_columns(1, 3));  // and up
    EXPECT_EQ(there.to_vector(), x.to_vector());
  }
  const Tensor one = Tensor::filled({1}, 7, Device::cuda);
  EXPECT_EQ(one.item(), 7);
}

// What a product needs that loads 16 bytes at once: rows that begin at multiples of them, in all that is made
// of such a tensor.
TEST(TensorsOnGpu, RowsAreAligned) {
  NEED_GPU();
  constexpr int64_t numbers = 16 / sizeof(real);
  const auto begins_aligned = [](const Tensor& x) {
    return reinterpret_cast<uintptr_t>(x.data()) % 16 == 0 && x.row_stride() * sizeof(real) % 16 == 0;
  };
  const Tensor x({5, 3, 1151}, Device::cuda);
  EXPECT_EQ(x.row_stride(), 1152);
  EXPECT_FALSE(x.contiguous());
  for (const Tensor& it : {x, x[1], x[4].slice_rows(1, 3), x.slice(2, 4), x[3].as_part(), clone(x),
                           Tensor::zeros({2, 7}, Device::cuda), Tensor({1, 2, 33}).to(Device::cuda)})
    EXPECT_TRUE(begins_aligned(it)) << it.shape().to_string() << " " << it.row_stride();
  EXPECT_EQ(Tensor({4, 4 * numbers}, Device::cuda).row_stride(), 4 * numbers);
  for (const Shape& shape : {Shape{7}, Shape{1, 7}, Shape{7, 1}})
    EXPECT_TRUE(Tensor(shape, Device::cuda).contiguous()) << shape.to_string();
  EXPECT_TRUE(Tensor::dense({3, 1151}, Device::cuda).contiguous());
  EXPECT_TRUE(contiguous(x).contiguous());
  EXPECT_THROW(x.reshaped({15 * 1151}), Error);
  EXPECT_EQ(Tensor({3, 1151}).row_stride(), 1151) << "on the CPU";
}

TEST(TensorsOnGpu, PlainArithmeticOfBlocksOfColumns) {
  NEED_GPU();
  for (const auto& [rows, columns] : {std::array<int64_t, 2>{1, 1}, {3, 5}, {300, 1}, {1, 700}, {5, 257}}) {
    SCOPED_TRACE(fmt::format("[{}, {}]", rows, columns));
    const Block x(rows, columns, 0), y(rows, columns, 1), row(1, columns, 2);
    const auto check = [&, columns = columns](const std::string& what, const auto& f) {
      f(x.on_cpu, y.on_cpu, row.on_cpu.reshaped({columns}));
      f(x.on_gpu, y.on_gpu, row.on_gpu.reshaped({columns}));
      y.expect_same_on_both(what);
    };
    check("accumulate", [](const Tensor& a, const Tensor& b, const Tensor&) { accumulate(a, b, real(0.5)); });
    check("scale", [](const Tensor&, const Tensor& b, const Tensor&) { scale(b, real(-1.5)); });
    check("broadcast_rows, added",
          [](const Tensor&, const Tensor& b, const Tensor& r) { broadcast_rows(r, b, true); });
    check("broadcast_rows", [](const Tensor&, const Tensor& b, const Tensor& r) { broadcast_rows(r, b); });
    check("copy", [](const Tensor& a, const Tensor& b, const Tensor&) { copy(a, b); });
    check("fill", [](const Tensor&, const Tensor& b, const Tensor&) { fill(b, real(0.25)); });
    const Tensor sums = Tensor::filled({columns}, 1),
                 sums_on_gpu = Tensor::filled({columns}, 1, Device::cuda);
    column_sums(x.on_cpu, sums, true);
    column_sums(x.on_gpu, sums_on_gpu, true);
    expect_same(sums_on_gpu, sums, "column sums, added");
    column_sums(x.on_cpu, sums);
    column_sums(x.on_gpu, sums_on_gpu);
    expect_same(sums_on_gpu, sums, "column sums");
    const Tensor half = Tensor::filled({1}, real(0.5)),
                 half_on_gpu = Tensor::filled({1}, real(0.5), Device::cuda);
    copy_scaled(x.on_cpu, y.on_cpu, half);
    copy_scaled(x.on_gpu, y.on_gpu, half_on_gpu);
    y.expect_same_on_both("copy_scaled");
    expect_same(contiguous(x.on_gpu), contiguous(x.on_cpu), "contiguous");
    expect_same(stacked_rows({x.on_gpu, y.on_gpu}), stacked_rows({x.on_cpu, y.on_cpu}), "stacked_rows");
  }
}

TEST(TensorsOnGpu, SumsOfManyBlocks) {
  NEED_GPU();
  for (const int64_t size : {0, 1, 257, 4096, 4097, 20000}) {
    const Tensor x = samples({{size}}, {0, 2})[0], there = x.to(Device::cuda);
    EXPECT_NEAR(sum(there), sum(x), tolerance * std::max(1.0, sum(x)));
    EXPECT_NEAR(sum_of_squares(there), sum_of_squares(x), tolerance * std::max(1.0, sum_of_squares(x)));
    EXPECT_TRUE(all_finite(there));
  }
  EXPECT_FALSE(all_finite(Tensor::from({1, NAN}, {2}, Device::cuda)));
}

TEST(TensorsOnGpu, RowsByIndex) {
  NEED_GPU();
  for (const int64_t columns : {1, 5, 257, 700}) {
    const Block table(9, columns, 0), rows(6, columns, 1);
    const Indices places{8, 0, 3, 3, 8, 3};
    accumulate_rows(rows.on_cpu, places, table.on_cpu);
    accumulate_rows(rows.on_gpu, places, table.on_gpu);
    table.expect_same_on_both("accumulate_rows");
    gather_rows(table.on_cpu, places, rows.on_cpu);
    gather_rows(table.on_gpu, places, rows.on_gpu);
    rows.expect_same_on_both("gather_rows");
    gather_rows(table.on_gpu, Indices{}, rows.on_gpu.slice_rows(0, 0));  // none
  }
}

// Small copies pass through four blocks of pinned memory in turns, larger ones do not.
TEST(TensorsOnGpu, ManyUploadsBeforeTheGpuReadsThem) {
  NEED_GPU();
  const auto numbers = [](int64_t which, int64_t count) {
    std::vector<real> all;
    for (int64_t i = 0; i < count; ++i) all.push_back(static_cast<real>((which * 31 + i) % 1009));
    return all;
  };
  constexpr int64_t in_a_block = (1 << 18) / sizeof(real);
  std::vector<int64_t> counts = {in_a_block, in_a_block + 1, 1, in_a_block - 1};
  for (int64_t i = 0; i < 400; ++i) counts.push_back(1 + i * 37 % 4001);
  std::vector<Tensor> there;
  for (size_t i = 0; i < counts.size(); ++i)
    there.push_back(Tensor::from(numbers(static_cast<int64_t>(i), counts[i]), {counts[i]}, Device::cuda));
  for (size_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(there[i].to_vector(), numbers(static_cast<int64_t>(i), counts[i])) << i;
}

TEST(TensorsOnGpu, WritesCount) {
  NEED_GPU();
  const Tensor x = Tensor::zeros({3}, Device::cuda);
  const uint64_t before = x.version();
  copy(Tensor::zeros({3}), x);
  EXPECT_GT(x.version(), before) << "an upload is a write";
}

constexpr Transpose both_ways[] = {Transpose::no, Transpose::yes};

TEST(ProductsOnGpu, WithEveryTransposition) {
  NEED_GPU();
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{1, 1, 1}, {3, 5, 7}, {1, 300, 20}, {300, 1, 20}, {40, 50, 1}})
    for (const Transpose of_a : both_ways)
      for (const Transpose of_b : both_ways)
        for (const bool add : {false, true}) {
          const Block a = of_a == Transpose::yes ? Block(k, m, 0) : Block(m, k, 0);
          const Block b = of_b == Transpose::yes ? Block(n, k, 1) : Block(k, n, 1);
          const Block c(m, n, 2);
          gemm(a.on_cpu, of_a, b.on_cpu, of_b, add, c.on_cpu);
          gemm(a.on_gpu, of_a, b.on_gpu, of_b, add, c.on_gpu);
          c.expect_same_on_both(fmt::format("{}x{}x{}, {} {}, added {}", m, n, k, of_a == Transpose::yes,
                                            of_b == Transpose::yes, add));
        }
}

TEST(ProductsOnGpu, OfNothing) {
  NEED_GPU();
  const auto zeros = [](int64_t rows, int64_t columns) {
    return Tensor::zeros({rows, columns}, Device::cuda);
  };
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const WithPrecision in_force(precision);
    for (const bool add : {false, true}) {  // of no terms: a sum that is zero
      const Tensor c = Tensor::filled({2, 3}, 5, Device::cuda);
      gemm(zeros(2, 0), Transpose::no, zeros(0, 3), Transpose::no, add, c);
      EXPECT_EQ(c.to_vector(), std::vector<real>(6, add ? 5 : 0));
    }
    gemm(zeros(0, 2), Transpose::no, zeros(2, 3), Transpose::no, false, zeros(0, 3));
    gemm(zeros(2, 2), Transpose::no, zeros(2, 0), Transpose::no, false, zeros(2, 0));
  }
}

TEST(ProductsOnGpu, OfWeightsWithEveryStart) {
  NEED_GPU();
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 5, 7}, {3, 300, 20}, {300, 5, 7}})
    for (const Transpose transpose : both_ways) {
      const Block x(m, k, 0), start(m, n, 2), row(1, n, 3), longer(1, n + 4, 5), c(m, n, 4);
      const Block w = transpose == Transpose::yes ? Block(n, k, 1) : Block(k, n, 1);
      const std::string sizes = fmt::format("{}x{}x{}", m, n, k);
      const auto check = [&](const std::string& what, const Tensor& cpu_start, const Tensor& gpu_start) {
        weight_gemm(x.on_cpu, w.on_cpu, transpose, cpu_start, c.on_cpu);
        weight_gemm(x.on_gpu, w.on_gpu, transpose, gpu_start, c.on_gpu);
        c.expect_same_on_both(sizes + ", " + what);
      };
      check("no start", {}, {});
      check("a matrix", start.on_cpu, start.on_gpu);
      check("c itself", c.on_cpu, c.on_gpu);
      check("a row for all", row.on_cpu.reshaped({n}), row.on_gpu.reshaped({n}));
      // The algorithm that was chosen for a row serves all rows that are aligned to 16 bytes.
      const Tensor whole = clone(longer.on_cpu), on_gpu = clone(whole.to(Device::cuda));
      for (const int64_t begin : {int64_t{0}, static_cast<int64_t>(16 / sizeof(real))})
        check(fmt::format("a row from column {} on", begin), whole.slice_columns(begin, begin + n),
              on_gpu.slice_columns(begin, begin + n));
      // A weight that changes between two products.
      scale(w.on_cpu, 2);
      scale(w.on_gpu, 2);
      check("of another weight", {}, {});
    }
}

TEST(OnTwoDevices, OperandsAreRefused) {
  NEED_GPU();
  const Tensor here = Tensor::zeros({2, 2}), there = Tensor::zeros({2, 2}, Device::cuda);
  const auto expect_refused = [](const auto& f) {
    EXPECT_NE(any_error_of(f).find("on one device"), std::string::npos);
  };
  expect_refused([&] { accumulate(here, there); });
  expect_refused([&] { broadcast_rows(here.slice_rows(0, 1), there); });
  expect_refused([&] { column_sums(here, Tensor::zeros({2}, Device::cuda)); });
  expect_refused([&] { gemm(here, Transpose::no, there, Transpose::no, false, there); });
  expect_refused([&] { gemm(there, Transpose::no, here, Transpose::no, false, there); });
  expect_refused([&] { gemm(there, Transpose::no, there, Transpose::no, false, here); });
  expect_refused([&] { weight_gemm(there, there, Transpose::no, here, there); });
  expect_refused([&] { gather_rows(here, {0}, there.slice_rows(0, 1)); });
  expect_refused([&] { accumulate_rows(here, {0, 1}, there); });
}

TEST(MemoryOnGpu, ComesBackAndIsCounted) {
  NEED_GPU();
  const auto in_use = [] { return memory_statistics(Device::cuda).bytes_in_use; };
  const auto before = in_use();
  {
    const Tensor x = Tensor::zeros({1000, 10}, Device::cuda);
    EXPECT_GE(in_use(), before + 10000 * sizeof(real));
  }
  EXPECT_EQ(in_use(), before);
  const auto allocations = memory_statistics(Device::cuda).system_allocations;
  for (int i = 0; i < 10; ++i) Tensor::zeros({1000, 10}, Device::cuda);
  EXPECT_EQ(memory_statistics(Device::cuda).system_allocations, allocations);
}

// ---- masks, bit for bit, as they are integers compared; normal noise up to rounding ----

std::vector<real> mask_on(Device device, int64_t columns, const RandomKey& key, double probability,
                          const BatchSlice& slice) {
  const Tensor mask({6, columns}, device);
  fill_dropout_mask(mask, key, probability, slice);
  return mask.to_vector();
}

TEST(DropoutMasks, AreTheSameBitForBit) {
  NEED_GPU();
  const RandomKey key{42, 7, 3, uint64_t{1} << 40};
  const BatchSlice micro_batch{2, 1, 4}, whole{6, 0, 6}, weight{},
      huge{2, int64_t{1} << 36, int64_t{1} << 37};  // whose elements are numbered beyond 32 bits
  for (const int64_t columns : {1, 3, 64, 257, 1150})
    for (const BatchSlice& slice : {micro_batch, whole, weight, huge})
      for (const double probability : {0.0, 1e-9, 0.4, 0.65, 0.999})
        EXPECT_EQ(mask_on(Device::cuda, columns, key, probability, slice),
                  mask_on(Device::cpu, columns, key, probability, slice))
            << columns << " columns, probability " << probability;
}

TEST(NormalNoise, IsThatOfTheCpu) {
  NEED_GPU();
  for (const int64_t columns : {1, 3, 64, 257, 1150}) {
    const auto noise_on = [&](Device device) {
      const Tensor x = Tensor::filled({6, columns}, 2, device), to({6, columns}, device);
      const RandomKey key{42, 7, 3, uint64_t{1} << 40};
      launch(device, to.extent(), AddNormal{key, real(0.5), x.read_operand(), to.write_operand()});
      return to;
    };
    expect_same(noise_on(Device::cuda), noise_on(Device::cpu), "2 + noise");
  }
}

}  // namespace
}  // namespace rondo
