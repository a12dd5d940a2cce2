// The texts and vocabularies of multi-task learning: those of every language are parallel, line by line.
// Next: lm/program/multi_task_job.cpp.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lm/program/multi_task_recipe.h"
#include "lm/program/run_folder.h"

namespace rondo {

struct MultiTaskText {
  std::map<std::string, std::map<Split, Text>> languages;
  bool has_test = false;          // of the first task's languages
  std::vector<FileDigest> files;  // first those of the first task, in the order of open_parallel_text()
  std::vector<std::string> notes;
};

/// Reads the texts of all languages in a folder. InputErrors of open_parallel_text().
MultiTaskText open_multi_task_text(const std::filesystem::path& folder, const MixedTasks& tasks,
                                   const TranslationRecipe& recipe);

/// What a task reads and writes: translations a share of the training text, all others the whole one. The
/// source of a language model is empty lines. InputError if there is no test text.
TextPair text_of_task(const MultiTaskText& text, const MixedTaskOptions& task, Split split);
TextPair train_text_of(const MultiTaskText& text, const MixedTaskOptions& task, double pairs_share);

/// Of each language, of what the tasks read of its training text; if shared, one of all languages.
std::map<std::string, Vocabulary> vocabularies_of(const MultiTaskText& text, const MixedTasks& tasks,
                                                  const ParallelTextOptions& options);
/// Those of a run, which are in the order of languages_of(), by language.
std::map<std::string, Vocabulary> by_language(const MixedTasks& tasks, std::vector<Vocabulary> vocabularies);
/// Those of a task; a language model reads what it writes.
PairVocabularies vocabularies_of(const MixedTaskOptions& task,
                                 const std::map<std::string, Vocabulary>& vocabularies);
std::map<std::string, int64_t> sizes_of(const std::map<std::string, Vocabulary>& vocabularies);
std::vector<Route> routes_of(const MixedTasks& tasks);

/// The vocabularies' files in a run, each with its language: of the first task vocab.source.txt and
/// vocab.target.txt, as in a run of translation; of further languages vocab.LANGUAGE.txt.
std::vector<std::pair<std::string, std::filesystem::path>> vocabulary_paths(const RunFolder& run,
                                                                            const MixedTasks& tasks);

}  // namespace rondo
