// The optimizers: against PyTorch's trajectories, against plain loops, and what a checkpoint relies on.
#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "nn/module.h"
#include "optim/updates.h"
#include "tests/golden/golden.h"
#include "tests/optim/flat.h"
#include "tests/optim/state_in_memory.h"
#include "tests/tensor/errors.h"
#include "tests/tensor/near.h"

namespace rondo {
namespace {

const double tolerance = sizeof(real) == 4 ? 2e-6 : 1e-13;

std::vector<real> reals(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }
bool all_equal(const std::vector<real>& actual, real expected) {
  return std::ranges::all_of(actual, [&](real x) { return x == expected; });
}
std::vector<double> normal(std::mt19937& random, size_t count) {
  std::normal_distribution<double> draw;
  std::vector<double> numbers(count);
  for (double& number : numbers) number = draw(random);
  return numbers;
}

/// Options under which every optimizer keeps all the state that it can.
OptimizerOptions full_options(OptimizerKind kind) {
  return {.kind = kind, .momentum = kind == OptimizerKind::sgd ? 0.9 : 0.0, .weight_decay = 0.05};
}

std::vector<OptimizerKind> all_optimizers() {
  std::vector<OptimizerKind> all;
  for (const std::string& name : names_of(OptimizerKind())) all.push_back(*value_named<OptimizerKind>(name));
  return all;
}

class OfEachOptimizer : public testing::TestWithParam<OptimizerKind> {};
INSTANTIATE_TEST_SUITE_P(Optimizer, OfEachOptimizer, testing::ValuesIn(all_optimizers()),
                         [](const auto& instance) { return name_of(instance.param); });

struct GoldenCase {
  std::string name;
  OptimizerOptions options;
};

std::vector<GoldenCase> golden_cases() {
  const Golden& golden = Golden::file();
  std::vector<GoldenCase> cases;
  for (const auto& [name, optimizer] : std::map<std::string, std::string>{{"sgd_momentum", "sgd"},
                                                                          {"sgd_weight_decay", "sgd"},
                                                                          {"adam", "adam"},
                                                                          {"adamw", "adamw"},
                                                                          {"rmsprop", "rmsprop"}}) {
    OptimizerOptions options{.kind = *value_named<OptimizerKind>(optimizer),
                             .learning_rate = golden.setting(name + ".lr")};
    if (name == "sgd_momentum") options.momentum = golden.setting(name + ".momentum");
    if (name == "sgd_weight_decay" || name == "adamw")
      options.weight_decay = golden.setting(name + ".weight_decay");
    if (optimizer == "rmsprop") options.alpha = golden.setting(name + ".alpha");
    if (optimizer == "adam" || optimizer == "adamw") {
      options.beta1 = golden.setting(name + ".betas", 0);
      options.beta2 = golden.setting(name + ".betas", 1);
    }
    if (optimizer != "sgd") options.epsilon = golden.setting(name + ".eps");
    cases.push_back({name, options});
  }
  return cases;
}

TEST(Optimizer, FollowsPyTorch) {
  const Golden& golden = Golden::file();
  for (const auto& [name, options] : golden_cases()) {
    const Tensor values = flat(golden.values(name + ".start")), gradients = Tensor::zeros(values.shape());
    const std::vector<double> all = golden.values(name + ".gradients"),
                              path = golden.values(name + ".trajectory");
    const auto optimizer = make_optimizer(options, values, gradients);
    const size_t size = static_cast<size_t>(values.size()), steps = all.size() / size;
    ASSERT_GE(steps, 2u);
    for (size_t t = 0; t < steps; ++t) {
      const auto row = [&](const std::vector<double>& rows) {
        return std::vector<double>(rows.begin() + static_cast<std::ptrdiff_t>(t * size),
                                   rows.begin() + static_cast<std::ptrdiff_t>((t + 1) * size));
      };
      copy(flat(row(all)), gradients);
      optimizer->step(optimizer->learning_rate());
      expect_near(values.to_vector(), row(path), tolerance, name + " step " + std::to_string(t + 1));
    }
  }
}

/// One parameter under an optimizer, in double: PyTorch's documentation, line by line.
struct PlainOptimizer {
  OptimizerOptions it;
  double p, m = 0, v = 0;
  int t = 0;

