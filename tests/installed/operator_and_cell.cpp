// A program beside Rondo, with a pointwise operator and a cell of its own: it checks their gradients, trains
// a language model on them by the commands of `lm`, and opens the run that this leaves. Exit status 0: all is
// as it should be. Rondo's own tests call nothing here: what counts is that it compiles, links and runs
// against what `make install` leaves, with flags of its own.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "autograd/functions.h"
#include "autograd/gradient_check.h"
#include "autograd/operators.h"
#include "data/text/text.h"
#include "lm/commands/all_commands.h"
#include "lm/decoding/sampling.h"
#include "lm/program/run.h"
#include "nn/cells/join.h"
#include "tensor/kernels/operator_entries.h"

#ifdef __AVX2__
#error "compile this as a program that knows nothing of the machine: without -march=native"
#endif

using namespace rondo;
namespace fs = std::filesystem;

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
  using Cell::Cell;

  State step(StepInputs& x, const State& previous) override {
    const int64_t H = hidden();
    const Variable& h = previous.h;
    const Variable f = add_linear(x[z].slice_columns(0, H), h, U.rows(0, H));
    const Variable n = add_linear(x[z].slice_columns(H, 2 * H), sigmoid(f) * h, U.rows(H, 2 * H));
    return {pointwise(SoftsignUpdate{}, f, n, previous.h_unmasked()), {}};
  }

  const GateRows gates = GateRows(2, hidden());  // f, n
  GateBiases biases{*this, {gates}};
  Projection z{*this, "weight_ih", gates, biases.all()};
  Recurrent U{*this, "weight_hh", gates, hidden()};
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

/// Trains a model of the cell by `lm` on a rhyme that repeats, and opens the run: it knows the rhyme by
/// heart.
void check_training() {
  const fs::path folder = fs::temp_directory_path() / "operator_and_cell";
  fs::remove_all(folder);
  fs::create_directory(folder);
  fs::current_path(folder);
  const std::string rhyme = "a rondo is a round whose theme comes again.\n";
  std::ofstream book("book.txt");
  for (int i = 0; i < 400; ++i) book << rhyme;
  book.close();

  const std::vector<const char*> words = {"lm",       "train",
                                          "--recipe", "char-lstm",
                                          "--data",   "book.txt",
                                          "--out",    "run",
                                          "--steps",  "150",
                                          "--set",    "train.learning_rate=0.01",
                                          "--set",    "model.cell=softsign_unit",
                                          "--set",    "train.batch=8",
                                          "--set",    "train.length=32",
                                          "--set",    "model.layers=1",
                                          "--set",    "model.hidden=48"};
  expect(run_program(static_cast<int>(words.size()), words.data(), all_commands()) == 0,
         "lm trains the cell");

  OpenRun run = open_run("run");
  auto& task = run.task_as<LanguageModellingTask>("language_modelling");
  task.open({.path = "book.txt"});
  const double nats = task.measure(*run.model, "test", show_nothing).value();
  expect(nats < 0.2, fmt::format("the opened run has {:.4f} nats per symbol", nats));
  Sampler sampler(dynamic_cast<LanguageModel&>(*run.model), task.vocabulary(), {.temperature = 0});
  sampler.read(task.vocabulary().encode(clean_text(rhyme, "the rhyme", Unit::characters)).ids);
  std::string text;
  while (text.size() < rhyme.size()) text += sampler.next();
  expect(text == rhyme, "it generates " + text);
}

}  // namespace

/// With words it is an `lm` that knows the cell as well.
int main(int argc, char** argv) {
  add_pointwise_operators(cpu::operator_entries(OperatorList<SoftsignUpdate>{}));
  add_cell<SoftsignUnit>("softsign_unit");
  if (argc > 1) return run_program(argc, argv, all_commands());
  check_operator();
  check_cell();
  check_training();
  return failures == 0 ? 0 : 1;
}
