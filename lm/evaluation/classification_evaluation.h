// What a sentence classifier predicts, and how well: accuracy, and nats per sentence. Next:
// lm/tasks/classification.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/labelled_batches.h"
#include "nn/models/sentence_classifier.h"

namespace rondo {

struct ClassificationScores {
  std::int64_t sentences = 0, correct = 0;
  double nats_sum = 0;
  double seconds = 0;

  /// In percent: the share of sentences whose most probable class is their label.
  double accuracy() const { return 100 * static_cast<double>(correct) / static_cast<double>(sentences); }
  /// The mean of -log p(label).
  double nats() const { return nats_sum / static_cast<double>(sentences); }
};

/// `progress` gets the number of sentences done. Dropout is off.
ClassificationScores evaluate_classifier(SentenceClassifier& model, const LabelledSentences& sentences,
                                         const std::function<void(std::int64_t)>& progress = {});

struct MostProbableClass {
  std::int32_t id;
  double probability;
};
/// Of each sentence. `progress` gets the number of sentences done. Dropout is off.
std::vector<MostProbableClass> most_probable_classes(SentenceClassifier& model, const Sentences& sentences,
                                                     const std::function<void(std::int64_t)>& progress = {});

/// A batch for the model, its ids on the model's device.
SentenceClassifier::Input input_of(const PaddedSentences& batch, Tokens ids);

}  // namespace rondo
