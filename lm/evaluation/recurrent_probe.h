// What goes on inside recurrent layers, of any cell, while a model reads a batch and backward computes the
// gradients of a loss. Wu et al. 2016 (section 3.1) look at vanishing gradients, at saturated activations and
// at the scales of W x and U h in this way. Which batches, and which loss: lm/evaluation/probe.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "autograd/observe.h"
#include "lm/evaluation/distribution.h"
#include "nn/module.h"
#include "nn/recurrent/step_observer.h"

namespace rondo {

/// The Euclidean norms of vectors, one for each sequence, by step.
struct NormsByStep {
  struct Sums {
    int64_t count = 0;
    double norms = 0, logs = 0;
  };
  std::vector<Sums> steps{};

  void add(int64_t step, double norm);
  /// Of a step, which may be a new one.
  Sums& at(int64_t step);
  /// The mean over the sequences of the norm, and of its natural logarithm, which is -infinity if the norm of
  /// one sequence is 0. NaN of a step without sequences.
  double mean(size_t step) const;
  double mean_log(size_t step) const;
};

/// One layer. Steps are those of the cell: a reverse one begins at the end of the text.
struct ProbedLayer {
  std::string name;  // "rnn.l0"
  /// The gradients of the loss with respect to each tensor of the state after step t, from t = 0, the initial
  /// state: of all its effects, but for those through another tensor of the same state. (c_t is not a
  /// function of h_t.)
  std::map<std::string, NormsByStep> gradients{};
  /// Of each weight of the cell that is multiplied by a vector, by its name: the product at step t, from
  /// t = 1, without biases. Gates that are stacked in one weight, and all products with it in one step, make
  /// one vector.
  std::map<std::string, NormsByStep> products{};
  /// Of the elements of each tensor of the state, after every step.
  std::map<std::string, Distribution> activations{};
  /// Of the gates, by what the equation of their operator calls them: "s(f)".
  std::map<std::string, Distribution> gates{};
  /// Of recurrent weights; of stacked gates one gate at a time, where they are square: "weight_hh_l0 [0,
  /// 64)".
  std::vector<std::pair<std::string, std::vector<double>>> singular_values{};
};

class RecurrentProbe : private OperatorObserver, private StepObserver {
 public:
  /// The model must outlive it, and may be a part of another.
  explicit RecurrentProbe(Module& model) : model_(model.root()) {}

  /// Looks on while `loss` computes its value, in evaluation mode, and backward its gradients; returns its
  /// value. The loss must be a sum over the rows of the batch, so that the gradient of a row is that of its
  /// own loss. Leaves the model as it was, its gradients zero.
  double run(const std::function<Variable()>& loss);
  /// All batches together, in the order in which the layers began. Throws InputError if none was seen.
  std::vector<ProbedLayer> layers();

 private:
  struct Seen {
    ProbedLayer layer;
    const Cell* cell;
    std::string prefix, suffix;           // of the names of its parameters
    std::vector<int64_t> rows_of_step{};  // StepObserver::begins()
    int64_t step = 0;
    /// Of each tensor of the state: the rows of each step, for those whose gradient is zero because nothing
    /// depends on them.
    std::map<std::string, std::map<int64_t, int64_t>> rows_of_state{};
    /// Of each weight and step: the squared length of each row's product, or of all its products in the step.
    std::map<std::string, std::map<int64_t, std::vector<double>>> squares{};
  };
  void begins(const Cell& cell, const std::vector<int64_t>& rows) override;
  State before_step(const Cell& cell, State state) override;
  State after_step(const Cell& cell, State state) override;
  void computed(const char* name, const std::vector<Variable>& inputs) override;

  Seen& seen(const Cell& cell);
  /// The state with each of its tensors' gradients observed.
  State observed(Seen& it, const State& state);
  void add_product(const Tensor& x, const Tensor& weight);
  void add_gates(const std::string& operator_name, const std::vector<Variable>& inputs);

  Module& model_;
  std::vector<std::unique_ptr<Seen>> seen_;
  Seen* stepping_ = nullptr;  // the layer that makes a step
};

/// The gates of an operator: what its equation writes as s(...), of sums of products of its inputs, each
/// once, with the values of all elements.
struct GateValues {
  std::string name;  // "s(f)"
  std::vector<double> values;
};
std::vector<GateValues> gates_of(const std::string& operator_name, const std::vector<Tensor>& inputs);

}  // namespace rondo
