// A generated task for small classifiers.
#pragma once

#include "lm/tasks/classification.h"

namespace rondo {

/// Sentences of the symbols 1 to 4; the label is whether a 4 is among them. 0 ends each.
inline LabelledSentences toy(int32_t count, uint64_t seed) {
  LabelledSentences all;
  uint64_t random = seed;
  for (int32_t i = 0; i < count; ++i) {
    const auto next = [&](uint64_t below) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      return (random >> 33) % below;
    };
    std::vector<int32_t> ids(3 + next(6));
    for (int32_t& id : ids) id = 1 + static_cast<int32_t>(next(3));
    const bool has_four = i % 2 == 1;
    if (has_four) ids[next(ids.size())] = 4;
    ids.push_back(0);
    all.sentences.add(ids);
    all.labels.push_back(has_four ? 1 : 0);
  }
  return all;
}

inline SentenceClassifierOptions small_classifier(Summary summary) {
  SentenceClassifierOptions options;
  options.embedding = 6;
  options.hidden = 8;
  options.summary = summary;
  return options;
}

}  // namespace rondo
