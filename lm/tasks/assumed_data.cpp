// Made-up data.
#include "lm/tasks/assumed_data.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "tensor/error.h"

namespace rondo {

std::vector<std::int32_t> some_ids(double count, std::int64_t V) {
  constexpr double most = std::int64_t{1} << 27, golden_ratio = 1.618033988749895;
  check_input(
      count <= most,
      "a batch of {:.3g} symbols is too large: make train.batch, train.length or the lengths of sentences "
      "smaller",
      count);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  double place = 0;
  for (std::int32_t& id : ids) {
    place = std::fmod(place + golden_ratio, 1.0);
    id = static_cast<std::int32_t>(std::pow(std::min(static_cast<double>(V), 1e6), place)) - 1;
  }
  return ids;
}

Sentences some_sentences(std::int64_t count, std::int64_t length, std::int64_t V) {
  std::vector<std::int32_t> ids = some_ids(static_cast<double>(count) * static_cast<double>(length), V);
  Sentences sentences;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sentence =
        std::span(ids).subspan(static_cast<std::size_t>(i * length), static_cast<std::size_t>(length));
    sentence.back() = 0;
    sentences.add(sentence);
  }
  return sentences;
}

Vocabulary some_vocabulary() {
  Vocabulary vocabulary({.unit = Unit::characters});
  for (const char* symbol : {"\n", "a"}) vocabulary.add(symbol);
  return vocabulary;
}

std::int64_t sentences_of(const SentenceBatchOptions& batches, std::int64_t length) {
  return batches.by == BatchBy::sentences ? batches.batch : std::max<std::int64_t>(1, batches.batch / length);
}

std::int64_t length_within(std::int64_t max_length) { return max_length > 0 ? max_length + 1 : 40; }

}  // namespace rondo
