// Probes of language models against plain loops written from the papers, and against central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>

#include "autograd/pointwise.h"
#include "lm/evaluation/probe.h"
#include "nn/cells/join.h"
#include "tests/lm/evaluation/shift.h"
#include "tests/nn/models/small_model.h"
#include "tests/nn/parameters.h"

namespace rondo::recurrent_probe_test {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr int32_t V = 5;

std::vector<int32_t> text(int64_t symbols) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < symbols; ++i) ids.push_back(static_cast<int32_t>((i * i + i / 3) % V));
  return ids;
}

/// A parameter, by its name.
Matrix parameter(const Module& model, const std::string& name) {
  const Tensor value = value_of(model, name);
  const std::vector<real> numbers = value.to_vector();
  Matrix rows;
  for (auto at = numbers.begin(); at != numbers.end(); at += value.columns())
    rows.emplace_back(at, at + value.columns());
  return rows;
}

Vector product(const Matrix& a, const Vector& x) {
  Vector y;
  for (const Vector& row : a) y.push_back(std::inner_product(row.begin(), row.end(), x.begin(), 0.0));
  return y;
}
Vector product_of_transpose(const Matrix& a, const Vector& x) {
  Vector y(a[0].size(), 0);
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < y.size(); ++j) y[j] += a[i][j] * x[i];
  return y;
}
double norm(const Vector& x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); }

/// An RNN that reads one sequence and predicts the symbol after it, by Wu et al. 2016 (1) and (4), and
/// dC/dh_t by their (5) and (6).
struct PlainRnn {
  PlainRnn(const Module& model, bool integrates, bool is_linear, const std::vector<int32_t>& ids,
           int32_t target) {
    const Matrix W = parameter(model, "rnn.weight_ih_l0"), U = parameter(model, "rnn.weight_hh_l0"),
                 D = parameter(model, "decoder.weight");
    const Vector d = parameter(model, "decoder.bias")[0];
    const size_t H = U.size();
    const auto vector = [&](const std::string& name) { return parameter(model, "rnn." + name + "_l0")[0]; };
    Vector alpha(H, 0), beta1(H, 1), beta2(H, 1), b = vector("bias_ih");
    if (integrates) alpha = vector("alpha"), beta1 = vector("beta1"), beta2 = vector("beta2");
    Matrix h{Vector(H, 0)}, through;  // what multiplies U in the derivative of h_t
    for (const int32_t id : ids) {
      Vector x(V, 0);
      x[static_cast<size_t>(id)] = 1;
      const Vector Wx = product(W, x), Uh = product(U, h.back());
      input_norms.push_back(norm(Wx));
      state_norms.push_back(norm(Uh));
      Vector next, slope;
      for (size_t j = 0; j < H; ++j) {
        const double z = alpha[j] * Wx[j] * Uh[j] + beta1[j] * Uh[j] + beta2[j] * Wx[j] + b[j];
        next.push_back(is_linear ? z : std::tanh(z));
        slope.push_back((alpha[j] * Wx[j] + beta1[j]) * (is_linear ? 1 : 1 - next[j] * next[j]));
        units.push_back(next[j]);
      }
      h.push_back(next);
      through.push_back(slope);
    }
    Vector p = product(D, h.back());
    double sum = 0;
    for (size_t k = 0; k < p.size(); ++k) sum += p[k] = std::exp(p[k] + d[k]);
    for (double& it : p) it /= sum;
    loss = -std::log(p[static_cast<size_t>(target)]);
    p[static_cast<size_t>(target)] -= 1;
    Vector gradient = product_of_transpose(D, p);
    gradient_norms.assign(h.size(), 0);
    for (size_t t = ids.size();; --t) {
      gradient_norms[t] = norm(gradient);
      if (t == 0) break;
      for (size_t j = 0; j < H; ++j) gradient[j] *= through[t - 1][j];
      gradient = product_of_transpose(U, gradient);
    }
  }

  double loss = 0;
  Vector input_norms, state_norms, gradient_norms, units;
};

