// Sentence vectors on other tasks: the sets, and how useful the vectors of a run are for them, compared with
// the means of its word vectors.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/run.h"
#include "lm/tasks/skip_thought.h"

namespace rondo {

// --- Sentence sets ---
// The sets of sentences that `lm eval RUN --sentences FOLDER` measures vectors on: found in a folder by the
// names of their files. The formats: data/sentences/tables.h, data/sentences/labelled_sentences.h.

enum class SentenceSetKind { relatedness, paraphrase, classification };

/// A part of a set: sentences, or pairs of them, and what is to be predicted.
struct SentenceSplit {
  std::vector<std::string> sentences, others{};  // of pairs the first and the second
  std::vector<double> scores{};                  // of relatedness
  std::vector<std::int32_t> labels{};            // of the other kinds
};

struct SentenceSet {
  std::string name;
  SentenceSetKind kind;
  std::int64_t classes = 2;
  std::vector<SentenceSplit> splits{};  // all in one, or train and test, or train, trial and test
  std::vector<std::string> sha256{};    // "HEX  FILE" of its files

  /// What is scored: the sentences of the test text, or all.
  std::int64_t scored() const { return std::ssize(splits.back().sentences); }
};

/// The known sets of these folders, in the order of the folders. InputError for a folder with none, which
/// names the files that it looked for; for files of a set that are missing; for fewer sentences to train on
/// than cross-validation has parts; and those of the formats.
std::vector<SentenceSet> read_sentence_sets(const std::vector<std::string>& folders);

// --- What vectors are good for ---
// `lm eval RUN --sentences FOLDER`: how useful the sentence vectors of a run are for other tasks, compared
// with the means of its word vectors; printed, and stored with the run in evaluations.jsonl, for `lm
// table`. How it is measured: lm/evaluation/sentence_tasks.h.

/// The figures of a set by their keys: pearson, spearman and mse, or accuracy and f1.
using SentenceFigures = std::vector<std::pair<std::string, double>>;

struct SentenceSetFigures {
  std::string set;
  std::int64_t scored = 0;
  SentenceFigures vectors, word_means;  // of the run's vectors, and of the baseline
};

/// "pearson 0.8000  spearman 0.7900  mse 0.3700".
std::string text_of(const SentenceFigures& figures);
/// {"set", "scored", "vectors", "word_means"}.
nlohmann::ordered_json json_of(const SentenceSetFigures& it);

/// Measures vectors of length 1, as those of Kiros et al. 2015, on a set. `tables`: see sentence_vectors().
SentenceSetFigures measure_sentences(SkipThought& model, const Vocabulary& vocabulary, const SentenceSet& set,
                                     const std::vector<Variable>& tables = {},
                                     const ProgressOf& progress_of = {});

/// All sentences of the sets, each set with its name.
std::vector<std::pair<std::string, std::string>> texts_of(const std::vector<SentenceSet>& sets);
/// Gives words of texts, each with its name, that a run does not know vectors of a file; returns the tables
/// of lm/evaluation/skip_thought_evaluation.h.
std::vector<Variable> expand_vocabulary(SkipThought& model, SkipThoughtTask& task, const std::string& file,
                                        const std::vector<std::pair<std::string, std::string>>& texts);

/// Returns the figures that a line of evaluations.jsonl has of a set. Exceptions of nlohmann::json, and
/// InputErrors, for what is not such a line.
SentenceSetFigures sentence_figures_in(const nlohmann::json& entry);

}  // namespace rondo
