// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// Kernels of sequence models: softmax over rows of different lengths, exchanged dimensions, layer
// normalisation. Each is one struct for both backends. Next: tensor/launch.h.
#include "tensor/sequence_kernels.h"

#include "tensor/launch.h"

namespace rondo {
namespace BACKEND {
namespace {

HD void fill_zeros(Row row, real* to) {
  row.map(
      to, [](auto) { return Lanes(real(0)); }, to);
}

struct MaskedSoftmax {
  Operand x;
  const int32_t* lengths;
  int64_t rows_a_length;
  Operand y;
  HD void operator()(Row row, int64_t r) const {
    const int64_t length = lengths[r / rows_a_length];
    const Row counted{length}, padding{row.columns - length};
    const real* from = row_of(x, r);
    real* to = row_of(y, r);
    if (length > 0) {  // the same for all threads
      const Lanes shift(counted.maximum(from));
      const Lanes total(counted.sum([=](auto v) { return exp(v - shift); }, from));
      counted.map(
          to, [=](auto v) { return exp(v - shift) / total; }, from);
    }
    fill_zeros(padding, to + length);
  }
};

struct MaskedSoftmaxBackward {
  Operand y, dy;
  const int32_t* lengths;
  int64_t rows_a_length;
  Operand dx;
  HD void operator()(Row row, int64_t r) const {
    const int64_t length = lengths[r / rows_a_length];
    const Row counted{length}, padding{row.columns - length};
    const Lanes inner(counted.sum([](auto a, auto b) { return a * b; }, row_of(y, r), row_of(dy, r)));
    counted.map(
        row_of(dx, r), [=](auto v, auto dv) { return v * (dv - inner); }, row_of(y, r), row_of(dy, r));
    fill_zeros(padding, row_of(dx, r) + length);
  }
};

struct TransposeFirstTwo {
  Operand from;
  int64_t first, second;
  Operand to;
  HD void operator()(Row row, int64_t r, int64_t begin) const {
    const int64_t i = r % first, j = r / first;
    row.map(
        row_of(to, r) + begin, [](auto v) { return v; }, row_of(from, i * second + j) + begin);
  }
};

struct NormalizeRows {
  Operand x;
  real epsilon;
  Operand y;
  real* scale;
  HD void operator()(Row row, int64_t r) const {
    const auto n = static_cast<real>(row.columns);
    const real* from = row_of(x, r);
    const Lanes mean(row.sum([](auto v) { return v; }, from) / n);
    const real variance = row.sum([=](auto v) { return (v - mean) * (v - mean); }, from) / n;
    const real by = 1 / sqrt(Scalar(variance + epsilon)).value;
    const Lanes factor(by);
    row.map(
        row_of(y, r), [=](auto v) { return (v - mean) * factor; }, from);
    if (Row::first()) scale[r] = by;
  }
};

struct NormalizeRowsBackward {
  Operand y;
  const real* scale;
  Operand dy, dx;
  HD void operator()(Row row, int64_t r) const {
    const auto n = static_cast<real>(row.columns);
    const real *values = row_of(y, r), *given = row_of(dy, r);
    const Lanes mean(row.sum([](auto dv) { return dv; }, given) / n);
    const Lanes along(row.sum([](auto v, auto dv) { return v * dv; }, values, given) / n);
    const Lanes factor(scale[r]);
    row.map(
        row_of(dx, r), [=](auto v, auto dv) { return factor * (dv - mean - v * along); }, values, given);
  }
};

}  // namespace

void masked_softmax(Extent extent, Operand x, const int32_t* lengths, int64_t rows_a_length, Operand y) {
  launch_rows(extent.rows, extent.columns, MaskedSoftmax{x, lengths, rows_a_length, y});
}
void masked_softmax_backward(Extent extent, Operand y, Operand dy, const int32_t* lengths,
                             int64_t rows_a_length, Operand dx) {
  launch_rows(extent.rows, extent.columns, MaskedSoftmaxBackward{y, dy, lengths, rows_a_length, dx});
}
void transpose_first_two(Extent extent, Operand from, int64_t first, Operand to) {
  if (first > 0) launch_elements(extent, TransposeFirstTwo{from, first, extent.rows / first, to});
}
void normalize_rows(Extent extent, Operand x, real epsilon, Operand y, real* scale) {
  launch_rows(extent.rows, extent.columns, NormalizeRows{x, epsilon, y, scale});
}
void normalize_rows_backward(Extent extent, Operand y, const real* scale, Operand dy, Operand dx) {
  launch_rows(extent.rows, extent.columns, NormalizeRowsBackward{y, scale, dy, dx});
}

}  // namespace BACKEND
}  // namespace rondo
