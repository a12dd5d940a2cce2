// The optimizers: what each keeps, and what its update needs to know of the step.
#include "optim/optimizer.h"

#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "optim/apply_update.h"
#include "optim/updates.h"

namespace rondo {

template <class Update>
void Optimizer::prepare(const Update& update) {
  const auto bytes = std::as_bytes(std::span(&update, 1));
  numbers_.assign(bytes.begin(), bytes.end());
  launch_ = &Optimizer::launch_as<Update>;
}

template <class Update>
void Optimizer::launch_as(const StepControl& control, const void* numbers) {
  Deferred<Update> update;
  if (numbers)
    update = Deferred<Update>::found_at(static_cast<const Update*>(numbers));
  else
    std::memcpy(&update.value, numbers_.data(), sizeof(Update));
  std::vector<Tensor> inputs{values_, gradients_}, outputs{values_};
  for (const NamedTensor& state : state_) {
    inputs.push_back(state.tensor);
    outputs.push_back(state.tensor);
  }
  apply_update(update, control, inputs, outputs);
}

namespace {

real to_real(double x) { return static_cast<real>(x); }

class Sgd final : public Optimizer {
 public:
  /// Without momentum nothing is kept.
  Sgd(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : Optimizer(options, values, gradients,
                  options.momentum == 0 ? std::vector<NamedTensor>{}
                                        : std::vector<NamedTensor>{{"momentum", {}}}) {}

 private:
  void update(double learning_rate) override {
    const OptimizerOptions& it = options();
    if (it.momentum == 0)
      prepare(SgdUpdate{.learning_rate = to_real(learning_rate), .weight_decay = to_real(it.weight_decay)});
    else
      prepare(MomentumUpdate{.learning_rate = to_real(learning_rate),
                             .momentum = to_real(it.momentum),
                             .weight_decay = to_real(it.weight_decay)});
  }
};

/// Adam, and AdamW where `decoupled`.
template <bool decoupled>
class AdamFamily final : public Optimizer {
 public:
  AdamFamily(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : Optimizer(options, values, gradients, {{"first_moment", {}}, {"second_moment", {}, 0}}) {}

 private:
  void update(double learning_rate) override {
    const OptimizerOptions& it = options();
    const double t = static_cast<double>(steps());
    AdamUpdate adam{.step_size = to_real(learning_rate / (1 - std::pow(it.beta1, t))),
                    .root_of_correction = to_real(std::sqrt(1 - std::pow(it.beta2, t))),
                    .first_rate = to_real(1 - it.beta1),
                    .second_rate = to_real(1 - it.beta2),
                    .epsilon = to_real(it.epsilon),
                    .weight_decay = to_real(decoupled ? 0 : it.weight_decay)};
    if constexpr (decoupled)
      prepare(AdamWUpdate{.kept = to_real(1 - learning_rate * it.weight_decay), .adam = adam});
    else
      prepare(adam);
  }
};

class Rmsprop final : public Optimizer {
 public:
  Rmsprop(const OptimizerOptions& options, const Tensor& values, const Tensor& gradients)
      : Optimizer(options, values, gradients, {{"mean_square", {}, 0}}) {}

 private:
  void update(double learning_rate) override {
    const OptimizerOptions& it = options();
    prepare(RmspropUpdate{.learning_rate = to_real(learning_rate),
                          .square_rate = to_real(1 - it.alpha),
                          .epsilon = to_real(it.epsilon),
                          .weight_decay = to_real(it.weight_decay)});
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

/// With their default rates: SGD's from Zaremba et al. 2014 (with clipping), Adam's from Kingma & Ba 2015,
/// RMSprop's from Karpathy's char-rnn.
constexpr Kind kinds[] = {
    {"sgd", 1, make<Sgd>},
    {"adam", 0.001, make<AdamFamily<false>>},
    {"adamw", 0.001, make<AdamFamily<true>>},
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
  // Zero would divide the zeros of pads and of parameters without gradients by zero.
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
  update(learning_rate);
  return numbers_;
}

void Optimizer::launch(const StepControl& control, const void* numbers) {
  check(launch_ != nullptr, "[{}] launch() before the first begin_step()", name());
  (this->*launch_)(control, numbers);
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
