// Compiled twice: by g++ for the CPU and by nvcc for CUDA.
// Kernels along rows and down columns: copies, sums, softmax and its loss, embedding rows, dropout masks.
// Each is one struct for both backends; at the end is the table of the current pass. Next: tensor/launch.h.
#include "tensor/kernels.h"

#include "tensor/launch.h"
#include "tensor/sequence_kernels.h"

namespace rondo {
namespace BACKEND {
namespace {

struct Fill {
  Operand to;
  real value;
  HD void operator()(Row row, int64_t r, int64_t begin) const {
    const Lanes repeated(value);
    real* out = row_of(to, r) + begin;
    row.map(
        out, [=](auto) { return repeated; }, out);
  }
};

struct Copy {
  Operand from, to;
  HD void operator()(Row row, int64_t r, int64_t begin) const {
    row.map(
        row_of(to, r) + begin, [](auto x) { return x; }, row_of(from, r) + begin);
  }
};

struct Accumulate {
  Operand x, to;
  Deferred<real> factor;
  HD void operator()(Row row, int64_t r, int64_t begin) const {
    const Lanes f(factor.now());
    real* out = row_of(to, r) + begin;
    row.map(
        out, [=](auto a, auto b) { return a + f * b; }, out, row_of(x, r) + begin);
  }
};

struct Scale {
  Operand to;
  Deferred<real> factor;
  HD void operator()(Row row, int64_t r, int64_t begin) const {
    const Lanes f(factor.now());
    real* out = row_of(to, r) + begin;
    row.map(
        out, [=](auto a) { return a * f; }, out);
  }
};

struct ScaleRows {
  Operand x;
  const real* factors;
  Operand y;
  HD void operator()(Row row, int64_t r, int64_t begin) const {
    const Lanes f(factors[r]);
    row.map(
        row_of(y, r) + begin, [=](auto v) { return v * f; }, row_of(x, r) + begin);
  }
};

struct ColumnSums {
  Operand x;
  int64_t rows, height;
  Operand to;
  HD void operator()(Row row, int64_t block, int64_t begin) const {
    const int64_t first = block * height, count = rows - first < height ? rows - first : height;
    row.add_rows(row_of(to, block) + begin, count,
                 [=, this](int64_t i) { return row_of(x, first + i) + begin; });
  }
};

struct PartialSums {
  const real* x;
  int64_t count, block;
  bool squares;
  real* sums;
  HD void operator()(Row, int64_t b) const {
    const int64_t begin = b * block;
    const Row row{count - begin < block ? count - begin : block};
    const real total = squares ? row.sum([](auto v) { return v * v; }, x + begin)
                               : row.sum([](auto v) { return v; }, x + begin);
    if (Row::first()) sums[b] = total;
  }
};

/// Row i of the listed rows, or of all if there is no list.
HD int64_t listed(const int32_t* rows, int64_t i) { return rows ? rows[i] : i; }

struct Moments {
  Operand x;
  const int32_t* rows;
  int64_t count;
  real *mean, *variance;
  HD void operator()(Row row, int64_t begin) const {
    real *mu = mean + begin, *v = variance + begin;
    const Lanes n(static_cast<real>(count));
    for (int64_t i = 0; i < count; ++i)
      row.map(
          mu, [](auto a, auto b) { return a + b; }, mu, row_of(x, listed(rows, i)) + begin);
    row.map(
        mu, [=](auto sum) { return sum / n; }, mu);
    for (int64_t i = 0; i < count; ++i)
      row.map(
          v, [](auto a, auto b, auto m) { return a + (b - m) * (b - m); }, v,
          row_of(x, listed(rows, i)) + begin, mu);
    row.map(
        v, [=](auto sum) { return sum / n; }, v);
  }
};

struct MomentsBackward {
  Operand x;
  const int32_t* rows;
  int64_t count;
  const real *mean, *dmean, *dvariance;
  Operand dx;
  HD void operator()(Row row, int64_t begin) const {
    const Lanes n(static_cast<real>(count));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t r = listed(rows, i);
      real* to = row_of(dx, r) + begin;
      row.map(
          to, [=](auto d, auto v, auto m, auto dm, auto dv) { return d + (dm + 2 * (v - m) * dv) / n; }, to,
          row_of(x, r) + begin, mean + begin, dmean + begin, dvariance + begin);
    }
  }
};

/// log(sum(exp(x))) of a row, shifted by its maximum so that nothing overflows.
HD real log_sum_exp_of(Row row, const real* x) {
  const real largest = row.maximum(x);
  const Lanes shift(largest);
  return largest + log(Scalar(row.sum([=](auto v) { return exp(v - shift); }, x))).value;
}

struct Softmax {
  Operand x, y;
  bool logarithm;
  HD void operator()(Row row, int64_t r) const {
    const Lanes shift(log_sum_exp_of(row, row_of(x, r)));
    if (logarithm)
      row.map(
          row_of(y, r), [=](auto v) { return v - shift; }, row_of(x, r));
    else
      row.map(
          row_of(y, r), [=](auto v) { return exp(v - shift); }, row_of(x, r));
  }
};

struct SoftmaxBackward {
  Operand y, dy, dx;
  HD void operator()(Row row, int64_t r) const {
    const Lanes inner(row.sum([](auto a, auto b) { return a * b; }, row_of(y, r), row_of(dy, r)));
    row.map(
        row_of(dx, r), [=](auto v, auto dv) { return v * (dv - inner); }, row_of(y, r), row_of(dy, r));
  }
};

struct LogSoftmaxBackward {
  Operand y, dy, dx;
  HD void operator()(Row row, int64_t r) const {
    const Lanes total(row.sum([](auto dv) { return dv; }, row_of(dy, r)));
    row.map(
        row_of(dx, r), [=](auto v, auto dv) { return dv - exp(v) * total; }, row_of(y, r), row_of(dy, r));
  }
};

struct LogitsCrossEntropy {
  Operand x;
  const int32_t* targets;
  real *log_sum_exp, *loss;
  HD void operator()(Row row, int64_t r) const {
    const real total = targets[r] < 0 ? real(0) : log_sum_exp_of(row, row_of(x, r));
    if (!Row::first()) return;
    log_sum_exp[r] = total;
    loss[r] = targets[r] < 0 ? real(0) : total - row_of(x, r)[targets[r]];
  }
};

struct LogitsCrossEntropyBackward {
  Operand x;
  const int32_t* targets;
  const real *log_sum_exp, *dloss;
  Operand dx;
  HD void operator()(Row row, int64_t r) const {
    const Lanes shift(log_sum_exp[r]), factor(targets[r] < 0 ? real(0) : dloss[r]);
    if (targets[r] < 0)
      row.map(
          row_of(dx, r), [=](auto) { return factor; }, row_of(x, r));
    else
      row.map(
          row_of(dx, r), [=](auto v) { return factor * exp(v - shift); }, row_of(x, r));
    if (targets[r] >= 0 && Row::owns(targets[r])) row_of(dx, r)[targets[r]] -= dloss[r];
  }
};

struct CrossEntropy {
  Operand x;
  const int32_t* targets;
  int64_t rows_a_target;
  const real* weights;
  real* loss;
  HD void operator()(Row row, int64_t r) const {
    real* to = row_of(x, r);
    const int32_t target = targets[r / rows_a_target];
    const real at_target = to[target];  // read before any thread writes: maximum() is a barrier
    const real largest = row.maximum(to);
    const Lanes shift(largest);
    const auto shifted_exp = [=](auto v) { return exp(v - shift); };
    const real total = weights ? row.map_and_sum(to, shifted_exp, to) : row.sum(shifted_exp, to);
    if (Row::first()) loss[r] = log(Scalar(total)).value + (largest - at_target);
    if (!weights) return;
    const Lanes factor(weights[r] / total);
    row.map(
        to, [=](auto v) { return v * factor; }, to);
    if (Row::owns(target)) to[target] -= weights[r];
  }
};

struct Mixture {
  Operand log_prior, loss, posterior;
  real* mixed;
  HD void operator()(Row row, int64_t r) const {
    real* to = row_of(posterior, r);
    row.map(
        to, [](auto prior, auto nats) { return prior - nats; }, row_of(log_prior, r), row_of(loss, r));
    const real log_sum = log_sum_exp_of(row, to);
    const Lanes shift(log_sum);
    row.map(
        to, [=](auto joint) { return exp(joint - shift); }, to);
    if (Row::first()) mixed[r] = -log_sum;
  }
};

struct GatherRows {
  Operand table;
  const int32_t* rows;
  Operand to;
  HD void operator()(Row row, int64_t i, int64_t begin) const {
    row.map(
        row_of(to, i) + begin, [](auto v) { return v; }, row_of(table, rows[i]) + begin);
  }
};

struct AccumulateRows {
  Operand x;
  SortedRows sorted;
  Operand table;
  HD void operator()(Row row, int64_t segment, int64_t begin) const {
    const int64_t first = sorted.starts[segment], count = sorted.starts[segment + 1] - first;
    if (count == 0) return;
    const int32_t* order = sorted.order + first;
    row.add_rows(row_of(table, sorted.rows[order[0]]) + begin, count,
                 [=, this](int64_t i) { return row_of(x, order[i]) + begin; });
  }
};

struct OneHot {
  const int32_t* columns;
  Operand to;
  HD void operator()(Row row, int64_t r) const {
    real* out = row_of(to, r);
    row.map(
        out, [](auto) { return Lanes(real(0)); }, out);
    if (Row::owns(columns[r])) out[columns[r]] = 1;
  }
};

#ifndef __CUDACC__
/// Sixteen words, processed together: the compiler turns each loop into one SIMD instruction.
struct Words {
  static constexpr int size = 16;

