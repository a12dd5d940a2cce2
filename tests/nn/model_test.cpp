// Modules: names, counts, layout, initial values, dropout's keys, and state that is carried from chunk to
// chunk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/functions.h"
#include "autograd/operators.h"
#include "nn/cells/gru.h"
#include "nn/cells/rnn.h"
#include "nn/language_model.h"
#include "tensor/allocator.h"
#include "tests/nn/parameters.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

using Numbers = std::vector<real>;
using Names = std::map<std::string, std::string>;

Names names_of(const Module& model) {
  Names names;
  for (const Segment& segment : model.segments()) names[segment.name] = segment.shape.to_string();
  return names;
}

LanguageModelOptions small(const std::string& cell = "lstm") {
  LanguageModelOptions options;
  options.cell = cell;
  options.embedding = 4;
  options.hidden = {5, 6};
  return options;
}

TEST(LanguageModel, NamesAndShapesArePyTorchs) {
  EXPECT_EQ(names_of(LanguageModel(small(), 11)), (Names{{"embedding.weight", "[11, 4]"},
                                                         {"rnn.weight_ih_l0", "[20, 4]"},
                                                         {"rnn.weight_hh_l0", "[20, 5]"},
                                                         {"rnn.bias_ih_l0", "[20]"},
                                                         {"rnn.bias_hh_l0", "[20]"},
                                                         {"rnn.weight_ih_l1", "[24, 5]"},
                                                         {"rnn.weight_hh_l1", "[24, 6]"},
                                                         {"rnn.bias_ih_l1", "[24]"},
                                                         {"rnn.bias_hh_l1", "[24]"},
                                                         {"decoder.weight", "[11, 6]"},
                                                         {"decoder.bias", "[11]"}}));
  for (const auto& [cell, gates] : std::map<std::string, int>{
           {"rnn", 1}, {"lstm", 4}, {"lstm_sigmoid", 4}, {"gru", 3}, {"gru_reset_after", 3}}) {
    const Names names = names_of(LanguageModel(small(cell), 11));
    EXPECT_EQ(names.size(), 11u) << cell;
    EXPECT_EQ(names.at("rnn.weight_hh_l1"), fmt::format("[{}, 6]", 6 * gates)) << cell;
    EXPECT_EQ(names.at("rnn.weight_ih_l0"), fmt::format("[{}, 4]", 5 * gates)) << cell;
    EXPECT_EQ(names.at("rnn.bias_hh_l0"), fmt::format("[{}]", 5 * gates)) << cell;
  }
}

TEST(LanguageModel, CountsItsParameters) {
  const int64_t layers = 20 * (4 + 5 + 2) + 24 * (5 + 6 + 2);
  EXPECT_EQ(LanguageModel(small(), 11).parameter_count(), 44 + layers + 66 + 11);
  LanguageModelOptions options = small();
  options.bias_count = 1;
  const LanguageModel one_bias(options, 11);
  EXPECT_EQ(one_bias.parameter_count(), 44 + layers - 44 + 66 + 11);
  EXPECT_FALSE(has_parameter(one_bias, "rnn.bias_hh_l0"));
  options = small();
  options.output_layers = {7, 3};
  EXPECT_EQ(LanguageModel(options, 11).parameter_count(), 44 + layers + (42 + 7) + (21 + 3) + 33 + 11);
}

TEST(LanguageModel, TiedWeightsAreOneSegmentWithTwoNames) {
  LanguageModelOptions options = small();
  options.hidden = {5, 4};
  options.tied = true;
  const LanguageModel model(options, 11);
  EXPECT_FALSE(has_parameter(model, "decoder.weight"));
  EXPECT_EQ(segment_of(model, "embedding.weight").aliases, std::vector<std::string>{"decoder.weight"});
  EXPECT_EQ(model.parameter_count(), 44 + 20 * (4 + 5 + 2) + 16 * (5 + 4 + 2) + 11);
  for (const Segment& segment : model.segments())
    if (segment.name != "embedding.weight") {
      EXPECT_TRUE(segment.aliases.empty()) << segment.name;
    }
  options.hidden = {5, 6};
  EXPECT_EQ(error_of([&] { LanguageModel(options, 11); }),
            "tied input and output vectors need one size: the embedding is 4, the last layer 6");
}