TEST(RecurrentProbe, SeesWhatEquationsOfAnRnnSay) {
  struct Case {
    std::string cell;
    bool integrates, is_linear;
  };
  for (const auto& [cell, integrates, is_linear] : std::vector<Case>{{"rnn", false, false},
                                                                     {"mi_rnn", true, false},
                                                                     {"linear_rnn", false, true},
                                                                     {"linear_mi_rnn", true, true}}) {
    SCOPED_TRACE(cell);
    LanguageModelOptions options;
    options.cell = cell;
    options.embedding = 0;
    options.hidden = {6};
    options.cell_settings.of<GateBiasSettings>().biases = 1;
    options.init_all = 0.7;
    LanguageModel model(options, V);
    const std::vector<int32_t> ids = text(100);
    constexpr int64_t T = 7, sequences = 3;
    const Probed probed = probe(model, ids, {.steps = T, .sequences = sequences});
    ASSERT_EQ(probed.sequences, sequences);
    ASSERT_EQ(probed.layers.size(), 1);
    const ProbedLayer& layer = probed.layers[0];
    EXPECT_EQ(layer.name, "rnn.l0");

    std::vector<PlainRnn> plain;
    for (int64_t i = 0; i < sequences; ++i) {  // of the 14 sequences of 7 symbols: 0, 4 and 9
      const auto first = ids.begin() + i * 14 / 3 * T;
      plain.emplace_back(model, integrates, is_linear, std::vector<int32_t>(first, first + T), first[T]);
    }
    const auto expect_means = [&](const NormsByStep& seen, auto of, size_t first) {
      ASSERT_EQ(seen.steps.size(), (plain[0].*of).size() + first);
      for (size_t t = 0; t < (plain[0].*of).size(); ++t) {
        double sum = 0, logs = 0;
        for (const PlainRnn& it : plain) sum += (it.*of)[t], logs += std::log((it.*of)[t]);
        EXPECT_NEAR(seen.mean(t + first), sum / sequences, 1e-12) << t;
        if (sum > 0) {
          EXPECT_NEAR(seen.mean_log(t + first), logs / sequences, 1e-9) << t;
        }
      }
    };
    expect_means(layer.gradients.at("h"), &PlainRnn::gradient_norms, 0);
    expect_means(layer.products.at("weight_ih_l0"), &PlainRnn::input_norms, 1);
    expect_means(layer.products.at("weight_hh_l0"), &PlainRnn::state_norms, 1);
    double loss = 0, units = 0, above = 0;
    for (const PlainRnn& it : plain) {
      loss += it.loss;
      for (const double unit : it.units) units += unit, above += unit > 0.9;
    }
    EXPECT_NEAR(probed.nats, loss / sequences, 1e-12);
    const Distribution& h = layer.activations.at("h");
    EXPECT_EQ(h.count(), sequences * T * 6);
    EXPECT_NEAR(h.mean(), units / static_cast<double>(h.count()), 1e-12);
    EXPECT_NEAR(h.high(), above / static_cast<double>(h.count()), 1e-12);
    EXPECT_TRUE(layer.gates.empty());
    ASSERT_EQ(layer.singular_values.size(), 1);
    EXPECT_EQ(layer.singular_values[0].first, "weight_hh_l0");
    EXPECT_EQ(layer.singular_values[0].second.size(), 6);
  }
}

class ProbeOfEveryCell : public testing::TestWithParam<std::string> {};

TEST_P(ProbeOfEveryCell, SeesTheGradientsThatDifferencesShow) {
  LanguageModelOptions options = small(GetParam());
  options.hidden = {3, 3};
  options.embedding = 3;  // a highway adds it to h
  options.init_all = 0.8;
  LanguageModel model(options, V);
  constexpr int64_t T = 3;
  const std::vector<int32_t> ids = text(T + 1);
  const std::vector<real> before = model.values().to_vector();
  const Probed probed = probe(model, ids, {.steps = T, .sequences = 1});
  EXPECT_EQ(model.values().to_vector(), before);
  EXPECT_EQ(sum_of_squares(model.gradients()), 0);
  ASSERT_EQ(probed.layers.size(), 2);

  const EvaluationMode mode(model);
  const NoGradient no_history;
  const auto loss = [&] {
    const auto read = model.forward({tokens({ids.begin(), ids.begin() + T}), T, 1}, model.initial_states(1));
    return model.cross_entropy(read.output.rows(T - 1, T), tokens({ids[T]})).total.value().item();
  };
  EXPECT_NEAR(probed.nats, loss(), 1e-12);
  for (size_t layer = 0; layer < 2; ++layer)
    expect_gradients_of_differences(probed.layers[layer], *model.cells()[layer], T, loss);
}

