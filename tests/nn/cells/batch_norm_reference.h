// Recurrent batch normalisation in plain loops, written from the equations of Cooijmans et al. 2016, and a
// cell to hold to them. The loops run on complex numbers, as those of the other cells: the derivative
// Im f(x + ih) / h with h = 1e-100 is exact to the last digits. Next: plain_cells.h.
#pragma once

#include <stdexcept>

#include "autograd/sequence.h"
#include "nn/cells/batch_norm.h"
#include "nn/cells/catalogue.h"
#include "nn/cells/lstm.h"
#include "tensor/random.h"
#include "tests/autograd/samples.h"
#include "tests/nn/cells/plain_gradients.h"

namespace rondo::batch_norm_reference {

constexpr int64_t T = 6, B = 4, I = 3, H = 3, slots = 4;

// ---- Plain loops.

/// valid[t][b].
using Marks = std::vector<std::vector<bool>>;

struct Statistics {
  std::vector<real> mean, variance;
};
/// Of each time step, by "ih", "hh" and "c".
using StatisticsOfSteps = std::vector<std::map<std::string, Statistics>>;

struct PlainOutputs {
  Vector h;                   // [T, B, H], zeros where not valid
  Vector c;                   // [B, H] after the last step, zeros where not valid
  StatisticsOfSteps batches;  // what each step computed
};

/// All parameters by name, with x [T, B, I], h0 and c0 [B, H]. `population`: what to normalise by, the
/// batch's own if null.
inline PlainOutputs plain(const Parameters& p, bool integrated, const Marks& valid,
                          const StatisticsOfSteps* population) {
  PlainOutputs result{Vector(T * B * H), Vector(B * H), StatisticsOfSteps(T)};
  Vector h = p.at("h0"), c = p.at("c0");
  for (int64_t t = 0; t < T; ++t) {
    // Of v [B, width]: gamma (v - mean) / sqrt(variance + 1e-5); what does not vary is 0.
    const auto normalized = [&](const std::string& name, const Vector& v) {
      const auto width = std::ssize(v) / B;
      Vector y(v.size());
      Statistics& kept = result.batches[t][name];
      for (int64_t j = 0; j < width; ++j) {
        Number mean = 0, variance = 0;
        if (population) {
          mean = (*population)[t].at(name).mean[j];
          variance = (*population)[t].at(name).variance[j];
        } else {
          double rows = 0;
          for (int64_t b = 0; b < B; ++b)
            if (valid[t][b]) mean += v[b * width + j], ++rows;
          mean /= rows;
          for (int64_t b = 0; b < B; ++b)
            if (valid[t][b]) variance += (v[b * width + j] - mean) * (v[b * width + j] - mean);
          variance /= rows;
        }
        kept.mean.push_back(mean.real());
        kept.variance.push_back(variance.real());
        if (variance.real() < 1e-8) continue;
        for (int64_t b = 0; b < B; ++b)
          y[b * width + j] =
              p.at("gamma_" + name)[j] * (v[b * width + j] - mean) / std::sqrt(variance + 1e-5);
      }
      return y;
    };
    Vector Wx(B * 4 * H), Uh(B * 4 * H), next_c(B * H), o(B * H);
    for (int64_t b = 0; b < B; ++b)
      for (int64_t k = 0; k < 4 * H; ++k) {
        for (int64_t i = 0; i < I; ++i)
          Wx[b * 4 * H + k] += p.at("weight_ih")[k * I + i] * p.at("x")[(t * B + b) * I + i];
        for (int64_t i = 0; i < H; ++i) Uh[b * 4 * H + k] += p.at("weight_hh")[k * H + i] * h[b * H + i];
      }
    const Vector Wx_hat = normalized("ih", Wx), Uh_hat = normalized("hh", Uh);
    const auto s = [](const Number& z) { return 1.0 / (1.0 + std::exp(-z)); };
    for (int64_t b = 0; b < B; ++b)
      for (int64_t j = 0; j < H; ++j) {
        const auto z = [&](int64_t gate) {
          const int64_t k = gate * H + j;
          const Number &w = Wx_hat[b * 4 * H + k], &u = Uh_hat[b * 4 * H + k];
          if (!integrated) return w + u + p.at("bias_ih")[k];
          return p.at("alpha")[k] * w * u + p.at("beta1")[k] * u + p.at("beta2")[k] * w + p.at("bias_ih")[k];
        };
        next_c[b * H + j] = s(z(1)) * c[b * H + j] + s(z(0)) * std::tanh(z(2));
        o[b * H + j] = s(z(3));
      }
    const Vector c_hat = normalized("c", next_c);
    for (int64_t b = 0; b < B; ++b)
      for (int64_t j = 0; j < H && valid[t][b]; ++j) {
        c[b * H + j] = next_c[b * H + j];
        h[b * H + j] = o[b * H + j] * std::tanh(c_hat[b * H + j] + p.at("beta_c")[j]);
        result.h[(t * B + b) * H + j] = h[b * H + j];
        if (t == T - 1) result.c[b * H + j] = c[b * H + j];
      }
  }
  return result;
}

// ---- The cell.

inline const Marks all_valid(T, std::vector<bool>(B, true));
/// Rows end after 6, 2, 5 and 6 steps.
inline const Marks padded = [] {
  Marks marks = all_valid;
  for (int64_t t = 2; t < T; ++t) marks[t][1] = false;
  for (int64_t t = 5; t < T; ++t) marks[t][2] = false;
  return marks;
}();

/// A cell whose input and initial state are parameters, too.
struct Model : Module {
  explicit Model(const std::string& name, uint64_t seed = 1)
      : cell(make_cell(name, *this, "_l0", options())),
        x(*this, "x_l0", {T, B, I}, constant_values(0)),
        h0(*this, "h0_l0", {B, H}, constant_values(0)),
        c0(*this, "c0_l0", {B, H}, constant_values(0)) {
    finalize(1);
    for (const Segment& segment : segments()) {
      const bool gamma = segment.name.starts_with("gamma");
      fill_uniform(part_of(values(), segment), {.seed = seed, .name = hash_of(segment.name)},
                   gamma ? 0.5 : -1, gamma ? 1.5 : 1);
    }
  }
  static CellOptions options() {
    CellOptions options = pytorch_cell(I, H);
    options.max_time_steps = slots;
    return options;
  }
  /// W of the cell.
  const Projection& projection() const {
    if (const auto* plain = dynamic_cast<const Lstm<BatchNormSum>*>(cell.get())) return plain->W;
    return dynamic_cast<const Lstm<BatchNormIntegration>&>(*cell).W;
  }
  Tensor buffer(const std::string& name) const {
    for (const Buffer* it : buffers())
      if (it->name() == name + "_l0") return it->tensor();
    throw std::runtime_error("no buffer " + name);
  }
  void draw_input(uint64_t seed) { fill_uniform(value_of(*this, "x_l0"), {.seed = seed}, -1, 1); }

