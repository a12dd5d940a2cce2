// The sentence classifier: a recurrent stack reads a sentence, its states become one vector, and from that
// vector one prediction is made (many to one). "Demystifying Neural Language Models": y = softmax(W_hy h +
// b_y) at the last step, of a stack with layers in both directions (Graves, Mohamed & Hinton 2013).
//
//   embedding   x_t = E w_t,  t = 1 .. T
//   states      h_t = f(x_t, h_(t-1));  in both directions h_t = [forward h_t ; reverse h_t],
//               where the reverse cell reads from x_T to x_1
//   summary     s = h_T, in both directions [forward h_T ; reverse h_1]: the last state of each
//               s = 1/T sum_t h_t                                          the mean, Tang, Qin & Liu 2015
//               s_j = max_t h_tj                                           the maximum, Conneau et al. 2017
//   output      p(y | w_1 .. w_T) = softmax(W s + b),  of K classes
//
// Each sentence has a T of its own; what pads it has no effect. (The paper's listing takes the last step of
// the padded batch.) Data: data/sentences/labelled_sentences.h. Next: lm/tasks/classification.h.
#pragma once

#include <string>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/layers/linear.h"
#include "nn/models/sequence_model.h"

namespace rondo {

/// How the states of all steps become one vector.
enum class Summary { last, mean, max };
inline std::vector<std::string> names_of(Summary) { return {"last", "mean", "max"}; }

struct SentenceClassifierOptions : SentenceOptions {
  int64_t layers = 1;
  Summary summary = Summary::max;
};
Keys keys_of(SentenceClassifierOptions& options);

class SentenceClassifier : public Module {
 public:
  /// Lays the parameters out and draws their initial values (Module::finalize()). InputErrors of
  /// check_options(); Error for fewer than two classes.
  SentenceClassifier(const SentenceClassifierOptions& options, int64_t vocabulary, int64_t classes,
                     uint64_t seed = 1, Device device = Device::cpu);

  /// s after its dropout, [B, H]; each sentence has one step or more.
  Variable summary(const SentenceInput& input);
  /// Whether the launches for sentences of staged lengths (autograd/sequence.h) follow from the sizes of a
  /// batch: not where batch normalisation counts rows.
  bool can_be_recorded() const { return !look_across_rows(recurrent_.cells()); }
  /// Logits of all classes, [B, K].
  Variable logits(const Variable& summary) const { return output_(summary); }
  /// -log p(label) in nats. Label -1: not scored.
  CrossEntropy cross_entropy(const Variable& summary, const Tokens& labels) const {
    return linear_cross_entropy(summary, output_.weight, output_.bias, labels);
  }

  const SentenceClassifierOptions& options() const { return options_; }
  int64_t classes() const { return output_.weight.shape()[0]; }

 private:
  SentenceClassifierOptions options_;
  Embedding embedding_;
  Dropout embedding_dropout_;
  RecurrentStack recurrent_;
  Dropout summary_dropout_;
  Linear output_;
};

}  // namespace rondo