// The models of Maupome & Meurs, Tables 1 and 2: one-hot, one bias a gate, 41 characters of the Penn Treebank
// and 29 of text8; 292K each, then 133K, then the larger mGRU of 2.1M and 877K.
TEST(LanguageModel, HasTheParametersOfThePapers) {
  struct Row {
    const char* cell;
    int64_t V, H, M, parameters;
  };
  for (const Row& row : {Row{"mlstm", 41, 700, 41, 291522},
                         {"tmlstm", 41, 530, 41, 291375},
                         {"tmgru", 41, 694, 41, 291706},
                         {"mgru", 41, 876, 41, 291678},
                         {"mlstm", 29, 450, 29, 133170},
                         {"tmlstm", 29, 341, 29, 133314},
                         {"tmgru", 29, 446, 29, 133230},
                         {"mgru", 29, 563, 29, 133175},
                         {"mgru", 41, 700, 700, 2105641},
                         {"mgru", 29, 450, 450, 876629}}) {
    LanguageModelOptions options;
    options.cell = row.cell;
    options.embedding = 0;
    options.hidden = {row.H};
    options.intermediate = row.M == row.V ? 0 : row.M;  // M = V is what the input gives
    options.bias_count = 1;
    EXPECT_EQ(LanguageModel(options, row.V).parameter_count(), row.parameters) << row.cell << " " << row.V;
  }
}

TEST(LanguageModel, RefusesWhatItCannotBe) {
  EXPECT_TRUE(
      error_of([] {
        LanguageModel(small("lstn"), 11);
      }).starts_with("there is no cell 'lstn'; the cells are rnn, linear_rnn, lstm, lstm_sigmoid, gru,"));
  EXPECT_THROW(LanguageModel(small("lstn"), 11), InputError);
  LanguageModelOptions options = small();
  options.hidden = {};
  EXPECT_THROW(LanguageModel(options, 11), InputError);
}

TEST(AddCell, MakesACellKnownOnce) {
  struct Mine : Rnn {
    using Rnn::Rnn;
    State step(StepInputs& x, const State& previous) override {
      return {Rnn::step(x, previous).h + real(7), {}};
    }
  };
  const std::vector<std::string> before = cell_names();
  EXPECT_EQ(error_of([] { add_cell<Mine>("lstm"); }), "[add_cell] 'lstm' is known already");
  EXPECT_EQ(cell_names(), before);
  add_cell<Mine>("mine");
  EXPECT_EQ(cell_names().back(), "mine");
  EXPECT_THROW(add_cell<Mine>("mine"), Error);
  LanguageModel model(small("mine"), 11);
  const auto result = model.forward({tokens({1, 2}), 2, 1}, model.initial_states(1));
  for (const real y : result.output.features.value().to_vector()) EXPECT_NEAR(y, 7, 1) << "the step of Mine";
}

// ---- Layout.

struct Pair : Module {
  Pair() : first(*this, "first", 3, 5), second(*this, "second", 5, 2) {}
  Linear first, second;
};

