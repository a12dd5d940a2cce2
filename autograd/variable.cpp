// The history: recording, nodes and their destruction, slices, and the gradients of inputs. Next:
// autograd/engine.cpp, which walks it.
#include "autograd/variable.h"

#include <atomic>

#include "autograd/observe.h"

namespace rondo {
namespace {

thread_local bool recording_on = true;
std::atomic<uint64_t> last_id = 0;

Region whole_of(const Shape& shape) { return {0, shape.rows(), 0, shape.columns()}; }

}  // namespace

bool recording() { return recording_on; }
NoGradient::NoGradient() : before_(recording_on) { recording_on = false; }
NoGradient::~NoGradient() { recording_on = before_; }

Node::Node(const char* node_name, std::vector<Edge> node_inputs, Backward node_backward)
    : id(++last_id), name(node_name), inputs(std::move(node_inputs)), backward(std::move(node_backward)) {}

/// Destroying the last user of a long chain must not recurse: inputs are released one by one, from a list.
Node::~Node() {
  static thread_local std::vector<Edge>* dropped = nullptr;
  if (dropped) {
    for (Edge& edge : inputs) dropped->push_back(std::move(edge));
    return;
  }
  std::vector<Edge> list = std::move(inputs);
  dropped = &list;
  while (!list.empty()) {
    const Edge edge = std::move(list.back());
    list.pop_back();
  }
  dropped = nullptr;
}

Variable Variable::leaf(Tensor value, Tensor gradient) {
  check(value.shape() == gradient.shape(), "[leaf] a gradient {} does not fit a value {}", gradient.shape(),
        value.shape());
  auto node = std::make_shared<Node>("leaf", std::vector<Edge>{}, nullptr);
  node->leaf = true;
  node->outputs.emplace_back(std::move(gradient));
  const Region region = whole_of(value.shape());
  return Variable(std::move(value), Edge{std::move(node), 0, region});
}

Sink& Variable::sink_of_leaf() const {
  check(edge_.node && edge_.node->leaf, "[begin_gradient] of a leaf, and this is none");
  return edge_.node->outputs.front();
}
void Variable::begin_gradient() const { sink_of_leaf().begin(); }
void Variable::complete_gradient() const { sink_of_leaf().complete(); }

Variable Variable::view(Tensor value, int64_t row, int64_t column) const {
  Edge edge = edge_;
  if (edge.node) {
    edge.region.row += row;
    edge.region.column += column;
    edge.region.rows = value.rows();
    edge.region.columns = value.columns();
  }
  return Variable(std::move(value), std::move(edge));
}

Variable Variable::slice(int64_t begin, int64_t end) const {
  if (shape().dimensions() == 1) return view(value_.slice(begin, end), 0, begin);
  return view(value_.slice(begin, end), begin * shape().without_first().rows(), 0);
}
Variable Variable::operator[](int64_t i) const {
  return view(value_[i], i * shape().without_first().rows(), 0);
}
Variable Variable::slice_columns(int64_t begin, int64_t end) const {
  return view(value_.slice_columns(begin, end), 0, begin);
}

std::vector<Variable> record(const char* name, std::vector<Tensor> results,
                             const std::vector<Variable>& inputs, Backward backward) {
  if (OperatorObserver* observer = Observing<OperatorObserver>::current()) observer->computed(name, inputs);
  bool needed = false;
  for (const Variable& input : inputs) needed |= input.needs_gradient();
  std::vector<Variable> variables;
  if (!recording_on || !needed) {
    for (Tensor& result : results) variables.emplace_back(std::move(result));
    return variables;
  }
  std::vector<Edge> edges;
  edges.reserve(inputs.size());
  for (const Variable& input : inputs) edges.push_back(input.edge());
  auto node = std::make_shared<Node>(name, std::move(edges), std::move(backward));
  for (Tensor& result : results) {
    node->outputs.emplace_back(result.shape(), result.device());
    const Region region = whole_of(result.shape());
    variables.emplace_back(std::move(result), Edge{node, static_cast<int>(variables.size()), region});
  }
  return variables;
}

Variable record(const char* name, Tensor result, const std::vector<Variable>& inputs, Backward backward) {
  return record(name, std::vector<Tensor>{std::move(result)}, inputs, std::move(backward))[0];
}

Variable record_unary(const char* name, Tensor result, const Variable& x,
                      std::function<Tensor(const Tensor& of_result)> gradient) {
  return record(name, std::move(result), {x},
                [gradient = std::move(gradient)](const std::vector<Tensor>& gradients, const Inputs& in) {
                  in[0].add(gradient(gradients[0]));
                });
}

}  // namespace rondo
