// What all optimizers share: the choice, their state, and one step. Nothing here changes when one is added.
#include "optim/optimizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "optim/updates.h"

namespace rondo {

namespace {

/// An optimizer with one type of update.
template <class Update>
class OptimizerOf final : public Optimizer {
 public:
  OptimizerOf(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : Optimizer(options, values, gradients, Update::state) {}

  void launch(const StepControl& control, const void* numbers) override {
    const auto update =
        numbers ? Deferred<Update>::found_at(static_cast<const Update*>(numbers)) : Deferred<Update>(update_);
    apply_update(update, control, inputs(), outputs());
  }

 private:
  std::span<const std::byte> prepare(double learning_rate) override {
    update_ = Update::of(options(), learning_rate, steps());
    return std::as_bytes(std::span(&update_, 1));
  }

  Update update_{};
};

template <class... Update>
std::unique_ptr<Optimizer> make_one_of(OperatorList<Update...>, const OptimizerOptions& options,
                                       const Tensor& values, const Tensor& gradients) {
  std::unique_ptr<Optimizer> made;
  const auto make = [&]<class Chosen>(std::type_identity<Chosen>) {
    if (Chosen::serves(options)) made = std::make_unique<OptimizerOf<Chosen>>(options, values, gradients);
  };
  (make(std::type_identity<Update>{}), ...);
  check(made != nullptr, "[optimizer] no update of optim/updates.h serves {}", name_of(options.kind));
  return made;
}

bool has(OptimizerKind kind, const std::string& setting) {
  const std::vector<std::string> settings = traits_of(kind).settings;
  return std::ranges::find(settings, setting) != settings.end();
}

/// Checks that each setting that the optimizer lacks has its default.
void check_has_its_settings(OptimizerOptions options) {
  OptimizerOptions defaults;
  const Keys keys = keys_of(options), default_keys = keys_of(defaults);
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string& setting = keys[i].name;
    const std::string owners = optimizers_with(setting);
    if (owners.empty() || has(options.kind, setting)) continue;
    const double value = *std::get<double*>(keys[i].member),
                 unset = *std::get<double*>(default_keys[i].member);
    check_input(value == unset, "{} = {} is for the optimizer {}, not {}: set it to {}", setting, value,
                owners, name_of(options.kind), unset);
  }
}

}  // namespace

std::string optimizers_with(const std::string& setting) {
  std::vector<std::string> names;
  for (const std::string& name : names_of(OptimizerKind()))
    if (has(*value_named<OptimizerKind>(name), setting)) names.push_back(name);
  return fmt::format("{}", fmt::join(names, " or "));
}

void check_options(const OptimizerOptions& options) {
  check_limits_of(options);
  check_has_its_settings(options);
  check_input(!traits_of(options.kind).moves_by_rate || options.learning_rate.value_or(0) <= 1,
              "learning_rate = {} with {}, which moves each weight by about that much in each step: training "
              "would diverge; give 1 or less (30 is a rate for sgd, with clipping)",
              options.learning_rate.value_or(0), name_of(options.kind));
}

Optimizer::Optimizer(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients,
                     std::span<const StateVector> state)
    : options_(options), values_(values), gradients_(gradients) {
  check(values.defined() && gradients.defined() && values.shape().dimensions() == 1 &&
            values.shape() == gradients.shape(),
        "[{}] needs flat buffers of one size, of values and of gradients: got {} and {}", name(),
        values.shape(), gradients.shape());
  for (const StateVector& it : state)
    state_.push_back({it.name, Tensor::zeros(values.shape(), values.device()), it.least});
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
  return make_one_of(OptimizerUpdates{}, options, values, gradients);
}

}  // namespace rondo
