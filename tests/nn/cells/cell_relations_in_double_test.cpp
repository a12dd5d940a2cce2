// What the papers say of their cells: which is a special case of which.
#include <gtest/gtest.h>

#include "autograd/functions.h"
#include "tests/nn/recurrent/stack_model.h"

namespace rondo::cell_relations_test {
namespace {

using Vector = std::vector<double>;
constexpr int64_t H = StackModel::H;

/// The outputs of two models whose parameters of one name are equal; `prepare` sets those of the first that
/// the second lacks.
double largest_difference(const std::string& one, const std::string& two,
                          const std::function<void(StackModel&)>& prepare) {
  const Condition one_bias{.name = "", .settings = {{"biases", {1}}}};  // where there may be two
  StackModel first(one, one_bias), second(two, one_bias);
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
  StackModel factors("mrnn", {.name = "", .settings = {{"intermediate", {3}}}}), tensor("trnn", {});
  for (const Segment& segment : tensor.segments())
    if (segment.name.find("weight_hx") == std::string::npos)
      copy(value_of(factors, segment.name), value_of(tensor, segment.name));
  for (int64_t layer = 0; layer < 2; ++layer) {
    const int64_t input = layer == 0 ? tensor.condition.input : H, units = layer == 0 ? H : H - 1, M = 3;
    const std::string suffix = "_l" + std::to_string(layer);
    const Vector V = value_of(factors, "rnn.weight_hm" + suffix).to_vector(),
                 W_mx = value_of(factors, "rnn.weight_mx" + suffix).to_vector(),
                 W_mh = value_of(factors, "rnn.weight_mh" + suffix).to_vector();
    const Tensor W = value_of(tensor, "rnn.weight_hx" + suffix);
    for (int64_t j = 0; j < units; ++j)
      for (int64_t k = 0; k < units; ++k)
        for (int64_t i = 0; i < input; ++i) {
          real& element = W.mutable_data()[place_of(W, (j * units + k) * input + i)] = 0;
          for (int64_t m = 0; m < M; ++m) element += V[j * M + m] * W_mx[m * input + i] * W_mh[m * units + k];
        }
  }
  const Vector a = factors.run().output.value().to_vector(), b = tensor.run().output.value().to_vector();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12);
}

// Wu et al. 2016, section 2.2.
TEST(MultiplicativeIntegration, WithAlphaZeroAndBetasOneIsThePlainCell) {
  for (const auto& [integrated, plain] : {std::pair{"mi_rnn", "rnn"},
                                          {"linear_mi_rnn", "linear_rnn"},
                                          {"mi_lstm", "lstm"},
                                          {"mi_gru", "gru"},
                                          {"bn_mi_lstm", "bn_lstm"}})
    EXPECT_LE(largest_difference(integrated, plain,
                                 [](StackModel& model) {
                                   fill_all(model, "alpha", 0);
                                   fill_all(model, "beta1", 1);
                                   fill_all(model, "beta2", 1);
                                 }),
              1e-12)
        << integrated;
}

TEST(MultiplicativeIntegration, WithAlphaOneAndBetasZeroIsTheSimpleForm) {
  EXPECT_LE(largest_difference("mi_rnn", "mi_rnn_simple",
                               [](StackModel& model) {
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
    RecurrentStack stack{*this, "rnn", {.cell = "linear_mi_rnn", .layers = {pytorch_cell(symbols, states)}}};
  } model;
  fill_all(model, "alpha", 1);
  for (const char* zero : {"beta1", "beta2", "bias_ih"}) fill_all(model, zero, 0);
  const Tensor W = value_of(model, "rnn.weight_ih_l0"), U = value_of(model, "rnn.weight_hh_l0");
  fill_uniform(W, {.seed = 1}, real(0.1), 1);
  fill_uniform(U, {.seed = 2}, real(0.1), 1);
  for (int64_t j = 0; j < states; ++j) {
    double emitted = 0, left = 0;
    for (int64_t i = 0; i < symbols; ++i) emitted += W.data()[place_of(W, j * symbols + i)];
    for (int64_t i = 0; i < states; ++i) left += U.data()[place_of(U, i * states + j)];
    for (int64_t i = 0; i < symbols; ++i) W.mutable_data()[place_of(W, j * symbols + i)] /= emitted;
    for (int64_t i = 0; i < states; ++i) U.mutable_data()[place_of(U, i * states + j)] /= left;
  }
  const std::vector<int32_t> observed = {2, 0, 3, 3, 1, 2};
  const Vector start = {0.5, 0.2, 0.3};
  const Variable x = reshape(one_hot(tokens(observed), symbols), {steps, 1, symbols});
  const auto result = model.stack(x, {State{Variable(Tensor::from(start, {1, states}))}});
  // By the definition: the sum over all paths of states.
  Vector expected(states);
  const auto follow = [&](auto&& self, int64_t t, int64_t from, double p) -> void {
    if (t == steps) {
      expected[from] += p;
      return;
    }
    for (int64_t to = 0; to < states; ++to)
      self(self, t + 1, to,
           p * U.data()[place_of(U, to * states + from)] * W.data()[place_of(W, to * symbols + observed[t])]);
  };
  for (int64_t j = 0; j < states; ++j) follow(follow, 0, j, start[j]);
  for (int64_t j = 0; j < states; ++j)
    EXPECT_NEAR(result.output.value()[steps - 1].data()[j], expected[j], 1e-12);
}

}  // namespace
}  // namespace rondo::cell_relations_test