TEST(Module, LaysParametersOutOnceAndInTwoBuffers) {
  Pair model;
  EXPECT_EQ(model.parameter_count(), 20 + 12);
  EXPECT_EQ(error_of([&] { model.first.weight.variable(); }),
            "[first.weight] call finalize() on the model before using it");
  EXPECT_EQ(error_of([&] { (void)model.values(); }), "[model] call finalize() first");
  EXPECT_EQ(error_of([&] { model.first.finalize(1); }),
            "[finalize] 'first' is a part; finalize the whole model");
  model.finalize(1);
  EXPECT_EQ(error_of([&] { model.finalize(1); }), "[finalize] this model is laid out already");
  EXPECT_EQ(error_of([&] { Parameter late(model, "late", {3}, constant_values(0)); }),
            "[late] a parameter made after finalize() would not be trained");
  EXPECT_EQ(model.values().size(), model.gradients().size());
  int64_t end = 0;
  for (const Segment& segment : model.segments()) {
    EXPECT_GE(segment.offset, end);
    EXPECT_EQ(segment.offset % 16, 0);
    end = segment.offset + segment.shape.size();
  }
  EXPECT_LE(end, model.values().size());
  EXPECT_TRUE(model.first.weight.variable().value().shares_memory(model.values()));
}

TEST(Module, RefusesTwoParametersOfOneName) {
  struct Twice : Module {
    Parameter a{*this, "a", {2}, constant_values(0)}, b{*this, "a", {2}, constant_values(0)};
  };
  EXPECT_EQ(error_of([] { Twice(); }), "[a] two parameters of this name");
}

TEST(Module, PadsStayZero) {
  Pair model;
  model.finalize(1);
  const auto pads = [&](const Tensor& buffer) {
    Numbers values = buffer.to_vector();
    for (const Segment& segment : model.segments())
      std::fill_n(values.begin() + segment.offset, segment.shape.size(), real(0));
    return values;
  };
  const Numbers zeros(model.values().size(), 0);
  EXPECT_EQ(pads(model.values()), zeros);
  sum(square(model.second(tanh(model.first(Variable(Tensor::filled({4, 3}, 1))))))).backward();
  EXPECT_EQ(pads(model.gradients()), zeros);
  EXPECT_GT(sum_of_squares(model.gradients()), 0);
  accumulate(model.gradients(), model.values(), real(-0.1));
  EXPECT_EQ(pads(model.values()), zeros);
}

// ---- Initial values.

struct Initial : Module {
  Initial(Shape shape, Initializer initializer) : parameter(*this, "p", shape, initializer) { finalize(5); }
  Numbers values() const { return parameter.variable().value().to_vector(); }
  Parameter parameter;
};

TEST(Initializer, UniformFillsItsBounds) {
  const Numbers values = Initial({100, 100}, uniform_values(0.25)).values();
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*low, -0.25f);
  EXPECT_LE(*high, 0.25f);
  EXPECT_LT(*low, -0.249f);
  EXPECT_GT(*high, 0.249f);
}

TEST(Initializer, NormalHasItsDeviation) {
  const Initial model({100, 100}, normal_values(0.3));
  EXPECT_NEAR(std::sqrt(sum_of_squares(model.parameter.variable().value()) / 1e4), 0.3, 0.01);
}

TEST(Initializer, OrthogonalWithinEachBlock) {
  const auto check = [](int64_t rows, int64_t columns, int blocks) {
    const Numbers w = Initial({rows * blocks, columns}, orthogonal_values().per_gate(blocks)).values();
    for (int block = 0; block < blocks; ++block) {
      const real* at = w.data() + block * rows * columns;
      const bool tall = rows > columns;
      for (int64_t a = 0; a < std::min(rows, columns); ++a)
        for (int64_t b = 0; b <= a; ++b) {
          double inner = 0;
          for (int64_t i = 0; i < std::max(rows, columns); ++i)
            inner +=
                tall ? at[i * columns + a] * at[i * columns + b] : at[a * columns + i] * at[b * columns + i];
          ASSERT_NEAR(inner, a == b ? 1 : 0, 1e-5) << rows << "x" << columns << " block " << block;
        }
    }
    if (blocks > 1) {
      ASSERT_NE(w[0], w[rows * columns]);
    }
  };
  check(8, 8, 4);
  check(5, 9, 3);
  check(9, 5, 1);
  check(150, 150, 2);  // more vectors than are treated at once
  check(200, 130, 1);
  EXPECT_EQ(error_of([] {
              Initial({5, 4}, orthogonal_values().per_gate(2));
            }),
            "[orthogonal] [5, 4] does not split into 2 blocks of rows");
}

