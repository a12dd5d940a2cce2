// The output layer and its loss, block by block. A loss is a single number, so the gradients of its inputs
// are known up to one factor as soon as a block's logits are: they are formed there and then, and the logits
// need neither be kept nor computed again (as in Liger Kernel, Hsu et al. 2024).
#include "autograd/cross_entropy.h"

#include <algorithm>

#include "tensor/backend.h"
#include "tensor/gemm.h"
#include "tensor/kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

/// Measured at V = 10000, H = 200 to 650: blocks whose products still run over packed weights are as fast as
/// one product over all rows; blocks half as high are 3 % slower, and blocks over BLAS 15 %.
constexpr int64_t block_rows = most_rows_over_kept_pack;
/// Where the vocabulary is small, blocks are higher: as long as they stay in cache.
constexpr int64_t block_bytes = int64_t{1} << 20;

/// The rows that are not ignored, in order.
struct ScoredRows {
  std::vector<int32_t> rows, targets;
  std::vector<real> weights;

  ScoredRows(const std::vector<int32_t>& all_targets, const Tensor& row_weights) {
    const std::vector<real> all_weights =
        row_weights.defined() ? row_weights.to_vector() : std::vector<real>(all_targets.size(), 1);
    for (size_t r = 0; r < all_targets.size(); ++r) {
      if (all_targets[r] < 0 || all_weights[r] == 0) continue;
      rows.push_back(static_cast<int32_t>(r));
      targets.push_back(all_targets[r]);
      weights.push_back(all_weights[r]);
    }
  }
  int64_t count() const { return std::ssize(rows); }
};

void check_inputs(const Variable& x, const Variable& weight, const Variable& bias,
                  const std::vector<int32_t>& targets, const Variable& row_weights) {
  check(weight.shape().dimensions() == 2 && x.shape().columns() == weight.shape().columns(),
        "[linear_cross_entropy] x [.., H] and W [V, H] need one H: got {} and {}", x.shape(), weight.shape());
  const int64_t N = x.value().rows(), V = weight.shape()[0];
  check(!bias.defined() || bias.shape() == Shape{V},
        "[linear_cross_entropy] the bias for W {} is [{}], got {}", weight.shape(), V, bias.shape());
  check(std::ssize(targets) == N, "[linear_cross_entropy] x {} needs {} targets, got {}", x.shape(), N,
        targets.size());
  check(!row_weights.defined() || row_weights.shape() == Shape{N},
        "[linear_cross_entropy] the row weights for x {} are [{}], got {}", x.shape(), N,
        row_weights.shape());
  for (size_t r = 0; r < targets.size(); ++r)
    check(-1 <= targets[r] && targets[r] < V, "[linear_cross_entropy] target {} at {} is not in [-1, {})",
          targets[r], r, V);
}

}  // namespace

int64_t cross_entropy_block_rows(int64_t rows, int64_t V) {
  const int64_t row_bytes = std::max<int64_t>(1, V) * static_cast<int64_t>(sizeof(real));
  const int64_t most = std::max(block_rows, block_bytes / row_bytes);
  const int64_t blocks = std::max<int64_t>(1, (rows + most - 1) / most);
  return (rows + blocks - 1) / blocks;  // of one height, so that none is low
}

CrossEntropy linear_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                                  const Tokens& targets, const Variable& row_weights) {
  check(targets != nullptr, "[linear_cross_entropy] there are no targets");
  check_inputs(x, weight, bias, *targets, row_weights);
  const int64_t N = x.value().rows(), H = x.shape().columns(), V = weight.shape()[0];
  const Device device = x.value().device();
  const ScoredRows scored(*targets, row_weights.value());
  const int64_t count = scored.count();

  Tensor inputs = x.value();
  if (count < N) {
    inputs = Tensor({count, H}, device);
    gather_rows(x.value(), scored.rows, inputs);
  }
  const auto wanted = [&](const Variable& input) {
    return recording() && count > 0 && input.needs_gradient();
  };
  Tensor dx, dweight, dbias;
  if (wanted(x)) dx = Tensor({count, H}, device);
  if (wanted(weight)) dweight = Tensor({V, H}, device);
  if (wanted(bias)) dbias = Tensor::zeros({V}, device);
  const bool gradients_wanted = dx.defined() || dweight.defined() || dbias.defined();

  Tensor losses({count}, device);
  const int64_t height = cross_entropy_block_rows(count, V);
  const Tensor buffer({height, V}, device);
  for (int64_t begin = 0; begin < count; begin += height) {
    const int64_t end = std::min(begin + height, count);
    const Tensor block = inputs.row_range(begin, end), logits = buffer.row_range(0, end - begin);
    weight_gemm(block, weight.value(), Transpose::yes, bias.value(), logits);
    {
      const Timed timed("softmax", [] { return std::string("linear_cross_entropy"); });
      kernels(device).cross_entropy(logits.extent(), logits.write_operand(), scored.targets.data() + begin,
                                    gradients_wanted ? scored.weights.data() + begin : nullptr,
                                    losses.write() + begin);
    }
    const Tensor& dlogits = logits;  // the kernel has made it so
    if (dx.defined()) weight_gemm(dlogits, weight.value(), Transpose::no, {}, dx.row_range(begin, end));
    if (dweight.defined()) gemm(dlogits, Transpose::yes, block, Transpose::no, begin > 0 ? 1 : 0, dweight);
    if (dbias.defined()) accumulate_column_sums(dlogits, dbias);
  }

  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += static_cast<double>(scored.weights[i]) * losses.data()[i];
  Tensor each = losses;
  if (count < N) {
    each = Tensor::zeros({N}, device);
    real* to = each.write();
    for (int64_t i = 0; i < count; ++i) to[scored.rows[i]] = losses.data()[i];
    if (dx.defined()) {
      const Tensor scattered = Tensor::zeros({N, H}, device);
      accumulate_rows(dx, scored.rows, scattered);
      dx = scattered;
    }
  }
  const Variable result =
      record("linear_cross_entropy", Tensor::filled({1}, static_cast<real>(total), device),
             {x, weight, bias, row_weights},
             [dx = std::move(dx), dweight = std::move(dweight), dbias = std::move(dbias), each = Saved(each)](
                 const std::vector<Tensor>& gradients, const Inputs& in) mutable {
               const real factor = gradients[0].item();
               if (dx.defined()) in[0].add_scaled(std::move(dx), factor);
               if (dweight.defined()) in[1].add_scaled(std::move(dweight), factor);
               if (dbias.defined()) in[2].add_scaled(std::move(dbias), factor);
               if (in[3].wanted()) in[3].add_scaled(each.get("linear_cross_entropy"), factor);
             });
  return {result, each};
}

}  // namespace rondo
