// Recurrent layers: initial states, gradients of weights, what does not fit them, and memory that is used
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/cells/gru.h"
#include "nn/cells/rnn.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"
#include "nn/models/skip_thought.h"
#include "tensor/allocator.h"
#include "tensor/profile.h"
#include "tests/nn/models/small_model.h"
#include "tests/nn/parameters.h"
#include "tests/nn/recurrent/stack_model.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;

// Rows of so many units lie apart if there are more than 8 of them (Tensor::for_products()).
TEST(RecurrentStack, RowsWithGapsGiveWhatRowsWithoutGive) {
  LanguageModelOptions options = small();
  constexpr int64_t units = 2048 / sizeof(real);
  options.embedding = units;
  options.hidden = {units, units};
  const int64_t T = 3, B = 4;
  LanguageModel model(options, 11);
  Numbers features[2];
  const auto gradient = [&](int64_t rows, Numbers& of) {
    fill(model.gradients(), 0);
    for (int64_t first = 0; first < B; first += rows) {
      std::vector<int32_t> ids, targets;
      for (int64_t t = 0; t < T; ++t)
        for (int64_t b = first; b < first + rows; ++b) {
          ids.push_back(static_cast<int32_t>((t * B + b) % 11));
          targets.push_back(static_cast<int32_t>((t * B + b + 5) % 11));
        }
      const auto result = model.forward({tokens(ids), T, rows}, model.initial_states(rows));
      if (first == 0)
        of = result.output.features.value().slice_rows((T - 1) * rows, (T - 1) * rows + 2).to_vector();
      model.cross_entropy(result.output, tokens(targets)).total.backward();
    }
    return model.gradients().to_vector();
  };
  const Numbers with = gradient(B, features[0]), without = gradient(2, features[1]);
  ASSERT_EQ(with.size(), without.size());
  for (size_t i = 0; i < with.size(); ++i) ASSERT_NEAR(with[i], without[i], 1e-5) << i;
  for (size_t i = 0; i < features[0].size(); ++i) ASSERT_NEAR(features[0][i], features[1][i], 1e-6) << i;
}

TEST(RecurrentStack, RefusesWhatDoesNotFit) {
  StackAlone model("lstm", 3, 4), gru("gru", 3, 4);
  const auto error = [&](const Shape& x, const std::vector<State>& states, const Lengths& lengths = {}) {
    return any_error_of([&] { model.stack(Variable(Tensor::zeros(x)), states, lengths); });
  };
  const auto zeros = model.stack.initial_states(2);
  EXPECT_EQ(error({2, 2, 3}, {{Variable(Tensor::zeros({2, 3})), zeros[0].c}}),
            "[lstm_l0] a state with h [2, 4], c [2, 4] was expected, got h [2, 3], c [2, 4]");
  EXPECT_EQ(error({2, 2, 3}, gru.stack.initial_states(2)),
            "[lstm_l0] a state with h [2, 4], c [2, 4] was expected, got h [2, 4]");
  EXPECT_EQ(any_error_of([&] {
              gru.stack(Variable(Tensor::zeros({2, 2, 3})), zeros);
            }),
            "[gru_l0] a state with h [2, 4] was expected, got h [2, 4], c [2, 4]");
  EXPECT_EQ(error({0, 2, 3}, zeros), "[lstm_l0] x is [T, B, 3], of one step or more, got [0, 2, 3]");
  EXPECT_EQ(error({2, 2, 5}, zeros), "[lstm_l0] x is [T, B, 3], of one step or more, got [2, 2, 5]");
  EXPECT_EQ(error({2, 2, 3}, {}), "[recurrent] 1 cells need 1 states, got 0");
  EXPECT_EQ(error({2, 2, 3}, zeros, {1}), "[recurrent] 2 rows need as many lengths, got 1");
  EXPECT_EQ(error({2, 2, 3}, zeros, {1, 3}), "[recurrent] a length from 0 to 2 was expected: 3");
  const auto built = [&](const std::vector<LayerOptions>& layers, bool bidirectional) {
    return any_error_of(
        [&] { StackAlone({.cell = "lstm", .layers = layers, .bidirectional = bidirectional}); });
  };
  EXPECT_EQ(built({pytorch_cell(3, 4), pytorch_cell(5, 4)}, false),
            "[lstm_l1] reads 5 numbers a step, but is given 4");
  EXPECT_EQ(built({pytorch_cell(3, 4), pytorch_cell(4, 4)}, true),
            "[lstm_l1] reads 4 numbers a step, but is given 8");
  EXPECT_EQ(built({{pytorch_cell(3, 4), pytorch_cell(2, 4)}}, false),
            "[lstm_l0_minor] reads 2 numbers a step, but is given 3");
}

