// Attention.
#include "nn/layers/attention.h"

#include <cmath>
#include <optional>

#include "autograd/linear.h"
#include "autograd/operators/arithmetic.h"
#include "autograd/operators/functions.h"

namespace rondo {

Attention::Attention(Module& parent, std::string name, Score score, int64_t query_size, int64_t source_size,
                     int64_t additive_size, bool batch_norm)
    : Module(parent, std::move(name)), score_(score), query_size_(query_size), source_size_(source_size) {
  const auto weight = [this](const char* of, int64_t out, int64_t in) {
    return std::make_unique<Parameter>(*this, of, Shape{out, in}, uniform_values(1 / std::sqrt(in)));
  };
  check(!batch_norm || score == Score::additive, "[attention] only additive scores are batch-normalised");
  switch (score) {
    case Score::none:
      throw Error("[attention] a score was expected, got none");
    case Score::dot:
      check(query_size == source_size,
            "[attention] dot scores need queries as wide as the source's states, got {} and {}", query_size,
            source_size);
      break;
    case Score::general:
      W_a_ = weight("W_a", query_size, source_size);
      break;
    case Score::additive:
      const int64_t A = additive_size > 0 ? additive_size : query_size;
      W_a_ = weight("W_a", A, query_size);
      U_a_ = weight("U_a", A, source_size);
      v_a_ = weight("v_a", 1, A);
      if (!batch_norm) break;
      norm_W_a_ = std::make_unique<BatchNorm>(*this, "W_a", A, 1);
      norm_U_a_ = std::make_unique<BatchNorm>(*this, "U_a", A, 1);
      b_a_ = std::make_unique<Parameter>(*this, "b_a", Shape{A}, constant_values(0));
  }
}

Attention::Source Attention::prepare(const Variable& states, const Lengths& lengths) const {
  check(states.shape().dimensions() == 3 && states.shape()[2] == source_size_,
        "[attention] states [S, B, {}] were expected, got {}", source_size_, states.shape());
  const int64_t S = states.shape()[0], B = states.shape()[1];
  check_lengths("attention", lengths, B, S);
  const bool all = lengths.empty() || lengths.staged;  // no padding is left out
  const auto by_sentence = [&] {
    if (all) return transpose_first_two(states);
    std::vector<int32_t> steps;  // those of each sentence, without the padding
    for (int64_t b = 0; b < B; ++b)
      for (int64_t s = 0; s < S; ++s)
        steps.push_back(s < lengths[static_cast<size_t>(b)] ? static_cast<int32_t>(s * B + b) : -1);
    return reshape(map_rows(states, {std::move(steps), S * B}), {B, S, source_size_});
  };
  const Variable values = by_sentence();
  switch (score_) {
    case Score::general:  // q . W_a s = q . (W_a s)
      return {linear(values, *W_a_), values, lengths};
    case Score::additive: {
      // The statistics are of what is no padding.
      const auto within = all ? std::nullopt : std::optional(rows_within(lengths, S, B));
      const Variable product = linear(all ? states : map_rows(states, *within), *U_a_),
                     keys = norm_U_a_ ? (*norm_U_a_)(product, 0, *b_a_) : product;
      const Shape shape{S, B, keys.shape().columns()};
      return {all ? keys : reshape(map_rows(keys, within->inverse()), shape), values, lengths};
    }
    default:
      return {values, values, lengths};
  }
}

Attention::Source Attention::select(const Source& source, const std::vector<int64_t>& sentences) const {
  const int64_t S = source.values.shape()[1], B = source.values.shape()[0], count = std::ssize(sentences);
  std::vector<int32_t> by_sentence, by_step;  // rows of [B, S, ..] and of [S, B, ..]
  for (int64_t i = 0; i < count * S; ++i) {
    by_sentence.push_back(static_cast<int32_t>(sentences[static_cast<size_t>(i / S)] * S + i % S));
    by_step.push_back(static_cast<int32_t>(i / count * B + sentences[static_cast<size_t>(i % count)]));
  }
  Source result;
  const Tokens rows = tokens(std::move(by_sentence));
  result.values = reshape(gather_rows(source.values, rows), {count, S, source_size_});
  const int64_t width = source.keys.shape()[2];
  result.keys = score_ == Score::additive
                    ? reshape(gather_rows(source.keys, tokens(std::move(by_step))), {S, count, width})
                    : reshape(gather_rows(source.keys, rows), {count, S, width});
  for (const int64_t it : sentences)
    if (!source.lengths.empty()) result.lengths.push_back(source.lengths[static_cast<size_t>(it)]);
  return result;
}

Attention::Result Attention::operator()(const Variable& query, const Source& source) const {
  const Shape& shape = query.shape();
  const bool one_step = shape.dimensions() == 2;
  const int64_t B = source.values.shape()[0];
  check(
      (one_step || shape.dimensions() == 3) && shape[one_step ? 0 : 1] == B && shape.columns() == query_size_,
      "[attention] queries [{0}, {1}] or [T, {0}, {1}] were expected, got {2}", B, query_size_, shape);
  const Variable queries = one_step ? reshape(query, {1, B, query_size_}) : query;
  const Variable weights = softmax(scores(queries, source), source.lengths);  // [B, T, S]
  const Variable context = batched_matmul(weights, source.values);            // [B, T, source]
  const auto as_asked = [&](const Variable& it) {
    return one_step ? reshape(it, {B, it.shape().columns()}) : transpose_first_two(it);
  };
  return {as_asked(context), as_asked(weights)};
}

/// Of queries [T, B, query], [B, T, S].
Variable Attention::scores(const Variable& query, const Source& source) const {
  if (score_ == Score::additive) return additive_scores(query, source);
  const int64_t T = query.shape()[0], B = query.shape()[1];
  const Variable by_row = T == 1 ? reshape(query, {B, 1, query_size_}) : transpose_first_two(query);
  return batched_matmul(by_row, source.keys, Transpose::yes);
}

/// v_a . tanh(W_a q + key), the key of a state being U_a s, or BN(U_a s) + b_a; a query at a time: what tanh
/// gives is [S, B, A] for each.
Variable Attention::additive_scores(const Variable& query, const Source& source) const {
  const int64_t T = query.shape()[0];
  const int64_t S = source.keys.shape()[0], B = source.keys.shape()[1], A = source.keys.shape()[2];
  const Variable product = linear(query, *W_a_), Wq = norm_W_a_ ? (*norm_W_a_)(product, 0) : product,
                 Us = reshape(source.keys, {S, B * A});
  std::vector<Variable> scores;
  for (int64_t t = 0; t < T; ++t) {
    const Variable sum = Us + reshape(Wq[t], {B * A});  // the query's term, in each row
    const Variable score = linear(reshape(tanh(sum), {S * B, A}), *v_a_);
    scores.push_back(transpose_first_two(reshape(score, {S, B})));
  }
  return T == 1 ? reshape(scores[0], {B, 1, S}) : transpose_first_two(stack(scores));
}

}  // namespace rondo
