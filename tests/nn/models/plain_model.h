// What the plain loops of models share, over complex numbers as those of cells: parameters by name, products,
// stacks of layers in one direction or both. And what their tests share: batches with padding, a loss with
// its gradients. Of nn/ it knows only the names of parameters. Next: tests/nn/cells/plain_cells.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "nn/models/sequence_model.h"
#include "tests/nn/cells/plain_gradients.h"
#include "tests/nn/settings.h"

namespace rondo {

using Rows = std::vector<Vector>;

inline void append(Vector& to, const Vector& more) { to.insert(to.end(), more.begin(), more.end()); }
inline Vector tanh_of(Vector u) {
  for (Number& it : u) it = std::tanh(it);
  return u;
}
/// The logarithms of softmax(z).
inline Vector log_softmax_of(Vector z) {
  Number sum = 0;
  for (const Number& it : z) sum += std::exp(it);
  for (Number& it : z) it -= std::log(sum);
  return z;
}

/// Layers of a cell whose state is h, or h and c; with both directions each has half of the units.
struct PlainStack {
  std::string name, cell;
  int64_t layers, hidden;
  bool bidirectional;
};

class PlainModel {
 public:
  /// Names of parameters begin with `prefix`; the parameters must outlive it.
  explicit PlainModel(const Parameters& parameters, const std::string& prefix = "")
      : parameters_(parameters), prefix_(prefix) {}

  bool has(const std::string& name) const { return parameters_.contains(prefix_ + name); }
  const Vector& at(const std::string& name) const { return parameters_.at(prefix_ + name); }
  Vector row_of(const std::string& table, int32_t id, int64_t width) const {
    const auto row = at(table).begin() + id * width;
    return {row, row + width};
  }
  Rows rows_of(const std::string& table, const std::vector<int32_t>& ids, int64_t width) const {
    Rows rows;
    for (const int32_t id : ids) rows.push_back(row_of(table, id, width));
    return rows;
  }
  /// W u, or W u + b.
  Vector product(const std::string& matrix, const Vector& u, const std::string& bias = "") const {
    const Vector& W = at(matrix);
    Vector y = bias.empty() ? Vector(W.size() / u.size()) : at(bias);
    for (size_t i = 0; i < y.size(); ++i)
      for (size_t j = 0; j < u.size(); ++j) y[i] += W[i * u.size() + j] * u[j];
    return y;
  }
  PlainLayer layer_of(const std::string& stack, const std::string& suffix, int64_t input,
                      int64_t hidden) const {
    return parameters_of_layer(parameters_, prefix_ + stack + ".", suffix, input, hidden);
  }

  /// The output of the last layer at each step, and the last state of each layer, both directions side by
  /// side. The initial states are trained or zeros.
  std::pair<Rows, std::vector<PlainState>> read(const PlainStack& stack, Rows x) const {
    const PlainCell cell = plain_cell(stack.cell);
    const int64_t units = stack.bidirectional ? stack.hidden / 2 : stack.hidden;
    std::vector<PlainState> last;
    for (int64_t i = 0; i < stack.layers; ++i) {
      Rows output(x.size());
      PlainState joined;
      for (const bool reverse : {false, true}) {
        if (reverse && !stack.bidirectional) continue;
        const PlainLayer layer = layer_of(stack.name, "_l" + std::to_string(i) + (reverse ? "_reverse" : ""),
                                          std::ssize(x[0]), units);
        const auto initial = [&](const std::string& name, bool exists) {
          return layer.has(name) ? layer[name] : Vector(static_cast<size_t>(exists ? units : 0));
        };
        PlainState state{initial("h0", true), initial("c0", stack.cell.ends_with("lstm"))};
        for (size_t step = 0; step < x.size(); ++step) {
          const size_t t = reverse ? x.size() - 1 - step : step;
          state = cell(layer, x[t], state, state.h);
          append(output[t], state.h);
        }
        append(joined.h, state.h), append(joined.c, state.c);
      }
      x = output;
      last.push_back(joined);
    }
    return {x, last};
  }

 private:
  const Parameters& parameters_;
  std::string prefix_;
};

/// EXPECT a loss, and its gradients, of plain loops: see expect_plain_gradients().
inline void expect_plain_loss(const Module& model, const Variable& loss,
                              const std::function<Number(const Parameters&)>& plain_loss,
                              bool together = false) {
  const double expected = plain_loss(parameters_of(model)).real();
  EXPECT_NEAR(loss.value().item(), expected, 1e-12 * std::max(1.0, std::abs(expected)));
  fill(model.gradients(), 0);
  loss.backward();
  expect_plain_gradients(model, plain_loss, together);
}

using IdLists = std::vector<std::vector<int32_t>>;

/// Returns what a decoder reads where it writes these sentences: the end symbol 0, then the sentence without
/// its last symbol.
inline IdLists one_step_late(IdLists sentences) {
  for (std::vector<int32_t>& it : sentences) {
    it.insert(it.begin(), 0);
    it.pop_back();
  }
  return sentences;
}

/// Sentences as one batch of `steps`; behind their ends stands the symbol `padding`.
inline SentenceInput batch_of(const IdLists& sentences, int64_t steps, int32_t padding) {
  std::vector<int32_t> ids;
  Lengths lengths;
  for (int64_t t = 0; t < steps; ++t)
    for (const auto& it : sentences) ids.push_back(t < std::ssize(it) ? it[static_cast<size_t>(t)] : padding);
  for (const auto& it : sentences) lengths.push_back(std::ssize(it));
  return {tokens(ids), steps, std::ssize(sentences), lengths};
}

}  // namespace rondo
