// Every cell, in every way in which a stack may run it: values and gradients against plain loops written from
// the equations (tests/nn/cells/plain_cells.h), or central differences where statistics join the rows.
#include <gtest/gtest.h>

#include <algorithm>

#include "autograd/functions.h"
#include "tensor/random.h"
#include "tests/autograd/samples.h"
#include "tests/nn/cells/plain_gradients.h"
#include "tests/nn/recurrent/stack_model.h"

namespace rondo::cells_test {
namespace {

constexpr int64_t T = StackModel::T, B = StackModel::B, H = StackModel::H;

// What a cell may be asked for. A condition is for the cells that have its settings.
const std::vector<Condition> settings = {
    {.name = "as_it_is"},
    {.name = "input_as_wide_as_the_state", .input = H},
    {.name = "one_bias", .settings = {{"biases", {1}}}},
    {.name = "no_biases", .settings = {{"biases", {0}}}},
    {.name = "forget_bias", .settings = {{"forget_bias", {0.7}}}},
    {.name = "relu", .settings = {{"activation", {1}}}},
    {.name = "mgu1", .settings = {{"mgu_gate", {1}}}},
    {.name = "mgu1_one_bias", .settings = {{"mgu_gate", {1}}, {"biases", {1}}}},
    {.name = "mgu1_no_biases", .settings = {{"mgu_gate", {1}}, {"biases", {0}}}},
    {.name = "mgu2", .settings = {{"mgu_gate", {2}}}},
    {.name = "mgu3", .settings = {{"mgu_gate", {3}}}},
    {.name = "M_as_H_zero_state", .settings = {{"intermediate", {H}}}, .zero_state = true},
    {.name = "other_M", .settings = {{"intermediate", {2}}}},
    {.name = "two_inner_layers", .settings = {{"transition", {3, 0}}}},
    {.name = "narrow_inner_layers", .settings = {{"transition", {3, 2}}}},
    {.name = "alpha", .settings = {{"alpha", {0.9}}, {"beta1", {0.6}}, {"beta2", {0.4}}}},
    {.name = "integration_bias", .settings = {{"integration_bias", {0.2}}}},
    {.name = "even_rounds", .settings = {{"mogrifier_rounds", {2}}}},
    {.name = "no_rounds", .settings = {{"mogrifier_rounds", {0}}}},
    {.name = "low_rank", .settings = {{"mogrifier_rank", {2}}}},
    {.name = "depth", .settings = {{"recurrence_depth", {1}}, {"transform_bias", {0.5}}}},
    {.name = "highway_bias", .settings = {{"highway_bias", {-1}}}, .input = H},
    {.name = "window_of_one", .settings = {{"window", {1}}}},
    {.name = "window_beyond_the_chunk", .settings = {{"window", {7}}}},
    {.name = "fast_cells", .settings = {{"fast_cells", {4}}, {"slow_units", {3}}}},
};
// What a stack may do with it.
const std::vector<Condition> structures = {
    {.name = "lengths", .lengths = {T, 2, 4}},
    {.name = "lengths_zero_state", .zero_state = true, .lengths = {0, 3, 1}},
    {.name = "bidirectional", .bidirectional = true},
    {.name = "bidirectional_lengths", .bidirectional = true, .lengths = {3, T, 1}},
    {.name = "rectangle", .lengths = rectangle({2, T, 3}, T)},
    {.name = "bidirectional_rectangle",
     .bidirectional = true,
     .lengths = rectangle({3, T, 1}, T),
     .regularization = {.dropout = 0.4},
     .training = true},
    {.name = "minor", .minor = 2},
    {.name = "minor_on_previous",
     .minor = 3,
     .minor_input = MinorInput::previous_layer,
     .lengths = {4, 0, T}},
    {.name = "variational_mask", .regularization = {.dropout = 0.4}, .training = true},
    {.name = "variational_mask_lengths",
     .bidirectional = true,
     .lengths = {2, T, 3},
     .regularization = {.dropout = 0.4},
     .training = true},
    {.name = "masks_in_evaluation", .regularization = {.dropout = 0.4}},
    {.name = "zoneout", .regularization = {.zoneout = 0.3, .zoneout_memory = 0.5}, .training = true},
    {.name = "zoneout_lengths",
     .lengths = {4, 1, 2},
     .regularization = {.zoneout = 0.3, .zoneout_memory = 0.5},
     .training = true},
    {.name = "zoneout_in_evaluation", .regularization = {.zoneout = 0.3, .zoneout_memory = 0.5}},
    {.name = "weight_drop", .regularization = {.weight_drop = 0.5}, .training = true},
    {.name = "weight_drop_bidirectional",
     .bidirectional = true,
     .minor = 2,
     .regularization = {.dropout = 0.4, .weight_drop = 0.3},
     .training = true},
    {.name = "weight_drop_in_evaluation", .regularization = {.weight_drop = 0.5}},
};

std::vector<Condition> all_conditions() {
  std::vector<Condition> all = settings;
  all.insert(all.end(), structures.begin(), structures.end());
  return all;
}

/// Whether the cell has the settings, and accepts them.
bool suits(const std::string& cell, const Condition& condition) {
  CellSettings its;
  const Keys keys = keys_of(its, cell);
  for (const auto& [name, values] : condition.settings) {
    const auto found = std::ranges::find(keys, name, &Key::name);
    if (found == keys.end()) return false;
    set_key(*found, values, H);
  }
  try {
    check_settings(cell, its, "");
  } catch (const InputError&) {
    return false;
  }
  return true;
}

/// What is summed up to a loss: the output and the last states, each element with a weight of its own.
std::vector<std::vector<double>> loss_weights(const RecurrentStack::Result& result) {
  std::vector<Shape> shapes = {result.output.shape()};
  for (const State& state : result.states)
    for (const State::Named& it : state.tensors()) shapes.push_back(it.value.shape());
  std::vector<std::vector<double>> weights;
  for (const Tensor& it : samples(shapes)) weights.push_back(it.to_vector());
  return weights;
}

Variable loss_of(const RecurrentStack::Result& result) {
  const auto weights = loss_weights(result);
  const auto weighted = [&](const Variable& x, size_t i) {
    return sum(x * Variable(Tensor::from(weights[i], x.shape())));
  };
  Variable loss = weighted(result.output, 0);
  size_t number = 1;
  for (const State& state : result.states)
    for (const State::Named& it : state.tensors()) loss = loss + weighted(it.value, number++);
  return loss;
}

// ---- The stack as plain loops.

struct PlainResult {
  std::vector<std::vector<Vector>> output;      // of each stream and step, without the padding
  std::vector<std::vector<PlainState>> states;  // of each cell and stream
};

/// Elements of row b of a mask [B, units]: whether they live.
std::vector<bool> alive(const std::string& module, uint32_t draw, double probability, int64_t units,
                        int64_t b) {
  const RandomKey key{StackModel::seed, hash_of(module), draw, StackModel::update};
  std::vector<bool> result;
  for (int64_t j = 0; j < units; ++j) result.push_back(key.bits(b * units + j) >= probability * 4294967296.0);
  return result;
}

/// Weight drop on the recurrent weights of a cell, which are drawn in the order in which they were made.
void drop_weights(const StackModel& model, const Cell& cell, PlainLayer& layer, const std::string& suffix) {
  const double probability = model.condition.regularization.weight_drop;
  if (probability == 0) return;
  RandomKey key{StackModel::seed, hash_of("rnn.weight_drop" + suffix + "."), 0, StackModel::update};
  for (const Recurrent* recurrent : cell.recurrent_weights()) {
    const std::string name = recurrent->weight.name();
    Vector& weight = layer.named.at(name.substr(4, name.size() - 4 - suffix.size()));
    for (size_t i = 0; i < weight.size(); ++i)
      weight[i] = key.bits(i) < probability * 4294967296.0 ? 0.0 : weight[i] / (1 - probability);
    ++key.draw;
  }
}

/// One cell over the steps of one stream, without its padding.
std::vector<Vector> plain_layer(const StackModel& model, const PlainCell& cell, const PlainLayer& layer,
                                const std::string& suffix, const std::vector<Vector>& x, PlainState& state,
                                int64_t b) {
  const RecurrentRegularization& regularization = model.condition.regularization;
  const auto zoned_out = [&](const Vector& next, const Vector& old, const std::string& name,
                             double probability, uint32_t t) {
    if (probability == 0) return next;
    Vector result(next.size());
    if (!model.condition.training) {
      for (size_t j = 0; j < next.size(); ++j) result[j] = probability * old[j] + (1 - probability) * next[j];
      return result;
    }
    const std::vector<bool> moves = alive("rnn." + name + suffix + ".", t, probability, std::ssize(next), b);
    for (size_t j = 0; j < next.size(); ++j) result[j] = moves[j] ? next[j] : old[j];
    return result;
  };
  std::vector<Vector> outputs;
  for (size_t t = 0; t < x.size(); ++t) {
    Vector seen = state.h;
    if (model.condition.training && regularization.dropout > 0) {
      const std::vector<bool> kept =
          alive("rnn.state_dropout" + suffix + ".", 0, regularization.dropout, std::ssize(seen), b);
      for (size_t j = 0; j < seen.size(); ++j)
        seen[j] = kept[j] ? seen[j] / (1 - regularization.dropout) : 0.0;
    }
    PlainState next = cell(layer, x[t], {seen, state.c, state.others}, state.h);
    next.h = zoned_out(next.h, state.h, "zoneout", regularization.zoneout, static_cast<uint32_t>(t));
    if (!next.c.empty())
      next.c = zoned_out(next.c, state.c, "zoneout_memory", regularization.zoneout_memory,
                         static_cast<uint32_t>(t));
    state = next;
    outputs.push_back(state.h);
  }
  return outputs;
}

PlainResult plain_run(const StackModel& model, const PlainCell& cell, const Parameters& parameters) {
  const Condition& how = model.condition;
  PlainResult result;
  const std::vector<Cell*> cells = model.stack.cells();
  result.states.resize(cells.size());
  const auto row = [](const Vector& values, int64_t i, int64_t width) {
    return Vector(values.begin() + i * width, values.begin() + (i + 1) * width);
  };
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = how.lengths.empty() ? T : how.lengths[b];
    std::vector<Vector> embedding;
    for (int64_t t = 0; t < length; ++t) embedding.push_back(row(parameters.at("x"), t * B + b, how.input));
    std::vector<Vector> previous = embedding;
    size_t number = 0;
    for (size_t i = 0; i < 2; ++i) {
      std::vector<Vector> joined(embedding.size());
      const auto add = [&](const std::vector<Vector>& x, const std::string& suffix, int64_t units,
                           bool reverse) {
        PlainLayer layer =
            parameters_of_layer(parameters, "rnn.", suffix, cells[number]->options.input_size, units);
        layer.settings = how.settings;
        if (how.training) drop_weights(model, *cells[number], layer, suffix);
        const std::string index = std::to_string(number);
        PlainState state;
        for (const StateTensor& part : cells[number]->state_tensors()) {
          const Vector values = row(parameters.at("start." + part.name + index), b, part.width);
          (part.name == "h" ? state.h : part.name == "c" ? state.c : state.others[part.name]) = values;
        }
        std::vector<Vector> read = x;
        if (reverse) std::ranges::reverse(read);
        std::vector<Vector> outputs = plain_layer(model, cell, layer, suffix, read, state, b);
        if (reverse) std::ranges::reverse(outputs);
        for (size_t t = 0; t < joined.size(); ++t)
          joined[t].insert(joined[t].end(), outputs[t].begin(), outputs[t].end());
        result.states[number++].push_back(state);
      };
      const std::string suffix = "_l" + std::to_string(i);
      for (const bool minor : {false, true}) {
        if (minor && how.minor == 0) continue;
        const bool on_embedding = minor && how.minor_input == MinorInput::embedding;
        for (const bool reverse : {false, true})
          if (!reverse || how.bidirectional)
            add(on_embedding ? embedding : previous,
                suffix + (minor ? "_minor" : "") + (reverse ? "_reverse" : ""),
                minor    ? how.minor
                : i == 0 ? H
                         : H - 1,
                reverse);
      }
      previous = joined;
    }
    result.output.push_back(previous);
  }
  return result;
}

/// All of a state, in the order of Cell::state_tensors().
std::vector<std::pair<std::string, Vector>> parts_of(const PlainState& state) {
  std::vector<std::pair<std::string, Vector>> parts = {{"h", state.h}};
  if (!state.c.empty()) parts.emplace_back("c", state.c);
  for (auto it = state.others.rbegin(); it != state.others.rend(); ++it)
    parts.push_back(*it);  // slow_h, slow_c
  return parts;
}

Number plain_loss(const PlainResult& result, const std::vector<std::vector<double>>& weights) {
  Number loss = 0;
  for (int64_t b = 0; b < B; ++b)
    for (size_t t = 0; t < result.output[b].size(); ++t)
      for (size_t j = 0; j < result.output[b][t].size(); ++j)
        loss += result.output[b][t][j] * weights[0][(t * B + b) * result.output[b][t].size() + j];
  size_t number = 1;
  for (const std::vector<PlainState>& streams : result.states) {
    for (size_t part = 0; part < parts_of(streams[0]).size(); ++part, ++number)
      for (int64_t b = 0; b < B; ++b) {
        const Vector values = parts_of(streams[b])[part].second;
        for (size_t j = 0; j < values.size(); ++j) loss += values[j] * weights[number][b * values.size() + j];
      }
  }
  return loss;
}

// ---- The tests.

class CellValues : public testing::TestWithParam<size_t> {};

TEST_P(CellValues, AndGradientsEqualThoseOfPlainLoops) {
  const auto& name = plain_cells()[GetParam()].first;
  const auto& cell = plain_cells()[GetParam()].second;
  for (const Condition& condition : all_conditions()) {
    if (!suits(name, condition)) continue;
    SCOPED_TRACE(condition.name);
    StackModel model(name, condition);
    const RecurrentStack::Result result = model.run();
    const Parameters parameters = parameters_of(model);
    const PlainResult plain = plain_run(model, cell, parameters);
    ASSERT_EQ(model.has_cell_state(), !plain.states[0][0].c.empty());
    const int64_t width = result.output.shape().columns();
    const std::vector<real> output = result.output.value().to_vector();
    for (int64_t b = 0; b < B; ++b)
      for (int64_t t = 0; t < T; ++t)
        for (int64_t j = 0; j < width; ++j) {
          const bool padding = t >= std::ssize(plain.output[b]);
          const double expected = padding ? 0 : plain.output[b][t][j].real();
          ASSERT_NEAR(output[(t * B + b) * width + j], expected, 1e-12) << "step " << t << " of stream " << b;
        }
    for (size_t i = 0; i < result.states.size(); ++i)
      for (int64_t b = 0; b < B; ++b) {
        const auto expect_row = [&](const Variable& actual, const Vector& expected) {
          const std::vector<real> values = actual.value().slice_rows(b, b + 1).to_vector();
          ASSERT_EQ(values.size(), expected.size());
          for (size_t j = 0; j < values.size(); ++j) ASSERT_NEAR(values[j], expected[j].real(), 1e-12);
        };
        for (const auto& [part, expected] : parts_of(plain.states[i][b]))
          expect_row(part == "h"   ? result.states[i].h
                     : part == "c" ? result.states[i].c
                                   : result.states[i].other(part),
                     expected);
        EXPECT_EQ(result.states[i].steps, T);
      }

    const auto weights = loss_weights(result);
    fill(model.gradients(), 0);
    loss_of(result).backward();
    expect_plain_gradients(
        model, [&](const Parameters& moved) { return plain_loss(plain_run(model, cell, moved), weights); });
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellValues, testing::Range(size_t{0}, plain_cells().size()),
                         [](const auto& instance) { return plain_cells()[instance.param].first; });

TEST(CellValues, AreHeldToALoopForEveryCell) {
  std::vector<std::string> names;
  for (const auto& [name, cell] : plain_cells()) names.push_back(name);
  std::vector<std::string> row_by_row;  // not those with statistics of the batch: batch_norm_in_double_test
  for (const std::string& name : cell_names())
    if (StackModel(name, settings[0]).buffers().empty()) row_by_row.push_back(name);
  EXPECT_EQ(names, row_by_row);
}

class CellTest : public testing::TestWithParam<std::string> {};
std::string name_of(const testing::TestParamInfo<std::string>& instance) { return instance.param; }

INSTANTIATE_TEST_SUITE_P(Cells, CellTest, testing::ValuesIn(cell_names()), name_of);

/// What a setting may change: names and sizes of the parameters, their initial values, or the output.
std::string fingerprint(const std::string& cell, const CellSettings& its) {
  CellOptions options = pytorch_cell(H + 1, H + 1);  // which 2 divides
  options.settings = its;
  StackAlone model({.cell = cell, .layers = {options}});
  std::string text;
  for (const Segment& segment : model.segments()) {
    text += fmt::format("{} {}", segment.name, segment.shape);
    for (const real value : part_of(model.values(), segment).to_vector())
      text += fmt::format(" {:.17g}", value);
  }
  const Variable x(samples({{T, B, H + 1}})[0]);
  for (const real value : model.stack(x, model.stack.initial_states(B)).output.value().to_vector())
    text += fmt::format(" {:.17g}", value);
  return text;
}

// A setting that nobody reads changes nothing.
TEST_P(CellTest, IsChangedByEachOfItsSettings) {
  const std::string as_it_is = fingerprint(GetParam(), {});
  CellSettings defaults;
  const size_t count = keys_of(defaults, GetParam()).size();
  for (size_t i = 0; i < count; ++i) {
    CellSettings changed;
    const Key key = keys_of(changed, GetParam())[i];
    if (key.name == "biases" && !suits(GetParam(), {.name = "", .settings = {{"biases", {0}}}}))
      continue;  // it always has one, whatever this says
    if (auto* const* number = std::get_if<int64_t*>(&key.member))
      **number = static_cast<int64_t>(key.name == "biases" ? 1 : std::max<int64_t>(**number, 0) + 1);
    else if (auto* const* real_number = std::get_if<double*>(&key.member))
      **real_number += 0.25;
    else if (const auto* choice = std::get_if<ChoiceMember>(&key.member))
      choice->set((choice->get() + 1) % choice->names.size());
    else if (auto* const* flag = std::get_if<bool*>(&key.member))
      **flag = !**flag;
    else
      *std::get<std::vector<int64_t>*>(key.member) = {3};
    EXPECT_NE(fingerprint(GetParam(), changed), as_it_is) << key.name;
  }
}

/// Central differences of fourth order, for the loss is steep, of every third element of each parameter.
void expect_differences(StackModel& model) {
  fill(model.gradients(), 0);
  const auto loss = [&] { return loss_of(model.run()); };
  loss().backward();
  const NoGradient guard;
  for (const Segment& segment : model.segments()) {
    const Tensor value = value_of(model, segment.name), gradient = gradient_of(model, segment.name);
    for (int64_t i = 0; i < value.size(); i += 3) {
      const int64_t place = place_of(value, i);
      const double kept = value.data()[place], analytic = gradient.data()[place];
      if (std::isnan(kept)) {  // in the padding
        ASSERT_EQ(analytic, 0) << segment.name << " element " << i;
        continue;
      }
      const auto at = [&](double offset) {
        value.mutable_data()[place] = kept + offset;
        const double result = loss().value().item();
        value.mutable_data()[place] = kept;
        return result;
      };
      const auto slope = [&](double h) { return (at(h) - at(-h)) / (2 * h); };
      const double numeric = (4 * slope(1e-6) - slope(2e-6)) / 3;
      ASSERT_NEAR(analytic, numeric, 1e-6 * std::max({1.0, std::abs(analytic), std::abs(numeric)}))
          << segment.name << " element " << i;
    }
  }
}

// Each step has two rows or more, or none: a single one would be normalised by what other steps left.
TEST(RecurrentStack, HasRightGradientsWithStatisticsOfTheBatch) {
  for (const std::string cell : {"bn_lstm", "bn_mi_lstm"})
    for (const Condition& condition : std::vector<Condition>{
             {.name = "lengths", .lengths = {3, T, T}},
             {.name = "bidirectional", .bidirectional = true, .lengths = {T, T, 2}},
             {.name = "minor", .minor = 2, .zero_state = true, .lengths = {4, 0, 4}},
             {.name = "masks", .lengths = {T, 1, T}, .regularization = {0.4, 0.3, 0.5}, .training = true}}) {
      SCOPED_TRACE(cell + " " + condition.name);
      StackModel model(cell, condition);
      model.set_statistics_rate(0.05);
      expect_differences(model);
    }
}

TEST(RecurrentStack, ReadsNothingInThePaddingThoughStatisticsLookAcrossRows) {
  for (const std::string cell : {"bn_lstm", "bn_mi_lstm"}) {
    const Condition condition{.name = "", .bidirectional = true, .lengths = {T, 2, 4}, .training = true};
    const auto numbers = [&](real padding) {
      StackModel model(cell, condition);
      const Tensor x = model.x.variable().value();
      for (int64_t i = 0; i < x.size(); ++i)
        if (const int64_t place = place_of(x, i); std::isnan(x.data()[place]))
          x.mutable_data()[place] = padding;
      model.set_statistics_rate(0.05);
      const RecurrentStack::Result result = model.run();
      loss_of(result).backward();
      std::vector<std::vector<real>> all = {result.output.value().to_vector(), model.gradients().to_vector()};
      for (const Buffer* buffer : model.buffers()) all.push_back(buffer->tensor().to_vector());
      return all;
    };
    const auto expected = numbers(0);
    for (const real number : expected[1]) ASSERT_TRUE(std::isfinite(number));
    EXPECT_EQ(numbers(NAN), expected);
    EXPECT_EQ(numbers(1000), expected);
  }
}

}  // namespace
}  // namespace rondo::cells_test
