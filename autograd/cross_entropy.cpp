// The output layer and its loss, block by block. A loss is a single number, so the gradients of its inputs
// are known up to one factor as soon as the logits of a block are: they are computed at once, and the logits
// need neither be stored nor computed again (as in Liger Kernel, Hsu et al. 2024).
#include "autograd/cross_entropy.h"

#include <algorithm>

#include "autograd/functions.h"
#include "tensor/backend.h"
#include "tensor/kernels/kernels.h"
#include "tensor/products/gemm.h"
#include "tensor/products/packed_gemm.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

/// Measured at V = 10000, H = 200 to 650: blocks whose products use the kept pack of a weight are as fast as
/// one product over all rows; blocks of half the height are 3 % slower. For higher blocks none is kept.
constexpr int64_t block_rows = max_rows_over_kept_pack;
/// For a small vocabulary blocks are higher, as long as they fit into the cache.
constexpr int64_t block_bytes = int64_t{1} << 20;
/// A GPU is filled by some thousand rows, and each block costs it eight launches or more; a block should not
/// take more memory than this.
constexpr int64_t gpu_block_rows = 3072, gpu_block_bytes = int64_t{128} << 20;

/// The rows that are not ignored, in order; if no row is ignored, or if other rows may be in a replay,
/// targets are used as given.
struct ScoredRows {
  Tokens targets;

  explicit ScoredRows(const Tokens& all_targets) : targets(all_targets), all_(std::ssize(*all_targets)) {
    if (targets->may_change() || std::ranges::all_of(*all_targets, [](int32_t id) { return id >= 0; }))
      return;
    std::vector<int32_t> rows, some_targets;
    for (size_t r = 0; r < all_targets->size(); ++r) {
      if ((*all_targets)[r] < 0) continue;
      rows.push_back(static_cast<int32_t>(r));
      some_targets.push_back((*all_targets)[r]);
    }
    targets = tokens(std::move(some_targets));
    rows_ = std::move(rows);
  }
  int64_t count() const { return std::ssize(*targets); }

  /// These rows of x.
  Tensor of(const Tensor& x) const {
    if (count() == all_) return x;
    const Tensor some({count(), x.columns()}, x.device());
    gather_rows(x, rows_, some);
    return some;
  }
  /// The inverse: x holds these rows; the other rows are 0.
  Tensor among_zeros(const Tensor& x) const {
    if (count() == all_) return x;
    const Tensor to = Tensor::zeros({all_, x.columns()}, x.device());
    accumulate_rows(x, rows_, to);
    return to;
  }

 private:
  Indices rows_;
  int64_t all_;
};

void check_inputs(const char* name, const Variable& x, int64_t experts, const Variable& weight,
                  const Variable& bias, const Tokens& targets) {
  check(weight.shape().dimensions() == 2 && x.shape().columns() == experts * weight.shape().columns(),
        "[{}] x [.., {}H] and W [V, H] need one H: got {} and {}", name,
        experts == 1 ? "" : fmt::format("{} ", experts), x.shape(), weight.shape());
  const int64_t N = x.value().rows(), V = weight.shape()[0];
  check(!bias.defined() || bias.shape() == Shape{V}, "[{}] the bias for W {} is [{}], got {}", name,
        weight.shape(), V, bias.shape());
  check(std::ssize(*targets) == N, "[{}] x {} needs {} targets, got {}", name, x.shape(), N, targets->size());
  check_indices(name, "target", *targets, -1, V);
}

/// The gradients of the inputs of a loss, for a gradient of 1 of the loss: of x, weight and bias where they
/// need one, else undefined; of the logarithms of a mixture's prior always.
struct LossGradients {
  Tensor x, weight, bias;
  Tensor log_prior{};  // of a mixture

  /// `rows` are the scored rows [n, H] of x. The gradient of x is contiguous if they are, as a mixture needs.
  LossGradients(const Tensor& rows, const Variable& of_x, const Variable& of_weight,
                const Variable& of_bias) {
    const auto wanted = [&](const Variable& input) {
      return recording() && rows.rows() > 0 && input.needs_gradient();
    };
    const Shape of_rows{rows.rows(), rows.columns()};
    if (wanted(of_x))
      x = rows.contiguous() ? Tensor::dense(of_rows, rows.device()) : Tensor(of_rows, rows.device());
    if (wanted(of_weight)) weight = Tensor(of_weight.shape(), rows.device());
    if (wanted(of_bias)) bias = Tensor(of_bias.shape(), rows.device());
  }
  bool any() const { return x.defined() || weight.defined() || bias.defined(); }
};

/// Computes the logits of all rows of x, block by block: score(begin, end, logits) replaces those of rows
/// [begin, end) by their gradients, if gradients are needed; these are then added to `gradients`.
template <class Score>
void for_blocks(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t height,
                const LossGradients& gradients, Score score) {
  const int64_t rows = x.rows();
  const Tensor buffer({std::min(height, rows), weight.rows()}, x.device());
  for (int64_t begin = 0; begin < rows; begin += height) {
    const int64_t end = std::min(begin + height, rows);
    const Tensor block = x.slice_rows(begin, end), logits = buffer.slice_rows(0, end - begin);
    weight_gemm(block, weight, Transpose::yes, bias, logits);
    {
      const Timed timed("softmax", [name] { return std::string(name); });
      score(begin, end, logits);
    }
    const Tensor& dlogits = logits;  // the kernel has replaced them
    if (gradients.x.defined())
      weight_gemm(dlogits, weight, Transpose::no, {}, gradients.x.slice_rows(begin, end));
    if (gradients.weight.defined())
      gemm(dlogits, Transpose::yes, block, Transpose::no, begin > 0, gradients.weight);
    if (gradients.bias.defined()) column_sums(dlogits, gradients.bias, begin > 0);
  }
}

