// Looking at a computation.
#include "autograd/observe.h"

#include <utility>

namespace rondo {
namespace {

thread_local OperatorObserver* observer_in_force = nullptr;

}  // namespace

ObservedOperators::ObservedOperators(OperatorObserver& observer)
    : before_(std::exchange(observer_in_force, &observer)) {}
ObservedOperators::~ObservedOperators() { observer_in_force = before_; }
OperatorObserver* operator_observer() { return observer_in_force; }

Variable with_observed_gradient(const Variable& x, std::function<void(const Tensor& gradient)> use) {
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
