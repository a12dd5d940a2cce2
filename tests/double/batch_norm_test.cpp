// Recurrent batch normalisation against plain loops written from the equations of Cooijmans et al. 2016. The
// loops run on doubles for the values and on complex numbers for the derivatives: Im f(x + ih) / h with
// h = 1e-100 is exact to the last digits.
#include "nn/batch_norm.h"

#include <cmath>
#include <complex>
#include <map>
#include <numeric>

#include "autograd/functions.h"
#include "autograd/operators.h"
#include "nn/cells/batch_norm_lstm.h"
#include "tensor/random.h"
#include "tests/double/samples.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

constexpr int64_t T = 6, B = 4, I = 3, H = 3, slots = 4;

// ---- Plain loops.

using Complex = std::complex<double>;
template <class Number>
using Vector = std::vector<Number>;
template <class Number>
using Named = std::map<std::string, Vector<Number>>;
/// valid[t][b].
using Marks = std::vector<std::vector<bool>>;

struct Statistics {
  Vector<double> mean, variance;
};
/// Of each time step, by "ih", "hh" and "c".
using StatisticsOfSteps = std::vector<std::map<std::string, Statistics>>;

double real_part(double x) { return x; }
double real_part(const Complex& x) { return x.real(); }

template <class Number>
struct Outputs {
  Vector<Number> h;           // [T, B, H], zeros where not valid
  Vector<Number> c;           // [B, H] after the last step, zeros where not valid
  StatisticsOfSteps batches;  // what each step computed
};

/// All parameters by name, with x [T, B, I], h0 and c0 [B, H]. `population`: what to normalise by, the
/// batch's own if null.
template <class Number>
Outputs<Number> plain(const Named<Number>& p, bool integrated, const Marks& valid,
                      const StatisticsOfSteps* population) {
  Outputs<Number> result{Vector<Number>(T * B * H), Vector<Number>(B * H), StatisticsOfSteps(T)};
  Vector<Number> h = p.at("h0"), c = p.at("c0");
  for (int64_t t = 0; t < T; ++t) {
    // Of v [B, width]: gamma (v - mean) / sqrt(variance + 1e-5); what does not vary is 0.
    const auto normalized = [&](const std::string& name, const Vector<Number>& v) {
      const auto width = std::ssize(v) / B;
      Vector<Number> y(v.size());
      Statistics& kept = result.batches[t][name];
      for (int64_t j = 0; j < width; ++j) {
        Number mean = 0, variance = 0;
        if (population) {
          mean = (*population)[t].at(name).mean[j];
          variance = (*population)[t].at(name).variance[j];
        } else {
          double rows = 0;
          for (int64_t b = 0; b < B; ++b)
            if (valid[t][b]) mean += v[b * width + j], ++rows;
          mean /= rows;
          for (int64_t b = 0; b < B; ++b)
            if (valid[t][b]) variance += (v[b * width + j] - mean) * (v[b * width + j] - mean);
          variance /= rows;
        }
        kept.mean.push_back(real_part(mean));
        kept.variance.push_back(real_part(variance));
        if (real_part(variance) < 1e-8) continue;
        for (int64_t b = 0; b < B; ++b)
          y[b * width + j] =
              p.at("gamma_" + name)[j] * (v[b * width + j] - mean) / std::sqrt(variance + 1e-5);
      }
      return y;
    };
    Vector<Number> Wx(B * 4 * H), Uh(B * 4 * H), next_c(B * H), o(B * H);
    for (int64_t b = 0; b < B; ++b)
      for (int64_t k = 0; k < 4 * H; ++k) {
        for (int64_t i = 0; i < I; ++i)
          Wx[b * 4 * H + k] += p.at("weight_ih")[k * I + i] * p.at("x")[(t * B + b) * I + i];
        for (int64_t i = 0; i < H; ++i) Uh[b * 4 * H + k] += p.at("weight_hh")[k * H + i] * h[b * H + i];
      }
    const Vector<Number> Wx_hat = normalized("ih", Wx), Uh_hat = normalized("hh", Uh);
    const auto s = [](const Number& z) { return 1.0 / (1.0 + std::exp(-z)); };
    for (int64_t b = 0; b < B; ++b)
      for (int64_t j = 0; j < H; ++j) {
        const auto z = [&](int64_t gate) {
          const int64_t k = gate * H + j;
          const Number &w = Wx_hat[b * 4 * H + k], &u = Uh_hat[b * 4 * H + k];
          if (!integrated) return w + u + p.at("bias_ih")[k];
          return p.at("alpha")[k] * w * u + p.at("beta1")[k] * u + p.at("beta2")[k] * w + p.at("bias_ih")[k];
        };
        next_c[b * H + j] = s(z(1)) * c[b * H + j] + s(z(0)) * std::tanh(z(2));
        o[b * H + j] = s(z(3));
      }
    const Vector<Number> c_hat = normalized("c", next_c);
    for (int64_t b = 0; b < B; ++b)
      for (int64_t j = 0; j < H && valid[t][b]; ++j) {
        c[b * H + j] = next_c[b * H + j];
        h[b * H + j] = o[b * H + j] * std::tanh(c_hat[b * H + j] + p.at("beta_c")[j]);
        result.h[(t * B + b) * H + j] = h[b * H + j];
        if (t == T - 1) result.c[b * H + j] = c[b * H + j];
      }
  }
  return result;
}

