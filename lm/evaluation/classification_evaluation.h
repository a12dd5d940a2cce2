// What a sentence classifier predicts, and how well: accuracy, and nats per sentence. Next:
// lm/tasks/classification.h.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/labelled_batches.h"
#include "lm/evaluation/scores.h"
#include "nn/models/sentence_classifier.h"

namespace rondo {

/// Measures the accuracy in percent, which is the share of sentences whose most probable class is their
/// label, and the mean of -log p(label). `progress` gets the number of sentences done. Dropout is off.
Scores evaluate_classifier(SentenceClassifier& model, const LabelledSentences& sentences,
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
