// Recording pointwise operators: shapes, broadcasting and where gradients go.
#include "autograd/pointwise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "tensor/products/packed_gemm.h"
#include "tensor/profile.h"
#include "tensor/tensor.h"

namespace rondo {

namespace cpu {
std::vector<PointwiseOperator> rondo_operators();  // autograd/operators.cc
std::vector<PointwiseOperator> gates();            // nn/cells/gates.cc
}  // namespace cpu
namespace cuda {
std::vector<PointwiseOperator> rondo_operators();
std::vector<PointwiseOperator> gates();
}  // namespace cuda

namespace {

std::vector<PointwiseOperator> joined(std::vector<PointwiseOperator> first,
                                      const std::vector<PointwiseOperator>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Callers keep references to entries, so the container must never move them.
std::deque<PointwiseOperator>& registry() {
  static auto* known = [] {
    auto own = joined(cpu::rondo_operators(), cpu::gates());
#ifdef RONDO_CUDA
    add_launchers(own, joined(cuda::rondo_operators(), cuda::gates()));
#endif
    return new std::deque<PointwiseOperator>(own.begin(), own.end());
  }();
  return *known;
}

/// Where a kernel writes x. Memory that was made for products (states, gradients of pre-activations) is read
/// by a product next.
Operand write_operand_of(const Tensor& x) {
  return x.memory().for_products ? write_operand_with_twin(x) : x.write_operand();
}

/// From so many rows on, a GPU adds up the gradient of a repeated row at once, rather than keep what each row
/// contributes until backward ends.
constexpr int64_t many_rows = 512;

/// What backward needs: the operator's bytes and its inputs.
struct Recorded {
  const PointwiseOperator* op;
  std::vector<std::byte> bytes;
  std::vector<Saved> inputs;
  Extent extent;
  StepRows rows{};  // over time
  Saved states{};   // then those after all steps

  void operator()(const std::vector<Tensor>& output_gradients, const Inputs& gradients) const {
    std::array<Operand, max_pointwise_inputs> x, dx;
    std::array<Operand, max_pointwise_outputs> dy;
    std::array<bool, max_pointwise_inputs> accumulates{};
    std::vector<const Tensor*> values;
    for (const Saved& input : inputs) values.push_back(&input.get(op->name.c_str()));
    const Device device = values[0]->device();
    std::vector<size_t> reused;                          // inputs that their gradients overwrite
    std::vector<std::pair<size_t, Tensor>> temporaries;  // gradients that cannot be written in place
    std::array<Tensor, max_pointwise_inputs> kept;
    std::array<const Tensor*, max_pointwise_inputs> places{};  // of the gradients
    for (size_t j = 0; j < inputs.size(); ++j) {
      const Tensor& input = *values[j];
      const bool repeated = is_repeated(input);
      if (is_state(j)) {
        places[j] = &(kept[j] = Tensor::zeros(input.shape(), device));
        continue;
      }
      if (!gradients[j].wanted()) continue;
      if (reusable(j, values, gradients)) {
        places[j] = &input;
        reused.push_back(j);
        continue;
      }
      // The gradient of a repeated row: a CPU adds down the columns, a GPU writes what each row contributes,
      // or over time adds up what each sequence does.
      const bool by_rows = repeated && is_gpu(device), adds_up = repeated && (!by_rows || !rows.empty());
      const int64_t contributing = rows.empty() ? extent.rows : rows[0];
      bool own_place = by_rows && contributing >= many_rows;
      for (size_t i = 0; i < j; ++i) own_place |= gradients[j].overlaps(gradients[i]);
      Sink::Destination to;
      if (own_place) {
        to = {Tensor(by_rows ? Shape{contributing, extent.columns} : input.shape(), device), false};
        temporaries.emplace_back(j, to.tensor);
      } else {
        to = by_rows ? gradients[j].contributions(contributing) : gradients[j].destination();
      }
      if (adds_up && !to.accumulate) fill(to.tensor, 0);
      places[j] = &(kept[j] = to.tensor);
      accumulates[j] = adds_up || to.accumulate;
    }
    // Behind what the sinks may launch, so that all operands are noted for this launch (cuda/accesses.h).
    for (size_t j = 0; j < inputs.size(); ++j) {
      const bool repeated = is_repeated(*values[j]);
      x[j] = {values[j]->read_operand().data, repeated ? 0 : values[j]->row_stride()};
      if (!places[j]) continue;
      dx[j] =
          repeated && !is_gpu(device) ? Operand{places[j]->mutable_data(), 0} : write_operand_of(*places[j]);
    }
    for (size_t k = 0; k < output_gradients.size(); ++k)
      if (output_gradients[k].defined()) dy[k] = output_gradients[k].read_operand();
    {
      const Timed timed("pointwise", [&] { return op->name + " backward"; });
      const PointwiseLaunchers& launchers = op->launchers(device);
      if (rows.empty()) {
        launchers.backward(bytes.data(), extent, x.data(), dy.data(), dx.data(), accumulates.data());
      } else {
        std::array<Operand, max_pointwise_outputs> y;
        y[op->outputs - 1] = states.get(op->name.c_str()).read_operand();
        launchers.scan_backward(bytes.data(), rows, extent.columns, x.data(), y.data(), dy.data(), dx.data(),
                                accumulates.data());
        gradients[op->state].add(kept[op->state]);
      }
    }
    for (const size_t j : reused) gradients[j].add(*values[j]);
    for (const auto& [j, gradient] : temporaries)
      gradient.rows() > values[j]->rows() ? gradients[j].add_column_sums(gradient)
                                          : gradients[j].add(gradient);
  }
  /// Whether the gradient of input j may overwrite the input: nobody else uses it, no other input overlaps
  /// it, and its sink stores the gradient without a copy.
  bool reusable(size_t j, const std::vector<const Tensor*>& values, const Inputs& gradients) const {
    const Tensor& input = *values[j];
    if (is_repeated(input) || !gradients[j].keeps(input)) return false;
    int64_t ours = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != j && gradients[j].overlaps(gradients[i])) return false;
      if (&values[i]->storage() == &input.storage()) ++ours;
      if (i != j && input.shares_memory(*values[i]) && !side_by_side(input, *values[i])) return false;
    }
    return input.use_count() == ours;
  }
  /// Whether two views of one memory are blocks of columns of the same rows that do not overlap.
  static bool side_by_side(const Tensor& a, const Tensor& b) {
    const int64_t distance = std::abs(a.address() - b.address());
    return a.row_stride() == b.row_stride() && a.rows() == b.rows() && distance >= a.columns() &&
           distance + a.columns() <= a.row_stride();
  }
  bool is_repeated(const Tensor& input) const { return input.rows() == 1 && extent.rows > 1; }
  bool is_state(size_t j) const { return !rows.empty() && static_cast<int>(j) == op->state; }
};

}  // namespace