  struct Result {
    std::vector<Variable> h;
    Variable c;
  };
  /// The cell gets the valid rows alone, as a layer gives them to it.
  Result run(const Marks& valid, int64_t steps = 0) {
    State state{h0, c0, {}, steps};
    Result result;
    cell->begin_chunk();
    for (int64_t t = 0; t < T; ++t, ++state.steps) {
      std::vector<int32_t> with_step, without;
      for (int32_t b = 0; b < B; ++b) (valid[t][b] ? with_step : without).push_back(b);
      const RowMap rows(with_step, B), others(without, B);
      Variable h = Variable(Tensor::zeros({B, H})), c = h;
      if (!with_step.empty()) {
        const Variable input = map_rows(x.variable()[t], rows);
        StepInputs inputs({projection()(input)}, input, state.steps);
        const State next =
            cell->step(inputs, state.map([&](const Variable& v) { return map_rows(v, rows); }));
        h = map_rows(next.h, rows.inverse()), c = map_rows(next.c, rows.inverse());
      }
      result.h.push_back(h);
      result.c = c;
      const auto kept = [&](const Variable& v) { return map_rows(map_rows(v, others), others.inverse()); };
      state.h = h + kept(state.h);
      state.c = c + kept(state.c);
    }
    return result;
  }
  /// All parameters as numbers.
  Parameters numbers() const { return parameters_of_layer(parameters_of(*this), "", "_l0", I, H).named; }
  /// The statistics of the batches of one run, by the plain loops.
  StatisticsOfSteps of_batches(const Marks& valid = all_valid) const {
    return plain(numbers(), false, valid, nullptr).batches;
  }

  std::unique_ptr<Cell> cell;
  Parameter x, h0, c0;
};

/// Population statistics that no batch has.
inline StatisticsOfSteps set_population(Model& model) {
  StatisticsOfSteps population(T);
  fill(model.buffer("rows_seen_ih"), 1);
  fill(model.buffer("rows_seen_hh"), 1);
  fill(model.buffer("rows_seen_c"), 1);
  for (const std::string name : {"ih", "hh", "c"}) {
    const Tensor mean = model.buffer("running_mean_" + name),
                 variance = model.buffer("running_variance_" + name);
    fill_uniform(mean, {.seed = 5, .name = hash_of(name)}, -1, 1);
    fill_uniform(variance, {.seed = 6, .name = hash_of(name)}, 0.1, 2);
    for (int64_t t = 0; t < T; ++t) {
      const int64_t slot = t < slots ? t : slots - 1;
      population[t][name] = {mean[slot].to_vector(), variance[slot].to_vector()};
    }
  }
  return population;
}

}  // namespace rondo::batch_norm_reference
