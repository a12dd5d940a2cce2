// The optimizers: the state of each, and the numbers that its update needs in a step.
#include "optim/optimizer.h"

#include <fmt/ranges.h>

#include <cmath>

#include "optim/apply_update.h"
#include "optim/updates.h"

namespace rondo {

namespace {

real to_real(double x) { return static_cast<real>(x); }

/// An optimizer with one type of update, whose numbers it computes.
template <class Update>
class OptimizerOf : public Optimizer {
 public:
  using Optimizer::Optimizer;
  void launch(const StepControl& control, const void* numbers) final {
    const auto update = numbers ? Deferred<Update>::found_at(static_cast<const Update*>(numbers))
                                : Deferred<Update>(formula_);
    apply_update(update, control, inputs(), outputs());
  }

 protected:
  /// The update at this rate; steps() already includes the step.
  virtual Update formula(double learning_rate) const = 0;

 private:
  std::span<const std::byte> prepare(double learning_rate) final {
    formula_ = formula(learning_rate);
    return std::as_bytes(std::span(&formula_, 1));
  }

  Update formula_{};
};

class Sgd final : public OptimizerOf<SgdUpdate> {
 public:
  Sgd(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : OptimizerOf(options, values, gradients, {}) {}

 private:
  SgdUpdate formula(double learning_rate) const override {
    return {.learning_rate = to_real(learning_rate), .weight_decay = to_real(options().weight_decay)};
  }
};

class Momentum final : public OptimizerOf<MomentumUpdate> {
 public:
  Momentum(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : OptimizerOf(options, values, gradients, {{"momentum", {}}}) {}

 private:
  MomentumUpdate formula(double learning_rate) const override {
    return {.learning_rate = to_real(learning_rate),
            .momentum = to_real(options().momentum),
            .weight_decay = to_real(options().weight_decay)};
  }
};

/// For Adam and for AdamW, whose decay is not part of the gradient.
AdamUpdate adam_update(const OptimizerOptions& it, int64_t steps, double learning_rate, double weight_decay) {
  const double t = static_cast<double>(steps);
  return {.step_size = to_real(learning_rate / (1 - std::pow(it.beta1, t))),
          .root_of_correction = to_real(std::sqrt(1 - std::pow(it.beta2, t))),
          .first_rate = to_real(1 - it.beta1),
          .second_rate = to_real(1 - it.beta2),
          .epsilon = to_real(it.epsilon),
          .weight_decay = to_real(weight_decay)};
}
std::vector<NamedTensor> adam_state() { return {{"first_moment", {}}, {"second_moment", {}, 0}}; }

class Adam final : public OptimizerOf<AdamUpdate> {
 public:
  Adam(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : OptimizerOf(options, values, gradients, adam_state()) {}

 private:
  AdamUpdate formula(double learning_rate) const override {
    return adam_update(options(), steps(), learning_rate, options().weight_decay);
  }
};

class AdamW final : public OptimizerOf<AdamWUpdate> {
 public:
  AdamW(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : OptimizerOf(options, values, gradients, adam_state()) {}

 private:
  AdamWUpdate formula(double learning_rate) const override {
    return {.kept = to_real(1 - learning_rate * options().weight_decay),
            .adam = adam_update(options(), steps(), learning_rate, 0)};
  }
};

class Rmsprop final : public OptimizerOf<RmspropUpdate> {
 public:
  Rmsprop(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : OptimizerOf(options, values, gradients, {{"mean_square", {}, 0}}) {}

 private:
  RmspropUpdate formula(double learning_rate) const override {
    const OptimizerOptions& it = options();
    return {.learning_rate = to_real(learning_rate),
            .square_rate = to_real(1 - it.alpha),
            .epsilon = to_real(it.epsilon),
            .weight_decay = to_real(it.weight_decay)};
  }
};

/// One optimizer of the list.
struct Kind {
  const char* name;
  double learning_rate;
  std::unique_ptr<Optimizer> (*make)(const OptimizerOptions&, const Tensor&, const Tensor&);
};

template <class T>
std::unique_ptr<Optimizer> make(const OptimizerOptions& options, const Tensor& values,
                                const Tensor& gradients) {
  return std::make_unique<T>(options, values, gradients);
}

std::unique_ptr<Optimizer> make_sgd(const OptimizerOptions& options, const Tensor& values,
                                    const Tensor& gradients) {
  if (options.momentum > 0) return make<Momentum>(options, values, gradients);
  return make<Sgd>(options, values, gradients);
}

/// With default rates: SGD's from Zaremba et al. 2014 (with clipping), Adam's from Kingma & Ba 2015,
/// RMSprop's from Karpathy's char-rnn.
constexpr Kind kinds[] = {
    {"sgd", 1, make_sgd},
    {"adam", 0.001, make<Adam>},
    {"adamw", 0.001, make<AdamW>},
    {"rmsprop", 0.002, make<Rmsprop>},
};

const Kind& find_kind(const std::string& name) {
  for (const Kind& kind : kinds)
    if (kind.name == name) return kind;
  throw InputError(
      fmt::format("unknown optimizer '{}': choose one of {}", name, fmt::join(optimizer_names(), ", ")));
}

void check_options(const OptimizerOptions& it) {
  const auto share = [&](const char* setting, double x) {
    check_input(x >= 0 && x < 1, "{} = {} of optimizer '{}' must be at least 0 and below 1", setting, x,
                it.name);
  };
  const auto not_negative = [&](const char* setting, double x) {
    check_input(x >= 0 && std::isfinite(x), "{} = {} of optimizer '{}' must be finite and not negative",
                setting, x, it.name);
  };
  share("momentum", it.momentum);
  share("beta1", it.beta1);
  share("beta2", it.beta2);
  share("alpha", it.alpha);
  not_negative("weight_decay", it.weight_decay);
  if (it.learning_rate) not_negative("learning_rate", *it.learning_rate);
  // With zero, padding and parameters without gradients would compute 0 / 0.
  check_input(to_real(it.epsilon) > 0 && std::isfinite(it.epsilon),
              "epsilon = {} of optimizer '{}' must be finite and greater than 0", it.epsilon, it.name);
  check_input(it.momentum == 0 || it.name == "sgd",
              "momentum = {} is for optimizer 'sgd', not '{}': set it to 0", it.momentum, it.name);
}

}  // namespace

Optimizer::Optimizer(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients,
                     std::vector<NamedTensor> state)
    : options_(options),
      learning_rate_(options.learning_rate.value_or(default_learning_rate(options.name))),
      values_(values),
      gradients_(gradients),
      state_(std::move(state)) {
  check(values.defined() && gradients.defined() && values.shape().dimensions() == 1 &&
            values.shape() == gradients.shape(),
        "[{}] needs flat buffers of one size, of values and of gradients: got {} and {}", name(),
        values.shape(), gradients.shape());
  for (NamedTensor& it : state_) it.tensor = Tensor::zeros(values.shape(), values.device());
}

std::span<const std::byte> Optimizer::begin_step(double learning_rate) {
  check(std::isfinite(learning_rate) && learning_rate >= 0, "[{}] a learning rate of {} is not one", name(),
        learning_rate);
  ++steps_;
  return prepare(learning_rate);
}

std::vector<Tensor> Optimizer::outputs() const {
  std::vector<Tensor> result{values_};
  for (const NamedTensor& it : state_) result.push_back(it.tensor);
  return result;
}
std::vector<Tensor> Optimizer::inputs() const {
  std::vector<Tensor> result = outputs();
  result.insert(result.begin() + 1, gradients_);
  return result;
}

void Optimizer::step(double learning_rate, double gradient_scale) {
  check(std::isfinite(gradient_scale) && gradient_scale >= 0,
        "[{}] gradients times {}: the factor must be finite and not negative", name(), gradient_scale);
  begin_step(learning_rate);
  launch({static_cast<real>(gradient_scale)});
}

void Optimizer::zero_gradients() { fill(gradients_, 0); }

void Optimizer::save(StateWriter& to, const std::vector<Segment>& segments) const {
  for (const NamedTensor& it : state_) to.add_segments("optimizer." + it.name, it.tensor, segments);
  to.add("optimizer.steps", steps_);
}

void Optimizer::load(const StateReader& from, const std::vector<Segment>& segments) {
  for (const NamedTensor& it : state_)
    from.read_segments("optimizer." + it.name, it.tensor, segments, it.least);
  from.read("optimizer.steps", steps_);
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, const Tensor& values,
                                          const Tensor& gradients) {
  const Kind& kind = find_kind(options.name);
  check_options(options);
  return kind.make(options, values, gradients);
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

double default_learning_rate(const std::string& name) { return find_kind(name).learning_rate; }

}  // namespace rondo
