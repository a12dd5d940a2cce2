// A small encoder-decoder and the generated task that it trains on: reversing a line of letters.
#pragma once

#include <gtest/gtest.h>

#include "data/sentences/pairs.h"
#include "lm/tasks/translation.h"
#include "lm/training/trainer.h"
#include "tests/lm/training/small_training.h"

namespace rondo {

inline EncoderDecoderOptions small_encoder_decoder() {
  EncoderDecoderOptions options;
  options.embedding = 16;
  options.hidden = 32;
  return options;
}

inline Sentences in_sentences(const std::vector<std::vector<int32_t>>& all) {
  Sentences sentences;
  for (const std::vector<int32_t>& it : all) sentences.add(it);
  return sentences;
}

struct ReversalTraining {
  explicit ReversalTraining(const TranslationOptions& task_options = {.batches = {.order = {.batch = 20}}},
                            EncoderDecoderOptions model_options = small_encoder_decoder(),
                            int64_t pairs = 600, Device device = Device::cpu)
      : text(reversal_task(1, pairs, sizes)),
        vocabularies(vocabularies_of(text, {}, {}, false)),
        train(encode_pairs(text, vocabularies.source, vocabularies.target)),
        valid(translation_text(reversal_task(2, 60, sizes), vocabularies.source, vocabularies.target, false)),
        model(model_options, vocabularies.source.size(), vocabularies.target.size(), 1, device),
        task(model, task_options, train, valid),
        trainer(
            task,
            {.epochs = 100, .clip = 1, .optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.01}}) {}

  /// Steps from epoch to epoch; their loss in nats per target symbol.
  double advance(int steps) {
    rondo::advance(*this, steps);
    return trainer.metrics().mean_loss();
  }

  std::vector<std::vector<int32_t>> sources() const {
    std::vector<std::vector<int32_t>> all;
    for (int64_t i = 0; i < valid.pairs.size(); ++i) {
      const auto source = valid.pairs.source[i];
      all.emplace_back(source.begin(), source.end());
    }
    return all;
  }

  static constexpr ReversalOptions sizes{.letters = 5, .max_length = 5};
  TextPair text;
  PairVocabularies vocabularies;
  Pairs train;
  TranslationText valid;
  EncoderDecoder model;
  Translation task;
  Trainer trainer;
};

}  // namespace rondo
