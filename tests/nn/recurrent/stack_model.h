// A recurrent stack whose input and initial states are parameters too, under the conditions in which it may
// run.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"
#include "nn/recurrent/recurrent_stack.h"
#include "tests/nn/parameters.h"

namespace rondo {

/// How a stack of two layers is built and run.
struct Condition {
  std::string name;
  // By key, for cells that have it: see set_key().
  std::map<std::string, std::vector<double>> settings{};
  int64_t input = 4;  // I
  bool bidirectional = false;
  int64_t minor = 0;  // units of minor cells; 0: none
  MinorInput minor_input = MinorInput::embedding;
  bool zero_state = false;
  Lengths lengths{};
  RecurrentRegularization regularization{};
  bool training = false;
};

/// Sets a key to numbers: a choice to the one of this number, a list with `hidden` for each 0.
inline void set_key(const Key& key, const std::vector<double>& values, int64_t hidden) {
  if (auto* const* number = std::get_if<int64_t*>(&key.member)) {
    **number = static_cast<int64_t>(values.at(0));
  } else if (auto* const* real_number = std::get_if<double*>(&key.member)) {
    **real_number = values.at(0);
  } else if (auto* const* flag = std::get_if<bool*>(&key.member)) {
    **flag = values.at(0) != 0;
  } else if (const auto* choice = std::get_if<ChoiceMember>(&key.member)) {
    choice->set(static_cast<size_t>(values.at(0)));
  } else if (auto* const* list = std::get_if<std::vector<int64_t>*>(&key.member)) {
    for (const double it : values) (*list)->push_back(it == 0 ? hidden : static_cast<int64_t>(it));
  } else {
    FAIL() << key.name << " is of a type that set_key() does not know yet";
  }
}

struct StackModel : Module {
  static constexpr int64_t T = 5, B = 3, H = 5;
  static constexpr uint64_t seed = 3, update = 7;

  StackModel(const std::string& cell, const Condition& how)
      : condition(how),
        options{.cell = cell,
                .layers = {layer(how, how.input, H), layer(how, width(how, H), H - 1)},
                .minor_input = how.minor_input,
                .bidirectional = how.bidirectional,
                .regularization = how.regularization},
        stack(*this, "rnn", options),
        x(*this, "x", {T, B, how.input}, uniform_values(1)) {
    int64_t number = 0;
    for (const Cell* it : stack.cells()) {
      for (const StateTensor& part : it->state_tensors())
        start.emplace_back(*this, "start." + part.name + std::to_string(number), Shape{B, part.width},
                           uniform_values(1));
      ++number;
    }
    finalize(seed);
    if (how.zero_state)
      for (Parameter& it : start) fill(it.variable().value(), 0);
    for (size_t b = 0; b < how.lengths.size() && !how.lengths.staged; ++b)  // whatever lies in the padding
      for (int64_t t = how.lengths[b]; t < T; ++t)
        fill(x.variable().value()[t].slice_rows(static_cast<int64_t>(b), static_cast<int64_t>(b) + 1),
             real(NAN));
    set_training(how.training);
    set_statistics_rate({});  // those of so few rows are too steep for central differences
  }

  bool has_cell_state() const { return stack.cells()[0]->has_cell_state(); }

  RecurrentStack::Result run() {
    begin_update({.seed = seed, .update = update, .slice = {B, 0, B}});
    std::vector<State> states;
    auto next = start.begin();
    for (const Cell* cell : stack.cells()) {
      State state;
      for (const StateTensor& part : cell->state_tensors()) {
        const Variable value = *next++;
        if (part.name == "h")
          state.h = value;
        else if (part.name == "c")
          state.c = value;
        else
          state.others.push_back({part.name, value});
      }
      states.push_back(state);
    }
    return stack(x, states, condition.lengths);
  }

  Condition condition;
  StackOptions options;
  RecurrentStack stack;
  Parameter x;
  std::deque<Parameter> start;  // all that the state of each cell consists of

 private:
  static int64_t width(const Condition& how, int64_t units) {
    return (units + how.minor) * (how.bidirectional ? 2 : 1);
  }
  static CellOptions cell_options(const Condition& how, int64_t input, int64_t hidden) {
    CellOptions options = pytorch_cell(input, hidden);
    for (const Key& key : keys_of(options.settings)) {
      const auto given = how.settings.find(key.name);
      if (given != how.settings.end()) set_key(key, given->second, hidden);
    }
    return options;
  }
  static LayerOptions layer(const Condition& how, int64_t input, int64_t hidden) {
    const CellOptions major = cell_options(how, input, hidden);
    if (how.minor == 0) return major;
    return {major,
            cell_options(how, how.minor_input == MinorInput::embedding ? how.input : input, how.minor)};
  }
};

}  // namespace rondo
