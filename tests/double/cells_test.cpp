// Every cell: its gradients in a stack of two layers, and its values against plain loops written from the
// equations.
#include "bench/cells.h"

#include <cmath>
#include <map>
#include <numeric>

#include "autograd/functions.h"
#include "nn/language_model.h"
#include "tensor/random.h"
#include "tests/double/samples.h"
#include "tests/nn/parameters.h"

namespace rondo {
namespace {

// Before main(), when GoogleTest has not yet asked for the names of all cells.
const bool known = (add_bench_cells(), true);

constexpr int64_t T = 5, B = 3, I = 4, H = 5, layers = 2;

/// Central differences for every parameter of a model, whose loss must be deterministic.
void expect_parameter_gradients(Module& model, const std::function<Variable()>& loss) {
  fill(model.gradients(), 0);
  loss().backward();
  const NoGradient guard;
  for (const Segment& segment : model.segments()) {
    const Tensor value = value_of(model, segment.name), gradient = gradient_of(model, segment.name);
    for (int64_t i = 0; i < value.size(); ++i) {
      constexpr double h = 1e-5;
      const double kept = value.data()[i];
      value.write()[i] = kept + h;
      const double above = loss().value().item();
      value.write()[i] = kept - h;
      const double below = loss().value().item();
      value.write()[i] = kept;
      const double numeric = (above - below) / (2 * h), analytic = gradient.data()[i];
      ASSERT_NEAR(analytic, numeric, 1e-6 * std::max({1.0, std::abs(analytic), std::abs(numeric)}))
          << segment.name << " element " << i;
    }
  }
}

/// Settings that a cell may have: biases of each gate, and units M of an intermediate state.
struct Variant {
  int bias_count;
  int64_t intermediate;
};
const Variant variants[] = {{1, 0}, {2, 0}, {1, H}, {1, 2}};

CellOptions options_of(int64_t input, int64_t hidden, const Variant& variant) {
  CellOptions options = pytorch_cell(input, hidden);
  options.bias_count = variant.bias_count;
  options.intermediate_size = variant.intermediate;
  options.integration = {0.9, 0.6, 0.4, 0.2};
  return options;
}

/// A stack whose input and initial states are parameters too.
struct Model : Module {
  Model(const std::string& cell, const Variant& variant)
      : stack(*this, "rnn", cell, {options_of(I, H, variant), options_of(H, H - 1, variant)}, 0),
        x(*this, "x", {T, B, I}, uniform_values(1)),
        h0(*this, "h0", {B, H}, uniform_values(1)),
        c0(*this, "c0", {B, H}, uniform_values(1)),
        h1(*this, "h1", {B, H - 1}, uniform_values(1)),
        c1(*this, "c1", {B, H - 1}, uniform_values(1)) {
    finalize(3);
  }
  bool has_memory() const { return stack.layers()[0]->initial_state(1).c.defined(); }
  RecurrentStack::Result run() {
    const auto memory = [&](const Parameter& c) { return has_memory() ? c.variable() : Variable(); };
    return stack(x, {{h0, memory(c0)}, {h1, memory(c1)}});
  }

