// Graphs of another order, for a while.
#pragma once

#include "cuda/runtime.h"

namespace rondo {

/// While it exists, graphs are recorded in this order.
class WithOrder {
 public:
  explicit WithOrder(cuda::GraphOrder order) { cuda::set_graph_order(order); }
  ~WithOrder() { cuda::set_graph_order(before_); }
  WithOrder(const WithOrder&) = delete;
  WithOrder& operator=(const WithOrder&) = delete;

 private:
  const cuda::GraphOrder before_ = cuda::graph_order();
};

}  // namespace rondo
