// Filling tensors with random numbers: initial values on the CPU, dropout masks on the tensor's device.
#include "tensor/random.h"

#include <cmath>
#include <numbers>

#include "tensor/kernels/kernels.h"
#include "tensor/pieces.h"
#include "tensor/tensor.h"

namespace rondo {

namespace {
/// Sets element i to draw(i), in order.
template <class Draw>
void fill_with(const char* name, const Tensor& to, Draw draw) {
  check(to.device() == Device::cpu, "[{}] initial values are drawn on the CPU", name);
  real* values = to.mutable_data();
  for (int64_t r = 0; r < to.rows(); ++r)
    for (int64_t j = 0; j < to.columns(); ++j)
      values[r * to.row_stride() + j] = static_cast<real>(draw(r * to.columns() + j));
}
}  // namespace

double normal_from(uint32_t bits, uint32_t more_bits) {
  return std::sqrt(-2 * std::log(uniform_from(bits))) *
         std::cos(2 * std::numbers::pi * uniform_from(more_bits));
}

void fill_uniform(const Tensor& to, RandomKey key, real low, real high) {
  fill_with("fill_uniform", to,
            [&](int64_t i) { return low + (static_cast<double>(high) - low) * uniform_from(key.bits(i)); });
}

void fill_normal(const Tensor& to, RandomKey key, real standard_deviation) {
  fill_with("fill_normal", to, [&](int64_t i) {
    return standard_deviation * normal_from(key.bits(2 * i), key.bits(2 * i + 1));
  });
}

DropRate::DropRate(double probability) : probability_(probability) {
  check(probability >= 0 && probability < 1, "[dropout] the probability is in [0, 1), got {}", probability);
}

namespace {
DropoutFactors dropout_factors(RandomKey key, DropRate probability, BatchSlice slice) {
  check(slice.batch > 0 && slice.first >= 0 && slice.whole >= 0,
        "[dropout] a slice of a batch of 1 stream or more was expected: {} from {} on, of {}", slice.batch,
        slice.first, slice.whole);
  return {key, static_cast<uint32_t>(probability * 4294967296.0), static_cast<real>(1 / (1 - probability)),
          slice};
}
}  // namespace

void fill_dropout_mask(const Tensor& to, RandomKey key, DropRate probability, BatchSlice slice) {
  launch(to.device(), to.extent(), DropoutMask{dropout_factors(key, probability, slice), to.write_operand()});
}

void drop(const Tensor& x, RandomKey key, DropRate probability, BatchSlice slice, bool add,
          const Tensor& to) {
  check(x.rows() == to.rows() && x.columns() == to.columns(), "[dropout] x {} does not fit {}", x.shape(),
        to.shape());
  check_one_device("dropout", to, x);
  const auto piece = [&](int64_t begin, int64_t end) {
    if (begin == 0) zero_padded_columns(to);  // a product that does it later would wait for all pieces
    BatchSlice rest = slice;                  // from the step on with which the piece begins
    rest.first += begin / slice.batch * slice.whole;
    drop(x.slice_rows(begin, end), key, probability, rest, add, to.slice_rows(begin, end));
  };
  if (in_pieces(to.device(), to.rows(), piece)) return;
  launch(to.device(), to.extent(),
         Drop{dropout_factors(key, probability, slice), x.read_operand(), add, to.write_operand()});
}

}  // namespace rondo
