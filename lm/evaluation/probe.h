// Probes of a model: what its recurrent layers do with sequences of a text, and how the loss of the last step
// of each sequence, alone, reaches back to its first one. If a loss has no such step, the whole loss is
// used. Wu et al. 2016, section 3.1.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/observe.h"
#include "lm/evaluation/scores.h"
#include "nn/models/language_model.h"
#include "nn/module.h"
#include "nn/recurrent/recurrent_layer.h"

namespace rondo {

// --- Distribution ---
// The distribution of numbers that come one by one, as a histogram whose range grows with them.

class Distribution {
 public:
  static constexpr int64_t bins = 40;

  /// Bins of equal width over [0, 1], for gates, or else over [-1, 1]; the latter range is doubled until it
  /// contains every number.
  explicit Distribution(bool of_gates = false) : of_gates_(of_gates), counts_(bins, 0) {}

  /// Restores one that was described by what the functions below return. Throws Error if that is impossible.
  Distribution(double from, double to, const std::vector<int64_t>& counts, double mean, double low,
               double high);

  /// Throws Error for what is not finite.
  void add(double value);

  /// The ends of the histogram, and the numbers in each bin, which contains its lower end; the last one also
  /// the upper end.
  double from() const { return of_gates_ ? 0 : -to_; }
  double to() const { return to_; }
  const std::vector<int64_t>& counts() const { return counts_; }

  int64_t count() const { return count_; }
  double mean() const { return sum_ / static_cast<double>(count_); }
  /// The share that is saturated: of gates nearly closed, below 0.1, and nearly open, above 0.9; of
  /// activations below -0.9 and above 0.9.
  double low() const { return static_cast<double>(low_) / static_cast<double>(count_); }
  double high() const { return static_cast<double>(high_) / static_cast<double>(count_); }

 private:
  bool of_gates_;
  std::vector<int64_t> counts_;
  double to_ = 1, sum_ = 0;
  int64_t count_ = 0, low_ = 0, high_ = 0;
};

// --- Recurrent probe ---
// What goes on inside recurrent layers, of any cell, while a model reads a batch and backward computes the
// gradients of a loss. Wu et al. 2016 (section 3.1) look at vanishing gradients, at saturated activations
// and at the scales of W x and U h in this way.

/// The Euclidean norms of vectors, one for each sequence, by step.
struct NormsByStep {
  struct Sums {
    int64_t count = 0;
    double norms = 0, logs = 0;
  };
  std::vector<Sums> steps{};

  void add(int64_t step, double norm);
  /// The sums of a step, which may be a new one.
  Sums& at(int64_t step);
  /// The mean over the sequences of the norm, and of its natural logarithm, which is -infinity if the norm of
  /// one sequence is 0. NaN of a step without sequences.
  double mean(size_t step) const { return steps[step].norms / static_cast<double>(steps[step].count); }
  double mean_log(size_t step) const { return steps[step].logs / static_cast<double>(steps[step].count); }
};

/// One layer. Steps are those of the cell: a reverse one begins at the end of the text.
struct ProbedLayer {
  std::string name;  // "rnn.l0"
  /// The gradients of the loss with respect to each tensor of the state after step t, from t = 0, the initial
  /// state: of all its effects, but for those through another tensor of the same state. (c_t is not a
  /// function of h_t.)
  std::map<std::string, NormsByStep> gradients{};
  /// The product, by the name of each weight of the cell that is multiplied by a vector: at step t, from
  /// t = 1, without biases. Gates that are stacked in one weight, and all products with it in one step, make
  /// one vector.
  std::map<std::string, NormsByStep> products{};
  /// The elements of each tensor of the state, after every step.
  std::map<std::string, Distribution> activations{};
  /// The gates, by what the equation of their operator calls them: "s(f)".
  std::map<std::string, Distribution> gates{};
  /// Those of recurrent weights, of stacked gates one gate at a time where they are square: "weight_hh_l0 [0,
  /// 64)".
  std::vector<std::pair<std::string, std::vector<double>>> singular_values{};
};

/// What several batches have shown.
struct Probed {
  std::string loss{};                // what is differentiated, in words
  int64_t sequences = 0, steps = 0;  // that there were; the steps of the longest one
  double nats = 0;                   // the mean over the sequences of that loss
  std::vector<ProbedLayer> layers{};
};

class RecurrentProbe : private OperatorObserver, private StepObserver {
 public:
  /// The model must outlive it, and may be a part of another.
  explicit RecurrentProbe(Module& model) : model_(model.root()) {}

  /// Looks on while `loss` computes its value of a batch of so many sequences, in evaluation mode, and
  /// backward its gradients. The loss must be a sum over the rows of the batch, so that the gradient of a row
  /// is that of its own loss. Leaves the model as it was, its gradients zero. `progress`, if not empty, gets
  /// the number of all sequences so far.
  void run(int64_t sequences, const ReportDone& progress, const std::function<Variable()>& loss);
  /// All batches together: the layers in the order in which they began, and the mean of the losses; `loss`
  /// says in words what they are. Throws InputError if no layer was seen.
  Probed result(const std::string& loss);

 private:
  struct Seen {
    ProbedLayer layer;
    const Cell* cell;
    std::string prefix, suffix;           // of the names of its parameters
    std::vector<int64_t> rows_of_step{};  // StepObserver::begins()
    int64_t step = 0;
    /// The rows of each step, by tensor of the state, for those whose gradient is zero because nothing
    /// depends on them.
    std::map<std::string, std::map<int64_t, int64_t>> rows_of_state{};
    /// By weight and step, the squared length of each row's product, or of all its products in the step.
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
  Probed result_;
};

// --- Probe ---

struct ProbeOptions {
  int64_t steps = 50;       // symbols that a language model reads of each sequence
  int64_t sequences = 100;  // sequences, sentences, ... at equal distances in the text; at most as it has
};

/// Sequences that are read at once.
constexpr int64_t probed_at_once = 32;

/// `count` of all items, or of the numbers below `all`, at equal distances; all of them if there are no more.
std::vector<int64_t> evenly(const std::vector<int64_t>& all, int64_t count);
std::vector<int64_t> evenly(int64_t all, int64_t count);

/// Keeps the last target of each of B sentences, whose targets come step by step; the others are not scored.
Tokens last_alone(const std::vector<int32_t>& targets, const std::vector<int64_t>& lengths);

/// Probes with loss(batch), the sum over the rows of a batch, of the items `chosen` of held-out data.
/// `progress`, if not empty, gets the number of rows done. The functions probe() of models other than
/// language models are in lm/tasks.
template <class Batches, class LossOf>
Probed probe_batches(Module& model, const std::string& loss_in_words, Batches batches,
                     std::vector<int64_t> chosen, const ReportDone& progress, LossOf loss) {
  RecurrentProbe probe(model);
  batches.choose(std::move(chosen));
  batches.seek(0, 0);
  for (typename Batches::Staged batch; batches.next(batch);)
    probe.run(batch.share.count, progress, [&] { return loss(batch); });
  return probe.result(loss_in_words);
}

/// Probes a language model with sequences of `steps` symbols, each from the initial state, which do not
/// overlap. Throws InputError if the text is shorter than one. `progress` gets the number of sequences done.
Probed probe(LanguageModel& model, std::span<const int32_t> ids, const ProbeOptions& options,
             const ReportDone& progress = {});

}  // namespace rondo
