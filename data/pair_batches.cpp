// Batches of pairs of sentences; see data/pair_batches.h.
#include "data/pair_batches.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "data/shuffle.h"
#include "tensor/error.h"

namespace rondo {

namespace {

using Sentence = std::span<const std::int32_t>;

/// Fills the source half.
void fill_source(PairBatch& batch, const std::vector<Sentence>& rows, bool reverse) {
  batch.sentences = std::ssize(rows);
  batch.source_lengths.clear();
  for (const Sentence row : rows) {
    check(!row.empty(), "[pair batches] a sentence has at least its end symbol");
    batch.source_lengths.push_back(std::ssize(row));
  }
  batch.source_steps = *std::max_element(batch.source_lengths.begin(), batch.source_lengths.end());
  batch.source.assign(static_cast<std::size_t>(batch.source_steps * batch.sentences), 0);
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const std::size_t words = rows[b].size() - 1;
    for (std::size_t s = 0; s <= words; ++s)
      batch.source[s * rows.size() + b] = rows[b][reverse && s < words ? words - 1 - s : s];
  }
}

/// Fills the target half.
void fill_target(PairBatch& batch, const std::vector<Sentence>& rows) {
  batch.target_lengths.clear();
  for (const Sentence row : rows) batch.target_lengths.push_back(std::ssize(row));
  batch.target_steps = *std::max_element(batch.target_lengths.begin(), batch.target_lengths.end());
  batch.scored = std::accumulate(batch.target_lengths.begin(), batch.target_lengths.end(), std::int64_t{0});
  batch.inputs.assign(static_cast<std::size_t>(batch.target_steps * batch.sentences), 0);
  batch.targets.assign(batch.inputs.size(), PairBatch::ignore_index);
  for (std::size_t b = 0; b < rows.size(); ++b)
    for (std::size_t t = 0; t < rows[b].size(); ++t) {
      batch.inputs[t * rows.size() + b] = t > 0 ? rows[b][t - 1] : rows[b].back();
      batch.targets[t * rows.size() + b] = rows[b][t];
    }
}

}  // namespace

Keys keys_of(PairBatchOptions& options) {
  return {
      {"batch", &options.batch, any_count(), "sentences or symbols", "size of a batch: see train.batch_by"},
      {"batch_by",
       choice(options.by),
       {},
       "",
       "what train.batch counts: pairs of sentences; or symbols of the target, including padding"},
      {"reverse_source", &options.reverse_source, {}, "", "read the source from its end to its beginning"},
  };
}

PairBatches::PairBatches(const PairBatchOptions& options, const Pairs& pairs, std::uint64_t seed)
    : options_(options), pairs_(pairs), seed_(seed), order_(static_cast<std::size_t>(pairs.size())) {
  check_limits_of(options);
  check_input(pairs.size() > 0, "there are no pairs of sentences");
  seek(1, 0);
}

std::size_t PairBatches::end_of_pool(std::size_t begin) const {
  constexpr std::int64_t batches = 100;  // enough to find similar lengths, few enough to mix the pairs
  std::size_t end = begin;
  for (std::int64_t size = 0; end < order_.size() && size < batches * options_.batch; ++end)
    size += options_.by == BatchBy::symbols ? pairs_.target.length(order_[end]) : 1;
  return end;
}

std::size_t PairBatches::end_of_batch(std::size_t begin, std::size_t end_of_pool) const {
  const std::int64_t longest = pairs_.target.length(order_[begin]);
  const std::int64_t count =
      options_.by == BatchBy::symbols ? std::max<std::int64_t>(options_.batch / longest, 1) : options_.batch;
  return std::min(begin + static_cast<std::size_t>(count), end_of_pool);
}

void PairBatches::seek(std::int64_t epoch, std::int64_t position) {
  const bool is_random = epoch > 0;
  std::mt19937_64 random = epoch_generator(seed_, epoch);
  std::iota(order_.begin(), order_.end(), 0);
  if (is_random) shuffle(order_, random);

  const auto lengths = [&](std::int64_t pair) {
    return std::pair(pairs_.target.length(pair), pairs_.source.length(pair));
  };
  const auto longer = [&](std::int64_t a, std::int64_t b) { return lengths(a) > lengths(b); };
  const auto place = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  batches_.clear();
  for (std::size_t pool = 0; pool < order_.size();) {
    const std::size_t end = is_random ? end_of_pool(pool) : order_.size();
    std::stable_sort(place(pool), place(end), longer);
    for (std::size_t begin = pool; begin < end; begin = batches_.back().end)
      batches_.push_back({begin, end_of_batch(begin, end)});
    pool = end;
  }
  if (is_random) shuffle(batches_, random);

  check(position >= 0 && position <= length(), "[pair batches] a position from 0 to {} was expected: {}",
        length(), position);
  position_ = position;
}

bool PairBatches::next(PairBatch& batch) {
  if (position_ == length()) return false;
  const Range range = batches_[static_cast<std::size_t>(position_++)];
  std::vector<Sentence> sources, targets;
  batch.pairs.clear();
  for (std::size_t i = range.begin; i < range.end; ++i) {
    batch.pairs.push_back(order_[i]);
    sources.push_back(pairs_.source[order_[i]]);
    targets.push_back(pairs_.target[order_[i]]);
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
