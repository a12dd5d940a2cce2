// Made-up data of a recipe whose text is not there, for `lm info`, which measures the memory of a training
// (lm/training/memory.h): one batch of the recipe's size, for training and for evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lm/program/recipe.h"
#include "nn/module.h"

namespace rondo {

class AssumedData {
 public:
  /// `vocabulary_sizes` are those of make_layout(). Where the recipe sets no limit, sentences have 40
  /// symbols, documents 200 words, and utterances 200 steps and 50 characters. InputError for a batch that is
  /// too large to be made up.
  AssumedData(const Recipe& recipe, const std::vector<std::int64_t>& vocabulary_sizes);

  /// The recipe's task, for a model of make_layout(). Recipe, data and model must outlive it, and so must the
  /// data's next task.
  std::unique_ptr<Task> make_task(Module& model);

 private:
  std::unique_ptr<Task> make_multi_task(SharedEncoderDecoders& model);

  const Recipe& recipe_;
  Vocabulary vocabulary_{{.unit = Unit::characters}};  // of translations and transcripts
  std::vector<std::int32_t> ids_;
  std::vector<TranslationText> pairs_;  // of each task, or of one
  std::vector<std::unique_ptr<Task>> mixed_;
  LabelledSentences labelled_;
  Questions questions_;
  Triples triples_;
  Utterances utterances_;
};

}  // namespace rondo
