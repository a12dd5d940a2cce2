// A run whose task is question answering, opened for use; its measurement, by `lm eval` or at the end of a
// training, printed and stored with the run in evaluations.jsonl. The metrics:
// lm/evaluation/answer_evaluation.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lm/evaluation/answer_evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/evaluate.h"
#include "lm/program/run_folder.h"

namespace rondo {

struct OpenReader {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<AttentiveReader> model;  // with the best weights; dropout off
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run, and for a
/// run of another task.
OpenReader open_reader(const std::string& path, Device device = Device::cpu);

struct AnswerMeasurement {
  std::string run, text, split;
  std::int64_t types = 0;  // of the vocabulary
  bool generated = false;  // the questions are made from a text
  AnswerScores scores;
  FrequencyBaselines baselines;
};

/// Appends a measurement to evaluations.jsonl, as keep() of lm/program/measurement.h does.
void keep(const RunFolder& run, const AnswerMeasurement& it, const AttentiveReader& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text);

/// "most frequent entity 24.10 %, not in the question 30.20 %": the accuracies of the baselines.
std::string baselines_text(const FrequencyBaselines& baselines);

/// `lm eval` of a reader: prints accuracy and nats on stdout. Returns 0. InputError for options that only
/// language models have.
int evaluate_question_answering(const EvaluateOptions& options);

}  // namespace rondo
