// Batches of utterances; see data/speech/utterance_batches.h.
#include "data/speech/utterance_batches.h"

#include <algorithm>
#include <span>

#include "tensor/error.h"

namespace rondo {

namespace {

std::vector<BatchOrder::Lengths> lengths_of(const Utterances& utterances, const FrameOptions& options) {
  std::vector<BatchOrder::Lengths> lengths;
  for (std::size_t i = 0; i < utterances.frames.size(); ++i)
    lengths.emplace_back(steps_of(utterances.frames[i].size(), options), std::ssize(utterances.labels[i]));
  return lengths;
}

}  // namespace

UtteranceBatch batch_of(const std::vector<const Frames*>& utterances, const FrameOptions& options) {
  UtteranceBatch batch;
  batch.utterances = std::ssize(utterances);
  batch.width = width_of(options);
  for (const Frames* it : utterances) batch.lengths.push_back(steps_of(it->size(), options));
  batch.steps = longest_of(batch.lengths);
  batch.frames.resize(static_cast<std::size_t>(batch.steps * batch.utterances * batch.width));
  for (std::int64_t b = 0; b < batch.utterances; ++b) {
    const Frames steps = steps_of(*utterances[static_cast<std::size_t>(b)], options);
    for (std::int64_t t = 0; t < steps.size(); ++t)
      std::copy_n(steps[t], batch.width, batch.frames.data() + (t * batch.utterances + b) * batch.width);
  }
  return batch;
}

UtteranceBatches::UtteranceBatches(const SentenceBatchOptions& options, const FrameOptions& frames,
                                   const Utterances& utterances, std::uint64_t seed)
    : utterances_(utterances), frames_(frames), order_(options, lengths_of(utterances, frames), seed) {}

bool UtteranceBatches::next(UtteranceBatch& batch) {
  const std::span<const std::int64_t> whole = order_.next();
  if (whole.empty()) return false;
  const BatchShare share = order_.share();
  const std::span<const std::int64_t> chosen = share.of(whole);
  std::vector<const Frames*> frames;
  for (const std::int64_t i : chosen) frames.push_back(&utterances_.frames[static_cast<std::size_t>(i)]);
  batch = batch_of(frames, frames_);
  batch.share = share;
  for (const std::int64_t i : whole)
    batch.scored += std::ssize(utterances_.labels[static_cast<std::size_t>(i)]);
  for (const std::int64_t i : chosen) {
    batch.indices.push_back(i);
    batch.labels.push_back(utterances_.labels[static_cast<std::size_t>(i)]);
  }
  return true;
}

}  // namespace rondo
