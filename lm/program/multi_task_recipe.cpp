// The sections of a recipe whose task is multi_task.
#include "lm/program/multi_task_recipe.h"

#include <algorithm>

namespace rondo {

Keys keys_of(MixedTaskOptions& options) {
  return {
      {"source",
       &options.source,
       {},
       "",
       "the language that is read, the end of the names of its files: de; empty: a language model"},
      {"target",
       &options.target,
       {},
       "",
       "the language that is written; the source's: an auto-encoder, or what pairs says"},
      {"pairs",
       choice(options.pairs),
       {},
       "",
       "what is read and written: lines, those of the same number; or, of one language, halves, the first "
       "half of a line's words and the second; or next_lines, a line and the one after it"},
      {"ratio", &options.ratio, between(0, 1e6), "updates",
       "for each update of the first task, on average; that of the first task is 1"},
  };
}

std::string section_of_task(const std::string& name) { return "tasks." + name; }

std::vector<std::string> languages_of(const MixedTasks& tasks) {
  std::vector<std::string> languages;
  const auto add = [&](const std::string& language) {
    if (!language.empty() && std::find(languages.begin(), languages.end(), language) == languages.end())
      languages.push_back(language);
  };
  for (const MixedTaskOptions& task : tasks) add(task.source), add(task.target);
  return languages;
}

TranslationRecipe with_languages(TranslationRecipe recipe, const std::string& source,
                                 const std::string& target) {
  recipe.data.files.source_language = source;
  recipe.data.files.target_language = target;
  return recipe;
}

void validate(const MixedTasks& tasks, const TranslationRecipe& recipe, const std::string& where) {
  check_input(!tasks.empty(),
              "{}: which tasks? write a section [tasks.NAME] for each, with source and target", where);
  for (const MixedTaskOptions& it : tasks) {
    const std::string section = section_of_task(it.name);
    check_input(!it.target.empty(), "{}: {}.target is missing: which language does it write?", where,
                section);
    check_input(it.source.find('/') == std::string::npos && it.target.find('/') == std::string::npos,
                "{}: {}: a language is the end of the names of files, without '/'", where, section);
    check_input(
        it.pairs == PairsOf::lines || it.source == it.target,
        "{0}: {1}.pairs = \"{2}\": these are pairs within the text of one language: leave pairs out, or "
        "give the task that language as source and target",
        where, section, name_of(it.pairs));
    check_input(it.ratio > 0, "{}: {}.ratio = 0: leave the task out, or give it a ratio above 0", where,
                section);
  }
  check_input(recipe.data.files.generated_pairs == 0,
              "{}: data.generated_pairs is for recipe.task = \"translation\": leave it out", where);
  const MixedTaskOptions& first = tasks.front();
  const std::string section = section_of_task(first.name);
  check_input(
      first.translates(),
      "{}: {} is the first task, whose figure decides: it has to translate from one language to another",
      where, section);
  check_input(first.ratio == 1, "{}: {}.ratio = {}: the first task is the reference, whose ratio is 1", where,
              section, first.ratio);
  check_input(
      recipe.model.tied != TiedTables::all,
      "{}: model.tied = \"all\" is for one encoder-decoder; here set \"output\": each language has its "
      "own tables",
      where);
  validate(with_languages(recipe, first.source, first.target), where);
}

}  // namespace rondo
