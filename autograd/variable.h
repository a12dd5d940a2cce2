// Variable: a Tensor with history, and what the history is made of. All user-facing mathematics takes and
// returns Variables; a Tensor converts to one without history. A slice is a Variable whose edge points into
// its parent: its gradient is written straight into the parent's sink.
// Next: autograd/variable.cpp, autograd/engine.cpp, then autograd/operators.h and autograd/functions.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "autograd/sink.h"
#include "tensor/tensor.h"

namespace rondo {

struct Node;

/// From a user to the value that it uses: an output of a node, or a region of it.
struct Edge {
  std::shared_ptr<Node> node;  // null: no gradient needed
  int output = 0;
  Region region;
};

class Variable {
 public:
  Variable() = default;
  /// A constant.
  Variable(Tensor value) : value_(std::move(value)) {}
  Variable(Tensor value, Edge edge) : value_(std::move(value)), edge_(std::move(edge)) {}
  /// A leaf: backward adds its gradient to `gradient`, of the same shape; after begin_gradient() it
  /// overwrites.
  static Variable leaf(Tensor value, Tensor gradient);

  bool defined() const { return value_.defined(); }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  bool needs_gradient() const { return edge_.node != nullptr; }
  const Edge& edge() const { return edge_; }
  /// The same value without history.
  Variable detached() const { return Variable(value_); }

  /// Views; their gradients are written straight into this variable's. Errors as for Tensor.
  Variable slice(int64_t begin, int64_t end) const;
  Variable operator[](int64_t i) const;
  Variable slice_columns(int64_t begin, int64_t end) const;
  /// The same value, as a part with its own version and reference count (Tensor::as_part).
  Variable as_part() const { return Variable(value_.as_part(), edge_); }

  /// Leaf only. Marks the gradient as zero without writing it: the first contribution overwrites it.
  /// Throws Error for another Variable.
  void begin_gradient() const;
  /// Leaf only. Sets to zero what no backward has written since begin_gradient(). Throws Error as above.
  void complete_gradient() const;

  /// Adds d(this)/d(leaf) to the gradient of every leaf. Must be a single number. Frees the graph. Passes the
  /// gradient of each leaf to `completed`, once, as soon as the last operator that uses the leaf has run.
  void backward(const std::function<void(const Tensor& gradient)>& completed = {}) const;

 private:
  Sink& sink_of_leaf() const;
  Variable view(Tensor value, int64_t row, int64_t column) const;

  Tensor value_;
  Edge edge_;
};

/// A tensor that backward needs; detects if it was overwritten in the meantime.
class Saved {
 public:
  Saved() = default;
  Saved(Tensor tensor) : tensor_(std::move(tensor)), version_(tensor_.defined() ? tensor_.version() : 0) {}
  /// Throws Error, naming the operator, if the tensor has changed since it was saved.
  const Tensor& get(const char* name) const {
    check(!tensor_.defined() || tensor_.version() == version_,
          "[{}] backward needs a tensor {} that was overwritten after it was used; run backward before "
          "updating it",
          name, tensor_.shape());
    return tensor_;
  }

 private:
  Tensor tensor_;
  uint64_t version_ = 0;
};

class InputGradient;
using Inputs = std::vector<InputGradient>;
/// Gets the gradients of the outputs (undefined if none arrived) and writes those of the inputs. The captures
/// of the function are the saved tensors.
using Backward = std::function<void(const std::vector<Tensor>& output_gradients, const Inputs& inputs)>;

/// One operator in the history. Nodes run by descending id, so that all users of a node run before it.
struct Node {
  Node(const char* name, std::vector<Edge> inputs, Backward backward);
  ~Node();

  uint64_t id;
  const char* name;
  std::vector<Edge> inputs;
  std::vector<Sink> outputs;
  Backward backward;  // empty for a leaf
  bool leaf = false;
  bool queued = false;
  bool used = false;
};

/// Where a backward function writes the gradient of one input.
class InputGradient {
 public:
  explicit InputGradient(const Edge& edge) : edge_(edge) {}
  bool wanted() const { return edge_.node != nullptr; }
  Sink::Destination destination() const { return sink().destination(edge_.region); }
  Sink::Sum sum() const { return sink().sum(edge_.region); }
  void add(const Tensor& g) const {
    if (wanted()) sink().add(g, edge_.region);
  }
  bool keeps(const Tensor& g) const { return wanted() && sink().keeps(g, edge_.region); }
  /// Adds factor [1] * g; g may be overwritten if nobody else uses its memory.
  void add_scaled(Tensor g, const Tensor& factor) const {
    if (wanted()) sink().add_scaled(std::move(g), factor, edge_.region);
  }
  void add_product(const Tensor& left, const Tensor& right) const {
    if (wanted()) sink().add_product(left, right, edge_.region);
  }
  void add_rows(const Tokens& rows, const Tensor& g) const {
    if (wanted()) sink().add_rows(rows, g, edge_.region);
  }
  /// Adds the column sums of g: the gradient of a vector.
  void add_column_sums(const Tensor& g) const {
    if (wanted()) sink().add_column_sums(g, edge_.region);
  }
  Sink::Destination contributions(int64_t rows) const { return sink().contributions(edge_.region, rows); }
  /// Whether this input and another are overlapping parts of one value.
  bool overlaps(const InputGradient& other) const {
    return wanted() && other.wanted() && edge_.node == other.edge_.node &&
           edge_.output == other.edge_.output && edge_.region.overlaps(other.edge_.region);
  }

 private:
  Sink& sink() const { return edge_.node->outputs[edge_.output]; }
  const Edge& edge_;
};

/// Makes Variables of an operator's results: with a node if recording is on and an input needs a gradient.
std::vector<Variable> record(const char* name, std::vector<Tensor> results,
                             const std::vector<Variable>& inputs, Backward backward);
Variable record(const char* name, Tensor result, const std::vector<Variable>& inputs, Backward backward);
/// Records an operator of one input x: `gradient` returns the gradient of x, given the gradient of the
/// result.
Variable record_unary(const char* name, Tensor result, const Variable& x,
                      std::function<Tensor(const Tensor& of_result)> gradient);

/// Whether operators record history: yes, unless a NoGradient exists in this thread.
bool recording();
class NoGradient {
 public:
  NoGradient();
  ~NoGradient();
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;

 private:
  bool before_;
};

}  // namespace rondo
