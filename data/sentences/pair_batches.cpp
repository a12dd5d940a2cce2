// Batches of pairs of sentences; see data/sentences/pair_batches.h.
#include "data/sentences/pair_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tensor/error.h"

namespace rondo {

namespace {

/// Fills the source half.
void fill_source(PairBatch& batch, const std::vector<std::span<const std::int32_t>>& rows, bool reverse) {
  PaddedSentences padded = rondo::padded(rows, reverse);
  batch.sentences = padded.sentences;
  batch.source_steps = padded.steps;
  batch.source = std::move(padded.ids);
  batch.source_lengths = std::move(padded.lengths);
}

/// By the length of the target, then of the source. InputError if there are no pairs.
std::vector<BatchOrder::Lengths> lengths_of(const Pairs& pairs) {
  check_input(pairs.size() > 0, "there are no pairs of sentences");
  std::vector<BatchOrder::Lengths> lengths;
  for (std::int64_t i = 0; i < pairs.size(); ++i)
    lengths.emplace_back(pairs.target.length(i), pairs.source.length(i));
  return lengths;
}

/// Fills the target half.
void fill_target(PairBatch& batch, const std::vector<std::span<const std::int32_t>>& rows) {
  ShiftedSentences target = shifted(rows);
  batch.target_steps = target.steps;
  batch.inputs = std::move(target.inputs);
  batch.targets = std::move(target.targets);
  batch.target_lengths = std::move(target.lengths);
}

}  // namespace

Keys keys_of(PairBatchOptions& options) {
  return joined({batch_keys(options.order, "pairs of sentences; or symbols of the target"),
                 {{"reverse_source",
                   &options.reverse_source,
                   {},
                   "",
                   "read the source from its end to its beginning"}}});
}

PairBatches::PairBatches(const PairBatchOptions& options, const Pairs& pairs, std::uint64_t seed)
    : options_(options), pairs_(pairs), order_(options.order, lengths_of(pairs), seed) {}

bool PairBatches::next(PairBatch& batch) {
  const std::span<const std::int64_t> whole = order_.next();
  if (whole.empty()) return false;
  batch.share = order_.share();
  batch.scored = 0;
  for (const std::int64_t pair : whole) batch.scored += pairs_.target.length(pair);
  const std::span<const std::int64_t> pairs = batch.share.of(whole);
  std::vector<std::span<const std::int32_t>> sources, targets;
  batch.pairs.assign(pairs.begin(), pairs.end());
  for (const std::int64_t pair : pairs) {
    sources.push_back(pairs_.source[pair]);
    targets.push_back(pairs_.target[pair]);
  }
  fill_source(batch, sources, options_.reverse_source);
  fill_target(batch, targets);
  return true;
}

PairBatch source_batch(std::span<const std::vector<std::int32_t>> sentences, bool reverse) {
  check(!sentences.empty(), "[pair batches] no sentences");
  PairBatch batch;
  fill_source(batch, {sentences.begin(), sentences.end()}, reverse);
  batch.pairs.resize(sentences.size());
  std::iota(batch.pairs.begin(), batch.pairs.end(), 0);
  return batch;
}

}  // namespace rondo
