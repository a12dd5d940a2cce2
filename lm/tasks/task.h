// What the program needs to know of a task: its part of a recipe, its data, its model, its objective, its
// scores. It knows no run folders, no terminal and no JSON, so that a program which uses the library gets a
// whole task as well. One class per task, in one file; the list: lm/tasks/registry.cpp. Next:
// lm/tasks/classification.h, the shortest one.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/sentences/pairs.h"
#include "data/sentences/sentence_batches.h"
#include "data/text/corpus.h"
#include "lm/evaluation/probe.h"
#include "lm/evaluation/scores.h"
#include "lm/training/objective.h"
#include "nn/module.h"
#include "tensor/keys.h"

namespace rondo {

// --- Task ---

/// Returns a function that shows how many of the `items` of `what` are done.
using ProgressOf = std::function<ReportDone(const std::string& what, std::int64_t items)>;
inline ReportDone show_nothing(const std::string& /*what*/, std::int64_t /*items*/) {
  return [](std::int64_t) {};
}

/// The keys of a task in the sections of a recipe; those of `others` have the names of their sections.
struct Sections {
  Keys data{}, model{}, train{}, others{};
};

/// Where data lies.
struct DataSource {
  std::string path;  // a folder or a file; empty: none was named
  Pipes pipes = Pipes::refused;
  ReadingProgress progress{};
};

/// A file that settings name, beside the data.
struct NamedFile {
  std::string key;  // of its digest in the record of a run; empty: it has none
  std::string* path;
  bool begins = false;  // only a training that begins reads it
};

/// How much of a text a vocabulary does not know.
struct UnknownShare {
  std::string text;  // its name
  std::int64_t unknowns = 0, symbols = 0;
  bool is_predicted = true;  // false: a text that is only read, such as a classifier's

  double percent() const {
    return symbols > 0 ? 100.0 * static_cast<double>(unknowns) / static_cast<double>(symbols) : 0;
  }
};
UnknownShare share_of(const Text& text, const Sentences& sentences, const Vocabulary& vocabulary,
                      bool is_predicted = true);

/// What a model is made of: the sizes of vocabularies, and of what else has rows.
using Sizes = std::vector<std::int64_t>;

/// The files of a run that say what the rows of its model stand for: their names, and the contents.
using VocabularyFiles = std::vector<std::pair<std::string, std::string>>;

/// The command that uses a model: `lm COMMAND RUN INPUT`.
struct Usage {
  std::string command, purpose, input;
};

/// A line of input, without its newline, and its name in errors.
struct InputLine {
  std::string text, name = "the line";
};

/// What a model attended to: weights[t][s] when symbol t was written, of symbol s that it has read.
struct Alignment {
  std::vector<std::string> source, target;  // symbols, with the end of the line
  std::vector<std::vector<float>> weights;
};

/// The answer to a line: its translation, its class, ...
struct LineAnswer {
  std::string text{};
  std::optional<double> score{};  // its probability, or what a search has ranked it by
  Alignment alignment{};
  std::string note{};                      // for the user
  std::int64_t symbols = 0, unknowns = 0;  // of the line, where the share of unknown symbols matters
  std::vector<LineAnswer> next_best{};     // where several answers are asked for
};

class Task {
 public:
  virtual ~Task() = default;
  /// Returns a task with the same settings, and without data.
  virtual std::unique_ptr<Task> clone() const = 0;

  // --- Its part of a recipe ---

  virtual Sections sections() = 0;
  /// Adds a section [tasks.NAME]; returns false if the task has none.
  virtual bool add_part(const std::string& /*name*/) { return false; }
  /// Chooses one of several parts to be measured and used. InputError for an unknown name, which `where`
  /// begins.
  virtual void choose_part(const std::string& name, const std::string& where);
  /// The names of these sections.
  virtual std::vector<std::string> parts() const { return {}; }
  /// Throws InputError if settings contradict each other; `where` begins the text.
  virtual void check(const std::string& where) const = 0;
  virtual const std::string& cell() const = 0;
  virtual const Tokenization& tokenization() const = 0;
  /// The limit of its vocabularies; 0: none.
  virtual std::int64_t largest_vocabulary() const = 0;
  /// Whether its vocabularies cannot be made from the text a second time.
  virtual bool keeps_vocabulary() const { return tokenization().unit == Unit::pieces; }
  /// Why a trained model cannot begin on other data; empty: it can.
  virtual std::string belongs_to_data() const { return ""; }
  /// Whether the loss is that of predicting a text symbol by symbol, so that it has a perplexity.
  virtual bool predicts_text() const { return true; }
  /// The name of the metric that decides which weights are best.
  virtual std::string selection_metric() const { return "nats"; }
  virtual bool higher_is_better() const { return false; }
  /// How the texts of figures that have precedence in tables are read; empty: there is one way.
  virtual std::string preferred_reading() const { return ""; }
  /// The model, and the sizes() of its vocabularies, in words for `lm info`.
  virtual std::string model_text() const = 0;
  virtual std::string sizes_text(const Sizes& sizes) const;
  virtual Usage usage() const = 0;

