// `lm eval RUN --sentences FOLDER`: how useful the sentence vectors of a run are for other tasks, compared
// with the means of its word vectors; printed, and stored with the run in evaluations.jsonl, for `lm
// table`. How it is measured: lm/evaluation/sentence_tasks.h. On which sets: lm/program/sentence_sets.h.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/evaluate.h"
#include "lm/program/run_folder.h"
#include "lm/program/sentence_sets.h"
#include "lm/tasks/skip_thought.h"

namespace rondo {

/// The figures of a set by their keys: pearson, spearman and mse, or accuracy and f1.
using SentenceFigures = std::vector<std::pair<std::string, double>>;

struct SentenceSetFigures {
  std::string set;
  std::int64_t scored = 0;
  SentenceFigures vectors, word_means;  // of the run's vectors, and of the baseline
  /// As stored: this model was measured before on other files, or with other word vectors.
  bool replaces_others = false;
};

/// {"set", "scored", "vectors", "word_means"}.
nlohmann::ordered_json json_of(const SentenceSetFigures& it);

/// Measures vectors of length 1, as those of Kiros et al. 2015, on a set. `tables`: see sentence_vectors().
SentenceSetFigures measure_sentences(SkipThought& model, const Vocabulary& vocabulary, const SentenceSet& set,
                                     const std::vector<Variable>& tables = {},
                                     const ProgressOf& progress_of = {});

/// Gives words of texts, each with its name, that a run does not know vectors of a file; returns the tables
/// of lm/evaluation/vocabulary_expansion.h.
std::vector<Variable> expand_vocabulary(SkipThought& model, SkipThoughtTask& task, const std::string& file,
                                        const std::vector<std::pair<std::string, std::string>>& texts);

/// Measures all sets, prints a line for each, and keeps it. Returns 0. InputError for a run of another task,
/// and those of the sets and of the word vectors.
int evaluate_sentences(const EvaluateOptions& options);

/// The stored figures of the run's present model: the last ones of each set. InputError, naming the line, for
/// an invalid file.
std::vector<SentenceSetFigures> kept_sentence_figures(const RunFolder& run);

}  // namespace rondo
