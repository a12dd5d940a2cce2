// The attentive reader.
#include "nn/models/attentive_reader.h"

#include <cmath>

#include "autograd/operators/functions.h"

namespace rondo {
namespace {

AttentiveReaderOptions checked_options(const AttentiveReaderOptions& options) {
  check_options(options);
  return options;
}

StackOptions stack_of(const AttentiveReaderOptions& options) {
  return stack_options(options, options.layers, options.embedding, options.bidirectional);
}

}  // namespace

Keys keys_of(AttentiveReaderOptions& it) {
  const Keys of_model = {
      {"layers", &it.layers, between(1, 1000), "layers", "of each of the two recurrent stacks"},
      {"bidirectional", &it.bidirectional, {}, "", "read both texts in both directions"},
  };
  return recurrent_keys(it, of_model);
}

void check_options(const AttentiveReaderOptions& options) {
  check_limits_of(options);
  check_recurrent(options);
}

AttentiveReader::AttentiveReader(const AttentiveReaderOptions& options, int64_t vocabulary, int64_t entities,
                                 std::optional<uint64_t> seed, Device device)
    : options_(checked_options(options)),
      embedding_(*this, "embedding", vocabulary, options.embedding, uniform_values(0.1)),
      embedding_dropout_(*this, "embedding_dropout", options.dropout, options.variational),
      document_(*this, "document", stack_of(options)),
      question_(*this, "question", stack_of(options)),
      attention_(*this, "attention", Score::additive, options.hidden, options.hidden),
      W_rg_(*this, "W_rg", {options.hidden, options.hidden}, uniform_values(1 / std::sqrt(options.hidden))),
      W_ug_(*this, "W_ug", {options.hidden, options.hidden}, uniform_values(1 / std::sqrt(options.hidden))),
      joint_dropout_(*this, "joint_dropout", options.dropout),
      output_(*this, "output", options.hidden, entities) {
  check(entities >= 2, "[attentive reader] {} entities: 2 or more are needed", entities);
  finalize_or_lay_out(seed, options.init_all, device);
}

RecurrentStack::Result AttentiveReader::states(RecurrentStack& stack, const Input& text) {
  const Variable x = reshape(embedding_(text.ids), {text.steps, text.texts, options_.embedding});
  return stack(embedding_dropout_(x), stack.initial_states(text.texts), text.lengths);
}

AttentiveReader::Output AttentiveReader::operator()(const Input& document, const Input& question) {
  const Variable u = last_h(states(question_, question).states, options_.bidirectional);
  const auto y = attention_.prepare(states(document_, document).output, document.lengths);
  const auto [r, s] = attention_(u, y);
  const Variable g = tanh(add_linear(linear(r, W_rg_), u, W_ug_));
  return {joint_dropout_(g), s};
}

std::vector<Cell*> AttentiveReader::cells() const {
  std::vector<Cell*> all = document_.cells();
  for (Cell* cell : question_.cells()) all.push_back(cell);
  return all;
}

}  // namespace rondo