/// The total as a Variable, with the gradients of its inputs: x, weight, bias and, of a mixture, the log
/// prior.
Variable recorded_total(const char* name, const Tensor& total, const std::vector<Variable>& inputs,
                        LossGradients d) {
  return record(name, total, inputs,
                [d = std::move(d)](const std::vector<Tensor>& gradients, const Inputs& in) mutable {
                  Tensor* const of_inputs[] = {&d.x, &d.weight, &d.bias, &d.log_prior};
                  for (size_t i = 0; i < in.size(); ++i)
                    if (of_inputs[i]->defined()) in[i].add_scaled(std::move(*of_inputs[i]), gradients[0]);
                });
}

}  // namespace

int64_t cross_entropy_block_rows(int64_t rows, int64_t V, int64_t K, Device device) {
  const int64_t row_bytes = std::max<int64_t>(1, V) * static_cast<int64_t>(sizeof(real));
  const int64_t highest = is_gpu(device)
                              ? std::max(block_rows, std::min(gpu_block_rows, gpu_block_bytes / row_bytes))
                              : std::max(block_rows, block_bytes / row_bytes);
  const int64_t most = std::max<int64_t>(1, highest / K);
  const int64_t groups = rows / K, blocks = std::max<int64_t>(1, (groups + most - 1) / most);
  return (groups + blocks - 1) / blocks * K;  // of nearly equal height
}

CrossEntropy linear_cross_entropy(const Variable& x, const Variable& weight, const Variable& bias,
                                  const Tokens& targets, double smoothing) {
  constexpr auto name = "linear_cross_entropy";
  check_inputs(name, x, 1, weight, bias, targets);
  check(0 <= smoothing && smoothing < 1, "[{}] a smoothing from 0 to 1 was expected: {}", name, smoothing);
  const ScoredRows scored(targets);
  const Tensor inputs = scored.of(x.value());
  LossGradients d(inputs, x, weight, bias);
  const Device device = inputs.device();
  const Tensor losses({scored.count(), 1}, device);
  const Tensor minimised = smoothing == 0 ? losses : Tensor(losses.shape(), device);
  const int64_t height = cross_entropy_block_rows(scored.count(), weight.shape()[0], 1, device);
  for_blocks(
      name, inputs, weight.value(), bias.value(), height, d,
      [&](int64_t begin, int64_t, const Tensor& logits) {
        launch(device, logits.extent(),
               CrossEntropyInPlace{d.any() ? write_operand_with_twin(logits) : logits.write_operand(),
                                   scored.targets->on(device) + begin, d.any(), losses.mutable_data() + begin,
                                   static_cast<real>(smoothing), minimised.mutable_data() + begin});
      });
  if (d.x.defined()) d.x = scored.among_zeros(d.x);
  const Tensor each = scored.among_zeros(losses).reshaped({x.value().rows()});
  return {recorded_total(name, sum_on_device(minimised), {x, weight, bias}, std::move(d)), each};
}

CrossEntropy mixture_cross_entropy(const Variable& x, const Variable& log_prior, const Variable& weight,
                                   const Variable& bias, const Tokens& targets) {
  constexpr auto name = "mixture_cross_entropy";
  const int64_t N = x.value().rows(), K = log_prior.shape().columns();
  check(log_prior.defined() && K > 0 && log_prior.value().rows() == N,
        "[{}] x {} needs a log prior [{}, K], got {}", name, x.shape(), N, log_prior.shape());
  check_inputs(name, x, K, weight, bias, targets);
  const ScoredRows scored(targets);
  const int64_t count = scored.count();
  const Tensor inputs = contiguous(scored.of(x.value())).reshaped({count * K, weight.shape().columns()});
  const Device device = inputs.device();
  const Tensor priors = scored.of(log_prior.value()).reshaped({count, K});
  LossGradients d(inputs, x, weight, bias);
  const Tensor losses = Tensor::dense({count, K}, device), posteriors = Tensor::dense({count, K}, device);
  const Tensor mixed({count, 1}, device);
  const int64_t height = cross_entropy_block_rows(count * K, weight.shape()[0], K, device);
  const Tensor log_sum_exp({height}, device);  // of a block
  for_blocks(
      name, inputs, weight.value(), bias.value(), height, d,
      [&](int64_t begin, int64_t end, const Tensor& logits) {
        const int32_t* block_targets = scored.targets->on(device) + begin / K;
        launch(device, logits.extent(),
               LogitsCrossEntropy{logits.read_operand(), block_targets, K, log_sum_exp.mutable_data(),
                                  losses.mutable_data() + begin});
        const Tensor of_experts = losses.slice_rows(begin / K, end / K);
        launch(
            device, of_experts.extent(),
            MixtureLoss{block_targets, priors.slice_rows(begin / K, end / K).read_operand(),
                        of_experts.read_operand(), posteriors.slice_rows(begin / K, end / K).write_operand(),
                        mixed.mutable_data() + begin / K});
        if (d.any())
          launch(device, logits.extent(),
                 LogitsCrossEntropyBackward{logits.read_operand(), block_targets, K, log_sum_exp.data(),
                                            posteriors.data() + begin, write_operand_with_twin(logits)});
      });
  if (d.x.defined()) d.x = scored.among_zeros(d.x.reshaped({count, x.shape().columns()}));
  scale(posteriors, -1);
  d.log_prior = scored.among_zeros(posteriors);
  const Tensor each = scored.among_zeros(mixed).reshaped({N});
  return {recorded_total(name, sum_on_device(mixed), {x, weight, bias, log_prior}, std::move(d)), each};
}

}  // namespace rondo
