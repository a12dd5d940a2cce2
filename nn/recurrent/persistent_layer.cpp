// The persistent kernel's memory, and its place in the history.
#include "nn/recurrent/persistent_layer.h"

#include <algorithm>
#include <numeric>

#include "autograd/operators/arithmetic.h"
#include "nn/recurrent/persistent_kernels.h"
#include "tensor/profile.h"

namespace rondo {
namespace {

std::vector<StageShape> shapes_of(const Recurrence& recurrence) {
  std::vector<StageShape> shapes;
  for (const Recurrence::Stage& it : recurrence.stages)
    shapes.push_back({it.gates, it.width, it.weight->weight.shape().columns()});
  return shapes;
}

int64_t bytes_per_number(Precision precision) {
  return sizeof(real) == 4 && precision == Precision::bf16 ? 2 : sizeof(real);
}

/// That of the GPU; null if the list has none.
const PersistentKernel* kernel_of([[maybe_unused]] const Recurrence& recurrence) {
#ifdef RONDO_CUDA
  for (const PersistentKernel& it : cuda::persistent_kernels())
    if (it.stages == recurrence.kernel) return &it;
#endif
  return nullptr;
}

Series series(const Tensor& x) { return {x.mutable_data(), x.row_stride(), x.shape()[1] * x.row_stride()}; }
Series read_series(const Tensor& x) {
  const Operand all = x.read_operand();
  return {all.data, all.row_stride, x.shape()[1] * all.row_stride};
}

/// Memory for numbers of the kernel's precision; zeros.
Tensor zeros_of(int64_t numbers, int64_t bytes, Device device) {
  return Tensor::zeros({padded(numbers * bytes, sizeof(real)) / int64_t{sizeof(real)}}, device);
}

/// What the passes of one layer share: its operands, without those of a pass.
struct Layer {
  PersistentPlan plan;
  const PersistentKernel* kernel;
  Precision precision;
  int64_t T, B;
  std::vector<StageShape> shapes;
  std::vector<const char*> joins{};

  // Of each stage: x [T, B, gates width], the weight [gates width, inner], vectors; what it reads and gives.
  struct Values {
    Tensor x, weight, product, output;
    std::vector<Tensor> vectors;
  };
  std::vector<Values> stages{};
  Tensor h{}, c{}, kept{};  // [T + 1, B, H], [T + 1, B, H], [T, B, H]; the last two undefined: none
  Tensor mask{}, seen{};    // [B, H], and h times it, [T + 1, B, H], if backward needs it; undefined: none

  Device device() const { return h.device(); }
  int64_t row_tiles() const { return padded(B) / persistent_tile; }

