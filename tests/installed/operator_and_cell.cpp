// A program beside Rondo, with a pointwise operator and a cell of its own: it checks their gradients and
// trains a small language model on them. Exit status 0: all is as it should be. Rondo's own tests call
// nothing here: what counts is that it compiles, links and runs against what `make install` leaves, with
// flags of its own.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/gradient_check.h"
#include "autograd/operators.h"
#include "data/text/streams.h"
#include "data/text/vocabulary.h"
#include "nn/cells/join.h"
#include "nn/models/language_model.h"
#include "optim/optimizer.h"
#include "optim/step_control.h"
#include "tensor/kernels/operator_entries.h"

#ifdef __AVX2__
#error "compile this as a program that knows nothing of the machine: without -march=native"
#endif

using namespace rondo;

namespace {

/// A gate f between the old state and a candidate with slower tails than tanh.
struct SoftsignUpdate {
  static constexpr auto name = "softsign_update";
  static constexpr auto equation = "h' = (1 - s(f)) h + s(f) n / (1 + |n|)";
  HD auto operator()(auto f, auto n, auto h) const { return h + sigmoid(f) * (n / (1 + abs(n)) - h); }
};

/// The minimal gated unit (Zhou et al. 2016) with that update.
struct SoftsignUnit : Cell {
  using Settings = SettingsOf<GateBiasSettings>;

  SoftsignUnit(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        biases(*this, {gates}),
        z(*this, "weight_ih", gates, biases.all()),
        U(*this, "weight_hh", gates, hidden()) {}

  State step(StepInputs& x, const State& previous) override {
    const int64_t H = hidden();
    const Variable& h = previous.h;
    const Variable f = add_linear(x[z].slice_columns(0, H), h, U.rows(0, H));
    const Variable n = add_linear(x[z].slice_columns(H, 2 * H), sigmoid(f) * h, U.rows(H, 2 * H));
    return {pointwise(SoftsignUpdate{}, f, n, previous.h_unmasked()), {}};
  }

  const GateRows gates = GateRows(2, hidden());  // f, n
  GateBiases biases;
  Projection z;
  Recurrent U;
};

/// One layer of it; its parameters are uniform random numbers.
struct OneLayer : Module {
  OneLayer() { finalize(1); }
  SoftsignUnit cell{*this, "", pytorch_cell(3, 4)};

  /// The states after each step of x [T, B, 3], one below the other.
  Variable operator()(const Variable& x) {
    cell.begin_chunk();
    State state = cell.initial_state(2);
    std::vector<Variable> states;
    for (StepInputs& inputs : cell.project(x)) {
      state = cell.step(inputs, state);
      states.push_back(state.h);
    }
    return concat(states);
  }
};

int failures = 0;

void expect(bool holds, const std::string& what) {
  std::printf("%s  %s\n", holds ? "good" : "BAD ", what.c_str());
  failures += !holds;
}

void expect_gradients(const std::string& what, const GradientCheck& result) {
  expect(result.passed, fmt::format("gradients of {}: {}", what, result.worst));
}

/// Numbers between -1.5 and 1.5, none of them near 0, where |n| has no derivative.
Tensor numbers(const Shape& shape, double start) {
  const Tensor result(shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    const double wave = std::sin(start + 1.7 * static_cast<double>(i));
    result.mutable_data()[i] = static_cast<real>(wave + (wave < 0 ? -0.5 : 0.5));
  }
  return result;
}

void check_operator() {
  // More columns than a register holds, by a number that no register divides.
  const Tensor f = numbers({2, 21}, 1), n = numbers({2, 21}, 2), h = numbers({2, 21}, 3);
  const Tensor y = pointwise(SoftsignUpdate{}, Variable(f), Variable(n), Variable(h)).value();
  double worst = 0;
  for (int64_t i = 0; i < y.size(); ++i) {
    const double gate = 1 / (1 + std::exp(-f.data()[i])),
                 candidate = n.data()[i] / (1 + std::abs(n.data()[i]));
    worst = std::max(worst, std::abs(y.data()[i] - ((1 - gate) * h.data()[i] + gate * candidate)));
  }
  expect(worst < 1e-6, fmt::format("values of the operator, within {:.1e}", worst));
  expect_gradients(
      "the operator",
      check_gradients([](const auto& in) { return pointwise(SoftsignUpdate{}, in[0], in[1], in[2]); },
                      {f, n, h}));
}

void check_cell() {
  OneLayer layer;
  expect_gradients("the cell",
                   check_gradients([&](const auto& in) { return layer(in[0]); }, {numbers({3, 2, 3}, 4)}));
}

/// Trains a model of the cell on a rhyme that repeats, which a model with a memory knows by heart at the end.
void check_training() {
  std::string book;
  for (int i = 0; i < 60; ++i) book += "a rondo is a round: its theme comes back, and back, and back.\n";
  const Text text = clean_text(book, "the book", Unit::characters);
  const Vocabulary vocabulary(text, {.unit = Unit::characters});
  const std::vector<int32_t> ids = vocabulary.encode(text).ids;

  LanguageModelOptions options;
  options.cell = "softsign_unit";
  options.hidden = {48};
  options.embedding = 16;
  LanguageModel model(options, vocabulary.size());
  const auto adam =
      make_optimizer({.kind = OptimizerKind::adam, .learning_rate = 0.01}, model.values(), model.gradients());
  Streams streams = Streams::for_training(ids, 8);
  Chunk chunk;
  double first = 0, last = 0;
  for (int update = 0; update < 150; ++update) {
    if (!streams.next(32, chunk)) {
      streams.seek(0);
      streams.next(32, chunk);
    }
    const auto [output, states] = model.forward({tokens(chunk.inputs), chunk.steps, chunk.streams},
                                                model.initial_states(chunk.streams));
    adam->zero_gradients();
    const Variable loss = model.cross_entropy(output, tokens(chunk.targets)).total / chunk.scored;
    loss.backward();
    clip_gradient_norm(model.gradients(), 1);
    adam->step(adam->learning_rate());
    last = loss.value().item();
    if (update == 0) first = last;
  }
  const double knowing_nothing = std::log(static_cast<double>(vocabulary.size()));
  expect(std::abs(first - knowing_nothing) < 0.3,
         fmt::format("the loss begins at {:.3f} nats, near log V = {:.3f}", first, knowing_nothing));
  expect(last < 0.25 * first, fmt::format("and falls to {:.3f}, below a quarter", last));
}

}  // namespace

int main() {
  add_pointwise_operators(cpu::operator_entries(OperatorList<SoftsignUpdate>{}));
  add_cell<SoftsignUnit>("softsign_unit");
  check_operator();
  check_cell();
  check_training();
  return failures == 0 ? 0 : 1;
}