/// A cell that loses a part of its state when it is told to.
struct Careless : Rnn<> {
  using Rnn<>::Rnn;
  static inline bool loses = false;
  std::vector<StateTensor> state_tensors() const override { return {{"h", hidden()}, {"memory", 2}}; }
  State step(StepInputs& x, const State& previous) override {
    State next = Rnn<>::step(x, previous);
    if (!loses) next.others = previous.others;
    return next;
  }
};

TEST(RecurrentLayer, NamesACellWhoseStepLosesAPartOfItsState) {
  static const bool known = (add_cell<Careless>("careless"), true);
  ASSERT_TRUE(known);
  StackAlone model("careless", 3, 4);
  const auto run = [&] { model.stack(Variable(Tensor::zeros({2, 2, 3})), model.stack.initial_states(2)); };
  EXPECT_NO_THROW(run());
  Careless::loses = true;
  EXPECT_EQ(any_error_of(run),
            "[careless_l0] a step returned a state of h, which are not those of state_tensors()");
  Careless::loses = false;
}

struct OneCell : Module {
  OneCell() { finalize(1); }
  Gru<> cell{*this, "", pytorch_cell(2, 3)};
};

TEST(Recurrent, HasAnEffectiveValueOnlyAfterBeginChunk) {
  OneCell model;
  auto inputs = model.cell.project(Variable(Tensor::zeros({1, 4, 2})));
  EXPECT_EQ(any_error_of([&] { model.cell.step(inputs[0], model.cell.initial_state(4)); }),
            "[weight_hh] begin_chunk() of the cell comes before its steps");
}

// ---- Memory that is used again.

TEST(RecurrentStack, BackwardOverwritesNothingThatSomeoneHolds) {
  for (const std::string& cell : cell_names()) {
    LanguageModel model(small(cell), 11);
    const int64_t T = 4, B = 3;
    const LanguageModel::Input input{tokens({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1}), T, B};
    const LanguageModel::Result result = model.forward(input, model.initial_states(B));
    const Numbers output = result.output.features.value().to_vector(),
                  h = result.states[0].h.value().to_vector();
    sum(square(result.output.features)).backward();
    EXPECT_EQ(result.output.features.value().to_vector(), output) << cell;
    EXPECT_EQ(result.states[0].h.value().to_vector(), h) << cell;
  }
}

TEST(Memory, OneLayersGatesAndTheirGradientsShareABuffer) {
  StackAlone layer("lstm", 8, 64);
  const int64_t T = 100, B = 32, H = 64;
  const Tensor x = Tensor::filled({T, B, 8}, real(0.1));
  const auto train = [&] {
    const auto result = layer.stack(Variable(x), layer.stack.initial_states(B));
    sum(result.output).backward();
  };
  train();  // the weight's packs
  const size_t before = memory_statistics(Device::cpu).bytes_in_use;
  reset_peak_bytes(Device::cpu);
  train();
  const double units = static_cast<double>(T * B * H * static_cast<int64_t>(sizeof(real)));
  const double peak = static_cast<double>(memory_statistics(Device::cpu).peak_bytes - before) / units;
  EXPECT_GE(peak, 6);  // 4 gates, c, h
  EXPECT_LE(peak, 8);  // and the gradient of h; with a second buffer for gates it would be 11
}

TEST(StepInputs, KeepWhatIsHeldAsItIs) {
  OneCell model;
  model.cell.begin_chunk();
  auto inputs = model.cell.project(Variable(Tensor::filled({1, 4, 2}, 1)));
  const Variable& held = inputs[0][model.cell.W];
  const Numbers before = held.value().to_vector();
  model.cell.step(inputs[0], model.cell.initial_state(4));
  EXPECT_EQ(held.value().to_vector(), before);
}

TEST(StepInputs, HandOutWhatIsTakenOnce) {
  OneCell model;
  const Variable x(Tensor::zeros({2, 1, 2}));
  auto steps = model.cell.project(x);
  ASSERT_EQ(steps.size(), 2u);
  const Projection& gates = model.cell.W;
  EXPECT_EQ(steps[0][gates].shape(), (Shape{1, 9}));
  EXPECT_EQ(steps[0].take(gates).shape(), (Shape{1, 9}));
  EXPECT_EQ(any_error_of([&] { (void)steps[0][gates]; }),
            "[cell] this step has taken the projection already; take() is for its last use");
  EXPECT_THROW(steps[0].take(gates), Error);
  EXPECT_EQ(steps[1].take(gates, 0, 6).shape(), (Shape{1, 6}));
  EXPECT_EQ(any_error_of([&] { steps[1].take(gates, 3, 9); }),
            "[cell] columns [3, 9) of a projection are taken already");
  EXPECT_EQ(steps[1].take(gates, 6, 9).shape(), (Shape{1, 3}));
}

// ---- the gradient of a recurrent weight is one product over all steps, whatever the cell ----

class WeightGradients : public testing::TestWithParam<std::string> {};