TEST(Initializer, PyTorchsBoundsAndTheForgetBias) {
  LanguageModelOptions options = small();
  const double bound = 1 / std::sqrt(5.0);
  const auto largest = [](const Tensor& x) {
    double most = 0;
    for (real value : x.to_vector()) most = std::max(most, std::abs(static_cast<double>(value)));
    return most;
  };
  {
    const LanguageModel model(options, 11);
    for (const char* name : {"rnn.weight_ih_l0", "rnn.weight_hh_l0", "rnn.bias_ih_l0", "rnn.bias_hh_l0"}) {
      EXPECT_LE(largest(value_of(model, name)), bound) << name;
      EXPECT_GT(largest(value_of(model, name)), 0.7 * bound) << name;
    }
    EXPECT_LE(largest(value_of(model, "decoder.weight")), 1 / std::sqrt(6.0));
  }
  const LanguageModel plain(options, 11, 3);
  options.forget_bias = 2;
  const LanguageModel biased(options, 11, 3);
  const Numbers before = value_of(plain, "rnn.bias_ih_l0").to_vector();
  const Numbers after = value_of(biased, "rnn.bias_ih_l0").to_vector();
  for (size_t i = 0; i < 20; ++i)  // gates are stacked i f g o
    EXPECT_FLOAT_EQ(after[i], before[i] + (5 <= i && i < 10 ? 2 : 0));
  EXPECT_EQ(value_of(plain, "rnn.bias_hh_l0").to_vector(), value_of(biased, "rnn.bias_hh_l0").to_vector());
}

TEST(Initializer, OneForEveryParameter) {
  LanguageModelOptions options = small();
  options.every = uniform_values(0.01);
  options.forget_bias = 1;
  const LanguageModel model(options, 11);
  for (const Segment& segment : model.segments()) {
    const Numbers values = value_of(model, segment.name).to_vector();
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t H = segment.name.ends_with("_l0") ? 5 : 6;
      const bool forget = segment.name.find("bias_ih") != std::string::npos && H <= i && i < 2 * H;
      ASSERT_NEAR(values[i], forget ? 1 : 0, 0.01001) << segment.name;
    }
  }
}

TEST(Initializer, SeedsAndNamesTellDrawsApart) {
  const LanguageModel a(small(), 11, 1), again(small(), 11, 1), other(small(), 11, 2);
  EXPECT_EQ(a.values().to_vector(), again.values().to_vector());
  EXPECT_NE(a.values().to_vector(), other.values().to_vector());
  EXPECT_NE(value_of(a, "rnn.bias_ih_l0").to_vector(), value_of(a, "rnn.bias_hh_l0").to_vector());
}

// ---- Dropout.

struct Dropped : Module {
  Dropped() : first(*this, "first", 0.5), second(*this, "second", 0.5) { finalize(1); }
  Dropout first, second;
};

TEST(Dropout, DependsOnUpdateNameAndDrawOnly) {
  const Variable x(Tensor::filled({4, 50}, 1));
  const RandomState third{.seed = 7, .update = 3, .slice = {4, 0, 4}},
      fourth{.seed = 7, .update = 4, .slice = {4, 0, 4}};
  Dropped model;
  model.begin_update(third);
  EXPECT_EQ(model.first(x).value().to_vector(), x.value().to_vector());  // not training
  model.set_training(true);
  const auto draw = [&](Dropout& dropout) { return dropout(x).value().to_vector(); };
  const Numbers a = draw(model.first), second_draw = draw(model.first), b = draw(model.second);
  EXPECT_NE(a, x.value().to_vector());
  EXPECT_NE(a, second_draw);
  EXPECT_NE(a, b);
  model.begin_update(third);
  EXPECT_EQ(draw(model.second), b);  // the order of modules does not matter
  EXPECT_EQ(draw(model.first), a);
  EXPECT_EQ(draw(model.first), second_draw);
  model.begin_update(fourth);
  EXPECT_NE(draw(model.first), a);
  Dropped another;
  another.set_training(true);
  another.begin_update(third);
  EXPECT_EQ(draw(another.first), a);
}