// ---- The cell.

const Marks all_valid(T, std::vector<bool>(B, true));
/// Rows end after 6, 2, 5 and 6 steps.
const Marks padded = [] {
  Marks marks = all_valid;
  for (int64_t t = 2; t < T; ++t) marks[t][1] = false;
  for (int64_t t = 5; t < T; ++t) marks[t][2] = false;
  return marks;
}();

/// A cell whose input and initial state are parameters, too.
struct Model : Module {
  explicit Model(const std::string& name, uint64_t seed = 1)
      : cell(make_cell(name, *this, "_l0", options())),
        x(*this, "x_l0", {T, B, I}, constant_values(0)),
        h0(*this, "h0_l0", {B, H}, constant_values(0)),
        c0(*this, "c0_l0", {B, H}, constant_values(0)) {
    finalize(1);
    for (const Segment& segment : segments()) {
      const bool gamma = segment.name.starts_with("gamma");
      fill_uniform(Module::view(values(), segment), {.seed = seed, .name = hash_of(segment.name)},
                   gamma ? 0.5 : -1, gamma ? 1.5 : 1);
    }
  }
  static CellOptions options() {
    CellOptions options = pytorch_cell(I, H);
    options.statistics_steps = slots;
    return options;
  }
  BatchNormLstmBase& batch_norm_cell() { return dynamic_cast<BatchNormLstmBase&>(*cell); }
  Tensor buffer(const std::string& name) const {
    for (const Buffer* it : buffers())
      if (it->name() == name + "_l0") return it->tensor();
    throw std::runtime_error("no buffer " + name);
  }
  void draw_input(uint64_t seed) { fill_uniform(value_of(*this, "x_l0"), {.seed = seed}, -1, 1); }

  struct Result {
    std::vector<Variable> h;
    Variable c;
  };
  /// What is not valid is not a number, in the projected input as in the state.
  Result run(const Marks& valid, int64_t steps = 0) {
    const auto marked = [&](const Rows& rows, const Variable& v) {
      return select_rows(rows, v, Variable(Tensor::filled(v.shape(), NAN)));
    };
    State state{h0, c0, steps};
    Result result;
    cell->begin_chunk();
    for (int64_t t = 0; t < T; ++t) {
      const bool all = valid[t] == std::vector<bool>(B, true);
      const Rows rows = all ? nullptr : std::make_shared<const std::vector<bool>>(valid[t]);
      StepInputs inputs({marked(rows, batch_norm_cell().W(x.variable()[t]))}, rows);
      const int64_t next = state.steps + 1;
      state = cell->step(inputs, state.map([&](const Variable& v) { return marked(rows, v); }));
      state.steps = next;
      for (const real number : state.h.value().to_vector()) EXPECT_TRUE(std::isfinite(number)) << t;
      result.h.push_back(select_rows(rows, state.h));
      result.c = select_rows(rows, state.c);
    }
    return result;
  }
  /// All parameters as numbers.
  template <class Number>
  Named<Number> numbers() const {
    Named<Number> named;
    for (const Segment& segment : segments()) {
      const std::vector<real> v = Module::view(values(), segment).to_vector();
      named[segment.name.substr(0, segment.name.size() - 3)].assign(v.begin(), v.end());
    }
    return named;
  }
  /// The statistics of the batches of one run, by the plain loops.
  StatisticsOfSteps of_batches(const Marks& valid = all_valid) const {
    return plain<double>(numbers<double>(), false, valid, nullptr).batches;
  }