  RecurrentStack stack;
  Parameter x, h0, c0, h1, c1;
};

class CellTest : public testing::TestWithParam<std::string> {};
std::string name_of(const testing::TestParamInfo<std::string>& instance) { return instance.param; }

TEST_P(CellTest, HasRightGradients) {
  for (const Variant& variant : variants) {
    Model model(GetParam(), variant);
    const std::vector<Tensor> weights = samples({{T, B, H - 1}, {B, H}, {B, H - 1}});
    expect_parameter_gradients(model, [&] {
      const auto result = model.run();
      Variable loss = sum(result.output * Variable(weights[0]));
      if (!model.has_memory()) return loss + sum(result.states[0].h * Variable(weights[1]));
      return loss + sum(result.states[0].c * Variable(weights[1])) +
             sum(result.states[1].c * Variable(weights[2]));
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellTest, testing::ValuesIn(cell_names()), name_of);

// ---- Plain loops.

using Vector = std::vector<double>;

double s(double x) { return 1 / (1 + std::exp(-x)); }

/// The parameters of one layer, as numbers.
struct Layer {
  int64_t input, hidden;
  std::map<std::string, Vector> named;  // without "rnn." and the layer's suffix

  const Vector& operator[](const std::string& name) const { return named.at(name); }
  bool has(const std::string& name) const { return named.contains(name); }
  /// Row `row` of a matrix times a vector.
  double product(const std::string& matrix, int64_t row, const Vector& v) const {
    return std::inner_product(v.begin(), v.end(), (*this)[matrix].begin() + row * std::ssize(v), 0.0);
  }
  double bias(int64_t row) const {
    return (*this)["bias_ih"][row] + (has("bias_hh") ? (*this)["bias_hh"][row] : 0);
  }
  double Wx(int64_t gate, int64_t j, const Vector& x) const {
    return product("weight_ih", gate * hidden + j, x) + (*this)["bias_ih"][gate * hidden + j];
  }
  double Uh(int64_t gate, int64_t j, const Vector& h) const {
    return product("weight_hh", gate * hidden + j, h) +
           (has("bias_hh") ? (*this)["bias_hh"][gate * hidden + j] : 0);
  }
  int64_t M(int64_t states) const { return std::ssize((*this)["weight_mx"]) / input / states; }
};

/// One step of one stream: the new h and c.
using Reference =
    std::function<std::pair<Vector, Vector>(const Layer&, const Vector& x, const Vector& h, const Vector& c)>;

std::pair<Vector, Vector> rnn(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) next[j] = std::tanh(layer.Wx(0, j, x) + layer.Uh(0, j, h));
  return {next, {}};
}

/// From the pre-activations z(gate, j).
template <bool sigmoid_output>
std::pair<Vector, Vector> lstm_of(const std::function<double(int64_t, int64_t)>& z, const Vector& c) {
  const int64_t hidden = std::ssize(c);
  Vector next_h(hidden), next_c(hidden);
  for (int64_t j = 0; j < hidden; ++j) {
    const double i = s(z(0, j)), f = s(z(1, j)), g = std::tanh(z(2, j)), o = s(z(3, j));
    next_c[j] = f * c[j] + i * g;
    next_h[j] = o * (sigmoid_output ? s(next_c[j]) : std::tanh(next_c[j]));
  }
  return {next_h, next_c};
}

template <bool sigmoid_output>
std::pair<Vector, Vector> lstm(const Layer& layer, const Vector& x, const Vector& h, const Vector& c) {
  return lstm_of<sigmoid_output>(
      [&](int64_t gate, int64_t j) { return layer.Wx(gate, j, x) + layer.Uh(gate, j, h); }, c);
}

std::pair<Vector, Vector> linear_rnn(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) next[j] = layer.Wx(0, j, x) + layer.Uh(0, j, h);
  return {next, {}};
}

// Wu et al. 2016 (4), of row k of the stacked gates.
double integrated(const Layer& layer, int64_t k, const Vector& x, const Vector& h) {
  const double Wx = layer.product("weight_ih", k, x), Uh = layer.product("weight_hh", k, h);
  return layer["alpha"][k] * Wx * Uh + layer["beta1"][k] * Uh + layer["beta2"][k] * Wx + layer["bias_ih"][k];
}

template <bool identity>
std::pair<Vector, Vector> mi_rnn(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const double z = integrated(layer, j, x, h);
    next[j] = identity ? z : std::tanh(z);
  }
  return {next, {}};
}

std::pair<Vector, Vector> mi_rnn_simple(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j)
    next[j] =
        std::tanh(layer.product("weight_ih", j, x) * layer.product("weight_hh", j, h) + layer["bias_ih"][j]);
  return {next, {}};
}

std::pair<Vector, Vector> mi_lstm(const Layer& layer, const Vector& x, const Vector& h, const Vector& c) {
  return lstm_of<false>(
      [&](int64_t gate, int64_t j) { return integrated(layer, gate * layer.hidden + j, x, h); }, c);
}

std::pair<Vector, Vector> mi_gru(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  const int64_t units = layer.hidden;
  Vector reset(units), next(units);
  for (int64_t j = 0; j < units; ++j) reset[j] = s(integrated(layer, j, x, h)) * h[j];
  for (int64_t j = 0; j < units; ++j) {
    const double z = s(integrated(layer, units + j, x, h)),
                 n = std::tanh(integrated(layer, 2 * units + j, x, reset));
    next[j] = z * h[j] + (1 - z) * n;
  }
  return {next, {}};
}

/// m = (W_mx x) (W_mh h), number `which` of so many that are stacked.
Vector intermediate_state(const Layer& layer, const Vector& x, const Vector& h, int64_t which = 0,
                          int64_t states = 1) {
  const int64_t M = layer.M(states);
  Vector m(M);
  for (int64_t j = 0; j < M; ++j)
    m[j] = layer.product("weight_mx", which * M + j, x) * layer.product("weight_mh", which * M + j, h);
  return m;
}

/// (U x + V m + b) of unit j of a gate.
double multiplicative(const Layer& layer, int64_t gate, int64_t j, const Vector& x, const Vector& m) {
  const int64_t k = gate * layer.hidden + j;
  return layer.product("weight_ih", k, x) + layer.product("weight_hm", k, m) + layer.bias(k);
}

std::pair<Vector, Vector> trnn(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  const int64_t units = layer.hidden;
  Vector next(units);
  for (int64_t j = 0; j < units; ++j) {
    double z = layer.Wx(0, j, x) + (layer.has("bias_hh") ? layer["bias_hh"][j] : 0);
    for (int64_t k = 0; k < units; ++k) z += layer.product("weight_hx", j * units + k, x) * h[k];
    next[j] = std::tanh(z);
  }
  return {next, {}};
}

std::pair<Vector, Vector> mrnn(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  const Vector m = intermediate_state(layer, x, h);
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) next[j] = std::tanh(multiplicative(layer, 0, j, x, m));
  return {next, {}};
}

