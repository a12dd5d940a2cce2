// A run whose task is skip-thought, opened for use; its measurement, by `lm eval` or at the end of a
// training, printed and stored with the run in evaluations.jsonl. How useful its vectors are for other
// tasks: lm/program/sentence_report.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lm/evaluation/skip_thought_evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/evaluate.h"
#include "lm/program/run_folder.h"

namespace rondo {

struct OpenSkipThought {
  RunFolder folder;
  RunConfig config;
  Vocabulary vocabulary;
  std::unique_ptr<SkipThought> model;  // with the best weights; dropout off
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run, and for a
/// run of another task.
OpenSkipThought open_skip_thought(const std::string& path, Device device = Device::cpu);

/// Adds those words of `texts`, each with its name for messages, that the file of word vectors has to the
/// vocabulary of the run, and says on stderr how many. Returns VocabularyExpansion::tables. InputErrors of
/// expand_vocabulary() and Vocabulary::encode().
std::vector<Variable> expand_vocabulary(OpenSkipThought& run, const std::string& file,
                                        const std::vector<std::pair<std::string, std::string>>& texts);

struct SkipThoughtMeasurement {
  std::string run, text, split;
  std::int64_t types = 0;    // of the vocabulary
  std::int64_t triples = 0;  // of the text
  Evaluation nats;           // of the sentences that are written
};

/// Appends a measurement to evaluations.jsonl, as keep() of lm/program/measurement.h does.
void keep(const RunFolder& run, const SkipThoughtMeasurement& it, const SkipThought& model,
          const Compute& compute, const std::vector<std::string>& sha256_of_text);

/// `lm eval` of a skip-thought model: prints nats and perplexity on stdout. Returns 0. InputError for options
/// that only language models have.
int evaluate_skip_thought(const EvaluateOptions& options);

}  // namespace rondo
