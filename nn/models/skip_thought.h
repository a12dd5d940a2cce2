// Skip-thought vectors: a recurrent stack reads a sentence, its last state is the sentence's vector, and from
// that vector two decoders write the sentences before and after it. Kiros, Zhu, Salakhutdinov, Zemel,
// Torralba, Urtasun & Fidler 2015, "Skip-Thought Vectors"; with multiplicative integration in the encoder: Wu
// et al. 2016, section 3.4. For the triple of sentences s_(i-1), s_i, s_(i+1), x^t = E w^t a word's vector:
//
//   encoder     h^t = f(x^t, h^(t-1)),  h_i = h^N, the vector of s_i                       (1)-(4)
//   decoders    r^t = s(W_r x^(t-1) + U_r h^(t-1) + C_r h_i)                               (5)
//               z^t = s(W_z x^(t-1) + U_z h^(t-1) + C_z h_i)                               (6)
//               n^t = tanh(W x^(t-1) + U (r^t h^(t-1)) + C h_i)                            (7)
//               h^t = (1 - z^t) h^(t-1) + z^t n^t                                          (8)
//   output      p(w^t_(i+1) | w^(<t)_(i+1), h_i) = softmax(V h^t + b), for s_(i-1) alike   (9)
//   objective   sum_t log p(w^t_(i+1) | ..) + sum_t log p(w^t_(i-1) | ..)                  (10)
//
// A decoder reads [x^(t-1) ; h_i], so that its input weight is [W C]: this holds for any cell, not the GRU
// alone. Its state begins at 0, and so does x: x^0 = 0, as in the authors' code. E and V are shared by all,
// W, U and C are each decoder's own; b is ours. The authors' code has no C: there h_i is the first state
// (model.context = "first_state").
//
//   uni         h_i is the last state                                         H numbers
//   bi          h_i = [forward h^N ; reverse h^1], H / 2 numbers each         H
//   combine     a uni-skip and a bi-skip model side by side, nothing shared   2 H
//
// Data: data/sentences/sentence_triples.h. Next: lm/tasks/skip_thought.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/layers/linear.h"
#include "nn/models/sequence_model.h"

namespace rondo {

enum class SkipEncoder { uni, bi, combine };
inline std::vector<std::string> names_of(SkipEncoder) { return {"uni", "bi", "combine"}; }

/// Where a decoder reads the sentence's vector: at every gate of every step, as (5)-(7) have it; as its first
/// state; or both.
enum class SkipContext { gates, first_state, both };
inline std::vector<std::string> names_of(SkipContext) { return {"gates", "first_state", "both"}; }

/// SentenceOptions::cell is the encoder's; `bidirectional` follows from the encoder.
struct SkipThoughtOptions : SentenceOptions {
  SkipThoughtOptions() {
    cell = "gru";
    embedding = 620;
    hidden = 2400;
  }

  SkipEncoder encoder = SkipEncoder::uni;
  std::string decoder_cell = "gru";  // Wu et al. 2016: another one there brings nothing
  SkipContext context = SkipContext::gates;
  InitialValues recurrent_init{};  // of encoder and decoders
};
Keys keys_of(SkipThoughtOptions& options);
/// Throws InputError if the options contradict each other.
void check_options(const SkipThoughtOptions& options);

/// A uni-skip or a bi-skip model: one encoder, and the decoders of the previous and of the next sentence.
struct SkipModel : Module {
  SkipModel(Module& parent, std::string name, const SkipThoughtOptions& options, bool both_directions,
            int64_t vocabulary);

  /// h_i of each sentence, [B, H]. `table`: in place of the trained E, one with more rows.
  Variable encode(const SentenceInput& sentences, const Variable& table = {});
  /// h^t of all steps of a decoder, [T * B, H], each after its true previous words: `inputs` are the written
  /// sentences, one step late, of which the first step is not read. `vectors` are what encode() returned.
  Variable decode(RecurrentStack& decoder, const SentenceInput& inputs, const Variable& vectors);
  /// -log p(target) in nats. Target -1: not scored.
  CrossEntropy cross_entropy(const Variable& states, const Tokens& targets) const {
    return linear_cross_entropy(states, output.weight, output.bias, targets);
  }

  bool bidirectional;
  SkipContext context;
  Embedding embedding;
  Dropout embedding_dropout, output_dropout;
  RecurrentStack encoder, previous, next;
  Linear output;
};

class SkipThought : public Module {
 public:
  /// Lays the parameters out and draws their initial values (Module::finalize()). InputErrors of
  /// check_options(). Names of parameters: embedding.weight, encoder.weight_ih_l0, previous.weight_ih_l0,
  /// next.weight_ih_l0, output.weight; of a combination uni.embedding.weight and so on.
  SkipThought(const SkipThoughtOptions& options, int64_t vocabulary, uint64_t seed = 1,
              Device device = Device::cpu);

  /// One model, or of a combination the uni-skip and the bi-skip one.
  const std::vector<std::unique_ptr<SkipModel>>& parts() const { return parts_; }
  /// The numbers of a sentence's vector.
  int64_t width() const { return std::ssize(parts_) * options_.hidden; }
  /// The vectors of sentences, [B, width]: those of the parts side by side. `tables`, if not empty, has a
  /// table of word vectors for each part.
  Variable encode(const SentenceInput& sentences, const std::vector<Variable>& tables = {});

  const SkipThoughtOptions& options() const { return options_; }
  int64_t vocabulary() const { return parts_.front()->embedding.weight.shape()[0]; }

 private:
  SkipThoughtOptions options_;
  std::vector<std::unique_ptr<SkipModel>> parts_;
};

}  // namespace rondo