  // --- Its data ---

  /// Whether data.files name what is read of the current folder, where no other one is given.
  virtual bool reads_current_folder() const { return false; }
  /// Opens the texts. InputErrors of their formats.
  virtual void open(const DataSource& source) = 0;
  /// The files that open() has read.
  virtual std::vector<FileDigest> files() const = 0;
  /// The files that settings name beside the data.
  virtual std::vector<NamedFile> named_files() { return {}; }
  /// What a user gives to measure another text, as "FILE"; empty: the task is measured on its own text alone.
  virtual std::string other_text() const { return ""; }
  /// Opens such a text, which measure() then calls "test". InputError if the task has none.
  virtual void open_other(const std::string& path, const DataSource& source);
  /// Makes the vocabularies from the training text.
  virtual void make_vocabularies() = 0;
  /// The names of the files that vocabularies() gives.
  virtual std::vector<std::string> vocabulary_names() const { return {"vocab.txt"}; }
  virtual VocabularyFiles vocabularies() const = 0;
  /// Takes the vocabularies of a run; `folder` begins the names of files in InputErrors.
  virtual void set_vocabularies(const VocabularyFiles& files, const std::string& folder) = 0;
  /// Reads everything that a training and the evaluations at its end need.
  virtual void prepare() = 0;
  /// Makes up data of the settings' size in place of prepare(), for a model of these sizes.
  virtual void assume(const Sizes& sizes) = 0;
  /// Notes for the user about the data.
  virtual std::vector<std::string> notes() const = 0;
  /// Counts the unknown symbols of the texts that are scored; the training text is the first.
  virtual std::vector<UnknownShare> unknown_shares() const { return {}; }
  /// "929589 symbols, a vocabulary of 10000 symbols".
  virtual std::string size_text() const = 0;
  /// The number of items of an evaluation on the validation text, for its progress.
  virtual std::int64_t validation_size() const = 0;
  /// The names of the texts that are measured at the end of a training.
  virtual std::vector<std::string> measured_splits() const = 0;

  // --- Its model ---

  /// The sizes that make_model() needs: of the vocabularies, and of what else has rows.
  virtual Sizes sizes() const = 0;
  /// The same where there is no data, for vocabularies of that size.
  virtual Sizes assumed_sizes(std::int64_t vocabulary) const { return {vocabulary}; }
  /// The vocabulary that is predicted, or read where none is.
  virtual const Vocabulary& vocabulary() const = 0;
  /// How many symbols can be predicted, without those that no text has.
  virtual std::int64_t types() const { return vocabulary().types(); }
  virtual std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const = 0;
  /// Makes the model of these sizes without memory: names and shapes.
  std::unique_ptr<Module> make_layout(const Sizes& sizes) const { return make_model(sizes, 1, Device::meta); }
  /// Replaces drawn values of a new model by those that the settings name. Returns notes for the user.
  virtual std::vector<std::string> set_initial_values(Module& /*model*/) { return {}; }
  /// Throws an Error that names the parameters which no gradient reaches in the first batches: they would not
  /// be trained, without any other sign (as happened to recurrent weights in ports of weight-dropped LSTMs).
  /// It is called after prepare(), and changes neither the values nor the statistics of the model.
  void check_gradients(Module& model);
  /// Whether training can change this parameter.
  virtual bool is_trained(const std::string& /*parameter*/) const { return true; }
  /// It is called after prepare(). The model and this task must outlive the objective.
  virtual std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) = 0;
  /// Completes a trained model, such as by statistics over the whole text. Returns what was done, and empty
  /// if there is nothing to do.
  virtual std::string complete(Objective& /*objective*/, const ProgressOf& /*progress_of*/) { return ""; }
  /// Measures a model on a text that open() or open_other() has opened. InputError if there is no such text.
  virtual Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) = 0;
  /// The scores of a text that are recorded at the end of a training.
  virtual std::vector<Scores> final_scores(Module& model, const std::string& split,
                                           const ProgressOf& progress_of) {
    return {measure(model, split, progress_of)};
  }
  /// Answers lines of input, one each. An empty line has an empty answer. InputError for a line that cannot
  /// be read, and for a task that answers no lines.
  virtual std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines);
  /// What a probe reads if nothing else is asked for.
  virtual ProbeOptions probe_options() const { return {}; }
  /// Looks into the recurrent layers of a model while it reads some of a text.
  virtual Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
                       const ReportDone& progress) = 0;
};

