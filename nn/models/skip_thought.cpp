// Skip-thought vectors.
#include "nn/models/skip_thought.h"

#include <algorithm>

namespace rondo {
namespace {

/// One layer of a cell that reads `input` numbers a step.
StackOptions layer_of(const SkipThoughtOptions& options, const std::string& cell, int64_t input,
                      bool bidirectional) {
  StackOptions stack = stack_options(options, 1, input, bidirectional);
  stack.cell = cell;
  CellOptions& layer = stack.layers.front().major;
  layer.recurrent_weights = options.recurrent_init.initializer().value_or(layer.recurrent_weights);
  return stack;
}

StackOptions decoder_of(SkipThoughtOptions options) {
  options.trained_initial_states = false;  // it begins with the sentence's vector, or with zeros
  return layer_of(options, options.decoder_cell,
                  options.embedding + (options.context == SkipContext::first_state ? 0 : options.hidden),
                  false);
}

}  // namespace

Keys keys_of(SkipThoughtOptions& it) {
  const Keys of_model = {
      {"encoder", choice(it.encoder),
       "uni: reads a sentence forwards; bi: in both directions, each with half of model.hidden; combine: a "
       "model of each kind side by side, whose vectors are joined"},
      {"decoder_cell", &it.decoder_cell, one_of(cell_names()),
       "the recurrent cell of the two decoders; model.cell is the encoder's"},
      {"context", choice(it.context),
       "where a decoder reads the sentence's vector: at the gates of each step, as its first state, or both"},
      {"recurrent_init", choice(it.recurrent_init.kind), "initial values of recurrent weights"},
      {"recurrent_range", &it.recurrent_init.range, at_least(0),
       "half width or deviation of model.recurrent_init, where it has one"},
  };
  return sentence_keys(it, of_model);
}

void check_options(const SkipThoughtOptions& options) {
  check_limits_of(options);
  SkipThoughtOptions both = options;
  both.bidirectional = options.encoder != SkipEncoder::uni;
  check_sentence_options(both);
  check_regularization(options.decoder_cell, options.regularization);
  check_input(
      options.context != SkipContext::first_state || traits_of(options.decoder_cell).carries_h,
      "model.context = \"first_state\" starts the decoders from the sentence vector, and the cell {} does "
      "not read the state before: set model.context to \"gates\", or another model.decoder_cell",
      options.decoder_cell);
  check_input(
      options.init_all == 0 || options.recurrent_init.kind == InitialValues::Kind::pytorch,
      "model.init_all = {} sets every parameter: leave out model.recurrent_init, or set model.init_all = 0",
      options.init_all);
}

SkipModel::SkipModel(Module& parent, std::string name, const SkipThoughtOptions& options,
                     bool both_directions, int64_t vocabulary)
    : Module(parent, std::move(name)),
      bidirectional(both_directions),
      context(options.context),
      embedding(*this, "embedding", vocabulary, options.embedding, options.embedding_init),
      embedding_dropout(*this, "embedding_dropout", options.dropout, options.variational),
      output_dropout(*this, "output_dropout", options.dropout, options.variational),
      encoder(*this, "encoder", layer_of(options, options.cell, options.embedding, both_directions)),
      previous(*this, "previous", decoder_of(options)),
      next(*this, "next", decoder_of(options)),
      output(*this, "output", options.hidden, vocabulary) {}

Variable SkipModel::encode(const SentenceInput& sentences, const Variable& table) {
  const Variable& E = table.defined() ? table : embedding.weight.variable();
  return last_h(read_sequences(encoder, embedded(E, embedding_dropout, sentences), sentences.lengths).states,
                bidirectional);
}

Variable SkipModel::decode(RecurrentStack& decoder, const SentenceInput& inputs, const Variable& vectors) {
  const auto& [ids, T, B, lengths] = inputs;
  std::vector<real> reads(static_cast<size_t>(T * B), 1);  // nothing at the first step
  std::fill_n(reads.begin(), B, real{0});
  Variable x = scale_rows(embedded(embedding.weight, embedding_dropout, inputs).x,
                          Tensor::from(reads, {T * B}, device()));
  if (context != SkipContext::first_state) x = concat({x, repeat(vectors, T)});
  std::vector<State> first = decoder.initial_states(B);
  if (context != SkipContext::gates) first.front().h = vectors;
  const Variable h = output_dropout(decoder(x, first, lengths).output);
  return reshape(h, {T * B, h.shape().columns()});
}

SkipThought::SkipThought(const SkipThoughtOptions& options, int64_t vocabulary, uint64_t seed, Device device)
    : options_(checked(options)) {
  const auto add = [&](const std::string& name, bool both_directions) {
    parts_.push_back(std::make_unique<SkipModel>(*this, name, options, both_directions, vocabulary));
  };
  if (options.encoder == SkipEncoder::combine) {
    add("uni", false);
    add("bi", true);
  } else {
    add("", options.encoder == SkipEncoder::bi);
  }
  finalize(seed, options.init_all, device);
}

Variable SkipThought::encode(const SentenceInput& sentences, const std::vector<Variable>& tables) {
  std::vector<Variable> vectors;
  for (size_t i = 0; i < parts_.size(); ++i)
    vectors.push_back(parts_[i]->encode(sentences, tables.empty() ? Variable() : tables.at(i)));
  return vectors.size() == 1 ? vectors.front() : concat(vectors);
}

}  // namespace rondo