INSTANTIATE_TEST_SUITE_P(Cells, ProbeOfEveryCell, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

TEST(RecurrentProbe, SeesTheGatesOfAnLstm) {
  LanguageModelOptions options;
  options.embedding = 0;
  options.hidden = {4};
  options.init_all = 0.9;
  LanguageModel model(options, V);
  const std::vector<int32_t> ids = text(30);
  const Probed probed = probe(model, ids, {.steps = 6, .sequences = 2});
  const ProbedLayer& layer = probed.layers[0];
  ASSERT_EQ(layer.gates.size(), 3);
  // Hochreiter & Schmidhuber 1997, with the gates in the order i f g o.
  const Matrix W = parameter(model, "rnn.weight_ih_l0"), U = parameter(model, "rnn.weight_hh_l0");
  const Vector b1 = parameter(model, "rnn.bias_ih_l0")[0], b2 = parameter(model, "rnn.bias_hh_l0")[0];
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  std::map<std::string, double> sums;
  for (const int64_t first : {0, 12}) {
    Vector h(4, 0), c(4, 0);
    for (int64_t t = 0; t < 6; ++t) {
      Vector z = product(U, h);
      for (size_t k = 0; k < 16; ++k) z[k] += W[k][static_cast<size_t>(ids[first + t])] + b1[k] + b2[k];
      for (size_t j = 0; j < 4; ++j) {
        const double i = sigmoid(z[j]), f = sigmoid(z[4 + j]), o = sigmoid(z[12 + j]);
        sums["s(i)"] += i, sums["s(f)"] += f, sums["s(o)"] += o;
        c[j] = f * c[j] + i * std::tanh(z[8 + j]);
        h[j] = o * std::tanh(c[j]);
      }
    }
  }
  for (const auto& [name, sum] : sums) {
    EXPECT_EQ(layer.gates.at(name).count(), 2 * 6 * 4) << name;
    EXPECT_NEAR(layer.gates.at(name).mean(), sum / (2 * 6 * 4), 1e-12) << name;
  }
  ASSERT_EQ(layer.singular_values.size(), 4);  // of each gate
  EXPECT_EQ(layer.singular_values[1].first, "weight_hh_l0 [4, 8)");
}

TEST(RecurrentProbe, KnowsTheArgumentsOfEachOperatorWithGates) {
  const std::regex gate("(^|[ (])s\\(");
  for (const PointwiseOperator& it : pointwise_operators()) {
    EXPECT_EQ(std::regex_search(it.equation, gate), !it.arguments.empty()) << it.name;
    if (it.arguments.empty()) continue;
    EXPECT_EQ(std::ranges::count(it.arguments, ' ') + 1, it.inputs) << it.name;
  }
}

TEST(Distribution, WidensItsRange) {
  Distribution it;
  for (const double value : {-1.0, -0.95, 0.0, 0.5, 1.0}) it.add(value);
  EXPECT_EQ(it.to(), 1);
  EXPECT_EQ(it.counts().front(), 1);
  EXPECT_EQ(it.counts()[1], 1);
  EXPECT_EQ(it.counts()[20], 1);
  EXPECT_EQ(it.counts().back(), 1);
  EXPECT_EQ(it.low(), 0.4);
  EXPECT_EQ(it.high(), 0.2);
  it.add(3.1);
  EXPECT_EQ(it.from(), -4);
  EXPECT_EQ(it.to(), 4);  // bins of 0.2
  EXPECT_EQ(it.counts()[15], 2);
  EXPECT_EQ(it.counts()[20], 1);
  EXPECT_EQ(it.counts()[22], 1);
  EXPECT_EQ(it.counts()[24], 1);
  EXPECT_EQ(it.counts()[35], 1);
  EXPECT_EQ(it.count(), 6);
  EXPECT_THROW(it.add(NAN), Error);
}

}  // namespace
}  // namespace rondo::recurrent_probe_test
