// Looking at a computation without changing it: what each operator reads, and the gradient of any value.
// Recurrent steps: nn/recurrent/recurrent_layer.h. Used by lm/evaluation/probe.h.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "autograd/variable.h"

namespace rondo {

class OperatorObserver {
 public:
  virtual ~OperatorObserver() = default;
  /// Called after an operator has been computed, recorded or not, before the next one is: `name` is that of
  /// its node. An input that the operator has overwritten (autograd/linear.h: add_linear) has its new value.
  virtual void computed(const char* name, const std::vector<Variable>& inputs) = 0;
};

/// While it exists, the observer sees what this thread computes.
template <class Observer>
class Observing {
 public:
  explicit Observing(Observer& observer) : before_(std::exchange(current(), &observer)) {}
  ~Observing() { current() = before_; }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

  /// The observer of this thread; null: none.
  static Observer*& current() {
    thread_local Observer* observer = nullptr;
    return observer;
  }

 private:
  Observer* before_;
};

/// Returns the same value; backward calls `use` with its complete gradient before it goes on to what x was
/// computed from. x may be a constant.
inline Variable with_observed_gradient(const Variable& x, std::function<void(const Tensor& gradient)> use) {
  auto node =
      std::make_shared<Node>("observed", std::vector<Edge>{x.edge()},
                             [use = std::move(use)](const std::vector<Tensor>& gradients, const Inputs& in) {
                               use(gradients[0]);
                               in[0].add(gradients[0]);
                             });
  node->outputs.emplace_back(x.shape(), x.value().device());
  const Region whole = node->outputs[0].whole();
  return Variable(x.value(), Edge{std::move(node), 0, whole});
}

}  // namespace rondo