  void launch(Pass pass, const std::vector<Tensor>& gradients, const Tensor& of_output, const Tensor& of_h,
              const Tensor& of_c) const {
    const bool forward = pass == Pass::forward;
    const int64_t bytes = bytes_per_number(precision);
    LayerOperands it{};
    it.T = static_cast<int>(T);
    it.B = static_cast<int>(B);
    it.row_tiles = static_cast<int>(row_tiles());
    it.h = forward ? series(h) : read_series(h);
    if (c.defined()) it.c = forward ? series(c) : read_series(c);
    if (kept.defined()) it.kept = forward ? series(kept) : read_series(kept);
    if (mask.defined()) it.mask = mask.read_operand();
    if (seen.defined() && forward) it.seen = series(seen);
    std::vector<Tensor> memory;  // until the launch is queued: what is queued later may then reuse it
    const auto take = [&](Tensor tensor) { return memory.emplace_back(std::move(tensor)); };
    const auto zeros = [&](int64_t width) {
      return take(Tensor::zeros({B, width}, device())).write_operand();
    };
    int64_t widest = 0;
    for (size_t s = 0; s < stages.size(); ++s) {
      const auto& [gates, width, inner] = shapes[s];
      StageOperands& to = it.stages[s];
      to.weight = stages[s].weight.read_operand();
      to.inner = static_cast<int>(inner);
      to.width = static_cast<int>(width);
      to.units = static_cast<int>(plan.units[s]);
      to.x = read_series(stages[s].x);
      if (stages[s].product.defined())
        to.product = forward ? series(stages[s].product) : read_series(stages[s].product);
      if (stages[s].output.defined())
        to.output = forward ? series(stages[s].output) : read_series(stages[s].output);
      for (size_t v = 0; v < stages[s].vectors.size(); ++v) to.vectors[v] = stages[s].vectors[v].data();
      to.exchange_stride = padded(forward ? inner : gates * width);
      to.exchange = take(zeros_of(2 * padded(B) * to.exchange_stride, bytes, device())).mutable_data();
      const int64_t units_read = plan.units[(s + stages.size() - 1) % stages.size()];
      widest = std::max(widest, forward ? gates * plan.units[s] : units_read);
      if (forward) continue;
      to.gradient = series(gradients[s]);
      if (s + 1 < stages.size()) to.of_output = zeros(width);
    }
    it.products_of_block = parts_of_product(it.row_tiles) * padded(B) * padded(widest);
    it.products = take(Tensor({plan.blocks * it.products_of_block}, device())).mutable_data();
    if (!forward) {
      if (of_output.defined()) it.of_output = read_series(of_output);
      it.of_h = of_h.write_operand();
      if (of_c.defined()) it.of_c = of_c.write_operand();
      if (kept.defined()) it.of_kept = zeros(kept.columns());
    }
    const Timed timed("recurrent", [&] {
      return fmt::format("persistent {}, {} blocks", forward ? "forward" : "backward", plan.blocks);
    });
    kernel->launch(pass, precision, plan.blocks, forward ? plan.forward_bytes : plan.backward_bytes, it);
  }
};

/// Adds the gradients of what a join reads, from that of its result, over all steps at once; returns that of
/// the product U e.
Tensor add_join_gradients(const char* name, const Layer::Values& values, const Tensor& of_result,
                          const InputGradient& of_x, const std::vector<const InputGradient*>& of_vectors) {
  if (std::string_view(name) == Add::name) {
    of_x.add(of_result);
    return of_result;
  }
  const PointwiseOperator& op = detail::find_operator(name);
  const Tensor of_product(of_result.shape(), of_result.device());
  std::array<Operand, max_pointwise_inputs> x{values.x.read_operand(), values.product.read_operand()}, dx{};
  std::array<bool, max_pointwise_inputs> accumulate{};
  std::vector<Tensor> kept;
  const auto set = [&](size_t j, const InputGradient& gradient, bool vector) {
    if (!gradient.wanted()) return;
    const Sink::Destination to = gradient.destination();
    if (vector && !to.accumulate) fill(to.tensor, 0);
    kept.push_back(to.tensor);
    dx[j] = {to.tensor.mutable_data(), vector ? 0 : to.tensor.row_stride()};
    accumulate[j] = vector || to.accumulate;
  };
  set(0, of_x, false);
  dx[1] = of_product.write_operand();
  for (size_t v = 0; v < values.vectors.size(); ++v) {
    x[2 + v] = {values.vectors[v].read_operand().data, 0};
    set(2 + v, *of_vectors[v], true);
  }
  const Operand dy = of_result.read_operand();
  op.cuda.backward(op.example.data(), of_result.extent(), x.data(), &dy, dx.data(), accumulate.data());
  return of_product;
}

}  // namespace

PersistentLimits persistent_limits() {
#ifdef RONDO_CUDA
  return cuda::persistent_limits();
#else
  return {};
#endif
}

std::optional<PersistentPlan> persistent_plan(const Recurrence& recurrence, Precision precision,
                                              const PersistentLimits& limits) {
  PersistentPlan plan =
      persistent_plan(shapes_of(recurrence), limits.multiprocessors, bytes_per_number(precision));
  if (plan.bytes() > limits.shared_bytes) return {};
  return plan;
}

std::optional<PersistentPlan> persistent_plan_here(const Recurrence& recurrence, Precision precision) {
  const PersistentKernel* kernel = kernel_of(recurrence);
  if (!kernel) return {};
  const auto plan = persistent_plan(recurrence, precision, persistent_limits());
  if (!plan || !kernel->fits(Pass::forward, precision, plan->blocks, plan->forward_bytes) ||
      !kernel->fits(Pass::backward, precision, plan->blocks, plan->backward_bytes))
    return {};
  return plan;
}

PersistentResult run_persistent(const Recurrence& recurrence, const PersistentPlan& plan,
                                const std::vector<Variable>& projected, const Variable& h, const Variable& c,
                                const Variable& mask) {
  const size_t count = recurrence.stages.size();
  std::vector<Variable> inputs;  // x and the weight of each stage, its vectors; then h and c
  Layer layer{plan, kernel_of(recurrence), precision(), 0, h.shape()[0], shapes_of(recurrence)};
  const Device device = h.value().device();
  for (const Recurrence::Stage& it : recurrence.stages) {
    const int64_t end = it.begin + it.gates * it.width;
    const Variable x = projected[static_cast<size_t>(it.input->index())].slice_columns(it.begin, end);
    const Variable weight = it.weight->rows(it.begin, end);
    inputs.insert(inputs.end(), {x, weight});
    inputs.insert(inputs.end(), it.vectors.begin(), it.vectors.end());
    layer.T = x.shape()[0];
    layer.joins.push_back(it.join);
    Layer::Values& values = layer.stages.emplace_back();
    values.x = x.value();
    values.weight = weight.value();
    for (const Variable& vector : it.vectors) values.vectors.push_back(vector.value());
  }
  inputs.push_back(h);
  if (c.defined()) inputs.push_back(c);
  const int64_t T = layer.T, B = layer.B, H = h.shape().columns();
  const bool records = recording() && std::any_of(inputs.begin(), inputs.end(),
                                                  [](const Variable& it) { return it.needs_gradient(); });
  const auto from = [&](const Variable& initial) {
    const Tensor steps({T + 1, B, H}, device);
    copy(initial.value(), steps[0]);
    return steps;
  };
  layer.h = from(h);
  if (c.defined()) layer.c = from(c);
  if (count > 1 && !c.defined()) layer.kept = Tensor({T, B, H}, device);
  if (mask.defined()) layer.mask = mask.value();
  if (mask.defined() && records) layer.seen = Tensor({T + 1, B, H}, device);
  for (size_t s = 0; s < count; ++s) {
    const auto& [gates, width, inner] = layer.shapes[s];
    if (records) layer.stages[s].product = Tensor({T, B, gates * width}, device);
    if (s + 1 < count) layer.stages[s].output = Tensor({T, B, width}, device);
  }
  layer.launch(Pass::forward, {}, {}, {}, {});

  std::vector<Tensor> results = {layer.h.slice(1, T + 1)};
  if (c.defined()) results.push_back(layer.c[T]);
  std::vector<Saved> unchanged;
  for (const Variable& it : inputs) unchanged.emplace_back(it.value());
  auto backward = [layer, unchanged](const std::vector<Tensor>& gradients, const Inputs& in) {
    for (const Saved& it : unchanged) it.get("persistent");
    const int64_t steps = layer.T, rows = layer.B, units = layer.h.columns();
    const auto initial = [&](const Tensor& given) {
      return given.defined() ? clone(given) : Tensor::zeros({rows, units}, layer.device());
    };
    const Tensor of_h = initial({}), of_c = layer.c.defined() ? initial(gradients[1]) : Tensor();
    std::vector<Tensor> of_results;  // of each join
    for (const StageShape& it : layer.shapes)
      of_results.emplace_back(Shape{steps, rows, it.gates * it.width}, layer.device());
    layer.launch(Pass::backward, of_results, gradients[0], of_h, of_c);
    size_t i = 0;
    for (size_t s = 0; s < layer.stages.size(); ++s) {
      const Layer::Values& values = layer.stages[s];
      const InputGradient &of_x = in[i], &of_weight = in[i + 1];
      std::vector<const InputGradient*> of_vectors;
      for (size_t v = 0; v < values.vectors.size(); ++v) of_vectors.push_back(&in[i + 2 + v]);
      const Tensor of_product = add_join_gradients(layer.joins[s], values, of_results[s], of_x, of_vectors);
      i += 2 + values.vectors.size();
      if (!of_weight.wanted()) continue;
      const Tensor read =
          s > 0 ? layer.stages[s - 1].output : (layer.seen.defined() ? layer.seen : layer.h).slice(0, steps);
      of_weight.add_product(of_product, read);
    }
    in[i].add(of_h);
    if (of_c.defined()) in[i + 1].add(of_c);
  };
  const std::vector<Variable> recorded = record("persistent", results, inputs, std::move(backward));
  return {recorded[0], recorded[0][T - 1], c.defined() ? recorded[1] : Variable()};
}

}  // namespace rondo
