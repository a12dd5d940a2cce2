// The output layer of a mixture of softmaxes.
#include "bench/mixture.h"

#include <algorithm>
#include <random>

#include "autograd/cross_entropy.h"
#include "autograd/functions.h"
#include "bench/worker.h"
#include "tensor/random.h"

namespace rondo {
namespace {

/// Uniform in (-0.1, 0.1), with a gradient.
Variable leaf(Shape shape, uint64_t seed) {
  const Tensor value(shape);
  fill_uniform(value, {.seed = seed}, real(-0.1), real(0.1));
  return Variable::leaf(value, Tensor::zeros(shape));
}

constexpr int64_t rows = 12 * 70, experts = 15, width = 280, vocabulary = 10000;

}  // namespace

Peer::Json mixture_shape() {
  return {{"rows", rows},
          {"experts", experts},
          {"embedding", width},
          {"vocabulary", vocabulary},
          {"warm_up_updates", warm_up_updates}};
}

void mixture_on_request() {
  const Variable latents = leaf({rows, experts * width}, 1), prior_logits = leaf({rows, experts}, 2);
  const Variable weight = leaf({vocabulary, width}, 3), bias = leaf({vocabulary}, 4);
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any_symbol(0, vocabulary - 1);
  std::vector<int32_t> ids(rows);
  std::generate(ids.begin(), ids.end(), [&] { return any_symbol(random); });
  const Tokens targets = tokens(std::move(ids));
  answer_requests({{"parameters", vocabulary * (width + 1)}}, [&] {
    mixture_cross_entropy(latents, log_softmax(prior_logits), weight, bias, targets).total.backward();
    return rows;
  });
}

}  // namespace rondo
