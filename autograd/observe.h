// Looking at a computation without changing it: what each operator reads, and the gradient of any value.
// Used by lm/evaluation/probe.h.
#pragma once

#include <functional>
#include <vector>

#include "autograd/variable.h"

namespace rondo {

class OperatorObserver {
 public:
  virtual ~OperatorObserver() = default;
  /// Called after an operator has been computed, before the next one is: `name` is that of its node. An input
  /// that the operator has overwritten (autograd/linear.h: add_linear) has its new value.
  virtual void computed(const char* name, const std::vector<Variable>& inputs) = 0;
};

/// While it exists, the observer sees the operators that this thread computes, recorded or not.
class ObservedOperators {
 public:
  explicit ObservedOperators(OperatorObserver& observer);
  ~ObservedOperators();
  ObservedOperators(const ObservedOperators&) = delete;
  ObservedOperators& operator=(const ObservedOperators&) = delete;

 private:
  OperatorObserver* before_;
};
/// That of this thread; null: none.
OperatorObserver* operator_observer();

/// The same value; backward calls `use` with its gradient, complete, before it goes on to what x was computed
/// from. Of a constant, too.
Variable with_observed_gradient(const Variable& x, std::function<void(const Tensor& gradient)> use);

}  // namespace rondo