TEST_P(WeightGradients, AreProductsOverAllSteps) {
  constexpr int64_t T = 7, B = 3;
  StackAlone layer(GetParam(), 4, 5);
  const Variable x(Tensor::filled({T, B, 4}, real(0.5)));
  const Variable loss = sum(layer.stack(x, layer.stack.initial_states(B)).output);
  set_profiling(true);
  loss.backward();
  const std::vector<ProfileEntry> entries = profile();
  set_profiling(false);
  int64_t products = 0;
  for (const ProfileEntry& entry : entries) {
    if (entry.kind != "gemm" || entry.name.find(" TN") == std::string::npos) continue;  // dZ^T X
    std::istringstream name(entry.name);                                                // as in 20x5x21 TN
    int64_t rows = 0, columns = 0, terms = 0;
    char by = 0;
    ASSERT_TRUE(name >> rows >> by >> columns >> by >> terms) << entry.name;
    EXPECT_EQ(terms, T * B) << entry.name;
    products += entry.calls;
  }
  int64_t weights = 0;
  for (const Segment& segment : layer.segments()) weights += segment.shape.dimensions() == 2;
  EXPECT_GE(products, weights);
  EXPECT_LE(products, 4 * weights);  // a gate whose input is its own has a product of its own
}

/// All but the tensor RNN, which makes a matrix for each symbol of each stream.
std::vector<std::string> cells_that_reuse_weights() {
  std::vector<std::string> names = cell_names();
  std::erase(names, "trnn");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cells, WeightGradients, testing::ValuesIn(cells_that_reuse_weights()),
                         [](const auto& instance) { return instance.param; });

// ---- trained initial states: which cells have which, where they begin, and the models that have none ----

StackAlone stack_of(const std::string& cell, bool trained) {
  CellOptions layer = pytorch_cell(4, 6), next = pytorch_cell(12, 6);
  layer.trained_initial_state = next.trained_initial_state = trained;
  return StackAlone({.cell = cell, .layers = {layer, next}, .bidirectional = true});
}
std::vector<std::string> initial(const Module& model) {
  std::vector<std::string> names;
  for (const Segment& segment : model.segments())
    if (segment.name.find("0_l") != std::string::npos) names.push_back(segment.name);
  return names;
}

class InitialStates : public testing::TestWithParam<std::string> {};

TEST_P(InitialStates, AreOneVectorForEachLayerAndDirection) {
  EXPECT_TRUE(initial(stack_of(GetParam(), false)).empty());
  const StackAlone model = stack_of(GetParam(), true);
  const Cell& cell = *model.stack.cells().front();
  std::vector<std::string> names;
  for (const char* suffix : {"_l0", "_l0_reverse", "_l1", "_l1_reverse"})
    for (const StateTensor& it : cell.state_tensors())
      if (it.trainable) names.push_back("rnn." + it.name + "0" + suffix);
  EXPECT_EQ(initial(model), names);

  real next = 0;
  for (const std::string& name : names) {
    const Tensor vector = value_of(model, name);
    EXPECT_EQ(vector.to_vector(), std::vector<real>(static_cast<size_t>(vector.size()))) << "at first 0";
    for (int64_t i = 0; i < vector.size(); ++i) vector.mutable_data()[i] = ++next;
  }
  const std::vector<State> states = model.stack.initial_states(3);
  next = 0;
  for (size_t layer = 0; layer < states.size(); ++layer)
    for (const State::Named& it : states[layer].tensors()) {
      const bool trained = std::ranges::count(names, "rnn." + it.name + "0_l0") > 0;
      const std::vector<real> rows = it.value.value().to_vector();
      const int64_t width = it.value.shape().columns();
      ASSERT_EQ(std::ssize(rows), 3 * width);
      for (int64_t i = 0; i < 3 * width; ++i)
        EXPECT_EQ(rows[static_cast<size_t>(i)], trained ? next + static_cast<real>(i % width) + 1 : 0)
            << it.name << " of cell " << layer;
      if (trained) next += static_cast<real>(width);
    }
}

INSTANTIATE_TEST_SUITE_P(EveryCell, InitialStates, testing::ValuesIn(cell_names()));

TEST(TrainedInitialStates, DecodersHaveNone) {
  EncoderDecoderOptions translator;
  translator.hidden = 6;
  translator.trained_initial_states = true;
  EXPECT_EQ(initial(EncoderDecoder(translator, 9, 9)),
            (std::vector<std::string>{"encoder.h0_l0", "encoder.c0_l0", "encoder.h0_l0_reverse",
                                      "encoder.c0_l0_reverse"}));
  SkipThoughtOptions sentences;
  sentences.hidden = 6;
  sentences.encoder = SkipEncoder::uni;
  sentences.cell = "gru";
  sentences.trained_initial_states = true;
  EXPECT_EQ(initial(SkipThought(sentences, 9)), std::vector<std::string>{"encoder.h0_l0"});
}

}  // namespace
}  // namespace rondo