  Words() = default;
  explicit Words(uint32_t x) {
    for (uint32_t& lane : lanes) lane = x;
  }
  template <class F>
  HD static Words each(F f) {
    Words result;
    for (int i = 0; i < size; ++i) result.lanes[i] = f(i);
    return result;
  }
  HD friend Words operator^(const Words& a, const Words& b) {
    return each([&](int i) { return a.lanes[i] ^ b.lanes[i]; });
  }
  HD friend Words operator^(const Words& a, uint32_t b) {
    return each([&](int i) { return a.lanes[i] ^ b; });
  }
  HD friend Words operator*(const Words& a, uint32_t b) {
    return each([&](int i) { return a.lanes[i] * b; });
  }
  HD friend Words high_product(const Words& a, uint32_t b) {
    return each([&](int i) { return rondo::high_product(a.lanes[i], b); });
  }

  alignas(64) uint32_t lanes[size];
};
#endif

struct DropoutMask {
  Extent extent;
  RandomKey key;
  uint32_t threshold;  // drop if the random word is below
  real kept;
  BatchSlice slice;
  Operand mask;

  /// Element `index` of the tensor is element `logical` of the whole batch.
  HD void operator()(Row row, int64_t r) const {
    const RandomKey now = key.now();
    const uint64_t logical_row = r / slice.batch * slice.whole + slice.first + r % slice.batch;
    const uint64_t begin = logical_row * extent.columns;
    const uint64_t end = begin + row.columns;
    real* to = row_of(mask, r);
    // Not `?:`: its branch would be unpredictable.
    const auto value = [=, this](uint32_t word) { return static_cast<real>(word >= threshold) * kept; };
    const auto one = [&](uint64_t number) {
      const PhiloxBlock words = now.block(number);
      for (int i = 0; i < 4; ++i) {
        const uint64_t at = number * 4 + i;
        if (begin <= at && at < end) to[at - begin] = value(words.word[i]);
      }
    };
#ifdef __CUDACC__
    for (uint64_t block = begin / 4 + cuda::thread(); block * 4 < end; block += cuda::threads()) one(block);
#else
    uint64_t block = begin / 4;
    if (block * 4 < begin) one(block++);
    for (; (block + Words::size) * 4 <= end; block += Words::size) {
      const auto number = [&](int i) { return block + static_cast<uint64_t>(i); };
      const auto words =
          now.blocks(Words::each([&](int i) { return static_cast<uint32_t>(number(i)); }),
                     Words::each([&](int i) { return static_cast<uint32_t>(number(i) >> 32); }));
      real* out = to + (block * 4 - begin);
      for (int i = 0; i < Words::size; ++i)
        for (int j = 0; j < 4; ++j) out[4 * i + j] = value(words.word[j].lanes[i]);
    }
    for (; block * 4 < end; ++block) one(block);
#endif
  }
};

void fill(Extent extent, Operand to, real value) { launch_elements(extent, Fill{to, value}); }
void copy(Extent extent, Operand from, Operand to) { launch_elements(extent, Copy{from, to}); }
void accumulate(Extent extent, Operand x, Operand to, Deferred<real> factor) {
  launch_elements(extent, Accumulate{x, to, factor});
}
void scale(Extent extent, Operand to, Deferred<real> factor) { launch_elements(extent, Scale{to, factor}); }
void scale_rows(Extent extent, Operand x, const real* factors, Operand y) {
  launch_elements(extent, ScaleRows{x, factors, y});
}
void column_sums(Extent extent, Operand x, int64_t height, Operand to) {
  launch_elements({(extent.rows + height - 1) / height, extent.columns},
                  ColumnSums{x, extent.rows, height, to});
}
void partial_sums(int64_t count, const real* x, int64_t block, bool squares, real* sums) {
  launch_rows((count + block - 1) / block, block, PartialSums{x, count, block, squares, sums});
}
void moments(Extent extent, Operand x, const int32_t* row_indices, real* mean, real* variance) {
  launch_columns(extent.columns, extent.rows * extent.columns,
                 Moments{x, row_indices, extent.rows, mean, variance});
}
void moments_backward(Extent extent, Operand x, const int32_t* row_indices, const real* mean,
                      const real* dmean, const real* dvariance, Operand dx) {
  launch_columns(extent.columns, extent.rows * extent.columns,
                 MomentsBackward{x, row_indices, extent.rows, mean, dmean, dvariance, dx});
}
void softmax(Extent extent, Operand x, Operand y) {
  launch_rows(extent.rows, extent.columns, Softmax{x, y, false});
}
void softmax_backward(Extent extent, Operand y, Operand dy, Operand dx) {
  launch_rows(extent.rows, extent.columns, SoftmaxBackward{y, dy, dx});
}
void log_softmax(Extent extent, Operand x, Operand y) {
  launch_rows(extent.rows, extent.columns, Softmax{x, y, true});
}
void log_softmax_backward(Extent extent, Operand y, Operand dy, Operand dx) {
  launch_rows(extent.rows, extent.columns, LogSoftmaxBackward{y, dy, dx});
}
void cross_entropy(Extent extent, Operand x, const int32_t* targets, real* log_sum_exp, real* loss) {
  launch_rows(extent.rows, extent.columns, LogitsCrossEntropy{x, targets, log_sum_exp, loss});
}
void cross_entropy_backward(Extent extent, Operand x, const int32_t* targets, const real* log_sum_exp,
                            const real* dloss, Operand dx) {
  launch_rows(extent.rows, extent.columns, LogitsCrossEntropyBackward{x, targets, log_sum_exp, dloss, dx});
}
void cross_entropy_in_place(Extent extent, Operand x, const int32_t* targets, int64_t rows_a_target,
                            const real* weights, real* loss) {
  launch_rows(extent.rows, extent.columns, CrossEntropy{x, targets, rows_a_target, weights, loss});
}
void mixture(Extent extent, Operand log_prior, Operand loss, Operand posterior, real* mixed) {
  launch_rows(extent.rows, extent.columns, Mixture{log_prior, loss, posterior, mixed});
}
void gather_rows(Extent extent, Operand table, const int32_t* row_indices, Operand to) {
  launch_elements(extent, GatherRows{table, row_indices, to});
}
void accumulate_rows(Extent extent, Operand x, SortedRows sorted, Operand table) {
  launch_elements(extent, AccumulateRows{x, sorted, table});
}
void one_hot(Extent extent, const int32_t* column_indices, Operand to) {
  launch_rows(extent.rows, extent.columns, OneHot{column_indices, to});
}
void dropout_mask(Extent extent, RandomKey key, double probability, BatchSlice slice, Operand mask) {
  const auto threshold = static_cast<uint32_t>(probability * 4294967296.0);
  launch_rows(extent.rows, extent.columns,
              DropoutMask{extent, key, threshold, static_cast<real>(1 / (1 - probability)), slice, mask});
}

}  // namespace

const Kernels kernels = {
    .fill = fill,
    .copy = copy,
    .accumulate = accumulate,
    .scale = scale,
    .scale_rows = scale_rows,
    .column_sums = column_sums,
    .partial_sums = partial_sums,
    .moments = moments,
    .moments_backward = moments_backward,
    .softmax = softmax,
    .softmax_backward = softmax_backward,
    .masked_softmax = masked_softmax,
    .masked_softmax_backward = masked_softmax_backward,
    .log_softmax = log_softmax,
    .log_softmax_backward = log_softmax_backward,
    .cross_entropy = cross_entropy,
    .cross_entropy_backward = cross_entropy_backward,
    .cross_entropy_in_place = cross_entropy_in_place,
    .mixture = mixture,
    .gather_rows = gather_rows,
    .accumulate_rows = accumulate_rows,
    .one_hot = one_hot,
    .transpose_first_two = transpose_first_two,
    .normalize_rows = normalize_rows,
    .normalize_rows_backward = normalize_rows_backward,
    .dropout_mask = dropout_mask,
};

}  // namespace BACKEND
}  // namespace rondo
