// Batches of labelled sentences; see data/sentences/labelled_batches.h.
#include "data/sentences/labelled_batches.h"

#include <span>

namespace rondo {

namespace {

std::vector<BatchOrder::Lengths> lengths_of(const Sentences& sentences) {
  std::vector<BatchOrder::Lengths> lengths;
  for (std::int64_t i = 0; i < sentences.size(); ++i) lengths.emplace_back(sentences.length(i), 0);
  return lengths;
}

}  // namespace

LabelledBatches::LabelledBatches(const SentenceBatchOptions& options, const LabelledSentences& sentences,
                                 std::uint64_t seed)
    : sentences_(sentences), order_(options, lengths_of(sentences.sentences), seed) {}

bool LabelledBatches::next(LabelledBatch& batch) {
  const std::span<const std::int64_t> whole = order_.next();
  if (whole.empty()) return false;
  batch.share = order_.share();
  std::vector<std::span<const std::int32_t>> rows;
  batch.labels.clear();
  for (const std::int64_t i : batch.share.of(whole)) {
    rows.push_back(sentences_.sentences[i]);
    batch.labels.push_back(sentences_.labels[static_cast<std::size_t>(i)]);
  }
  batch.sentences = padded(rows);
  return true;
}

}  // namespace rondo
