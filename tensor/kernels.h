// The kernels of a backend that are not pointwise operators, as one table per backend: the only place where
// a device is chosen. tensor/kernels.cc fills it, once per pass. Callers check shapes; kernels do not.
#pragma once

#include "tensor/backend.h"
#include "tensor/deferred.h"
#include "tensor/indices.h"
#include "tensor/random.h"

namespace rondo {

struct Kernels {
  void (*fill)(Extent, Operand to, real value);
  void (*copy)(Extent, Operand from, Operand to);
  void (*accumulate)(Extent, Operand x, Operand to, Deferred<real> factor);  // to += factor * x
  void (*scale)(Extent, Operand to, Deferred<real> factor);                  // to *= factor
  void (*scale_rows)(Extent, Operand x, const real* factors, Operand y);     // y[r] = factors[r] * x[r]
  // to[i, j] += sum_r x[r, j] over rows [i * height, (i + 1) * height).
  void (*column_sums)(Extent, Operand x, int64_t height, Operand to);
  void (*partial_sums)(int64_t count, const real* x, int64_t block, bool squares, real* sums);

  // The mean and the biased variance of each column over the first extent.rows of the listed rows, or over
  // all rows if `rows` is null. mean and variance must be zero on entry.
  void (*moments)(Extent, Operand x, const int32_t* rows, real* mean, real* variance);
  // dx[r, j] += (dmean[j] + 2 (x[r, j] - mean[j]) dvariance[j]) / extent.rows for those rows.
  void (*moments_backward)(Extent, Operand x, const int32_t* rows, const real* mean, const real* dmean,
                           const real* dvariance, Operand dx);

  void (*softmax)(Extent, Operand x, Operand y);
  void (*softmax_backward)(Extent, Operand y, Operand dy, Operand dx);  // dx = y * (dy - sum(dy * y))
  // The same over the first lengths[r / rows_a_length] columns of row r; the other columns of y become zero,
  // whatever x contains there.
  void (*masked_softmax)(Extent, Operand x, const int32_t* lengths, int64_t rows_a_length, Operand y);
  void (*masked_softmax_backward)(Extent, Operand y, Operand dy, const int32_t* lengths,
                                  int64_t rows_a_length, Operand dx);
  void (*log_softmax)(Extent, Operand x, Operand y);
  void (*log_softmax_backward)(Extent, Operand y, Operand dy, Operand dx);  // dx = dy - exp(y) * sum(dy)
  // loss[r] = log_sum_exp[r] - x[r, target[r]]; a target below 0 gives loss 0 and no gradient.
  void (*cross_entropy)(Extent, Operand x, const int32_t* targets, real* log_sum_exp, real* loss);
  // dx[r] = dloss[r] * (exp(x[r] - log_sum_exp[r]) - onehot(target[r])).
  void (*cross_entropy_backward)(Extent, Operand x, const int32_t* targets, const real* log_sum_exp,
                                 const real* dloss, Operand dx);
  // loss[r] = log_sum_exp(x[r]) - x[r, target[r]], for targets >= 0, each shared by rows_a_target rows. With
  // weights, x is replaced by its gradient: x[r] = weights[r] * (softmax(x[r]) - onehot(target[r])); without
  // (null), x is left as it was.
  void (*cross_entropy_in_place)(Extent, Operand x, const int32_t* targets, int64_t rows_a_target,
                                 const real* weights, real* loss);

  // posterior[r] = softmax(log_prior[r] - loss[r]), with the loss of each expert; mixed[r] = -log of the
  // sum of exp(log_prior[r] - loss[r]).
  void (*mixture)(Extent, Operand log_prior, Operand loss, Operand posterior, real* mixed);

  void (*gather_rows)(Extent, Operand table, const int32_t* rows, Operand to);  // to[i] = table[rows[i]]
  // table[rows[i]] += x[i], in the order of i.
  void (*accumulate_rows)(Extent, Operand x, SortedRows, Operand table);
  void (*one_hot)(Extent, const int32_t* columns, Operand to);  // to[r, columns[r]] = 1, the rest 0
  // to[j * first + i] = from[i * (extent.rows / first) + j].
  void (*transpose_first_two)(Extent, Operand from, int64_t first, Operand to);
  // y[r] = (x[r] - mean(x[r])) * scale[r], with scale[r] = 1 / sqrt(variance(x[r]) + epsilon).
  void (*normalize_rows)(Extent, Operand x, real epsilon, Operand y, real* scale);
  // dx = scale * (dy - mean(dy) - y * mean(dy * y)).
  void (*normalize_rows_backward)(Extent, Operand y, const real* scale, Operand dy, Operand dx);
  void (*dropout_mask)(Extent, RandomKey, double probability, BatchSlice, Operand mask);
};

namespace cpu {
extern const Kernels kernels;
}
namespace cuda {
extern const Kernels kernels;
}

/// The table of a device. Throws Error for CUDA in a build without it.
const Kernels& kernels(Device device);

}  // namespace rondo
