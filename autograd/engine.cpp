// The engine: backward by descending id, without recursion, so that a chain of any length works.
#include <optional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "autograd/variable.h"

namespace rondo {
namespace {

/// Nodes that wait for backward, latest first, each once. If an error leaves some in the queue, their sinks
/// are emptied, so that a later backward does not see partial gradients of this one.
class Queue {
 public:
  ~Queue() {
    while (const std::shared_ptr<Node> node = take())
      for (Sink& output : node->outputs) output.discard();
  }
  void add(const std::shared_ptr<Node>& node) {
    if (!node || node->queued) return;
    node->queued = true;
    nodes_.push(node);
  }
  std::shared_ptr<Node> take() {
    if (nodes_.empty()) return nullptr;
    std::shared_ptr<Node> node = nodes_.top();
    nodes_.pop();
    node->queued = false;
    return node;
  }

 private:
  struct Earlier {
    bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
      return a->id < b->id;
    }
  };
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, Earlier> nodes_;
};

/// How often operators that have not run yet use each leaf.
class UsesOfLeaves {
 public:
  explicit UsesOfLeaves(const Node* last) {
    if (last->leaf) uses_[last] = 1;  // by backward itself
    std::unordered_set<const Node*> seen{last};
    for (std::vector<const Node*> waiting{last}; !waiting.empty();) {
      const Node* const node = waiting.back();
      waiting.pop_back();
      for (const Edge& edge : node->inputs) {
        if (!edge.node) continue;
        if (edge.node->leaf)
          ++uses_[edge.node.get()];
        else if (seen.insert(edge.node.get()).second)
          waiting.push_back(edge.node.get());
      }
    }
  }
  /// Whether this was the last one.
  bool remove(const Node* leaf) { return --uses_.at(leaf) == 0; }
  /// Whether there are any, of operators that got no gradient.
  bool has(const Node* leaf) const { return uses_.at(leaf) > 0; }

 private:
  std::unordered_map<const Node*, int64_t> uses_;
};

}  // namespace

void Variable::backward(const std::function<void(const Tensor& gradient)>& completed) const {
  check(value_.defined() && value_.size() == 1,
        "[backward] starts from a single number, not {}; sum() or mean() it first", shape());
  check(needs_gradient(),
        "[backward] this value depends on no parameter, or was computed under NoGradient; there is nothing "
        "to do");
  std::optional<UsesOfLeaves> uses;
  if (completed) uses.emplace(edge_.node.get());
  Queue queue;
  edge_.node->outputs[edge_.output].add(Tensor::filled(shape(), 1, value_.device()), edge_.region);
  queue.add(edge_.node);
  while (const std::shared_ptr<Node> node = queue.take()) {
    check(!node->used,
          "[{}] backward has already run through this graph and used it up; compute the loss again before a "
          "second "
          "backward",
          node->name);
    std::vector<Tensor> gradients;
    bool any = false;
    for (Sink& output : node->outputs) {
      gradients.push_back(output.flush());
      any |= gradients.back().defined();
    }
    if (node->leaf) {
      if (uses && uses->has(node.get())) completed(gradients.front());
      continue;
    }
    if (any) {
      Inputs inputs;
      inputs.reserve(node->inputs.size());
      for (const Edge& edge : node->inputs) inputs.emplace_back(edge);
      for (const Edge& edge : node->inputs) queue.add(edge.node);
      node->backward(gradients, inputs);
      for (const Edge& edge : node->inputs)
        if (uses && edge.node && edge.node->leaf && uses->remove(edge.node.get()))
          completed(edge.node->outputs.front().flush());
    }
    node->used = true;
    node->backward = nullptr;  // frees the saved tensors
    std::vector<Edge>().swap(node->inputs);
  }
}

}  // namespace rondo
