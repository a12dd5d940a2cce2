// The encoder-decoder.
#include "nn/models/encoder_decoder.h"

#include <algorithm>
#include <cmath>

#include "autograd/operators/functions.h"

namespace rondo {

Keys keys_of(EncoderDecoderOptions& it) {
  const Keys of_model = {
      {"encoder_layers", &it.encoder_layers, between(1, 1000), "layers", "of the encoder"},
      {"decoder_layers", &it.decoder_layers, between(1, 1000), "layers", "of the decoder"},
      {"bidirectional", &it.bidirectional, "the encoder reads the source in both directions"},
      {"attention", choice(it.attention),
       "the score by which the decoder attends to the source's states; none: it reads the last one, the "
       "fixed context, at every step"},
      {"input_feeding", &it.input_feeding, "the decoder reads its last readout as well"},
      {"bridge", choice(it.bridge),
       "the decoder's first state: zeros, the encoder's last one, or a trained layer of it"},
      {"readout", &it.readout, between(0, 1'000'000), "units",
       "width of the layer between decoder and output; 0: model.hidden"},
      {"tied", choice(it.tied),
       "tables that are one: the target's embedding and the output's weights; all: the source's embedding, "
       "too"},
  };
  return sentence_keys(it, of_model);
}

void check_options(const EncoderDecoderOptions& options) {
  check_limits_of(options);
  check_sentence_options(options);
  check_input(!options.input_feeding || options.attention != Score::none,
              "model.input_feeding feeds back what attention has read: set model.attention, or leave it out");
  check_input(options.tied == TiedTables::none || options.readout_width() == options.embedding,
              "model.tied needs a readout as wide as the embedding: --set model.readout={}, or --set "
              "model.tied=none",
              options.embedding);
}

namespace {

EncoderDecoderOptions checked_with(const EncoderDecoderOptions& options, int64_t source_vocabulary,
                                   int64_t target_vocabulary) {
  check_options(options);
  check_input(
      options.tied != TiedTables::all || source_vocabulary == target_vocabulary,
      "model.tied = \"all\" needs one vocabulary for both sides, and these have {} and {} symbols: set "
      "data.shared_vocabulary = true",
      source_vocabulary, target_vocabulary);
  return options;
}

bool has_fixed_context(const EncoderDecoderOptions& options) { return options.attention == Score::none; }

/// What the decoder reads of a step.
int64_t decoder_input(const EncoderDecoderOptions& options) {
  const int64_t extra = has_fixed_context(options) ? options.hidden
                        : options.input_feeding    ? options.readout_width()
                                                   : 0;
  return options.embedding + extra;
}

/// It begins with the encoder's last state, or with zeros.
StackOptions decoder_stack(EncoderDecoderOptions options) {
  options.trained_initial_states = false;
  return stack_options(options, options.decoder_layers, decoder_input(options), false);
}

/// For one step t: 1 for the sentences that have it, else 0; empty if all have it.
Lengths lengths_at(const Lengths& lengths, int64_t t) {
  Lengths at;
  for (const int64_t length : lengths) at.push_back(t < length);
  return std::ranges::find(at, 0) == at.end() ? Lengths() : at;
}

}  // namespace

Encoder::Encoder(Module& parent, std::string name, const EncoderDecoderOptions& options, int64_t vocabulary,
                 Embedding* table)
    : Module(parent, std::move(name)),
      own_embedding(table ? nullptr
                          : std::make_unique<Embedding>(*this, "source_embedding", vocabulary,
                                                        options.embedding, options.embedding_init)),
      embedding(table ? *table : *own_embedding),
      dropout(*this, "source_dropout", options.dropout, options.variational),
      stack(*this, "encoder",
            stack_options(options, options.encoder_layers, options.embedding, options.bidirectional)) {}

Decoder::Decoder(Module& parent, std::string name, const EncoderDecoderOptions& options, int64_t vocabulary)
    : Module(parent, std::move(name)),
      embedding(*this, "target_embedding", vocabulary, options.embedding, options.embedding_init),
      dropout(*this, "target_dropout", options.dropout, options.variational),
      stack(*this, "decoder", decoder_stack(options)),
      W_c(*this, "W_c", {options.readout_width(), 2 * options.hidden},
          uniform_values(1 / std::sqrt(2 * options.hidden))),
      readout_dropout(*this, "readout_dropout", options.dropout, options.variational) {
  const int64_t H = options.hidden;
  if (options.bridge == Bridge::linear) {
    const Cell& cell = *stack.cells().front();
    const auto add = [&](const char* part, int64_t layer) {
      bridges.push_back(std::make_unique<Linear>(*this, fmt::format("bridge.{}_l{}", part, layer), H, H));
    };
    for (int64_t i = 0; i < options.decoder_layers; ++i) {
      if (cell.carries_h()) add("h", i);
      if (cell.has_cell_state()) add("c", i);
    }
  }
  if (!has_fixed_context(options))
    attention = std::make_unique<Attention>(*this, "attention", options.attention, H, H);
  if (options.tied == TiedTables::none)
    output = std::make_unique<Linear>(*this, "output", options.readout_width(), vocabulary);
  else
    output = std::make_unique<Linear>(*this, "output", embedding.weight, constant_values(0));
}

EncoderDecoder::EncoderDecoder(const EncoderDecoderOptions& options, int64_t source_vocabulary,
                               int64_t target_vocabulary, uint64_t seed, Device device)
    : options_(checked_with(options, source_vocabulary, target_vocabulary)),
      decoder_(std::make_shared<Decoder>(*this, "", options, target_vocabulary)),
      encoder_(std::make_shared<Encoder>(*this, "", options, source_vocabulary,
                                         options.tied == TiedTables::all ? &decoder_->embedding : nullptr)) {
  finalize(seed, options.init_all, device);
}

EncoderDecoder::EncoderDecoder(Module& root, const EncoderDecoderOptions& options,
                               std::shared_ptr<Encoder> encoder, std::shared_ptr<Decoder> decoder)
    : Module(root, ""), options_(options), decoder_(std::move(decoder)), encoder_(std::move(encoder)) {}

EncoderDecoder::Source EncoderDecoder::encode(const SentenceInput& source) {
  if (!encoder_) return no_source(source.sentences);
  const auto [h, last] = read_sequences(
      encoder_->stack, embedded(encoder_->embedding.weight, encoder_->dropout, source), source.lengths);
  Source result{source.sentences, bridged(last)};
  if (decoder_->attention)
    result.states = decoder_->attention->prepare(h, source.lengths);
  else
    result.context = last_h(last, options_.bidirectional);
  return result;
}

EncoderDecoder::Source EncoderDecoder::no_source(int64_t sentences) const {
  const int64_t B = sentences, H = options_.hidden;
  Source result{B, decoder_->stack.initial_states(B)};
  if (decoder_->attention)  // to sources of length 0, whose mean is 0
    result.states = decoder_->attention->prepare(Variable(Tensor::zeros({1, B, H}, device())),
                                                 Lengths(static_cast<size_t>(B), 0));
  else
    result.context = Variable(Tensor::zeros({B, H}, device()));
  return result;
}

std::vector<State> EncoderDecoder::bridged(const std::vector<State>& last) const {
  const size_t directions = options_.bidirectional ? 2 : 1, layers = last.size() / directions;
  std::vector<State> first = decoder_->stack.initial_states(last.front().h.shape()[0]);
  if (options_.bridge == Bridge::zeros) return first;
  size_t next = 0;  // bridge
  const auto pass = [&](const Variable& x) {
    return options_.bridge == Bridge::linear ? tanh((*decoder_->bridges[next++])(x)) : x;
  };
  for (size_t i = 0; i < first.size(); ++i) {
    const State* of = &last[std::min(i, layers - 1) * directions];  // a deeper decoder repeats the last one
    const auto both = [&](Variable State::*part) {
      return directions == 2 ? concat({of[0].*part, of[1].*part}) : of->*part;
    };
    if (decoder_->stack.cells()[i]->carries_h()) first[i].h = pass(both(&State::h));
    if (first[i].c.defined()) first[i].c = pass(both(&State::c));
  }
  return first;
}

EncoderDecoder::Output EncoderDecoder::read_out(const Variable& states, const Source& source) const {
  const int64_t B = source.sentences, H = options_.hidden, N = states.shape().rows();
  Variable context, weights;
  if (decoder_->attention) {
    auto attended = (*decoder_->attention)(reshape(states, {N / B, B, H}), source.states);
    context = reshape(attended.context, {N, H}), weights = attended.weights;
    if (states.shape().dimensions() == 2) weights = reshape(weights, {N, weights.shape().columns()});
  } else {
    context = reshape(repeat(source.context, N / B), {N, H});
  }
  return {tanh(linear(concat({context, reshape(states, {N, H})}), decoder_->W_c)), weights};
}

EncoderDecoder::Output EncoderDecoder::decode(const SentenceInput& inputs, const Source& source) {
  const int64_t T = inputs.steps, B = inputs.sentences, W = options_.readout_width();
  LayerInput y = embedded(decoder_->embedding.weight, decoder_->dropout, inputs);
  Output output;
  if (options_.input_feeding) {
    begin_steps(B);
    Position position = first_position(source);
    std::vector<Variable> readouts, weights;
    // A single step would move all its rows to leave some out, so only cells that compare rows are told.
    const Lengths lengths = look_across_rows(decoder_->stack.cells()) ? inputs.lengths : Lengths();
    for (int64_t t = 0; t < T; ++t) {
      auto [at, next] = advance(y.x[t], position, source, lengths_at(lengths, t));
      readouts.push_back(at.readout), weights.push_back(at.attention);
      position = std::move(next);
    }
    output = {stack(readouts), stack(weights)};
  } else {
    if (!decoder_->attention) y = concat({y.x, repeat(source.context, T)});
    output = read_out(decoder_->stack(y, source.first, inputs.lengths).output, source);
  }
  output.readout = reshape(decoder_->readout_dropout(reshape(output.readout, {T, B, W})), {T * B, W});
  return output;
}

EncoderDecoder::Position EncoderDecoder::first_position(const Source& source) const {
  Position first{source.first};
  if (options_.input_feeding)
    first.readout = Variable(Tensor::zeros({source.sentences, options_.readout_width()}, device()));
  return first;
}

namespace {

std::vector<State> rows_of(const std::vector<State>& states, const Tokens& rows) {
  return mapped(states, [&](const Variable& x) { return gather_rows(x, rows); });
}

}  // namespace

EncoderDecoder::Source EncoderDecoder::select(const Source& source,
                                              const std::vector<int64_t>& sentences) const {
  const Tokens rows = tokens({sentences.begin(), sentences.end()});
  Source result{std::ssize(sentences), rows_of(source.first, rows)};
  if (decoder_->attention)
    result.states = decoder_->attention->select(source.states, sentences);
  else
    result.context = gather_rows(source.context, rows);
  return result;
}

EncoderDecoder::Position EncoderDecoder::select(const Position& position,
                                                const std::vector<int64_t>& rows) const {
  const Tokens chosen = tokens({rows.begin(), rows.end()});
  Position result{rows_of(position.states, chosen)};
  if (position.readout.defined()) result.readout = gather_rows(position.readout, chosen);
  return result;
}

EncoderDecoder::Step EncoderDecoder::advance(const Variable& symbols, const Position& position,
                                             const Source& source, const Lengths& lengths) {
  check(source.sentences > 0,
        "[decoder] a source of one sentence or more was expected, as encode() returns it");
  Variable input = symbols;
  if (options_.input_feeding) input = concat({symbols, position.readout});
  if (!decoder_->attention) {
    const int64_t N = symbols.shape()[0];
    input = concat({symbols, reshape(repeat(source.context, N / source.sentences), {N, options_.hidden})});
  }
  auto [s, states] = decoder_->stack.step(input, position.states, lengths);
  Step step{read_out(s, source), {std::move(states)}};
  if (options_.input_feeding) step.next.readout = step.output.readout;
  return step;
}

EncoderDecoder::Step EncoderDecoder::step(const Tokens& ids, const Position& position, const Source& source) {
  Step step = advance(decoder_->dropout(decoder_->embedding(ids)), position, source, {});
  step.output.readout = decoder_->readout_dropout(step.output.readout);
  return step;
}

bool EncoderDecoder::can_be_recorded() const {
  return encoder_ && !look_across_rows(encoder_->stack.cells()) && !look_across_rows(decoder_->stack.cells());
}

CrossEntropy EncoderDecoder::cross_entropy(const Variable& readout, const Tokens& targets,
                                           double smoothing) const {
  return linear_cross_entropy(readout, decoder_->output->weight, decoder_->output->bias, targets, smoothing);
}

SharedEncoderDecoders::SharedEncoderDecoders(const EncoderDecoderOptions& options,
                                             const std::map<std::string, int64_t>& vocabularies,
                                             const std::vector<Route>& routes, uint64_t seed, Device device) {
  check_options(options);
  check_input(options.tied != TiedTables::all,
              "model.tied = \"all\" is for one encoder-decoder; here set \"output\": each language has its "
              "own tables");
  std::map<std::string, std::shared_ptr<Encoder>> encoders;
  std::map<std::string, std::shared_ptr<Decoder>> decoders;
  for (const Route& route : routes) {
    std::shared_ptr<Encoder>& encoder = encoders[route.source];
    if (!encoder && !route.source.empty())
      encoder = std::make_shared<Encoder>(*this, route.source, options, vocabularies.at(route.source));
    std::shared_ptr<Decoder>& decoder = decoders[route.target];
    if (!decoder)
      decoder = std::make_shared<Decoder>(*this, route.target, options, vocabularies.at(route.target));
    models_.push_back(std::make_unique<EncoderDecoder>(*this, options, encoder, decoder));
  }
  finalize(seed, options.init_all, device);
}

}  // namespace rondo
