// A run whose task is classification, opened for use; its measurement, by `lm eval` or at the end of a
// training, printed and stored with the run in evaluations.jsonl. The metrics:
// lm/evaluation/classification_evaluation.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lm/evaluation/classification_evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/evaluate.h"
#include "lm/program/run_folder.h"

namespace rondo {

struct OpenClassifier {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  Labels labels;
  std::unique_ptr<SentenceClassifier> model;  // with the best weights; dropout off
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run, and for a
/// run of another task.
OpenClassifier open_classifier(const std::string& path, Device device = Device::cpu);

struct ClassificationMeasurement {
  std::string run, text, split;
  std::int64_t types = 0;  // of the vocabulary
  ClassificationScores scores;
};

/// Appends a measurement to evaluations.jsonl, as keep() of lm/program/measurement.h does.
void keep(const RunFolder& run, const ClassificationMeasurement& it, const SentenceClassifier& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text);

/// `lm eval` of a classifier: prints accuracy and nats on stdout. Returns 0. InputError for options that only
/// language models have.
int evaluate_classification(const EvaluateOptions& options);

}  // namespace rondo