  void step(double rate, double g) {
    ++t;
    if (it.kind == OptimizerKind::adamw)
      p -= rate * it.weight_decay * p;
    else
      g += it.weight_decay * p;
    if (it.kind == OptimizerKind::sgd) {
      m = t == 1 ? g : it.momentum * m + g;
      p -= rate * m;
    } else if (it.kind == OptimizerKind::rmsprop) {
      v = it.alpha * v + (1 - it.alpha) * g * g;
      p -= rate * g / (std::sqrt(v) + it.epsilon);
    } else if (it.kind == OptimizerKind::adagrad) {
      v = (t == 1 ? it.initial_squares : v) + g * g;
      p -= rate * g / (std::sqrt(v) + it.epsilon);
    } else {
      m = it.beta1 * m + (1 - it.beta1) * g;
      v = it.beta2 * v + (1 - it.beta2) * g * g;
      const double corrected_m = m / (1 - std::pow(it.beta1, t)),
                   corrected_v = v / (1 - std::pow(it.beta2, t));
      p -= rate * corrected_m / (std::sqrt(corrected_v) + it.epsilon);
    }
  }
};

TEST_P(OfEachOptimizer, FollowsThePlainLoop) {
  const bool sgd = GetParam() == OptimizerKind::sgd, rmsprop = GetParam() == OptimizerKind::rmsprop,
             adagrad = GetParam() == OptimizerKind::adagrad,
             adam = GetParam() == OptimizerKind::adam || GetParam() == OptimizerKind::adamw;
  for (double epsilon : {1e-8, 0.1}) {  // a large one shows where it stands
    for (bool momentum : {false, true}) {
      if (momentum && !sgd) continue;
      OptimizerOptions options = full_options(GetParam());
      options.momentum = momentum ? 0.8 : 0;
      if (!sgd) options.epsilon = epsilon;
      if (adam) options.beta1 = 0.8;
      if (adam) options.beta2 = 0.95;
      if (adagrad) options.initial_squares = 0.3;
      if (rmsprop) options.alpha = 0.9;
      std::mt19937 random(1);
      const std::vector<double> start = normal(random, 100);
      std::vector<PlainOptimizer> plain;
      for (double p : reals(start)) plain.push_back({options, p});
      const Tensor values = flat(start), gradients = Tensor::zeros(values.shape());
      const auto optimizer = make_optimizer(options, values, gradients);
      EXPECT_EQ(optimizer->name(), name_of(GetParam()));
      // A changed rate acts at once, on the momentum too; a factor of the gradients clips them first.
      for (const auto& [rate, factor] : {std::pair(0.05, 1.0), {0.05, 1.0}, {0.02, 0.25}, {0.1, 0.5}}) {
        const std::vector<double> g = normal(random, start.size());
        copy(flat(g), gradients);
        optimizer->step(rate, factor);
        std::vector<double> expected;
        for (size_t i = 0; i < g.size(); ++i) {
          plain[i].step(rate, factor * reals(g)[i]);
          expected.push_back(plain[i].p);
        }
        expect_near(values.to_vector(), expected, tolerance, "step " + std::to_string(optimizer->steps()));
        expect_near(gradients.to_vector(), g, tolerance, "the gradients");
      }
    }
  }
}

/// A model whose parameters leave pads between them, and between rows.
struct OddModel : Module {
  Parameter first{*this, "first", {3, 5}, uniform_values(1)};
  Parameter second{*this, "second", {7}, uniform_values(1)};
  Parameter third{*this, "third", {1}, uniform_values(1)};
};

/// Whether every element of `buffer` that belongs to no parameter is zero; there must be some.
void expect_zero_pads(const OddModel& model, const Tensor& buffer, const std::string& where) {
  const Tensor left = clone(buffer);
  for (const Segment& segment : model.segments()) fill(part_of(left, segment), 0);
  EXPECT_GT(buffer.size(), model.parameter_count());
  EXPECT_TRUE(all_equal(left.to_vector(), 0)) << where;
}

TEST_P(OfEachOptimizer, WorksInPlaceAndLeavesPadsZero) {
  OddModel model;
  model.finalize(1);
  const auto optimizer = make_optimizer(full_options(GetParam()), model.values(), model.gradients());
  for (const Segment& segment : model.segments()) fill(part_of(model.gradients(), segment), real(0.5));
  const std::vector<real> before = model.first.variable().value().to_vector();
  const uint64_t version = model.values().version();
  for (int t = 0; t < 3; ++t) optimizer->step(0.1);
  EXPECT_NE(model.first.variable().value().to_vector(), before);  // the model sees it
  EXPECT_GT(model.values().version(), version);
  expect_zero_pads(model, model.values(), "values");
  for (const auto& [name, tensor, least] : optimizer->state_tensors()) {
    EXPECT_GE(*std::min_element(tensor.data(), tensor.data() + tensor.size()), least) << name;
    expect_zero_pads(model, tensor, name);
    EXPECT_NE(sum_of_squares(tensor), 0) << name;
  }
  optimizer->zero_gradients();
  EXPECT_EQ(sum_of_squares(model.gradients()), 0);
}

TEST_P(OfEachOptimizer, ValuesDoNotDependOnTheirPlace) {
  const int64_t size = 40003;  // several blocks, more than one thread, a tail
  const Tensor values = Tensor::filled({size}, real(0.3)), gradients = Tensor::filled({size}, real(-0.7));
  const auto optimizer = make_optimizer(full_options(GetParam()), values, gradients);
  for (int t = 0; t < 3; ++t) optimizer->step(0.1);
  EXPECT_NE(values.to_vector()[0], real(0.3));
  EXPECT_TRUE(all_equal(values.to_vector(), values.to_vector()[0]));
}

TEST_P(OfEachOptimizer, ContinuesExactlyFromItsSavedState) {
  const auto gradient_of = [](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    return flat(normal(random, 37));
  };
  const auto run = [&](Optimizer& optimizer, const Tensor& gradients, int from, int to) {
    for (int t = from; t < to; ++t) {
      copy(gradient_of(t), gradients);
      optimizer.step(0.01);
    }
  };
  const Tensor values = gradient_of(100), gradients = Tensor::zeros(values.shape());
  const auto optimizer = make_optimizer(full_options(GetParam()), values, gradients);
  run(*optimizer, gradients, 0, 4);

  const Tensor other_values = clone(values), other_gradients = Tensor::zeros(values.shape());
  const auto other = make_optimizer(full_options(GetParam()), other_values, other_gradients);
  ASSERT_FALSE(optimizer->state_tensors().empty());
  StateInMemory state;
  const std::vector<Segment> segments{
      {.name = "p", .shape = values.shape(), .row_stride = values.size(), .buffer_size = values.size()}};
  optimizer->save(state, segments);
  EXPECT_EQ(state.size(), optimizer->state_tensors().size() + 1);
  other->load(state, segments);
  EXPECT_EQ(other->steps(), 4);

  run(*optimizer, gradients, 4, 8);
  run(*other, other_gradients, 4, 8);
  EXPECT_EQ(values.to_vector(), other_values.to_vector());
}

TEST_P(OfEachOptimizer, HasADefaultLearningRate) {
  const Tensor values = Tensor::zeros({4}), gradients = Tensor::zeros({4});
  EXPECT_GT(traits_of(GetParam()).learning_rate, 0);
  EXPECT_EQ(make_optimizer({.kind = GetParam()}, values, gradients)->learning_rate(),
            traits_of(GetParam()).learning_rate);
  for (const double rate : {0.25, 0.0})
    EXPECT_EQ(make_optimizer({.kind = GetParam(), .learning_rate = rate}, values, gradients)->learning_rate(),
              rate);
}

/// The text of the InputError that the options give.
std::string refusal(const OptimizerOptions& options) {
  return refusal_of([&] { make_optimizer(options, Tensor::zeros({4}), Tensor::zeros({4})); });
}

TEST(Optimizer, RefusesBadOptions) {
  const auto expect_refused = [](const OptimizerOptions& options, const std::string& part) {
    EXPECT_NE(refusal(options).find(part), std::string::npos) << refusal(options);
  };
  EXPECT_EQ(refusal({.kind = OptimizerKind::adam, .momentum = 0.9}),
            "momentum = 0.9 is for the optimizer sgd, not adam: set it to 0");
  EXPECT_EQ(refusal({.kind = OptimizerKind::rmsprop, .beta1 = 0.8}),
            "beta1 = 0.8 is for the optimizer adam or adamw, not rmsprop: set it to 0.9");
  expect_refused({.kind = OptimizerKind::sgd, .beta2 = 0.9},
                 "beta2 = 0.9 is for the optimizer adam or adamw");
  expect_refused({.kind = OptimizerKind::sgd, .epsilon = 1e-6},
                 "is for the optimizer adam or adamw or rmsprop");
  expect_refused({.kind = OptimizerKind::adamw, .alpha = 0.9}, "alpha = 0.9 is for the optimizer rmsprop");
  expect_refused({.kind = OptimizerKind::adam, .learning_rate = 30.0}, "learning_rate = 30 with adam");
  EXPECT_EQ(refusal({.kind = OptimizerKind::sgd, .learning_rate = 30.0}), "");
  expect_refused({.kind = OptimizerKind::sgd, .momentum = 1}, "momentum = 1");
  expect_refused({.kind = OptimizerKind::adam, .beta1 = 1}, "beta1 = 1");
  expect_refused({.kind = OptimizerKind::adam, .beta2 = -0.1}, "beta2 = -0.1");
  expect_refused({.kind = OptimizerKind::adam, .epsilon = 0}, "epsilon = 0");
  expect_refused({.kind = OptimizerKind::rmsprop, .alpha = NAN}, "alpha = nan");
  expect_refused({.kind = OptimizerKind::adagrad, .initial_squares = -1}, "initial_squares = -1");
  expect_refused({.kind = OptimizerKind::adam, .initial_squares = 1},
                 "initial_squares = 1 is for the optimizer adagrad");
  EXPECT_EQ(refusal({.kind = OptimizerKind::adagrad, .learning_rate = 2}), "");
  expect_refused({.kind = OptimizerKind::sgd, .weight_decay = -1}, "weight_decay = -1");
  expect_refused({.kind = OptimizerKind::sgd, .learning_rate = -1.0}, "learning_rate = -1");
}

TEST(Optimizer, RefusesWhatDoesNotFit) {
  const Tensor values = Tensor::zeros({4});
  EXPECT_THROW(make_optimizer({}, values, Tensor::zeros({5})), Error);
  EXPECT_THROW(make_optimizer({}, Tensor::zeros({2, 2}), Tensor::zeros({2, 2})), Error);
  EXPECT_THROW(make_optimizer({}, Tensor(), Tensor()), Error);

  const auto optimizer = make_optimizer({}, values, Tensor::filled({4}, 1));
  EXPECT_THROW(optimizer->step(NAN), Error);
  EXPECT_THROW(optimizer->step(-1), Error);
  EXPECT_EQ(sum_of_squares(values), 0);
  EXPECT_EQ(optimizer->steps(), 0);

  StateInMemory state;
  state.add("optimizer.steps", int64_t{-1});
  EXPECT_THROW(optimizer->load(state, {}), InputError);
  EXPECT_EQ(optimizer->steps(), 0);
}

TEST(Optimizer, KeepsNoMomentumThatIsNotWanted) {
  const Tensor values = Tensor::zeros({4});
  EXPECT_TRUE(make_optimizer({.kind = OptimizerKind::sgd}, values, values)->state_tensors().empty());
}

TEST(Updates, KeepZerosZeroAndAreWellListed) {
  std::set<std::string> names;
  for (const PointwiseOperator& update : update_operators()) {
    EXPECT_TRUE(names.insert(update.name).second) << update.name;
    EXPECT_FALSE(update.equation.empty()) << update.name;
    std::vector<Operand> inputs, outputs;
    std::vector<real> zeros(19, 0), results(19 * static_cast<size_t>(update.outputs), 1);
    inputs.assign(static_cast<size_t>(update.inputs), {zeros.data(), 19});
    for (int k = 0; k < update.outputs; ++k) outputs.push_back({results.data() + 19 * k, 19});
    update.cpu.forward(update.example.data(), {1, 19}, inputs.data(), outputs.data());
    EXPECT_TRUE(all_equal(results, 0)) << update.name;
  }
  for (const char* name : {"average_update", "exchange", "dynamic_update", "squares_update", "adam_update"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// A name that is no key would be a setting that every optimizer seems to have.
TEST(Optimizer, SettingsOfEachAreKeys) {
  OptimizerOptions options;
  const Keys keys = keys_of(options);
  for (const OptimizerKind kind : all_optimizers())
    for (const std::string& setting : traits_of(kind).settings)
      EXPECT_TRUE(std::ranges::any_of(keys, [&](const Key& it) { return it.name == setting; })) << setting;
}

struct Unlisted {
  static constexpr auto name = "unlisted", equation = "";
};

TEST(Updates, RefuseWhatDoesNotFit) {
  const Tensor four = Tensor::zeros({4}), five = Tensor::zeros({5});
  EXPECT_THROW(apply_update(SgdUpdate{}, {four}, {four}), Error);
  EXPECT_THROW(apply_update(SgdUpdate{}, {four, five}, {four}), Error);
  EXPECT_THROW(apply_update(SgdUpdate{}, {four, four}, {five}), Error);
  EXPECT_THROW(apply_update(SgdUpdate{}, {Tensor(), four}, {four}), Error);
  EXPECT_THROW(apply_update(Unlisted{}, {four}, {four}), Error);
}

}  // namespace
}  // namespace rondo
