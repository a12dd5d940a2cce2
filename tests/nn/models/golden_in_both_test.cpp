// Rondo against numbers that PyTorch computed (tests/golden/make_golden.py): results, losses and all
// gradients.
#include "autograd/functions.h"
#include "nn/models/language_model.h"
#include "tests/golden/models.h"
#include "tests/nn/settings.h"

namespace rondo::golden_test {
namespace {

constexpr double tolerance = sizeof(real) == 4 ? 1e-5 : 1e-10;

const Golden& file() { return Golden::file(); }
Tensor tensor(const std::string& name) { return tensor_of(file(), name); }
void expect_equal(const Tensor& actual, const std::string& name) {
  expect_golden(actual.to_vector(), file(), name, tolerance);
}

void check_recurrent(const std::string& name, const std::string& cell, bool has_memory) {
  const std::string prefix = name + ".";
  StackAlone model({.cell = cell, .layers = {pytorch_cell(4, 5), pytorch_cell(5, 5)}});
  EXPECT_EQ(model.segments().size(), 8u);
  set_golden(model, file(), prefix, "");
  const Leaf x(tensor(prefix + "input")), h0(tensor(prefix + "h0")),
      c0(has_memory ? tensor(prefix + "c0") : Tensor::zeros({1}));
  std::vector<State> states;
  for (int64_t layer = 0; layer < 2; ++layer)
    states.push_back({h0.variable[layer], has_memory ? c0.variable[layer] : Variable()});

  const auto result = model.stack(x.variable, states);
  const Variable h_n = stack({result.states[0].h, result.states[1].h});
  expect_equal(result.output.value(), prefix + "output");
  expect_equal(h_n.value(), prefix + "h_n");
  Variable loss = sum(result.output * Variable(tensor(prefix + "loss_weight.output"))) +
                  sum(h_n * Variable(tensor(prefix + "loss_weight.h_n")));
  if (has_memory) {
    const Variable c_n = stack({result.states[0].c, result.states[1].c});
    expect_equal(c_n.value(), prefix + "c_n");
    loss = loss + sum(c_n * Variable(tensor(prefix + "loss_weight.c_n")));
  }
  expect_equal(loss.value(), prefix + "loss");
  loss.backward();
  expect_equal(x.gradient, prefix + "gradient.input");
  expect_equal(h0.gradient, prefix + "gradient.h0");
  if (has_memory) expect_equal(c0.gradient, prefix + "gradient.c0");
  expect_golden_gradients(model, file(), prefix, tolerance, "");
}

TEST(Golden, Rnn) { check_recurrent("rnn", "rnn", false); }
TEST(Golden, Lstm) { check_recurrent("lstm", "lstm", true); }
TEST(Golden, GruWithResetAfter) { check_recurrent("gru", "gru_reset_after", false); }

TEST(Golden, LogSoftmax) {
  const Leaf x(tensor("log_softmax.input"));
  const Variable y = log_softmax(x.variable);
  expect_equal(y.value(), "log_softmax.output");
  const Variable loss = sum(y * Variable(tensor("log_softmax.loss_weight.output")));
  expect_equal(loss.value(), "log_softmax.loss");
  loss.backward();
  expect_equal(x.gradient, "log_softmax.gradient.input");
}

TEST(Golden, LanguageModel) {
  LanguageModelOptions options;
  set(options, "cell=lstm embedding=4 hidden=[5]");
  LanguageModel model(options, 11);
  EXPECT_EQ(model.segments().size(), 7u);
  set_golden(model, file(), "language_model.", "lstm.");
  const LanguageModel::Input input{tokens_of(file(), "language_model.tokens"), 4, 3};
  const Tokens targets = tokens_of(file(), "language_model.targets");

  const auto output = model.forward(input, model.initial_states(3)).output;
  expect_equal(model.logits(output).value(), "language_model.logits");
  expect_equal(log_softmax(model.logits(output)).value(), "language_model.log_probabilities");
  const Variable loss = model.cross_entropy(output, targets).total * (real(1) / targets->size());
  expect_equal(loss.value(), "language_model.loss");
  loss.backward();
  expect_golden_gradients(model, file(), "language_model.", tolerance, "lstm.");
}

}  // namespace
}  // namespace rondo::golden_test
