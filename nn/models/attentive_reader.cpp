// The attentive reader.
#include "nn/models/attentive_reader.h"

#include <cmath>

#include "autograd/operators/functions.h"

namespace rondo {
namespace {

StackOptions stack_of(const AttentiveReaderOptions& options) {
  return stack_options(options, options.layers, options.embedding, options.bidirectional);
}

}  // namespace

Keys keys_of(AttentiveReaderOptions& it) {
  const Keys of_model = {
      {"layers", &it.layers, between(1, 1000), "layers", "of each of the two recurrent stacks"},
      {"bidirectional", &it.bidirectional, "read both texts in both directions"},
      {"batch_norm_attention", &it.batch_norm_attention,
       "batch-normalise each term inside a tanh of the attention, and of what joins document and question; "
       "with a bn_ cell it is the BN-everywhere of Cooijmans et al. 2016"},
  };
  return sentence_keys(it, of_model);
}

bool looks_across_rows(const AttentiveReaderOptions& options) {
  return options.batch_norm_attention || traits_of(options.cell).looks_across_rows;
}

AttentiveReader::AttentiveReader(const AttentiveReaderOptions& options, int64_t vocabulary, int64_t entities,
                                 uint64_t seed, Device device)
    : options_(checked(options)),
      embedding_(*this, "embedding", vocabulary, options.embedding, options.embedding_init),
      embedding_dropout_(*this, "embedding_dropout", options.dropout, options.variational),
      document_(*this, "document", stack_of(options)),
      question_(*this, "question", stack_of(options)),
      attention_(*this, "attention", Score::additive, options.hidden, options.hidden, 0,
                 options.batch_norm_attention),
      W_rg_(*this, "W_rg", {options.hidden, options.hidden}, uniform_values(1 / std::sqrt(options.hidden))),
      W_ug_(*this, "W_ug", {options.hidden, options.hidden}, uniform_values(1 / std::sqrt(options.hidden))),
      joint_dropout_(*this, "joint_dropout", options.dropout),
      output_(*this, "output", options.hidden, entities) {
  check(entities >= 2, "[attentive reader] {} entities: 2 or more are needed", entities);
  if (options.batch_norm_attention) {
    norm_rg_.emplace(*this, "rg", options.hidden, 1);
    norm_ug_.emplace(*this, "ug", options.hidden, 1);
    b_g_.emplace(*this, "b_g", Shape{options.hidden}, constant_values(0));
  }
  finalize(seed, options.init_all, device);
}

RecurrentStack::Result AttentiveReader::states(RecurrentStack& stack, const SentenceInput& text) {
  return read_sequences(stack, embedded(embedding_.weight, embedding_dropout_, text), text.lengths);
}

Variable AttentiveReader::joint_sum(const Variable& r, const Variable& u) const {
  if (!norm_rg_) return add_linear(linear(r, W_rg_), u, W_ug_);
  return (*norm_ug_)(linear(u, W_ug_), 0, (*norm_rg_)(linear(r, W_rg_), 0, *b_g_));
}

AttentiveReader::Output AttentiveReader::operator()(const SentenceInput& document,
                                                    const SentenceInput& question) {
  const Variable u = last_h(states(question_, question).states, options_.bidirectional);
  const auto y = attention_.prepare(states(document_, document).output, document.lengths);
  const auto [r, s] = attention_(u, y);
  const Variable g = tanh(joint_sum(r, u));
  return {joint_dropout_(g), s};
}

std::vector<Cell*> AttentiveReader::cells() const {
  std::vector<Cell*> all = document_.cells();
  for (Cell* cell : question_.cells()) all.push_back(cell);
  return all;
}

}  // namespace rondo
