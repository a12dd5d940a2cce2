// Probes of models.
#include "lm/evaluation/probe.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "autograd/pointwise.h"
#include "data/files/lines.h"
#include "tensor/error.h"
#include "tensor/products/gemm.h"
#include "tensor/products/singular_values.h"

namespace rondo {

// --- Distribution ---

Distribution::Distribution(double from, double to, const std::vector<int64_t>& counts, double mean,
                           double low, double high)
    : of_gates_(from == 0),
      counts_(counts),
      to_(to),
      count_(std::accumulate(counts.begin(), counts.end(), int64_t{0})) {
  check(std::ssize(counts) == bins && to > 0 && (from == 0 || from == -to),
        "[probe] no distribution has {} bins from {} to {}", counts.size(), from, to);
  const auto total = static_cast<double>(count_);
  sum_ = mean * total;
  low_ = std::llround(low * total), high_ = std::llround(high * total);
}

void Distribution::add(double value) {
  check(std::isfinite(value), "[probe] an activation is {}, no finite number", value);
  while (std::abs(value) > to_) {  // pairs of bins become one, around the middle
    std::vector<int64_t> wider(bins, 0);
    for (int64_t i = 0; i < bins; ++i)
      wider[static_cast<size_t>(bins / 4 + i / 2)] += counts_[static_cast<size_t>(i)];
    counts_ = std::move(wider);
    to_ *= 2;
  }
  const double place = (value - from()) / (to_ - from()) * static_cast<double>(bins);
  const int64_t bin = std::min(static_cast<int64_t>(place), bins - 1);
  ++counts_[static_cast<size_t>(bin)];
  ++count_;
  sum_ += value;
  low_ += value < (of_gates_ ? 0.1 : -0.9);
  high_ += value > 0.9;
}

// --- Recurrent probe ---

namespace {

/// The squared length of each row.
std::vector<double> squares_of_rows(const Tensor& x) {
  const std::vector<real> numbers = x.to_vector();
  std::vector<double> squares(static_cast<size_t>(x.rows()), 0);
  for (size_t i = 0; i < numbers.size(); ++i)
    squares[i / static_cast<size_t>(x.columns())] +=
        static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
  return squares;
}

/// Adds the norm of each row.
void add_norms(const std::vector<double>& squares, int64_t step, NormsByStep& to) {
  for (const double it : squares) to.add(step, std::sqrt(it));
}

/// What an equation writes within s(...), each once.
std::vector<std::string> gate_arguments(const std::string& equation) {
  std::vector<std::string> found;
  for (size_t at = 0; (at = equation.find("s(", at)) != std::string::npos; ++at) {
    const std::string argument = equation.substr(at + 2, equation.find(')', at) - at - 2);
    const bool is_a_name = at == 0 || std::strchr(" (=", equation[at - 1]);  // not cos(x)
    if (is_a_name && std::ranges::find(found, argument) == found.end()) found.push_back(argument);
  }
  return found;
}

/// The gates of an operator: what its equation writes as s(...), of sums of products of its inputs, each
/// once, "s(f)", with the values of all elements.
std::map<std::string, std::vector<double>> gates_of(const std::string& operator_name,
                                                    const std::vector<Tensor>& inputs) {
  const auto& all = pointwise_operators();
  const auto op = std::ranges::find_if(all, [&](const auto& it) { return it.name == operator_name; });
  if (op == all.end() || op->arguments.empty()) return {};
  const std::vector<std::string_view> names = split_words(op->arguments);
  const Tensor& widest =
      *std::ranges::max_element(inputs, [](const Tensor& a, const Tensor& b) { return a.rows() < b.rows(); });
  const int64_t rows = widest.rows(), columns = widest.columns();
  const auto is_plus = [](char it) { return it == '+'; };
  std::map<std::string, std::vector<double>> gates;
  for (const std::string& argument : gate_arguments(op->equation)) {
    std::vector<double> sums(static_cast<size_t>(rows * columns), 0);
    bool known = true;
    for (const std::string_view term : split_at(std::string_view(argument), is_plus)) {
      std::vector<double> product(sums.size(), 1);
      for (const std::string_view factor : split_words(term)) {
        const auto place = std::ranges::find(names, factor);
        known = known && place != names.end();  // else a function of a result, as s(c')
        if (!known) break;
        const std::vector<real> values = inputs[static_cast<size_t>(place - names.begin())].to_vector();
        for (size_t i = 0; i < product.size(); ++i)
          product[i] *= static_cast<double>(values[i % values.size()]);
      }
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += product[i];
    }
    if (!known) continue;
    for (double& it : sums) it = 1 / (1 + std::exp(-it));
    gates.emplace("s(" + argument + ")", std::move(sums));
  }
  return gates;
}

}  // namespace

NormsByStep::Sums& NormsByStep::at(int64_t step) {
  if (std::ssize(steps) <= step) steps.resize(static_cast<size_t>(step) + 1);
  return steps[static_cast<size_t>(step)];
}
void NormsByStep::add(int64_t step, double norm) {
  Sums& it = at(step);
  ++it.count;
  it.norms += norm;
  it.logs += std::log(norm);
}
void RecurrentProbe::run(int64_t sequences, const ReportDone& progress,
                         const std::function<Variable()>& loss) {
  const EvaluationMode no_dropout(model_);
  const auto value = [&] {
    const Observing<StepObserver> steps(*this);
    const Observing<OperatorObserver> operators(*this);
    return loss();
  }();
  value.backward();
  for (const auto& it : seen_)
    for (const auto& [name, by_step] : it->rows_of_state)
      for (const auto& [step, rows] : by_step) {
        NormsByStep& gradients = it->layer.gradients[name];
        while (gradients.at(step).count < rows) gradients.add(step, 0);
      }
  fill(model_.gradients(), 0);
  result_.nats += static_cast<double>(value.value().item());
  result_.sequences += sequences;
  if (progress) progress(result_.sequences);
}

RecurrentProbe::Seen& RecurrentProbe::seen(const Cell& cell) {
  for (const auto& it : seen_)
    if (it->cell == &cell) return *it;
  auto it = std::make_unique<Seen>();
  it->cell = &cell;
  const std::string around = cell.full_name("|");
  it->prefix = around.substr(0, around.find('|'));
  it->suffix = around.substr(around.find('|') + 1);
  it->layer.name = it->prefix + (it->suffix.starts_with("_") ? it->suffix.substr(1) : it->suffix);
  return *seen_.emplace_back(std::move(it));
}

void RecurrentProbe::begins(const Cell& cell, const std::vector<int64_t>& rows) {
  Seen& it = seen(cell);
  it.rows_of_step = rows;
  it.step = 0;
}

State RecurrentProbe::observed(Seen& it, const State& state) {
  State result = state;
  const auto look = [&](const std::string& name, Variable& value) {
    NormsByStep& gradients = it.layer.gradients[name];
    it.rows_of_state[name][it.step] += value.shape()[0];
    value = with_observed_gradient(value, [&gradients, step = it.step](const Tensor& gradient) {
      add_norms(squares_of_rows(gradient), step, gradients);
    });
  };
  look("h", result.h);
  if (result.c.defined()) look("c", result.c);
  for (State::Named& other : result.others) look(other.name, other.value);
  return result;
}

State RecurrentProbe::before_step(const Cell& cell, State state) {
  Seen& it = seen(cell);
  stepping_ = &it;
  return it.step == 0 ? observed(it, state) : state;
}

State RecurrentProbe::after_step(const Cell& cell, State state) {
  Seen& it = seen(cell);
  stepping_ = nullptr;
  result_.steps = std::max(result_.steps, ++it.step);
  for (auto& [name, by_step] : it.squares) {
    const auto now = by_step.find(it.step);
    if (now == by_step.end()) continue;
    add_norms(now->second, it.step, it.layer.products[name]);
    by_step.erase(now);
  }
  for (const auto& [name, value] : state.tensors()) {
    Distribution& activations = it.layer.activations[name];
    for (const real number : value.value().to_vector()) activations.add(static_cast<double>(number));
  }
  return observed(it, state);
}

void RecurrentProbe::computed(const char* name, const std::vector<Variable>& inputs) {
  if (std::strcmp(name, "linear") == 0)
    add_product(inputs[0].value(), inputs[1].value());
  else if (std::strcmp(name, "add_linear") == 0)
    add_product(inputs[1].value(), inputs[2].value());
  else if (stepping_)
    add_gates(name, inputs);
}

void RecurrentProbe::add_product(const Tensor& x, const Tensor& weight) {
  if (!weight.shares_memory(model_.values())) return;
  const auto place = std::ranges::find_if(model_.segments(), [&](const Segment& it) {
    return weight.offset() >= it.offset && weight.offset() < it.offset + it.shape.rows() * it.row_stride;
  });
  const auto layer = std::ranges::find_if(seen_, [&](const std::unique_ptr<Seen>& it) {
    return place->name.starts_with(it->prefix) && place->name.ends_with(it->suffix);
  });
  if (layer == seen_.end()) return;
  Seen& it = **layer;
  const Tensor product({x.rows(), weight.rows()}, x.device());
  weight_gemm(x, weight, Transpose::yes, {}, product);
  auto& by_step = it.squares[place->name.substr(it.prefix.size())];
  const std::vector<double> squares = squares_of_rows(product);
  const auto add = [&](int64_t step, auto begin, auto end) {
    std::vector<double>& of_step = by_step[step];
    of_step.resize(static_cast<size_t>(end - begin), 0);
    std::transform(begin, end, of_step.begin(), of_step.begin(), std::plus());
  };
  if (stepping_ || it.rows_of_step.empty()) return add(it.step + 1, squares.begin(), squares.end());
  auto row = squares.begin();  // a projection, of all steps at once
  for (size_t i = 0; i < it.rows_of_step.size(); ++i, row += it.rows_of_step[i - 1])
    add(it.step + 1 + static_cast<int64_t>(i), row, row + it.rows_of_step[i]);
}

void RecurrentProbe::add_gates(const std::string& operator_name, const std::vector<Variable>& inputs) {
  std::vector<Tensor> values;
  for (const Variable& it : inputs) values.push_back(it.value());
  for (const auto& [name, of_gate] : gates_of(operator_name, values)) {
    Distribution& gates = stepping_->layer.gates.try_emplace(name, true).first->second;
    for (const double value : of_gate) gates.add(value);
  }
}

Probed RecurrentProbe::result(const std::string& loss) {
  check_input(!seen_.empty(), "this model has no recurrent layer to look into");
  Probed result = result_;
  result.loss = loss;
  result.nats /= static_cast<double>(result.sequences);
  std::vector<ProbedLayer>& layers = result.layers;
  for (const auto& it : seen_) {
    layers.push_back(it->layer);
    for (const Recurrent* recurrent : it->cell->recurrent_weights()) {
      const Tensor& weight = recurrent->weight.variable().value();
      if (weight.shape().dimensions() != 2) continue;
      const std::string name = recurrent->weight.name().substr(it->prefix.size());
      const int64_t rows = weight.rows(), block = rows % weight.columns() == 0 ? weight.columns() : rows;
      for (int64_t begin = 0; begin < rows; begin += block)
        layers.back().singular_values.emplace_back(
            block == rows ? name : fmt::format("{} [{}, {})", name, begin, begin + block),
            singular_values(weight.slice_rows(begin, begin + block)));
    }
  }
  return result;
}

// --- Probe ---

std::vector<int64_t> evenly(int64_t all, int64_t count) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(all, count); ++i) chosen.push_back(i * all / std::min(all, count));
  return chosen;
}

