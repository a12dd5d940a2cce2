// The settings of the optimizers, and their keys. What each computes: optim/updates.h. To add an optimizer,
// name it here, with its settings, and write its update there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tensor/keys.h"

namespace rondo {

enum class OptimizerKind { sgd, adam, adamw, rmsprop, adagrad };
inline std::vector<std::string> names_of(OptimizerKind) {
  return {"sgd", "adam", "adamw", "rmsprop", "adagrad"};
}

/// Settings under PyTorch's names. What an optimizer's formula lacks must be left at its default.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adam;
  std::optional<double> learning_rate{};  // none: the default of traits_of(kind)
  double momentum = 0;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double alpha = 0.99;
  double initial_squares = 0;  // PyTorch's initial_accumulator_value
  double weight_decay = 0;     // added to the gradient (an L2 penalty); adamw: decoupled
};

/// A learning rate that is a fair first try for a recurrent language model, whether a step moves each weight
/// by about that rate, and the settings that not all optimizers have.
struct OptimizerTraits {
  double learning_rate;
  bool moves_by_rate;
  std::vector<std::string> settings;
};
/// The rates: SGD's from Zaremba et al. 2014 (with clipping), Adam's from Kingma & Ba 2015, RMSprop's from
/// Karpathy's char-rnn, AdaGrad's from Grave et al. 2017 (Improving Neural Language Models with a Continuous
/// Cache).
inline OptimizerTraits traits_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::sgd:
      return {1, false, {"momentum"}};
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      return {0.001, true, {"beta1", "beta2", "epsilon"}};
    case OptimizerKind::rmsprop:
      return {0.002, true, {"alpha", "epsilon"}};
    case OptimizerKind::adagrad:
      return {0.2, false, {"epsilon", "initial_squares"}};
  }
  return {};
}
/// The optimizers that have a setting of their own, "adam or adamw"; empty: all have it.
std::string optimizers_with(const std::string& setting);

inline Keys keys_of(OptimizerOptions& options) {
  const auto of = [](const std::string& setting) { return "of " + optimizers_with(setting); };
  return {
      {"optimizer", choice(options.kind), "how weights are updated"},
      {"learning_rate", &options.learning_rate, at_least(0), "-1: the optimizer's own default"},
      {"momentum", &options.momentum, any_rate(), of("momentum")},
      {"beta1", &options.beta1, any_rate(),
       of("beta1") + ": share of the mean of gradients that a step keeps"},
      {"beta2", &options.beta2, any_rate(), "the same, of the mean of their squares"},
      // Zero would divide the zeros of pads and of parameters without gradients by zero.
      {"epsilon", &options.epsilon, at_least(1e-20),
       of("epsilon") + ": added to the root that divides the gradient"},
      {"alpha", &options.alpha, any_rate(), of("alpha") + ": share of the mean of squares that a step keeps"},
      {"initial_squares", &options.initial_squares, at_least(0),
       of("initial_squares") + ": the sum of squares of the gradient before the first step"},
      {"weight_decay", &options.weight_decay, at_least(0), "L2 penalty; adamw: decoupled"},
  };
}

/// Throws InputError for a setting out of range, one that the optimizer does not have, and a learning rate
/// that belongs to another optimizer.
void check_options(const OptimizerOptions& options);

}  // namespace rondo
