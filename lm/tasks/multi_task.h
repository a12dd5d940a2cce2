// Multi-task learning as a task: encoder-decoders that share encoders and decoders by language. The
// objective: lm/tasks/multi_task_objective.h. Next: nn/models/encoder_decoder.h.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lm/tasks/multi_task_objective.h"
#include "lm/tasks/translation.h"
#include "nn/models/encoder_decoder.h"

namespace rondo {

/// Section [tasks.NAME]. With one language twice it is an auto-encoder, or with other pairs of its lines a
/// skip-thought model; without a source a language model. Tasks share the encoder of a source language and
/// the decoder of a target language.
struct MixedTaskOptions {
  std::string name{};
  std::string source{}, target{};  // languages: the ends of the names of files
  PairsOf pairs = PairsOf::lines;  // others than lines: of one language
  double ratio = 1;

  Route route() const { return {source, target}; }
  bool translates() const { return !source.empty() && source != target; }
};
inline Keys keys_of(MixedTaskOptions& options) {
  return {
      {"source", &options.source,
       "the language that is read, the end of the names of its files: de; empty: a language model"},
      {"target", &options.target,
       "the language that is written; the source's: an auto-encoder, or what pairs says"},
      {"pairs", choice(options.pairs),
       "what is read and written: lines, those of the same number; or, of one language, halves, the first "
       "half of a line's words and the second; or next_lines, a line and the one after it"},
      {"ratio", &options.ratio, between(0, 1e6), "updates",
       "for each update of the first task, on average; that of the first task is 1"},
  };
}

struct MultiTaskSettings {
  TranslationSettings translation{};  // of all tasks; their languages are not settings
  std::vector<MixedTaskOptions> tasks{};
};

/// The texts of all languages, parallel line by line.
struct MultiTaskText {
  std::map<std::string, std::map<Split, Text>> languages{};
  bool has_test = false;            // of the first task's languages
  std::vector<FileDigest> files{};  // first those of the first task, in the order of open_parallel_text()
  std::vector<std::string> notes{};