std::vector<int64_t> evenly(const std::vector<int64_t>& all, int64_t count) {
  std::vector<int64_t> chosen = evenly(std::ssize(all), count);
  for (int64_t& it : chosen) it = all[static_cast<size_t>(it)];
  return chosen;
}

Tokens last_alone(const std::vector<int32_t>& targets, const std::vector<int64_t>& lengths) {
  std::vector<int32_t> last(targets.size(), -1);
  for (size_t b = 0; b < lengths.size(); ++b) {
    const size_t at = static_cast<size_t>(lengths[b] - 1) * lengths.size() + b;
    last[at] = targets[at];
  }
  return tokens(std::move(last));
}

Probed probe(LanguageModel& model, std::span<const int32_t> ids, const ProbeOptions& options,
             const ReportDone& progress) {
  const int64_t T = options.steps, all = (std::ssize(ids) - 1) / T;
  check_input(all > 0, "{} symbols are too few for a sequence of {} steps and the symbol after it",
              ids.size(), T);
  const std::vector<int64_t> chosen = evenly(all, options.sequences);
  RecurrentProbe probe(model);
  for (size_t first = 0; first < chosen.size(); first += probed_at_once) {
    const int64_t B = std::min<int64_t>(probed_at_once, std::ssize(chosen) - static_cast<int64_t>(first));
    std::vector<int32_t> inputs(static_cast<size_t>(T * B)), targets(static_cast<size_t>(B));
    for (int64_t b = 0; b < B; ++b) {
      const auto sequence = ids.subspan(static_cast<size_t>(chosen[first + static_cast<size_t>(b)] * T));
      for (int64_t t = 0; t < T; ++t)
        inputs[static_cast<size_t>(t * B + b)] = sequence[static_cast<size_t>(t)];
      targets[static_cast<size_t>(b)] = sequence[static_cast<size_t>(T)];
    }
    probe.run(B, progress, [&] {
      const auto read = model.forward({tokens(inputs), T, B}, model.initial_states(B));
      return model.cross_entropy(read.output.rows((T - 1) * B, T * B), tokens(targets)).total;
    });
  }
  return probe.result("the loss of the last step alone");
}

}  // namespace rondo