  std::unique_ptr<Cell> cell;
  Parameter x, h0, c0;
};

/// Population statistics that no batch has.
StatisticsOfSteps set_population(Model& model) {
  StatisticsOfSteps population(T);
  fill(model.buffer("batches_seen_ih"), 1);
  fill(model.buffer("batches_seen_hh"), 1);
  fill(model.buffer("batches_seen_c"), 1);
  for (const std::string name : {"ih", "hh", "c"}) {
    const Tensor mean = model.buffer("running_mean_" + name),
                 variance = model.buffer("running_variance_" + name);
    fill_uniform(mean, {.seed = 5, .name = hash_of(name)}, -1, 1);
    fill_uniform(variance, {.seed = 6, .name = hash_of(name)}, 0.1, 2);
    for (int64_t t = 0; t < T; ++t) {
      const int64_t slot = t < slots ? t : slots - 1;
      population[t][name] = {mean[slot].to_vector(), variance[slot].to_vector()};
    }
  }
  return population;
}

// ---- Cell against loops.

struct Case {
  std::string cell;
  bool training, from_zero, with_padding;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* cell : {"bn_lstm", "bn_mi_lstm"})
    for (const bool training : {false, true})
      for (const bool from_zero : {false, true})
        for (const bool with_padding : {false, true})
          all.push_back({cell, training, from_zero, with_padding});
  return all;
}
class BatchNormCell : public testing::TestWithParam<Case> {};

TEST_P(BatchNormCell, IsThePlainLoops) {
  const Case& it = GetParam();
  const Marks& valid = it.with_padding ? padded : all_valid;
  const bool integrated = it.cell == "bn_mi_lstm";
  Model model(it.cell);
  if (it.from_zero) fill(value_of(model, "h0_l0"), 0), fill(value_of(model, "c0_l0"), 0);
  const StatisticsOfSteps population = set_population(model);
  const StatisticsOfSteps* given = it.training ? nullptr : &population;
  model.set_training(it.training);

  const std::vector<Tensor> weights = samples({{T, B, H}, {B, H}});
  const Model::Result result = model.run(valid);
  Variable loss = sum(result.c * Variable(weights[1]));
  for (int64_t t = 0; t < T; ++t) loss = loss + sum(result.h[t] * Variable(weights[0][t]));
  loss.backward();

  const Outputs<double> expected = plain(model.numbers<double>(), integrated, valid, given);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < B * H; ++i)
      ASSERT_NEAR(result.h[t].value().data()[i], expected.h[t * B * H + i], 1e-12) << "step " << t;
  for (int64_t i = 0; i < B * H; ++i) ASSERT_NEAR(result.c.value().data()[i], expected.c[i], 1e-12);

  Named<Complex> inputs = model.numbers<Complex>();
  for (auto& [name, values] : inputs) {
    const Tensor gradient = gradient_of(model, name + "_l0");
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] += Complex(0, 1e-100);
      const Outputs<Complex> outputs = plain(inputs, integrated, valid, given);
      values[i] -= Complex(0, 1e-100);
      Complex total = std::inner_product(outputs.h.begin(), outputs.h.end(), weights[0].data(), Complex());
      total = std::inner_product(outputs.c.begin(), outputs.c.end(), weights[1].data(), total);
      const double derivative = total.imag() / 1e-100, actual = gradient.data()[i];
      ASSERT_NEAR(actual, derivative, 1e-10 * std::max(1.0, std::abs(derivative))) << name << " " << i;
      largest = std::max(largest, std::abs(derivative));
    }
    // What has no effect at all would prove nothing; h0 has none where U h does not vary.
    EXPECT_EQ(largest > 1e-3, !(it.from_zero && it.training && name == "h0")) << name << " " << largest;
  }
}