/// The settings' own check_options(). Its InputError gets `where` (a recipe's name or file) before its text,
/// and, because that begins with the name of a key, the section: "FILE: train.batch = 0: ...". Without a
/// `section` the text has it already.
template <class Options>
void check_section(const std::string& where, const std::string& section, const Options& options) {
  try {
    check_options(options);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}{}{}", where, section, section.empty() ? "" : ".", error.what()));
  }
}

/// Throws InputError, naming the key, for a single row at a time, over which batch normalisation has no
/// statistics.
void check_rows_at_once(const std::string& where, bool looks_across_rows, const std::string& key,
                        std::int64_t rows);

/// The files of a vocabulary in the order of writing: the model of pieces, then `name`, which lists the
/// symbols.
VocabularyFiles files_of(const Vocabulary& vocabulary, const std::string& name);
/// The names of these files.
std::vector<std::string> names_of_files(const std::string& name, const Tokenization& tokenization);
/// Finds a vocabulary among the files of a run. Without sentencepiece one of pieces cannot encode.
Vocabulary vocabulary_among(const VocabularyFiles& files, const std::string& name, const std::string& folder,
                            const Tokenization& tokenization);
/// The content of a file among those of a run. Error if there is none.
const std::string& content_among(const VocabularyFiles& files, const std::string& name);

/// The content of a vocabulary's file in a run, byte by byte. InputError if it is missing or too large.
std::string read_vocabulary_file(const std::filesystem::path& file);
/// Reads a vocabulary from its file, of pieces with their model beside it. InputError, naming the file, if
/// one is missing or broken.
Vocabulary read_vocabulary(const std::filesystem::path& file, const Tokenization& tokenization);

/// The symbols of a text as they are written in it, whether the vocabulary knows them or not.
std::vector<std::string> symbols_written(const Vocabulary& vocabulary, const std::string& text,
                                         const std::string& name, LastLine last);
/// The text of a line with its newline, without a byte-order mark and a carriage return at its end.
std::string text_of_line(std::string line, Unit unit);
/// The text of a line as ids with its end symbol; none for an empty line. InputErrors of Vocabulary::encode,
/// and, except as bytes, for what is not UTF-8.
std::vector<std::int32_t> encoded_line(const Vocabulary& vocabulary, const std::string& text,
                                       const std::string& name);

/// Lines as ids, and the answers to fill in: answers[lines[i]] is that to ids[i]. Empty lines are left out.
struct EncodedLines {
  std::vector<LineAnswer> answers;
  Sentences ids;
  std::vector<std::size_t> lines;
};
EncodedLines encode_lines(const std::vector<InputLine>& lines, const Vocabulary& vocabulary);

/// "1 symbol", "2 symbols": a count, and what is counted, which `of_many` names.
std::string counted_text(std::int64_t count, const std::string& of_many);
/// "a vocabulary of 10000 symbols": of so many rows, `<unk>` and others among them.
std::string vocabulary_text(std::int64_t size);

// --- A task on texts ---