std::pair<Vector, Vector> mlstm(const Layer& layer, const Vector& x, const Vector& h, const Vector& c) {
  const Vector m = intermediate_state(layer, x, h);
  return lstm_of<false>([&](int64_t gate, int64_t j) { return multiplicative(layer, gate, j, x, m); }, c);
}

std::pair<Vector, Vector> tmlstm(const Layer& layer, const Vector& x, const Vector& h, const Vector& c) {
  return lstm_of<false>(
      [&](int64_t gate, int64_t j) {
        return multiplicative(layer, gate, j, x, intermediate_state(layer, x, h, gate, 4));
      },
      c);
}

std::pair<Vector, Vector> mgru(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  const Vector m = intermediate_state(layer, x, h);
  const int64_t units = layer.hidden;
  Vector r(units), filtered = m, next(units);
  for (int64_t j = 0; j < units; ++j) r[j] = s(multiplicative(layer, 0, j, x, m));
  if (std::ssize(m) == units)
    for (int64_t j = 0; j < units; ++j) filtered[j] = r[j] * m[j];
  for (int64_t j = 0; j < units; ++j) {
    const double z = s(multiplicative(layer, 1, j, x, m));
    const double candidate = std::ssize(m) == units
                                 ? multiplicative(layer, 2, j, x, filtered)
                                 : layer.product("weight_ih", 2 * units + j, x) + layer.bias(2 * units + j) +
                                       r[j] * layer.product("weight_hm", 2 * units + j, m);
    next[j] = z * h[j] + (1 - z) * std::tanh(candidate);
  }
  return {next, {}};
}

std::pair<Vector, Vector> tmgru(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  const int64_t units = layer.hidden;
  Vector reset(units), next(units);
  for (int64_t j = 0; j < units; ++j)
    reset[j] = s(multiplicative(layer, 0, j, x, intermediate_state(layer, x, h, 0, 3))) * h[j];
  for (int64_t j = 0; j < units; ++j) {
    const double z = s(multiplicative(layer, 1, j, x, intermediate_state(layer, x, h, 1, 3)));
    const double n = std::tanh(multiplicative(layer, 2, j, x, intermediate_state(layer, x, reset, 2, 3)));
    next[j] = z * h[j] + (1 - z) * n;
  }
  return {next, {}};
}

std::pair<Vector, Vector> gru(const Layer& layer, const Vector& x, const Vector& h, const Vector&) {
  Vector reset(layer.hidden), next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) reset[j] = s(layer.Wx(0, j, x) + layer.Uh(0, j, h)) * h[j];
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const double z = s(layer.Wx(1, j, x) + layer.Uh(1, j, h));
    const double n = std::tanh(layer.Wx(2, j, x) + layer.Uh(2, j, reset));
    next[j] = z * h[j] + (1 - z) * n;
  }
  return {next, {}};
}

