// Attention: what a decoder reads of a source at each of its steps, the mean of the source's states under
// weights that depend on its own state. Luong, Pham & Manning 2015, "Effective Approaches to Attention-based
// Neural Machine Translation", (8); Bahdanau, Cho & Bengio 2015, "Neural Machine Translation by Jointly
// Learning to Align and Translate", A.1.2. It deliberately has no decoder: feeding the context to the next
// step, or joining it with the state (Luong's W_c), is the model's.
#pragma once

#include <memory>
#include <string>

#include "autograd/sequence.h"
#include "nn/module.h"

namespace rondo {

/// How well state s of the source fits the query q.
enum class Score {
  dot,      // q . s
  general,  // q . W_a s
  additive  // v_a . tanh(W_a q + U_a s), Bahdanau's; Luong's concat
};

/// Parameters, by the papers' names: general W_a [query, source]; additive W_a [A, query], U_a [A, source]
/// and v_a [1, A]. They start as a Linear's weight does. There are no biases, as in the papers.
class Attention : public Module {
 public:
  /// Widths of a query, of a state of the source and, for additive scores, of what tanh sees (0: the
  /// query's). Throws Error for dot scores of two widths.
  Attention(Module& parent, std::string name, Score score, int64_t query_size, int64_t source_size,
            int64_t additive_size = 0);

  /// A source, with all that does not depend on a query; one for all steps of a decoder.
  struct Source {
    Variable keys;    // what queries meet: [B, S, query], of additive scores [S, B, A]
    Variable values;  // the states, [B, S, source]; zeros in the padding
    Lengths lengths;
  };
  /// states [S, B, source], as a recurrent stack gives them, whose padding may hold anything.
  Source prepare(const Variable& states, const Lengths& lengths = {}) const;

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
  std::unique_ptr<Parameter> W_a_, U_a_, v_a_;  // null where the score has none
};

}  // namespace rondo