/// A task with settings, a model and texts that are split into train, valid and others. It has one vocabulary
/// or several. `Texts` has the members files, notes and has(); `Encoded` is what the model reads of a split.
template <class Derived, class Settings, class Model, class Texts, class Encoded, class Base = Task>
class TextTask : public Base {
 public:
  std::unique_ptr<Task> clone() const override {
    auto copy = std::make_unique<Derived>();
    copy->settings = settings;
    return copy;
  }
  std::vector<FileDigest> files() const override { return texts_.files; }
  std::vector<std::string> notes() const override { return texts_.notes; }
  std::vector<std::string> measured_splits() const override {
    std::vector<std::string> splits;
    for (const char* split : {"valid", "test", "speakers"})
      if (texts_.has(split)) splits.push_back(split);
    return splits;
  }
  std::vector<std::string> vocabulary_names() const override {
    std::vector<std::string> names;
    for (const std::string& file : vocabulary_files())
      for (const std::string& name : names_of_files(file, this->tokenization())) names.push_back(name);
    if (!further_file().empty()) names.push_back(further_file());
    return names;
  }
  VocabularyFiles vocabularies() const override {
    VocabularyFiles all;
    const std::vector<std::string> names = vocabulary_files();
    for (std::size_t i = 0; i < names.size(); ++i)
      for (auto& file : files_of(vocabularies_.at(i), names[i])) all.push_back(std::move(file));
    if (!further_file().empty()) all.emplace_back(further_file(), further_content());
    return all;
  }
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override {
    vocabularies_.clear();
    for (const std::string& name : vocabulary_files())
      vocabularies_.push_back(vocabulary_among(files, name, folder, this->tokenization()));
    if (const std::string name = further_file(); !name.empty())
      read_further(content_among(files, name), folder + "/" + name);
  }
  Sizes sizes() const override {
    Sizes sizes;
    for (const Vocabulary& it : vocabularies_) sizes.push_back(it.size());
    return sizes;
  }
  const Vocabulary& vocabulary() const override { return vocabularies_.back(); }
  std::vector<UnknownShare> unknown_shares() const override {
    std::vector<UnknownShare> all;
    for (const auto& [split, it] : encoded_)
      for (UnknownShare& share : shares_of(split, it)) all.push_back(std::move(share));
    return all;
  }
  void prepare() override {
    encoded("train");
    for (const std::string& split : measured_splits()) encoded(split);
  }
  /// What the model reads of a split, which is encoded once.
  const Encoded& encoded(const std::string& split) const {
    for (const auto& [name, it] : encoded_)
      if (name == split) return it;
    return encoded_.emplace_back(split, encode(split)).second;
  }

  Settings settings{};

 protected:
  static Model& own(Module& model) { return dynamic_cast<Model&>(model); }
  virtual Encoded encode(const std::string& split) const = 0;
  /// How much of each text of a split its vocabulary does not know.
  virtual std::vector<UnknownShare> shares_of(const std::string& /*split*/, const Encoded& /*it*/) const {
    return {};
  }
  /// The names of the files of its vocabularies in a run.
  virtual std::vector<std::string> vocabulary_files() const { return {"vocab.txt"}; }
  /// The name of another file of a run without which its model cannot be used, such as the names of classes;
  /// empty: there is none. Its content, and how it is read: `path` is for InputErrors.
  virtual std::string further_file() const { return ""; }
  virtual std::string further_content() const { return ""; }
  virtual void read_further(const std::string& /*content*/, const std::string& /*path*/) {}
  /// The text of a split. InputError if there is none.
  const auto& text(const std::string& split) const { return texts_.at(split_from_string(split)); }
  /// assume() takes the same text for training and validation.
  void set_encoded(const Encoded& made_up) {
    for (const char* split : {"train", "valid"}) encoded_.emplace_back(split, made_up);
  }

  Texts texts_{};
  std::vector<Vocabulary> vocabularies_;
  mutable std::deque<std::pair<std::string, Encoded>> encoded_;  // stays where it is: objectives refer to it
};

// --- Made-up data ---
// Made-up data of a task whose text is not there, for `lm info`, which measures the memory of a training
// (lm/training/memory.h): Task::assume().

/// Ids of a text in which the r-th most frequent of V symbols has about 1 / r of the occurrences of the
/// first; but only of the first million, for evaluations count each. InputError for more ids than a machine
/// should hold.
std::vector<std::int32_t> some_ids(double count, std::int64_t V);
/// `count` sentences of `length` symbols, the last of which is 0, the end of a line.
Sentences some_sentences(std::int64_t count, std::int64_t length, std::int64_t V);
/// Few symbols, whose ids stand in texts of any size.
Vocabulary some_vocabulary();
/// The number of sentences of a batch.
std::int64_t sentences_of(const SentenceBatchOptions& batches, std::int64_t length);
/// The length of a sentence with its end; 40 where there is no limit.
std::int64_t length_within(std::int64_t max_length);

// --- The list of tasks ---
// The tasks, by the name that recipe.task has.

/// A name, and what makes the task with its default settings.
struct RegisteredTask {
  std::string name;
  std::function<std::unique_ptr<Task>()> make;
};
/// All tasks; programs may add their own.
std::vector<RegisteredTask>& registered_tasks();

/// Throws InputError for an unknown name, which lists the known ones.
std::unique_ptr<Task> make_task(const std::string& name);

}  // namespace rondo
