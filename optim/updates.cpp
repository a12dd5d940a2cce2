// Launching updates: shapes, devices and the list.
#include "optim/updates.h"

#include "tensor/profile.h"

namespace rondo {

namespace cpu {
std::vector<PointwiseOperator> update_operators();  // optim/updates.cc
}
namespace cuda {
std::vector<PointwiseOperator> update_operators();
}

const std::vector<PointwiseOperator>& update_operators() {
  static const std::vector<PointwiseOperator> known = [] {
    auto own = cpu::update_operators();
#ifdef RONDO_CUDA
    add_launchers(own, cuda::update_operators());
#endif
    return own;
  }();
  return known;
}

namespace {
const PointwiseOperator& find_update(const std::string& name) {
  for (const PointwiseOperator& update : update_operators())
    if (update.name == name) return update;
  throw Error(fmt::format("[{}] is not on the list of updates; add it at the end of optim/updates.h", name));
}
}  // namespace

void detail::apply_update(const char* name, const void* update, const std::vector<Tensor>& inputs,
                          const std::vector<Tensor>& outputs) {
  const PointwiseOperator& entry = find_update(name);
  check(inputs.size() == static_cast<size_t>(entry.inputs) &&
            outputs.size() == static_cast<size_t>(entry.outputs),
        "[{}] takes {} tensors and writes {}, got {} and {}", name, entry.inputs, entry.outputs,
        inputs.size(), outputs.size());
  check(inputs[0].defined(), "[{}] needs laid out buffers; call finalize() on the model first", name);
  const Tensor& first = inputs[0];
  const auto check_flat = [&](const Tensor& x) {
    check(x.defined() && x.shape().dimensions() == 1 && x.size() == first.size() &&
              x.device() == first.device(),
          "[{}] needs vectors of one size on one device, got {} beside {}", name, x.shape(), first.shape());
  };
  std::array<Operand, max_pointwise_inputs> x;
  std::array<Operand, max_pointwise_outputs> y;
  for (size_t j = 0; j < inputs.size(); ++j) {
    check_flat(inputs[j]);
    x[j] = inputs[j].read_operand();
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    check_flat(outputs[k]);
    y[k] = outputs[k].write_operand();
  }
  const Timed timed("optimizer", [&] { return entry.name; });
  entry.launchers(first.device()).forward(update, first.extent(), x.data(), y.data());
}

}  // namespace rondo