std::pair<Vector, Vector> gru_reset_after(const Layer& layer, const Vector& x, const Vector& h,
                                          const Vector&) {
  Vector next(layer.hidden);
  for (int64_t j = 0; j < layer.hidden; ++j) {
    const double r = s(layer.Wx(0, j, x) + layer.Uh(0, j, h)), z = s(layer.Wx(1, j, x) + layer.Uh(1, j, h));
    const double n = std::tanh(layer.Wx(2, j, x) + r * layer.Uh(2, j, h));
    next[j] = (1 - z) * n + z * h[j];
  }
  return {next, {}};
}

const std::vector<std::pair<std::string, Reference>> references = {
    {"rnn", rnn},
    {"linear_rnn", linear_rnn},
    {"lstm", lstm<false>},
    {"lstm_sigmoid", lstm<true>},
    {"gru", gru},
    {"gru_reset_after", gru_reset_after},
    {"trnn", trnn},
    {"mrnn", mrnn},
    {"mlstm", mlstm},
    {"tmlstm", tmlstm},
    {"mgru", mgru},
    {"tmgru", tmgru},
    {"mi_rnn", mi_rnn<false>},
    {"mi_rnn_simple", mi_rnn_simple},
    {"linear_mi_rnn", mi_rnn<true>},
    {"mi_lstm", mi_lstm},
    {"mi_gru", mi_gru},
    {"lstm_weight_drop", lstm<false>},  // drops while training only
};

Layer layer_of(const Module& model, int64_t layer, int64_t input, int64_t hidden) {
  const std::string prefix = "rnn.", suffix = "_l" + std::to_string(layer);
  Layer result{input, hidden, {}};
  for (const Segment& segment : model.segments())
    if (segment.name.starts_with(prefix) && segment.name.ends_with(suffix))
      result.named[segment.name.substr(prefix.size(), segment.name.size() - prefix.size() - suffix.size())] =
          value_of(model, segment.name).to_vector();
  return result;
}

Vector stream_of(const Tensor& matrix, int64_t b) { return matrix.row_range(b, b + 1).to_vector(); }

class CellValues : public testing::TestWithParam<size_t> {};

