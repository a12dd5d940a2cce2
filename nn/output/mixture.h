// A mixture of softmaxes, Yang et al. 2018, "Breaking the Softmax Bottleneck": the layers between the
// recurrent stack and the decoder, and the distribution. The loss is in autograd/cross_entropy.h, which
// stores one block of logits at a time. Next: nn/models/language_model.cpp.
#pragma once

#include <string>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/layers/dropout.h"
#include "nn/layers/linear.h"

namespace rondo {

/// p = sum_k pi_k softmax(W h_k + b), with pi = softmax(W_pi x) and h_k = tanh(W_k x + b_k); all K experts
/// share one decoder W, b.
struct Mixture : Module {
  /// From x of `width` to K latents of `latent_width`, whose dropout may be variational.
  Mixture(Module& parent, std::string name, int64_t width, int64_t K, int64_t latent_width,
          double latent_dropout, bool variational);

  /// log pi, [.., K].
  Variable log_prior(const Variable& x) const { return log_softmax(linear(x, prior)); }
  /// The h_k side by side, [T, B, K E], of x [T, B, width].
  Variable latents(const Variable& x) { return dropout(tanh(latent(x))); }

  Parameter prior;
  Linear latent;
  Dropout dropout;
};

/// log p of all symbols, [N, V], from latents [N, K E] and log_prior [N, K]: expert by expert, storing all
/// logits.
Variable mixture_log_probabilities(const Variable& latents, const Variable& log_prior, const Linear& decoder);

}  // namespace rondo
