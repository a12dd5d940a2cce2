// Attention: what a decoder reads of a source at each step, a mean of the source's states with weights that
// depend on the decoder's state. Luong, Pham & Manning 2015, "Effective Approaches to Attention-based Neural
// Machine Translation", section 3.1; Bahdanau, Cho & Bengio 2015, "Neural Machine Translation by Jointly
// Learning to Align and Translate", A.1.2. It has no decoder: the model feeds the context to the next step,
// or combines it with the state (Luong's W_c).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/sequence.h"
#include "nn/layers/normalization.h"

namespace rondo {

/// The score of state s of the source for the query q.
enum class Score {
  none,     // there is no attention: what a model's options say
  dot,      // q . s
  general,  // q . W_a s
  additive  // v_a . tanh(W_a q + U_a s), Bahdanau's; Luong's concat
};
inline std::vector<std::string> names_of(Score) { return {"none", "dot", "general", "additive"}; }

/// Parameters, by the papers' names: general W_a [query, source]; additive W_a [A, query], U_a [A, source]
/// and v_a [1, A]. They are initialised like a Linear's weight. There are no biases, as in the papers.
///
/// Additive scores may be batch-normalised, v_a . tanh(BN(W_a q) + BN(U_a s) + b_a), with statistics over all
/// queries of a call and over all states that are not padding (Cooijmans et al. 2016, section 5.4).
class Attention : public Module {
 public:
  /// Widths of a query, of a state of the source and, for additive scores, of the tanh layer (0: that of a
  /// query). Throws Error for no score, for dot scores with different widths, and for batch normalisation of
  /// other scores than additive ones.
  Attention(Module& parent, std::string name, Score score, int64_t query_size, int64_t source_size,
            int64_t additive_size = 0, bool batch_norm = false);

  /// A source with everything that does not depend on a query: computed once for all steps of a decoder.
  struct Source {
    Variable keys;    // [B, S, query]; for additive scores [S, B, A]
    Variable values;  // the states, [B, S, source]; zeros in the padding
    Lengths lengths;
  };
  /// states [S, B, source], as a recurrent stack returns them; their padding may hold any values, with staged
  /// lengths zeros only.
  Source prepare(const Variable& states, const Lengths& lengths = {}) const;

  /// Some of the sentences of a batch, in the given order.
  Source select(const Source& source, const std::vector<int64_t>& sentences) const;

  struct Result {
    Variable context;  // sum_s weights[s] * states[s]: [B, source] or [T, B, source]
    Variable weights;  // softmax over the source, exactly 0 in its padding: [B, S] or [T, B, S]
  };
  /// Queries of one step, [B, query], or of many, [T, B, query]. A source of length 0 gives zeros.
  Result operator()(const Variable& query, const Source& source) const;

 private:
  Variable scores(const Variable& query, const Source& source) const;
  Variable additive_scores(const Variable& query, const Source& source) const;

  Score score_;
  int64_t query_size_, source_size_;
  std::unique_ptr<Parameter> W_a_, U_a_, v_a_;      // null where the score has none
  std::unique_ptr<BatchNorm> norm_W_a_, norm_U_a_;  // null: the terms are not normalised
  std::unique_ptr<Parameter> b_a_;
};

}  // namespace rondo
