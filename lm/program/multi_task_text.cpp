// The texts and vocabularies of multi-task learning.
#include "lm/program/multi_task_text.h"

#include <algorithm>

namespace rondo {
namespace {

void add(MultiTaskText& text, const std::string& language, const ParallelText& from, bool source) {
  const auto side = [&](const TextPair& pair) { return source ? pair.source : pair.target; };
  text.languages[language] = {{Split::train, side(from.train)}, {Split::valid, side(from.valid)}};
  if (from.test) text.languages[language].emplace(Split::test, side(*from.test));
}

/// Lines without symbols, as many as `like` has.
Text empty_lines(const Text& like) {
  Text text = like;
  const auto lines = std::count(like.content.begin(), like.content.end(), '\n');
  text.content.assign(static_cast<size_t>(lines), '\n');
  return text;
}

}  // namespace

MultiTaskText open_multi_task_text(const std::filesystem::path& folder, const MixedTasks& tasks,
                                   const TranslationRecipe& recipe) {
  const MixedTaskOptions& first = tasks.front();
  const auto open = [&](const std::string& target) {
    return open_parallel_text(folder, with_languages(recipe, first.source, target).data.files,
                              recipe.data.tokenization.unit);
  };
  const ParallelText pairs = open(first.target);
  MultiTaskText text{
      .languages = {}, .has_test = pairs.test.has_value(), .files = pairs.files, .notes = pairs.notes};
  add(text, first.source, pairs, true);
  add(text, first.target, pairs, false);
  for (const std::string& language : languages_of(tasks)) {
    if (text.languages.contains(language)) continue;
    const ParallelText further = open(language);
    add(text, language, further, false);
    for (const FileDigest& file : further.files)
      if (std::none_of(text.files.begin(), text.files.end(),
                       [&](const FileDigest& it) { return it.path == file.path; }))
        text.files.push_back(file);
    for (const std::string& note : further.notes)
      if (std::find(text.notes.begin(), text.notes.end(), note) == text.notes.end())
        text.notes.push_back(note);
  }
  return text;
}

TextPair text_of_task(const MultiTaskText& text, const MixedTaskOptions& task, Split split) {
  check_input(split != Split::test || text.has_test,
              "there is no test text (data.test_files): choose train or valid");
  const Text& target = text.languages.at(task.target).at(split);
  if (task.source.empty()) return {empty_lines(target), target};
  if (task.source == task.target) return pairs_of_text(target, task.pairs);
  return {text.languages.at(task.source).at(split), target};
}

TextPair train_text_of(const MultiTaskText& text, const MixedTaskOptions& task, double pairs_share) {
  const TextPair all = text_of_task(text, task, Split::train);
  return task.translates() && pairs_share < 1 ? first_lines(all, pairs_share) : all;
}

std::map<std::string, Vocabulary> vocabularies_of(const MultiTaskText& text, const MixedTasks& tasks,
                                                  const ParallelTextOptions& options) {
  // The first lines of a text are part of the whole: of each language the longest text has all that is read.
  std::map<std::string, Text> read;
  const auto reads = [&](const std::string& language, const Text& it) {
    Text& longest = read[language];
    if (it.content.size() > longest.content.size()) longest = it;
  };
  for (MixedTaskOptions task : tasks) {
    task.pairs = PairsOf::lines;  // their halves have the same words
    const TextPair train = train_text_of(text, task, options.pairs_share);
    if (!task.source.empty()) reads(task.source, train.source);
    reads(task.target, train.target);
  }
  if (options.pairs.shared_vocabulary) {
    Text all{.name = "the training text", .content = {}, .sha256 = {}, .notes = {}};
    for (const auto& [language, it] : read) all.content += it.content;
    for (auto& [language, it] : read) it = all;
  }
  std::map<std::string, Vocabulary> vocabularies;
  for (const auto& [language, it] : read)
    vocabularies.emplace(language, Vocabulary(it, options.tokenization, options.limits));
  return vocabularies;
}

std::map<std::string, Vocabulary> by_language(const MixedTasks& tasks, std::vector<Vocabulary> vocabularies) {
  std::map<std::string, Vocabulary> result;
  const std::vector<std::string> languages = languages_of(tasks);
  for (size_t i = 0; i < languages.size(); ++i) result.emplace(languages[i], std::move(vocabularies.at(i)));
  return result;
}

PairVocabularies vocabularies_of(const MixedTaskOptions& task,
                                 const std::map<std::string, Vocabulary>& vocabularies) {
  const Vocabulary& target = vocabularies.at(task.target);
  return {task.source.empty() ? target : vocabularies.at(task.source), target};
}

std::map<std::string, int64_t> sizes_of(const std::map<std::string, Vocabulary>& vocabularies) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [language, it] : vocabularies) sizes[language] = it.size();
  return sizes;
}

std::vector<Route> routes_of(const MixedTasks& tasks) {
  std::vector<Route> routes;
  for (const MixedTaskOptions& it : tasks) routes.push_back(it.route());
  return routes;
}

std::vector<std::pair<std::string, std::filesystem::path>> vocabulary_paths(const RunFolder& run,
                                                                            const MixedTasks& tasks) {
  std::vector<std::pair<std::string, std::filesystem::path>> paths;
  for (const std::string& language : languages_of(tasks))
    paths.emplace_back(language, paths.empty()       ? run.source_vocabulary()
                                 : paths.size() == 1 ? run.target_vocabulary()
                                                     : run.path / ("vocab." + language + ".txt"));
  return paths;
}

}  // namespace rondo