  bool has(std::string_view split) const { return split == "test" ? has_test : split == "valid"; }
};

inline std::string section_of_task(const std::string& name) { return "tasks." + name; }

/// Lines without symbols, as many as `like` has.
inline Text empty_lines(const Text& like) {
  Text text = like;
  const auto lines = std::ranges::count(like.content, '\n');
  text.content.assign(static_cast<size_t>(lines), '\n');
  return text;
}

inline void add_language(MultiTaskText& text, const std::string& language, const ParallelText& from,
                         bool source) {
  const auto side = [&](const TextPair& pair) { return source ? pair.source : pair.target; };
  text.languages[language] = {{Split::train, side(from.train)}, {Split::valid, side(from.valid)}};
  if (from.test) text.languages[language].emplace(Split::test, side(*from.test));
}

class MultiTaskLearning : public TextTask<MultiTaskLearning, MultiTaskSettings, SharedEncoderDecoders,
                                          MultiTaskText, TranslationText, TranslatingTask> {
 public:
  Sections sections() override {
    Sections sections = sections_of(settings.translation);
    std::erase_if(sections.data, [](const Key& key) {
      return key.name == "source_language" || key.name == "target_language";
    });
    for (MixedTaskOptions& it : settings.tasks)
      sections.others = joined({std::move(sections.others), section(section_of_task(it.name), keys_of(it))});
    return sections;
  }
  bool add_part(const std::string& name) override {
    settings.tasks.push_back({.name = name});
    return true;
  }
  std::vector<std::string> parts() const override {
    std::vector<std::string> names;
    for (const MixedTaskOptions& it : settings.tasks) names.push_back(it.name);
    return names;
  }
  void check(const std::string& where) const override {
    check_input(!settings.tasks.empty(),
                "{}: which tasks? write a section [tasks.NAME] for each, with source and target", where);
    for (const MixedTaskOptions& it : settings.tasks) {
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
    check_input(settings.translation.data.files.generated_pairs == 0,
                "{}: data.generated_pairs is for recipe.task = \"translation\": leave it out", where);
    const MixedTaskOptions& first = settings.tasks.front();
    const std::string section = section_of_task(first.name);
    check_input(
        first.translates(),
        "{}: {} is the first task, whose scores decide: it has to translate from one language to another",
        where, section);
    check_input(first.ratio == 1, "{}: {}.ratio = {}: the first task is the reference, whose ratio is 1",
                where, section, first.ratio);
    check_input(
        settings.translation.model.tied != TiedTables::all,
        "{}: model.tied = \"all\" is for one encoder-decoder; here set \"output\": each language has its "
        "own tables",
        where);
    TranslationSettings of_first = settings.translation;
    of_first.data.files = parallel(first.source, first.target);
    check_settings(of_first, where);
  }
  std::string model_text() const override {
    std::string text = model_text_of(settings.translation.model);
    for (const MixedTaskOptions& it : settings.tasks)
      text += fmt::format("\ntask        {}: {} to {}{}, ratio {}", it.name,
                          it.source.empty() ? "nothing" : it.source, it.target,
                          it.pairs == PairsOf::lines ? "" : ", pairs = " + name_of(it.pairs), it.ratio);
    return text;
  }
  /// Chooses the task that is measured, probed and used to translate; else it is the first one. InputError
  /// for an unknown name, which `where` begins.
  void choose_part(const std::string& name, const std::string& where) override {
    const std::vector<std::string> names = parts();
    const auto found = std::ranges::find(names, name);
    check_input(found != names.end(), "{} {}: the tasks of this run are {}", where, name,
                fmt::join(names, ", "));
    chosen_ = static_cast<std::size_t>(found - names.begin());
    encoded_.clear();
  }

  void open(const DataSource& source) override {
    const MixedTaskOptions& first = settings.tasks.front();
    check_input(!source.path.empty(), "which text? give --data a folder with {0}.{1} and {0}.{2}",
                settings.translation.data.files.train, first.source, first.target);
    texts_ = {};
    for (const std::string& language : languages()) {
      if (language == first.source) continue;  // it is read with the first target
      const ParallelText pairs =
          open_parallel_text(source.path, parallel(first.source, language), tokenization().unit);
      if (language == first.target) {
        texts_.has_test = pairs.test.has_value();
        add_language(texts_, first.source, pairs, true);
      }
      add_language(texts_, language, pairs, false);
      for (const FileDigest& file : pairs.files)
        if (std::ranges::none_of(texts_.files, [&](const FileDigest& it) { return it.path == file.path; }))
          texts_.files.push_back(file);
      for (const std::string& note : pairs.notes)
        if (std::ranges::find(texts_.notes, note) == texts_.notes.end()) texts_.notes.push_back(note);
    }
  }
  std::string other_text() const override { return "NAME"; }
  void open_other(const std::string& path, const DataSource& /*source*/) override {
    texts_ = {};
    texts_.has_test = true;
    for (const std::string& language : std::set<std::string>{chosen().source, chosen().target}) {
      if (language.empty()) continue;  // the source of a language model
      const Text side = open_side(path, language, tokenization().unit);
      texts_.notes.insert(texts_.notes.end(), side.notes.begin(), side.notes.end());
      texts_.files.push_back({side.name, side.sha256});
      texts_.languages[language].emplace(Split::test, side);
    }
  }
  void make_vocabularies() override {
    const ParallelTextOptions& data = settings.translation.data;
    // The first lines of a text are part of the whole: of each language the longest text has all that is
    // read.
    std::map<std::string, Text> read;
    const auto reads = [&](const std::string& language, const Text& it) {
      Text& longest = read[language];
      if (it.content.size() > longest.content.size()) longest = it;
    };
    for (MixedTaskOptions task : settings.tasks) {
      task.pairs = PairsOf::lines;  // their halves have the same words
      const TextPair train = text_of(task, Split::train);
      if (!task.source.empty()) reads(task.source, train.source);
      reads(task.target, train.target);
    }
    std::optional<Vocabulary> shared;
    if (data.pairs.shared_vocabulary) {
      Text all{.name = "the training text", .content = {}, .sha256 = {}, .notes = {}};
      for (const auto& [language, it] : read) all.content += it.content;
      shared.emplace(all, data.tokenization, data.limits);
    }
    vocabularies_.clear();
    for (const std::string& language : languages())
      vocabularies_.push_back(shared ? *shared
                                     : Vocabulary(read.at(language), data.tokenization, data.limits));
  }
  void prepare() override {
    const std::int64_t max_length = settings.translation.data.pairs.max_length;
    for (const MixedTaskOptions& task : settings.tasks) {
      const Vocabulary &source = source_of(task), &target = of_language(task.target);
      const TextPair text = text_of(task, Split::train);
      Part& part = parts_.emplace_back();
      part.train = encode_pairs(text, source, target, max_length, !task.source.empty());
      part.valid = evaluated(task, Split::valid);
      // Only the first task, which decides, has references to translate.
      if (parts_.size() > 1) part.valid.references.clear();
    }
    if (texts_.has_test) encoded("test");  // of the first task, which is the chosen one in a training
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = TextTask::notes();
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (const std::string& it : notes_of(parts_[i].train, settings.translation.data.pairs.max_length))
        notes.push_back(fmt::format("{}: {}", settings.tasks[i].name, it));
    return notes;
  }
  void assume(const Sizes& sizes) override {
    const std::vector<std::string> of = languages();
    const auto size_of = [&](const std::string& language) {
      const auto place = std::ranges::find(of, language);
      return place == of.end() ? 0 : sizes.at(static_cast<std::size_t>(place - of.begin()));
    };
    vocabularies_.assign(of.size(), some_vocabulary());
    for (const MixedTaskOptions& it : settings.tasks) {
      Part& part = parts_.emplace_back();
      part.train = some_pairs(settings.translation, size_of(it.source), size_of(it.target));
      part.valid = {.pairs = part.train,
                    .target = &vocabularies_.front(),
                    .reverse_source = settings.translation.train.batches.reverse_source};
    }
  }
  std::string size_text() const override {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      texts.push_back(fmt::format("{} {} sentences", settings.tasks[i].name, parts_[i].train.size()));
    for (const std::string& language : languages())
      texts.push_back(fmt::format("{} {}", language, vocabulary_text(of_language(language).size())));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  std::int64_t validation_size() const override { return parts_.front().valid.pairs.size(); }
  Sizes assumed_sizes(std::int64_t vocabulary) const override {
    return std::vector<std::int64_t>(languages().size(), vocabulary);
  }
  const Vocabulary& vocabulary() const override { return of_language(chosen().target); }
  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    std::map<std::string, std::int64_t> of_languages;
    const std::vector<std::string> names = languages();
    for (std::size_t i = 0; i < names.size(); ++i) of_languages.emplace(names[i], sizes.at(i));
    std::vector<Route> routes;
    for (const MixedTaskOptions& it : settings.tasks) routes.push_back(it.route());
    return std::make_unique<SharedEncoderDecoders>(settings.translation.model, of_languages, routes, seed,
                                                   device);
  }
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override {
    std::vector<std::unique_ptr<Objective>> objectives;
    std::vector<MixedTask> tasks;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      // Tasks on the same text read it in different orders.
      objectives.push_back(std::make_unique<Translation>(own(model).at(i), settings.translation.train,
                                                         parts_[i].train, parts_[i].valid, seed + i));
      tasks.push_back({settings.tasks[i].name, settings.tasks[i].ratio, objectives.back().get()});
    }
    return std::make_unique<MultiTaskObjective>(model, std::move(tasks), seed, std::move(objectives));
  }
  /// Where a language is written without a source only, nothing trains its bridge and its attention.
  bool is_trained(const std::string& parameter) const override {
    return std::ranges::none_of(settings.tasks, [&](const MixedTaskOptions& it) {
      const bool has_source = std::ranges::any_of(settings.tasks, [&](const MixedTaskOptions& other) {
        return other.target == it.target && !other.source.empty();
      });
      return !has_source && (parameter.starts_with(it.target + ".bridge.") ||
                             parameter.starts_with(it.target + ".attention."));
    });
  }

  TranslationSettings& translation() override { return settings.translation; }
  const TranslationSettings& translation() const override { return settings.translation; }
  Translator translator(Module& model) override {
    return {own(model).at(chosen_), source_of(chosen()), vocabulary(), !chosen().source.empty()};
  }
  const Pairs& pairs_of_training() const override {
    return parts_.empty() ? encoded("train").pairs : parts_.at(chosen_).train;
  }
  const TranslationText& measured_text(const std::string& split) const override { return encoded(split); }

  /// Returns what a task reads and writes: a translation a share of the training text, all others the whole.
  /// The source of a language model is empty lines. InputError if there is no test text.
  TextPair text_of(const MixedTaskOptions& task, Split split) const {
    check_input(split != Split::test || texts_.has_test,
                "there is no test text (data.test_files): choose train or valid");
    const Text& target = texts_.languages.at(task.target).at(split);
    if (task.source.empty()) return {empty_lines(target), target};
    if (task.source == task.target) return pairs_of_text(target, task.pairs);
    const TextPair all{texts_.languages.at(task.source).at(split), target};
    const double share = settings.translation.data.pairs_share;
    return split == Split::train && share < 1 ? first_lines(all, share) : all;
  }

 private:
  /// The data of a task.
  struct Part {
    Pairs train{};
    TranslationText valid{};
  };
  /// The languages of all tasks, in the order of their first mention: first the two of the first task.
  std::vector<std::string> languages() const {
    std::vector<std::string> languages;
    const auto add = [&](const std::string& language) {
      if (!language.empty() && std::ranges::find(languages, language) == languages.end())
        languages.push_back(language);
    };
    for (const MixedTaskOptions& task : settings.tasks) add(task.source), add(task.target);
    return languages;
  }
  /// The files of the vocabularies, in the order of languages(): of the first task those of translation, of
  /// further languages vocab.LANGUAGE.txt.
  std::vector<std::string> vocabulary_files() const override {
    std::vector<std::string> files;
    for (const std::string& language : languages())
      files.push_back(files.empty()       ? "vocab.source.txt"
                      : files.size() == 1 ? "vocab.target.txt"
                                          : "vocab." + language + ".txt");
    return files;
  }
  const MixedTaskOptions& chosen() const { return settings.tasks.at(chosen_); }
  ParallelOptions parallel(const std::string& source, const std::string& target) const {
    ParallelOptions files = settings.translation.data.files;
    files.source_language = source;
    files.target_language = target;
    return files;
  }
  const Vocabulary& of_language(const std::string& language) const {
    const std::vector<std::string> all = languages();
    return vocabularies_.at(static_cast<std::size_t>(std::ranges::find(all, language) - all.begin()));
  }
  /// The source's vocabulary, of a language model the target's.
  const Vocabulary& source_of(const MixedTaskOptions& task) const {
    return of_language(task.source.empty() ? task.target : task.source);
  }
  TranslationText evaluated(const MixedTaskOptions& task, Split split) const {
    return translation_text(text_of(task, split), source_of(task), of_language(task.target),
                            settings.translation.train.batches.reverse_source);
  }
  /// Encodes the text of the chosen task.
  TranslationText encode(const std::string& split) const override {
    return evaluated(chosen(), split_from_string(split));
  }

  std::size_t chosen_ = 0;
  std::deque<Part> parts_;  // of each task; in a training
};

}  // namespace rondo