TEST(Dropout, MicroBatchesGiveTheWholeBatchsGradient) {
  LanguageModelOptions options = small();
  options.dropout = 0.5;
  options.embedding_dropout = 0.3;
  options.noise.weight_drop = 0.4;
  options.experts = 2;
  options.latent_dropout = 0.2;
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1},
                             targets = {5, 6, 7, 8, 9, 10, 0, 1, 2, 3, 4, 5};
  const int64_t T = 3, B = 4;
  const auto gradient = [&](int64_t micro) {
    LanguageModel model(options, 11);
    model.set_training(true);
    for (int64_t first = 0; first < B; first += micro) {
      std::vector<int32_t> some, wanted;
      for (int64_t t = 0; t < T; ++t)
        for (int64_t b = first; b < first + micro; ++b) {
          some.push_back(ids[t * B + b]);
          wanted.push_back(targets[t * B + b]);
        }
      model.begin_update({.seed = 1, .update = 9, .slice = {micro, first, B}});
      const auto result = model.forward({tokens(some), T, micro}, model.initial_states(micro));
      model.cross_entropy(result.output, tokens(wanted)).total.backward();
    }
    return model.gradients().to_vector();
  };
  const Numbers whole = gradient(4), halves = gradient(2), singles = gradient(1);
  for (size_t i = 0; i < whole.size(); ++i) {
    ASSERT_NEAR(whole[i], halves[i], 1e-5);
    ASSERT_NEAR(whole[i], singles[i], 1e-5);
  }
}

// ---- State.

class CarriedState : public testing::TestWithParam<std::string> {};

TEST_P(CarriedState, TwoChunksGiveWhatOneGives) {
  LanguageModel model(small(GetParam()), 11);
  const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 1};  // T = 6, B = 2
  const auto half = ids.begin() + 6;
  const auto whole = model.forward({tokens(ids), 6, 2}, model.initial_states(2));
  const auto first = model.forward({tokens({ids.begin(), half}), 3, 2}, model.initial_states(2));
  const auto second = model.forward({tokens({half, ids.end()}), 3, 2}, detached(first.states));
  Numbers both = first.output.features.value().to_vector();
  const Numbers rest = second.output.features.value().to_vector();
  both.insert(both.end(), rest.begin(), rest.end());
  const Numbers expected = whole.output.features.value().to_vector();
  ASSERT_EQ(both.size(), expected.size());
  for (size_t i = 0; i < both.size(); ++i) ASSERT_NEAR(both[i], expected[i], 1e-6);
  for (size_t layer = 0; layer < 2; ++layer) {
    EXPECT_FALSE(detached(second.states)[layer].h.needs_gradient());
    const Numbers a = second.states[layer].h.value().to_vector(),
                  b = whole.states[layer].h.value().to_vector();
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CarriedState, testing::ValuesIn(cell_names()),
                         [](const auto& instance) { return instance.param; });

