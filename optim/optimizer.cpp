// The optimizers: the state of each, and the numbers that its update needs in a step.
#include "optim/optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>
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

/// One optimizer of the list.
struct Kind {
  double learning_rate;
  std::unique_ptr<Optimizer> (*make)(const OptimizerOptions&, const Tensor&, const Tensor&);
  std::vector<std::string> settings;  // that not all optimizers have
};

/// In the order of OptimizerKind. The default rates: SGD's from Zaremba et al. 2014 (with clipping), Adam's
/// from Kingma & Ba 2015, RMSprop's from Karpathy's char-rnn.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {1, make_sgd, {"momentum"}},
      {0.001, make<Adam>, {"beta1", "beta2", "epsilon"}},
      {0.001, make<AdamW>, {"beta1", "beta2", "epsilon"}},
      {0.002, make<Rmsprop>, {"alpha", "epsilon"}},
  };
  return all;
}
const Kind& find_kind(OptimizerKind kind) { return kinds()[static_cast<size_t>(kind)]; }

bool has(const Kind& kind, const std::string& setting) {
  return std::find(kind.settings.begin(), kind.settings.end(), setting) != kind.settings.end();
}

/// The optimizers that have a setting of their own: "adam or adamw"; empty: all have it.
std::string kinds_with(const std::string& setting) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kinds().size(); ++i)
    if (has(kinds()[i], setting)) names.push_back(name_of(static_cast<OptimizerKind>(i)));
  return fmt::format("{}", fmt::join(names, " or "));
}

/// A setting that an optimizer lacks must be as it is when nobody has set it.
void check_has_its_settings(OptimizerOptions options) {
  OptimizerOptions defaults;
  const Keys keys = keys_of(options), default_keys = keys_of(defaults);
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string& setting = keys[i].name;
    const std::string owners = kinds_with(setting);
    if (owners.empty() || has(find_kind(options.kind), setting)) continue;
    const double value = *std::get<double*>(keys[i].member),
                 unset = *std::get<double*>(default_keys[i].member);
    check_input(value == unset, "{} = {} is for the optimizer {}, not {}: set it to {}", setting, value,
                owners, name_of(options.kind), unset);
  }
}

}  // namespace

Keys keys_of(OptimizerOptions& options) {
  const auto of = [](const std::string& setting) { return "of " + kinds_with(setting); };
  return {
      {"optimizer", choice(options.kind), {}, "", "how weights are updated"},
      {"learning_rate", OptionalMember{&options.learning_rate, 0}, at_least(0), "",
       "0: the optimizer's own default"},
      {"momentum", &options.momentum, any_rate(), "", of("momentum")},
      {"beta1", &options.beta1, any_rate(), "",
       of("beta1") + ": share of the mean of gradients that a step keeps"},
      {"beta2", &options.beta2, any_rate(), "", "the same, of the mean of their squares"},
      // Zero would divide the zeros of pads and of parameters without gradients by zero.
      {"epsilon", &options.epsilon, at_least(1e-20), "",
       of("epsilon") + ": added to the root of the mean of squares that divides the gradient"},
      {"alpha", &options.alpha, any_rate(), "",
       of("alpha") + ": share of the mean of squares that a step keeps"},
      {"weight_decay", &options.weight_decay, at_least(0), "", "L2 penalty; adamw: decoupled"},
  };
}

void check_options(const OptimizerOptions& options) {
  check_limits_of(options);
  check_has_its_settings(options);
  check_input(options.kind == OptimizerKind::sgd || options.learning_rate.value_or(0) <= 1,
              "learning_rate = {} with {}, which moves each weight by about that much in each step: training "
              "would diverge; give 1 or less (30 is a rate for sgd, with clipping)",
              options.learning_rate.value_or(0), name_of(options.kind));
}

Optimizer::Optimizer(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients,
                     std::vector<NamedTensor> state)
    : options_(options),
      learning_rate_(options.learning_rate.value_or(default_learning_rate(options.kind))),
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
  check(std::isfinite(learning_rate) && learning_rate >= 0,
        "[{}] the learning rate must be finite and not negative: {}", name(), learning_rate);
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
  check_options(options);
  return find_kind(options.kind).make(options, values, gradients);
}

double default_learning_rate(OptimizerKind kind) { return find_kind(kind).learning_rate; }

}  // namespace rondo
