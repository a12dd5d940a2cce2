// The attentive reader: it reads a document and a question, attends to the document by the question, and
// answers with one of K entities. Hermann et al. 2015, "Teaching Machines to Read and Comprehend", section 3.
//
//   embedding   x_t = E w_t, of both texts
//   question    u = [forward h_|q| ; reverse h_1]        the last state of each direction
//   document    y_t = [forward h_t ; reverse h_t]
//   attention   m_t = tanh(W_ym y_t + W_um u)
//               s_t = softmax over t of w_ms . m_t
//               r = sum_t s_t y_t
//   joint       g = tanh(W_rg r + W_ug u)
//   output      p(a | document, question) = softmax(W_a g + b)
//
// With `batch_norm_attention` each term in a tanh is batch-normalised (Cooijmans et al. 2016, "Recurrent
// Batch Normalization", section 5.4, where a batch-normalised LSTM with this is BN-everywhere), as in
// nn/cells/batch_norm.h, where b is explained:
//
//   m_t = tanh(BN(W_ym y_t) + BN(W_um u) + b_m)        g = tanh(BN(W_rg r) + BN(W_ug u) + b_g)
//
// Statistics are those of all questions of a batch and, of W_ym y_t, of all steps of their documents
// together; padding does not count.
//
// The attention is the additive score of nn/layers/attention.h, whose W_a is W_um, U_a W_ym and v_a w_ms. The
// output is over the markers of entities alone, not over all words, as in the code of Cooijmans et al. 2016,
// and has a bias. Data: data/sentences/questions.h. Next: lm/tasks/question_answering.h.
#pragma once

#include <optional>

#include "autograd/cross_entropy.h"
#include "nn/layers/attention.h"
#include "nn/layers/linear.h"
#include "nn/models/sequence_model.h"

namespace rondo {

struct AttentiveReaderOptions : SentenceOptions {
  int64_t layers = 1;
  bool batch_norm_attention = false;
};
Keys keys_of(AttentiveReaderOptions& options);
/// Whether an answer depends on the other questions of a batch in training.
bool looks_across_rows(const AttentiveReaderOptions& options);

class AttentiveReader : public Module {
 public:
  /// Lays the parameters out and draws their initial values (Module::finalize()). InputErrors of
  /// check_options(); Error for fewer than two entities.
  AttentiveReader(const AttentiveReaderOptions& options, int64_t vocabulary, int64_t entities,
                  uint64_t seed = 1, Device device = Device::cpu);

  struct Output {
    Variable joint;      // g after its dropout, [B, H]
    Variable attention;  // s, exactly 0 in the padding: [B, T]
  };
  /// Each text has one step or more.
  Output operator()(const SentenceInput& document, const SentenceInput& question);

  /// Logits of all entities, [B, K].
  Variable logits(const Variable& joint) const { return output_(joint); }
  /// -log p(answer) in nats. Answer -1: not scored.
  CrossEntropy cross_entropy(const Variable& joint, const Tokens& answers) const {
    return linear_cross_entropy(joint, output_.weight, output_.bias, answers);
  }

  const AttentiveReaderOptions& options() const { return options_; }
  int64_t entities() const { return output_.weight.shape()[0]; }
  /// Of the document, then of the question; each in the order of RecurrentStack::cells().
  std::vector<Cell*> cells() const;

 private:
  /// W_rg r + W_ug u, or the normalised terms and b_g.
  Variable joint_sum(const Variable& r, const Variable& u) const;
  RecurrentStack::Result states(RecurrentStack& stack, const SentenceInput& text);

  AttentiveReaderOptions options_;
  Embedding embedding_;
  Dropout embedding_dropout_;
  RecurrentStack document_, question_;
  Attention attention_;
  Parameter W_rg_, W_ug_;
  std::optional<BatchNorm> norm_rg_, norm_ug_;  // none: the terms of g are not normalised
  std::optional<Parameter> b_g_;
  Dropout joint_dropout_;
  Linear output_;
};

}  // namespace rondo