TEST(Dropout, DropsTheSameAtAllStepsIfItIsVariational) {
  struct Part : Module {
    Part() { finalize(1); }
    Dropout dropout{*this, "d", 0.5, true};
  } part;
  const int64_t T = 4, B = 6, W = 5;
  const Variable ones(Tensor::filled({T, B, W}, 1));
  const auto drawn = [&](uint64_t update, BatchSlice slice) {
    part.begin_update({.seed = 2, .update = update, .slice = slice});
    return part.dropout(Variable(Tensor::filled({T, slice.batch, W}, 1))).value();
  };
  EXPECT_EQ(part.dropout(ones).value().to_vector(), ones.value().to_vector());
  part.set_training(true);
  const Tensor whole = drawn(0, {B, 0, B});
  const Numbers first = whole[0].to_vector();
  EXPECT_GT(std::count(first.begin(), first.end(), 0), 5);
  EXPECT_GT(std::count(first.begin(), first.end(), 2), 5);
  for (int64_t t = 1; t < T; ++t) EXPECT_EQ(whole[t].to_vector(), first);
  EXPECT_NE(drawn(1, {B, 0, B})[0].to_vector(), first);
  const Numbers part_of_it = drawn(0, {2, 3, B})[T - 1].to_vector();  // a micro-batch of the same update
  EXPECT_EQ(part_of_it, Numbers(first.begin() + 3 * W, first.begin() + 5 * W));
}

TEST(RecurrentLayer, ErrorsSayWhatWasExpected) {
  LanguageModel model(small(), 11);
  const auto error = [&](const Lengths& lengths) {
    return error_of([&] { model.forward({tokens({1, 2, 3, 4}), 2, 2, lengths}, model.initial_states(2)); });
  };
  EXPECT_EQ(error({1}), "[recurrent] 2 rows need as many lengths, got 1");
  EXPECT_EQ(error({1, 3}), "[recurrent] a length from 0 to 2 was expected: 3");
}

TEST(RecurrentStack, ErrorsSayWhatWasExpected) {
  LanguageModel model(small(), 11);
  EXPECT_EQ(error_of([&] {
              model.forward({tokens({1, 2}), 1, 2}, {});
            }),
            "[recurrent] 2 cells need 2 states, got 0");
}

// ---- Memory that is used again.

TEST(Memory, BackwardOverwritesNothingThatSomeoneHolds) {
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
  struct Layer : Module {
    Layer() { finalize(1); }
    RecurrentStack stack{*this, "rnn", {.cell = "lstm", .layers = {pytorch_cell(8, 64)}}};
  } layer;
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
  struct OneCell : Module {
    OneCell() { finalize(1); }
    Gru cell{*this, "", pytorch_cell(2, 3)};
  } model;
  model.cell.begin_chunk();
  auto inputs = model.cell.project(Variable(Tensor::filled({1, 4, 2}, 1)));
  const Variable& held = inputs[0][model.cell.x_gates];
  const Numbers before = held.value().to_vector();
  model.cell.step(inputs[0], model.cell.initial_state(4));
  EXPECT_EQ(held.value().to_vector(), before);
}

TEST(StepInputs, HandOutWhatIsTakenOnce) {
  struct OneCell : Module {
    OneCell() { finalize(1); }
    Gru cell{*this, "", pytorch_cell(2, 3)};
  } model;
  const Variable x(Tensor::zeros({2, 1, 2}));
  auto steps = model.cell.project(x);
  ASSERT_EQ(steps.size(), 2u);
  const Projection& gates = model.cell.x_gates;
  EXPECT_EQ(steps[0][gates].shape(), (Shape{1, 9}));
  EXPECT_EQ(steps[0].take(gates).shape(), (Shape{1, 9}));
  EXPECT_EQ(error_of([&] { (void)steps[0][gates]; }),
            "[cell] this step has taken the projection already; take() is for its last use");
  EXPECT_THROW(steps[0].take(gates), Error);
  EXPECT_EQ(steps[1].take(gates, 0, 6).shape(), (Shape{1, 6}));
  EXPECT_EQ(error_of([&] { steps[1].take(gates, 3, 9); }),
            "[cell] columns [3, 9) of a projection are taken already");
  EXPECT_EQ(steps[1].take(gates, 6, 9).shape(), (Shape{1, 3}));
}

}  // namespace
}  // namespace rondo