const std::deque<PointwiseOperator>& pointwise_operators() { return registry(); }

void detail::compare_known_values(const PointwiseOperator& op, double tolerance) {
  for (const KnownValue& known : op.known) {
    std::vector<Variable> inputs;
    for (int j = 0; j < op.inputs; ++j)
      inputs.emplace_back(Tensor::filled({1, 1}, static_cast<real>(known.inputs[j])));
    const std::vector<Variable> y = apply(op, op.example.data(), inputs);
    for (int k = 0; k < op.outputs; ++k) {
      const double given = y[k].value().item(), wanted = known.outputs[k];
      check(std::abs(given - wanted) <= tolerance * std::max(1.0, std::abs(wanted)),
            "[{}] output {} is {}, where its known values say {}", op.name, k, given, wanted);
    }
  }
}

void add_pointwise_operators(std::vector<PointwiseOperator> operators) {
  for (PointwiseOperator& op : operators) {
    for (const PointwiseOperator& known : registry())
      check(known.name != op.name, "[{}] an operator of this name is known already", op.name);
    detail::compare_known_values(op);
    registry().push_back(std::move(op));
  }
}

const PointwiseOperator& detail::find_operator(const char* name) {
  for (const PointwiseOperator& op : registry())
    if (op.name == name) return op;
  throw Error(fmt::format(
      "[{}] is on no list of operators; a program adds its own list by add_pointwise_operators()", name));
}

std::vector<Variable> apply(const PointwiseOperator& op, const void* bytes,
                            const std::vector<Variable>& inputs, const Tensor& out, const StepRows& rows) {
  check(static_cast<int>(inputs.size()) == op.inputs, "[{}] takes {} inputs, got {}", op.name, op.inputs,
        inputs.size());
  size_t widest = 0;
  for (size_t j = 0; j < inputs.size(); ++j) {
    check(inputs[j].defined(), "[{}] input {} is undefined", op.name, j);
    if (inputs[j].value().rows() > inputs[widest].value().rows()) widest = j;
  }
  const Shape& shape = inputs[widest].shape();
  const Device device = inputs[widest].value().device();
  Recorded recorded{&op, {}, {}, {shape.rows(), shape.columns()}, rows};
  check(rows.empty() ||
            (op.state >= 0 && std::accumulate(rows.begin(), rows.end(), int64_t{0}) == shape.rows()),
        "[{}] over {} steps of {} rows needs a state, and as many rows, got {}", op.name, rows.size(),
        rows.empty() ? 0 : rows[0], shape);
  std::array<Operand, max_pointwise_inputs> x;
  std::array<Operand, max_pointwise_outputs> y;
  for (size_t j = 0; j < inputs.size(); ++j) {
    const Tensor& input = inputs[j].value();
    const bool fits =
        recorded.is_state(j) ? input.rows() == rows[0] : input.rows() == shape.rows() || input.rows() == 1;
    check(input.columns() == shape.columns() && fits,
          "[{}] needs equal shapes, or a vector [{}] for all rows: input {} is {} beside {}", op.name,
          shape.columns(), j, input.shape(), shape);
    check_one_device(op.name.c_str(), inputs[widest].value(), input);
    x[j] = {input.read_operand().data, recorded.is_repeated(input) ? 0 : input.row_stride()};
  }
  std::vector<Tensor> results;
  check(!out.defined() || out.shape() == shape, "[{}] gives {}, which does not fit into {}", op.name, shape,
        out.shape());
  for (int k = 0; k < op.outputs; ++k) {
    results.push_back(k == 0 && out.defined() ? out : Tensor(shape, device));
    y[k] = write_operand_of(results.back());
  }
  {
    const Timed timed("pointwise", [&] { return op.name; });
    const PointwiseLaunchers& launchers = op.launchers(device);
    rows.empty() ? launchers.forward(bytes, recorded.extent, x.data(), y.data())
                 : launchers.scan(bytes, rows, shape.columns(), x.data(), y.data());
  }
  if (recording()) {
    const auto* first = static_cast<const std::byte*>(bytes);
    recorded.bytes.assign(first, first + op.example.size());
    for (const Variable& input : inputs) recorded.inputs.emplace_back(input.value());
    if (!rows.empty()) recorded.states = results.back();
  }
  return record(op.name.c_str(), std::move(results), inputs, std::move(recorded));
}

}  // namespace rondo
