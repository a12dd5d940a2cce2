// The encoder-decoder: a recurrent stack reads the source, another one writes the target, symbol by symbol.
// Sutskever, Vinyals & Le 2014; Cho et al. 2014; attention as in Luong, Pham & Manning 2015 ("Effective
// Approaches to Attention-based Neural Machine Translation"), with their scores or Bahdanau's.
//
//   encoder     h_s = f(x_s, h_(s-1)),  s = 1 .. S;  in both directions: h_s = [forward h_s ; reverse h_s]
//   bridge      s_0 = h_S,  or tanh(W_b h_S + b_b),  or 0;  of each layer, and of its cell state alike
//   decoder     s_t = f([y_(t-1) ; e_t], s_(t-1))
//   context     c_t = sum_s a_ts h_s,  a_t = softmax over s of score(s_t, h_s)   Luong et al. (7)
//               c_t = c = h_S                                                    the fixed context
//   readout     r_t = tanh(W_c [c_t ; s_t])                                      Luong et al. (5)
//   output      p(y_t | y_1 .. y_(t-1), x) = softmax(W_o r_t + b_o)              Luong et al. (6)
//
// The query of all scores is s_t, as in Luong et al.; Bahdanau et al. score with s_(t-1) and make c_t a part
// of the decoder's input.
//
// Besides the previous symbol the decoder reads e_t: the fixed context c, or with input feeding (Luong et
// al., section 3.3) the last readout r_(t-1), or nothing. Both sides of a pair end in an end symbol, which is
// also y_0.
//
// Several tasks: Luong, Le, Sutskever, Vinyals & Kaiser 2016, "Multi-task Sequence to Sequence Learning",
// section 3. There is one encoder of each language that is read, one decoder of each that is written:
//
//   one-to-many    de -> en, de -> de                  share the encoder of de
//   many-to-one    de -> en, en -> en, nothing -> en   share the decoder of en
//   many-to-many   de -> en, de -> de, en -> en        share both
//
// Data: data/sentences/pairs.h. Next: lm/tasks/translation.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/cross_entropy.h"
#include "nn/layers/attention.h"
#include "nn/layers/linear.h"
#include "nn/models/sequence_model.h"

namespace rondo {

/// How the decoder's first state is made from the encoder's last one.
enum class Bridge { zeros, copy, linear };
inline std::vector<std::string> names_of(Bridge) { return {"zeros", "copy", "linear"}; }

/// Which tables of symbols are one: none; the target's embedding and the output weights; these and the
/// source's embedding (Press & Wolf 2017).
enum class TiedTables { none, output, all };
inline std::vector<std::string> names_of(TiedTables) { return {"none", "output", "all"}; }

/// The embeddings of both sides have the same width; the encoder may be bidirectional.
struct EncoderDecoderOptions : SentenceOptions {
  EncoderDecoderOptions() {
    embedding = 256;
    hidden = 512;
  }

  int64_t encoder_layers = 1, decoder_layers = 1;
  Score attention = Score::general;  // none: the decoder reads the fixed context at each step
  bool input_feeding = false;
  Bridge bridge = Bridge::linear;
  int64_t readout = 0;  // units of r; 0: H
  TiedTables tied = TiedTables::none;

  int64_t readout_width() const { return readout > 0 ? readout : hidden; }
};
Keys keys_of(EncoderDecoderOptions& options);
/// Throws InputError if the options contradict each other.
void check_options(const EncoderDecoderOptions& options);

/// What is trained of the side that reads: its parameters are NAME.source_embedding.weight and
/// NAME.encoder.*.
struct Encoder : Module {
  /// `table`: the embedding of both sides, which is the decoder's; null: one of its own.
  Encoder(Module& parent, std::string name, const EncoderDecoderOptions& options, int64_t vocabulary,
          Embedding* table = nullptr);

  std::unique_ptr<Embedding> own_embedding;  // null: it is shared
  Embedding& embedding;
  Dropout dropout;
  RecurrentStack stack;
};

/// What is trained of the side that writes: NAME.target_embedding, NAME.decoder, NAME.W_c, NAME.output and,
/// where the options ask for them, NAME.bridge and NAME.attention, which are the decoder's: all encoders that
/// it reads share them.
struct Decoder : Module {
  Decoder(Module& parent, std::string name, const EncoderDecoderOptions& options, int64_t vocabulary);

