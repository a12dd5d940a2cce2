// A mixture of softmaxes.
#include "nn/output/mixture.h"

namespace rondo {

Mixture::Mixture(Module& parent, std::string mixture_name, int64_t width, int64_t K, int64_t latent_width,
                 double latent_dropout, bool variational)
    : Module(parent, std::move(mixture_name)),
      prior(*this, "prior.weight", {K, width}, uniform_values(1 / std::sqrt(width))),
      latent(*this, "latent", width, K * latent_width),
      dropout(*this, "dropout", latent_dropout, variational) {}

Variable mixture_log_probabilities(const Variable& latents, const Variable& log_prior,
                                   const Linear& decoder) {
  const int64_t K = log_prior.shape().columns(), E = latents.shape().columns() / K;
  const Variable ones(Tensor::filled({1, decoder.bias.shape()[0]}, 1, latents.value().device()));
  Variable sum;
  for (int64_t k = 0; k < K; ++k) {
    const Variable expert = log_softmax(decoder(latents.slice_columns(k * E, (k + 1) * E))) +
                            matmul(log_prior.slice_columns(k, k + 1), ones);
    sum = sum.defined() ? log_add_exp(sum, expert) : expert;
  }
  return sum;
}

}  // namespace rondo