TEST_P(BatchNormCell, HasTheGradientOfCentralDifferences) {
  const Case& it = GetParam();
  Model model(it.cell);
  if (it.from_zero) fill(value_of(model, "h0_l0"), 0), fill(value_of(model, "c0_l0"), 0);
  set_population(model);
  model.set_training(it.training);
  const auto loss = [&] {
    const Model::Result result = model.run(it.with_padding ? padded : all_valid);
    Variable total = sum(square(result.c + real(1)));
    for (const Variable& h : result.h) total = total + sum(square(h + real(1)));
    return total;
  };
  loss().backward();
  for (const Segment& segment : model.segments()) {
    if (it.from_zero && it.training && segment.name == "h0_l0") continue;  // the columns begin to vary there
    const Tensor value = Module::view(model.values(), segment);
    for (int64_t i = 0; i < value.size(); ++i) {
      const auto at = [&, kept = value.data()[i]](double h) {
        value.write()[i] = kept + h;
        const double result = loss().value().item();
        value.write()[i] = kept;
        return result;
      };
      const double analytic = Module::view(model.gradients(), segment).data()[i];
      // Of fourth order: two valid rows are steep.
      const double h = 1e-5, numeric = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      ASSERT_NEAR(analytic, numeric, 1e-6 * std::max(1.0, std::abs(numeric))) << segment.name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, BatchNormCell, testing::ValuesIn(cases()), [](const auto& instance) {
  const Case& it = instance.param;
  return it.cell + (it.training ? "_training" : "_evaluation") + (it.from_zero ? "_from_zero" : "") +
         (it.with_padding ? "_padded" : "");
});

// ---- Statistics.

void expect_near(const Tensor& actual, const Vector<double>& expected, double tolerance = 1e-12) {
  ASSERT_EQ(actual.size(), std::ssize(expected));
  for (int64_t j = 0; j < actual.size(); ++j) ASSERT_NEAR(actual.data()[j], expected[j], tolerance) << j;
}

/// Runs batch after batch and holds the buffers to `rate`, a function of the number of batches that a slot
/// has seen.
void expect_moved(Model& model, int batches, const Marks& valid, const std::function<double(int)>& rate) {
  struct Slot {
    Vector<double> mean = Vector<double>(4 * H, 0), variance = Vector<double>(4 * H, 1);
    int seen = 0;
  };
  std::map<std::string, std::vector<Slot>> kept;
  for (int batch = 0; batch < batches; ++batch) {
    model.draw_input(100 + static_cast<uint64_t>(batch));
    model.run(valid);
    const StatisticsOfSteps steps = model.of_batches(valid);
    for (int64_t t = 0; t < T; ++t)
      for (const auto& [name, of_batch] : steps[t]) {
        kept[name].resize(slots);
        Slot& slot = kept[name][std::min(t, slots - 1)];
        const double r = rate(++slot.seen);
        for (size_t j = 0; j < of_batch.mean.size(); ++j) {
          slot.mean[j] += r * (of_batch.mean[j] - slot.mean[j]);
          slot.variance[j] += r * (of_batch.variance[j] - slot.variance[j]);
        }
      }
  }
  for (auto& [name, of_slots] : kept)
    for (int64_t slot = 0; slot < slots; ++slot) {
      Slot& it = of_slots[slot];
      const size_t width = name == "c" ? H : 4 * H;
      it.mean.resize(width), it.variance.resize(width);
      EXPECT_EQ(model.buffer("batches_seen_" + name).data()[slot], it.seen);
      expect_near(model.buffer("running_mean_" + name)[slot], it.mean);
      expect_near(model.buffer("running_variance_" + name)[slot], it.variance);
    }
}

TEST(BatchNormStatistics, MoveByOneTwentiethOnceTwentyBatchesAreSeen) {
  for (const Marks& valid : {all_valid, padded}) {
    Model model("bn_lstm");
    model.set_training(true);
    expect_moved(model, 25, valid, [](int n) { return std::max(0.05, 1.0 / n); });
  }
}

TEST(BatchNormStatistics, AreThePlainAverageWhenEstimatedAnew) {
  Model model("bn_lstm");
  set_population(model);
  for (const Buffer* buffer : model.buffers()) buffer->reset();
  model.set_training(false);
  model.set_statistics_rate(0);
  EXPECT_FALSE(model.training());
  expect_moved(model, 25, padded, [](int n) { return 1.0 / n; });
}

TEST(BatchNormStatistics, StayAsTheyAreInEvaluation) {
  Model model("bn_lstm");
  set_population(model);
  const auto before = model.buffer("running_mean_hh").to_vector();
  model.run(all_valid);
  EXPECT_EQ(model.buffer("running_mean_hh").to_vector(), before);
  EXPECT_EQ(model.buffer("batches_seen_hh").to_vector(), std::vector<real>(slots, 1));
}

/// The outputs in evaluation, where each step t is normalised by the statistics of slot_of(t).
void expect_slots(Model& model, int64_t first_step, const std::function<int64_t(int64_t)>& slot_of) {
  StatisticsOfSteps population(T);
  for (int64_t t = 0; t < T; ++t)
    for (const std::string name : {"ih", "hh", "c"})
      population[t][name] = {model.buffer("running_mean_" + name)[slot_of(t)].to_vector(),
                             model.buffer("running_variance_" + name)[slot_of(t)].to_vector()};
  const auto result = model.run(all_valid, first_step);
  const auto expected = plain(model.numbers<double>(), false, all_valid, &population);
  for (int64_t t = 0; t < T; ++t)
    for (int64_t i = 0; i < B * H; ++i)
      ASSERT_NEAR(result.h[t].value().data()[i], expected.h[t * B * H + i], 1e-12) << "step " << t;
}

TEST(BatchNormStatistics, AreThoseOfTheStepSinceTheReset) {
  Model model("bn_lstm");
  set_population(model);
  expect_slots(model, 0, [](int64_t t) { return std::min<int64_t>(t, slots - 1); });
  expect_slots(model, 2, [](int64_t t) { return std::min<int64_t>(t + 2, slots - 1); });
}

TEST(BatchNormStatistics, AreReusedFromTheLastStepThatHasSome) {
  Model model("bn_lstm");
  set_population(model);
  for (const char* name : {"batches_seen_ih", "batches_seen_hh", "batches_seen_c"})
    for (int64_t slot = 2; slot < slots; ++slot) model.buffer(name).write()[slot] = 0;
  expect_slots(model, 0, [](int64_t t) { return std::min<int64_t>(t, 1); });
}

TEST(BatchNormStatistics, AreMeanZeroAndVarianceOneBeforeAnyBatch) {
  Model model("bn_lstm");
  for (const std::string name : {"ih", "hh", "c"}) {
    EXPECT_EQ(model.buffer("running_mean_" + name).to_vector(),
              std::vector<real>(slots * (name == "c" ? H : 4 * H), 0));
    EXPECT_EQ(model.buffer("running_variance_" + name).to_vector(),
              std::vector<real>(slots * (name == "c" ? H : 4 * H), 1));
  }
  expect_slots(model, 0, [](int64_t) { return 0; });
}

TEST(BatchNormStatistics, OfOneRowOrNoneAreThePopulations) {
  for (const int64_t rows : {0, 1}) {
    Model model("bn_lstm");
    const StatisticsOfSteps population = set_population(model);
    const auto before = model.buffer("running_variance_c").to_vector();
    Marks valid(T, std::vector<bool>(B, false));
    for (int64_t t = 0; t < T; ++t) valid[t][0] = rows == 1;
    model.set_training(true);
    const auto result = model.run(valid);
    const auto expected = plain(model.numbers<double>(), false, valid, &population);
    for (int64_t t = 0; t < T; ++t)
      for (int64_t j = 0; j < H; ++j)
        ASSERT_NEAR(result.h[t].value().data()[j], expected.h[t * B * H + j], 1e-12);
    EXPECT_EQ(model.buffer("running_variance_c").to_vector(), before);
    if (rows == 0) continue;
    Variable loss = sum(result.c);
    for (const Variable& h : result.h) loss = loss + sum(h);
    loss.backward();
    EXPECT_TRUE(all_finite(model.gradients()));
    EXPECT_GT(sum_of_squares(gradient_of(model, "gamma_c_l0")), 0);
  }
}

// Steps that share a slot: a row alone is normalised by what the next step moves.
TEST(BatchNormStatistics, MayMoveBeforeBackwardHasRun) {
  Model model("bn_lstm");
  model.set_training(true);
  Marks valid = all_valid;
  valid[slots] = {true, false, false, false};
  sum(model.run(valid).h.back()).backward();
  EXPECT_TRUE(all_finite(model.gradients()));
}

// ---- Gradients.

// The true derivative, 316 gamma a step, would grow beyond all numbers over the first 100 steps.
TEST(BatchNorm, RowsThatAreAllTheSameDoNotExplode) {
  constexpr int64_t same = 100, other = 3;
  struct Long : Module {
    Long() : cell(*this, "_l0", pytorch_cell(I, H)), x(*this, "x", {same + other, B, I}, uniform_values(1)) {
      finalize(2);
    }
    BatchNormLstm cell;
    Parameter x;
  } model;
  const Tensor x = value_of(model, "x");
  for (int64_t t = 0; t < same; ++t)
    for (int64_t b = 1; b < B; ++b) copy(x[t].row_range(0, 1), x[t].row_range(b, b + 1));
  model.set_training(true);
  model.cell.begin_chunk();
  State state = model.cell.initial_state(B);
  for (StepInputs& inputs : model.cell.project(model.x)) {
    const int64_t steps = state.steps + 1;
    state = model.cell.step(inputs, state);
    state.steps = steps;
  }
  sum(state.h * Variable(samples({{B, H}})[0])).backward();
  const Tensor gradient = gradient_of(model, "x");
  for (int64_t t = 0; t < same; ++t) EXPECT_EQ(sum_of_squares(gradient[t]), 0) << t;
  EXPECT_GT(sum_of_squares(gradient), 0);
  EXPECT_LT(sum_of_squares(model.gradients()), 100);
}

TEST(Gradient, OfColumnMoments) {
  const auto both = [](const ColumnMoments& moments) { return concat({moments.mean, moments.variance}); };
  const Rows some = std::make_shared<const std::vector<bool>>(std::vector<bool>{true, false, true, true});
  for (const Rows& chosen : {Rows(), some}) {
    expect_gradients([&](const std::vector<Variable>& x) { return both(column_moments(x[0], chosen)); },
                     samples({{4, 300}}));
    expect_gradients(
        [&](const std::vector<Variable>& x) {
          return both(column_moments(x[0].column_block(1, 4), chosen)) + column_moments(x[0], chosen).mean;
        },
        samples({{4, 6}}));
  }
  expect_gradients([](const std::vector<Variable>& x) { return column_moments(x[0]).variance; },
                   samples({{5, 2}}));
}

TEST(Gradient, OfBatchNormalizationThroughItsStatistics) {
  expect_gradients(
      [](const std::vector<Variable>& x) {
        return batch_normalization(x[0], column_moments(x[0]), x[1], x[2]);
      },
      samples({{5, 4}, {4}, {4}}));
}

TEST(ColumnMoments, RefuseABatchWithoutRows) {
  const Rows none = std::make_shared<const std::vector<bool>>(std::vector<bool>{false, false});
  EXPECT_THROW(column_moments(Variable(Tensor::zeros({2, 3})), none), Error);
  EXPECT_THROW(column_moments(Variable(Tensor::zeros({3, 3})), none), Error);
}

}  // namespace
}  // namespace rondo