  Embedding embedding;
  Dropout dropout;
  RecurrentStack stack;
  Parameter W_c;
  Dropout readout_dropout;
  std::vector<std::unique_ptr<Linear>>
      bridges;                           // of each layer: of h if a step reads it, and of c if it has one
  std::unique_ptr<Attention> attention;  // null: the fixed context
  std::unique_ptr<Linear> output;
};

/// How an encoder and a decoder compute together. They are its own, or parts of a larger model in which
/// several encoder-decoders share them (SharedEncoderDecoders).
class EncoderDecoder : public Module {
 public:
  /// A model of its own: lays the parameters out and draws their initial values (Module::finalize()).
  /// InputErrors of check_options(), and for tables that are to be one but differ in their size.
  EncoderDecoder(const EncoderDecoderOptions& options, int64_t source_vocabulary, int64_t target_vocabulary,
                 uint64_t seed = 1, Device device = Device::cpu);
  /// Computes with parts of `root`, which must outlive it; it adds no parameters. Without an encoder (null)
  /// it is a language model: whatever the source, s_0 = 0 and c_t = 0.
  EncoderDecoder(Module& root, const EncoderDecoderOptions& options, std::shared_ptr<Encoder> encoder,
                 std::shared_ptr<Decoder> decoder);

  /// What the decoder needs of the source.
  struct Source {
    int64_t sentences = 0;       // B
    std::vector<State> first;    // s_0 of each layer, [B, H]
    Variable context{};          // c [B, H] if it is fixed, else undefined
    Attention::Source states{};  // h [S, B, H] for attention, else undefined
  };
  Source encode(const SentenceInput& source);

  struct Output {
    Variable readout;    // r after its dropout, [N, readout]
    Variable attention;  // a: [T, B, S], or [N, S] of one step; undefined without attention
  };
  /// All steps of the targets at once, each after its true previous symbols: `inputs` are the targets, one
  /// step late. N = T * B.
  Output decode(const SentenceInput& inputs, const Source& source);

  /// Between two steps of a decoder that reads what it writes.
  struct Position {
    std::vector<State> states;  // s [N, H] of each layer
    Variable readout{};         // r [N, readout], if it is fed to the next step
  };
  struct Step {
    Output output;
    Position next;
  };
  /// One step: the next symbol of each of N = K * B rows, where row k * B + b continues sentence b. Call
  /// begin_steps(N) first, and again whenever N changes.
  Step step(const Tokens& ids, const Position& position, const Source& source);
  void begin_steps(int64_t rows) { decoder_->stack.begin(rows); }
  Position first_position(const Source& source) const;
  /// Some of the sentences, and some of the rows, each in a given order; a row may occur several times.
  Source select(const Source& source, const std::vector<int64_t>& sentences) const;
  Position select(const Position& position, const std::vector<int64_t>& rows) const;

  /// Logits of all target symbols, [N, V].
  Variable logits(const Variable& readout) const { return (*decoder_->output)(readout); }
  /// -log p(target) in nats, and with a smoothing > 0 the loss to minimise instead of its sum
  /// (autograd/cross_entropy.h). Target -1: not scored.
  CrossEntropy cross_entropy(const Variable& readout, const Tokens& targets, double smoothing = 0) const;

  /// Whether the launches for sentences of staged lengths (autograd/sequence.h) follow from the sizes of a
  /// batch, so that a GPU can replay them: not where batch normalisation counts rows.
  bool can_be_recorded() const;

  const EncoderDecoderOptions& options() const { return options_; }
  int64_t target_vocabulary() const { return decoder_->output->weight.shape()[0]; }

 private:
  /// What a decoder without a source reads.
  Source no_source(int64_t sentences) const;
  std::vector<State> bridged(const std::vector<State>& last) const;
  /// The readout before its dropout, and the attention, of decoder states [N, H] of one step or [T, B, H].
  Output read_out(const Variable& states, const Source& source) const;
  /// One step from an embedded symbol [N, E].
  Step advance(const Variable& symbols, const Position& position, const Source& source,
               const Lengths& lengths);

  EncoderDecoderOptions options_;
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<Encoder> encoder_;  // null: a language model
};

/// From which language to which. Without a source it is a language model: EncoderDecoder without an encoder.
struct Route {
  std::string source, target;
};

/// What is shared follows from the languages. A bridge and an attention belong to the decoder. The names of
/// parameters begin with the language: de.source_embedding.weight, de.encoder.weight_ih_l0,
/// en.target_embedding.weight, en.decoder.weight_ih_l0, en.W_c.
class SharedEncoderDecoders : public Module {
 public:
  /// `vocabularies` has the number of symbols of each language. InputErrors of check_options(), and for
  /// tables that all are to be one.
  SharedEncoderDecoders(const EncoderDecoderOptions& options,
                        const std::map<std::string, int64_t>& vocabularies, const std::vector<Route>& routes,
                        uint64_t seed = 1, Device device = Device::cpu);

  /// Returns the model of route `index`.
  EncoderDecoder& at(size_t index) { return *models_.at(index); }
  const EncoderDecoder& at(size_t index) const { return *models_.at(index); }

 private:
  std::vector<std::unique_ptr<EncoderDecoder>> models_;
};

}  // namespace rondo