TEST_P(CellValues, EqualThoseOfPlainLoops) {
  const auto& [cell, reference] = references[GetParam()];
  for (const Variant& variant : variants) {
    Model model(cell, variant);
    const auto result = model.run();
    const Layer first = layer_of(model, 0, I, H), second = layer_of(model, 1, H, H - 1);
    for (int64_t b = 0; b < B; ++b) {
      std::pair<Vector, Vector> state0 = {stream_of(model.h0.variable().value(), b),
                                          stream_of(model.c0.variable().value(), b)};
      std::pair<Vector, Vector> state1 = {stream_of(model.h1.variable().value(), b),
                                          stream_of(model.c1.variable().value(), b)};
      for (int64_t t = 0; t < T; ++t) {
        state0 = reference(first, stream_of(model.x.variable().value()[t], b), state0.first, state0.second);
        state1 = reference(second, state0.first, state1.first, state1.second);
        const Vector actual = stream_of(result.output.value()[t], b);
        for (int64_t j = 0; j < H - 1; ++j) ASSERT_NEAR(actual[j], state1.first[j], 1e-12) << "step " << t;
      }
      const Vector last = stream_of(result.states[0].h.value(), b);
      for (int64_t j = 0; j < H; ++j) ASSERT_NEAR(last[j], state0.first[j], 1e-12);
      ASSERT_EQ(model.has_memory(), !state0.second.empty());
      if (!model.has_memory()) continue;
      const Vector memory = stream_of(result.states[0].c.value(), b);
      for (int64_t j = 0; j < H; ++j) ASSERT_NEAR(memory[j], state0.second[j], 1e-12);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellValues, testing::Range(size_t{0}, references.size()),
                         [](const auto& instance) { return references[instance.param].first; });

TEST(CellValues, AreHeldToALoopForEveryCell) {
  ASSERT_TRUE(known);
  std::vector<std::string> names;
  for (const auto& [name, reference] : references) names.push_back(name);
  std::vector<std::string> row_by_row;  // not those with statistics of the batch: batch_norm_test.cpp
  for (const std::string& name : cell_names())
    if (Model(name, variants[0]).buffers().empty()) row_by_row.push_back(name);
  EXPECT_EQ(names, row_by_row);
}

// ---- What the papers say of their cells.

/// The outputs of two models whose parameters of one name are equal; `prepare` sets those of the first that
/// the second lacks.
double largest_difference(const std::string& one, const std::string& two,
                          const std::function<void(Model&)>& prepare) {
  Model first(one, {1, 0}), second(two, {1, 0});
  for (const Segment& segment : second.segments()) {
    const Tensor from = value_of(first, segment.name), to = value_of(second, segment.name);
    fill_uniform(from, {.seed = 5, .name = hash_of(segment.name)}, -1, 1);
    copy(from, to);
  }
  prepare(first);
  const Vector a = first.run().output.value().to_vector(), b = second.run().output.value().to_vector();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

void fill_all(Module& model, const std::string& begin, real value) {
  for (const Segment& segment : model.segments())
    if (segment.name.starts_with("rnn." + begin + "_l")) fill(value_of(model, segment.name), value);
}

// Maupome & Meurs, (3)-(6): W_i = V diag(W_mx e_i) W_mh.
TEST(MultiplicativeRnn, IsATensorRnnWithFactorizedMatrices) {
  Model factors("mrnn", {1, 3}), tensor("trnn", {1, 0});
  for (const Segment& segment : tensor.segments())
    if (segment.name.find("weight_hx") == std::string::npos)
      copy(value_of(factors, segment.name), value_of(tensor, segment.name));
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t input = layer == 0 ? I : H, units = layer == 0 ? H : H - 1, M = 3;
    const std::string suffix = "_l" + std::to_string(layer);
    const Vector V = value_of(factors, "rnn.weight_hm" + suffix).to_vector(),
                 W_mx = value_of(factors, "rnn.weight_mx" + suffix).to_vector(),
                 W_mh = value_of(factors, "rnn.weight_mh" + suffix).to_vector();
    real* W = value_of(tensor, "rnn.weight_hx" + suffix).write();
    for (int64_t j = 0; j < units; ++j)
      for (int64_t k = 0; k < units; ++k)
        for (int64_t i = 0; i < input; ++i) {
          real& element = W[(j * units + k) * input + i] = 0;
          for (int64_t m = 0; m < M; ++m) element += V[j * M + m] * W_mx[m * input + i] * W_mh[m * units + k];
        }
  }
  const Vector a = factors.run().output.value().to_vector(), b = tensor.run().output.value().to_vector();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12);
}

// Wu et al. 2016, section 2.2.
TEST(MultiplicativeIntegration, WithAlphaZeroAndBetasOneIsThePlainCell) {
  for (const auto& [integrated, plain] :
       {std::pair{"mi_rnn", "rnn"}, {"linear_mi_rnn", "linear_rnn"}, {"mi_lstm", "lstm"}, {"mi_gru", "gru"}})
    EXPECT_LE(largest_difference(integrated, plain,
                                 [](Model& model) {
                                   fill_all(model, "alpha", 0);
                                   fill_all(model, "beta1", 1);
                                   fill_all(model, "beta2", 1);
                                 }),
              1e-12)
        << integrated;
}

TEST(MultiplicativeIntegration, WithAlphaOneAndBetasZeroIsTheSimpleForm) {
  EXPECT_LE(largest_difference("mi_rnn", "mi_rnn_simple",
                               [](Model& model) {
                                 fill_all(model, "alpha", 1);
                                 fill_all(model, "beta1", 0);
                                 fill_all(model, "beta2", 0);
                               }),
            1e-12);
}

// Wu et al. 2016, section 4.1: h_t[j] = p(x_1..x_t, state j), with emissions W and transitions U.
TEST(MultiplicativeIntegration, OfALinearRnnIsTheForwardAlgorithm) {
  constexpr int64_t states = 3, symbols = 4, steps = 6;
  struct Hmm : Module {
    Hmm() { finalize(1); }
    RecurrentStack stack{*this, "rnn", "linear_mi_rnn", {pytorch_cell(symbols, states)}, 0};
  } model;
  fill_all(model, "alpha", 1);
  for (const char* zero : {"beta1", "beta2", "bias_ih"}) fill_all(model, zero, 0);
  const Tensor W = value_of(model, "rnn.weight_ih_l0"), U = value_of(model, "rnn.weight_hh_l0");
  fill_uniform(W, {.seed = 1}, real(0.1), 1);
  fill_uniform(U, {.seed = 2}, real(0.1), 1);
  for (int64_t j = 0; j < states; ++j) {
    double emitted = 0, left = 0;
    for (int64_t i = 0; i < symbols; ++i) emitted += W.data()[j * symbols + i];
    for (int64_t i = 0; i < states; ++i) left += U.data()[i * states + j];
    for (int64_t i = 0; i < symbols; ++i) W.write()[j * symbols + i] /= emitted;
    for (int64_t i = 0; i < states; ++i) U.write()[i * states + j] /= left;
  }
  const std::vector<int32_t> observed = {2, 0, 3, 3, 1, 2};
  const Vector start = {0.5, 0.2, 0.3};
  const Variable x = reshape(one_hot(tokens(observed), symbols), {steps, 1, symbols});
  const auto result = model.stack(x, {{Variable(Tensor::from(start, {1, states})), {}}});
  // By the definition: the sum over all paths of states.
  Vector expected(states);
  const auto follow = [&](auto&& self, int64_t t, int64_t from, double p) -> void {
    if (t == steps) {
      expected[from] += p;
      return;
    }
    for (int64_t to = 0; to < states; ++to)
      self(self, t + 1, to, p * U.data()[to * states + from] * W.data()[to * symbols + observed[t]]);
  };
  for (int64_t j = 0; j < states; ++j) follow(follow, 0, j, start[j]);
  for (int64_t j = 0; j < states; ++j)
    EXPECT_NEAR(result.output.value()[steps - 1].data()[j], expected[j], 1e-12);
}

// ---- The whole model.

class LanguageModelGradient : public testing::TestWithParam<std::string> {};

TEST_P(LanguageModelGradient, OfTheLoss) {
  const auto check = [&](const std::function<void(LanguageModelOptions&)>& change) {
    LanguageModelOptions options;
    options.cell = GetParam();
    options.embedding = 3;
    options.hidden = {4, 3};
    options.dropout = 0.3;
    change(options);
    LanguageModel model(options, 7, 11);
    model.set_training(true);
    model.set_statistics_rate({});  // two rows' own statistics are too steep for differences of 1e-5
    const LanguageModel::Input input{tokens({0, 3, 6, 3, 3, 1, 2, 6}), 4, 2};
    const Tokens targets = tokens({3, 6, 3, 3, -1, 2, 6, 0});
    expect_parameter_gradients(model, [&] {
      model.begin_update({.seed = 2, .update = 5, .slice = {2, 0, 2}});
      return model.cross_entropy(model.forward(input, model.initial_states(2)).output, targets).total;
    });
  };
  check([](LanguageModelOptions&) {});
  check([](LanguageModelOptions& options) { options.tied = true; });
  check([](LanguageModelOptions& options) { options.output_layers = {5, 6}; });
  check([](LanguageModelOptions& options) { options.embedding = 0; });  // one-hot
  check([](LanguageModelOptions& options) { options.output_layers = {5, 3}, options.tied = true; });
}

TEST(WeightDrop, ZeroesAboutHalfOfTheRecurrentWeightsAndDoublesTheRest) {
  Model model("lstm_weight_drop", variants[0]);
  auto& cell = dynamic_cast<LstmWeightDrop&>(*model.stack.layers()[0]);
  const auto in_force = [&](uint64_t update) {
    model.set_training(true);
    model.begin_update({.seed = 1, .update = update, .slice = {}});
    cell.begin_chunk();
    return static_cast<const Variable&>(cell.U).value().to_vector();
  };
  const Vector trained = cell.U.weight.variable().value().to_vector(), first = in_force(0);
  int64_t zeros = 0;
  for (size_t i = 0; i < trained.size(); ++i) {
    if (first[i] == 0)
      ++zeros;
    else
      EXPECT_EQ(first[i], 2 * trained[i]);
  }
  EXPECT_NEAR(static_cast<double>(zeros), 0.5 * static_cast<double>(trained.size()), 20);  // of 100
  EXPECT_EQ(in_force(0), first);
  EXPECT_NE(in_force(1), first);
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelGradient, testing::ValuesIn(cell_names()), name_of);

}  // namespace
}  // namespace rondo
