// The commands that answer each line of standard input by the task of a run (Task::answer): `lm translate`,
// `lm classify`, `lm answer` and `lm embed`; and `lm transcribe`, whose lines are the names of recordings.
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lm/commands/options.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/page.h"
#include "lm/report/sentences.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
#include "lm/tasks/task.h"
#include "lm/tasks/translation.h"

namespace rondo {
namespace {

/// The options of all these commands, of which each has some.
struct AnswerOptions : ComputeOptions {
  std::string run{};
  std::string part{};               // of a multi-task run; empty: its first one
  std::vector<Setting> settings{};  // of [decoding], on top of the run's
  bool scores = false;              // print the score of each answer
  bool score_first = false;         // before the answer, not after it
  std::string attention{};          // a file for lm/report/page.h; empty: none
  bool allow_unknown = false;
  bool replace_unknown = false;      // by the source word that was attended to most
  std::string vectors{};             // of words that the run does not know; empty: none
  std::vector<std::string> files{};  // recordings
};

/// The tasks whose runs a command is for.
std::string tasks_of(const std::string& command) {
  std::vector<std::string> names;
  for (const RegisteredTask& it : registered_tasks())
    if (it.make()->usage().command == command) names.push_back(it.name);
  return fmt::format("{}", fmt::join(names, " and "));
}

/// Opens a run that `command` is for. InputErrors of open_run(), for another task, and for settings.
OpenRun open_for(const std::string& command, const AnswerOptions& options) {
  OpenRun run = open_run(options.run, choose_device_for(options, options.run).device);
  if (run.task().usage().command != command)
    refuse_task(run.folder, run.config, tasks_of(command),
                "; use " + command_with({run.task().usage().command, options.run}));
  if (!options.part.empty()) run.task().choose_part(options.part, "--task");
  for (const Setting& it : options.settings) {
    check_input(it.key.starts_with("decoding."), "{}: only settings of [decoding] can change", it.where);
    apply_setting(it, keys_of(run.config.recipe));
  }
  return run;
}

void print_answer(const AnswerOptions& options, const LineAnswer& it) {
  if (!options.scores || !it.score)
    fmt::print("{}\n", it.text);
  else if (options.score_first)
    fmt::print("{:.4f}\t{}\n", *it.score, it.text);
  else
    fmt::print("{}\t{:.4f}\n", it.text, *it.score);
}

/// An answer between two "|||", which it cannot hold: its own have bars as Moses writes them.
std::string field_of(std::string answer) {
  for (std::size_t at = 0; (at = answer.find("|||", at)) != answer.npos;)
    answer.replace(at, 3, "&#124;&#124;&#124;");
  return answer;
}

/// Prints a line of output for each line of input, in its order; with `is_numbered` a line for each of the
/// best answers, "NUMBER ||| ANSWER ||| SCORE", the number of the line from 0, the form of Moses. An empty
/// line has an empty answer. Returns 0. InputError for a line that cannot be read; those before it are
/// answered.
int answer(const OpenRun& run, const AnswerOptions& options, bool is_numbered = false) {
  const std::filesystem::path attention = file_to_write("--attention", options.attention);
  std::vector<Alignment> alignments;
  UnknownShare unknown{.text = "the input", .is_predicted = false};
  std::int64_t number = 0, with_symbols = 0, empty = 0;
  const auto print = [&](const LineAnswer& it) {
    if (is_numbered)
      fmt::print("{} ||| {} ||| {:.4f}\n", number, field_of(it.text), *it.score);
    else
      print_answer(options, it);
    if (!attention.empty()) alignments.push_back(it.alignment);
  };
  InputLines lines;
  answer_lines(lines, as_many_as_have_come, [&](const std::vector<InputLine>& some) {
    for (const LineAnswer& it : run.task().answer(*run.model, some)) {
      if (!it.note.empty()) print_note(it.note);
      print(it);
      for (const LineAnswer& next : it.next_best) print(next);
      unknown.symbols += it.symbols, unknown.unknowns += it.unknowns;
      if (it.symbols > 0) ++with_symbols, empty += it.text.empty();
      ++number;
    }
    flush_output();
  });
  if (!attention.empty()) write_attention(attention, alignments);
  print_warning(warning_of_unknowns(unknown));
  print_warning(warning_of_empty(empty, with_symbols));
  return 0;
}

// --- Options ---

/// --beam, and --set for all keys of [decoding], which have other values here than in the run.
void add_decoding(CLI::App& to, std::vector<Setting>& into, const std::string& keys) {
  add_settings(to, into, "a setting of [decoding], can be repeated: " + keys);
  add_setting(to, "--beam", "decoding.beam", into, "the same as --set decoding.beam=N; 1: greedy");
}

void add_attention(CLI::App& to, AnswerOptions& options) {
  add_text(to, "--attention", options.attention, "FILE.svg|FILE.jsonl",
           "write what was attended to: a picture if the name ends in .svg, else a JSON object a line");
}

// --- Translate ---

int translate(const AnswerOptions& options) {
  const OpenRun run = open_for("translate", options);
  TranslationSettings& settings = dynamic_cast<TranslatingTask&>(run.task()).translation();
  settings.replace_unknown = options.replace_unknown;
  settings.decoding.allow_unknown |= options.allow_unknown || options.replace_unknown;
  settings.decoding.attention = options.replace_unknown || !options.attention.empty();
  validate(run.config.recipe, options.run);
  return answer(run, options, settings.decoding.n_best > 1);
}

}  // namespace

Command add_translate(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  options->score_first = true;
  CLI::App& app = add_command(
      line, "translate", "translate the sentences of standard input, one per line",
      "lm translate runs/attention-multi30k-1 < sentences.de",
      "Sentences are written as in the run's training text. The defaults of the options are the run's.");
  add_run(app, "run", options->run, "the run folder");
  app.add_option("--task", options->part, "a task of a multi-task run (default: its first)")
      ->type_name("NAME");
  add_decoding(app, options->settings,
               "beam, max_length, length_penalty, n_best; with several translations of a sentence each is a "
               "line, NUMBER ||| TRANSLATION ||| SCORE");
  app.add_flag("--allow-unk", options->allow_unknown, "let <unk> be written");
  app.add_flag("--replace-unk", options->replace_unknown,
               "write the word that was attended to most in place of <unk>");
  app.add_flag("--scores", options->scores, "print the score and a tab before each translation");
  add_attention(app, *options);
  add_device(app, *options);
  return {&app, [options] { return translate(*options); }};
}

// --- Classify, answer ---

namespace {

/// Adds what the commands have in common that need no more than the lines.
Command add_answering(CLI::App& app, const std::string& command,
                      const std::shared_ptr<AnswerOptions>& options) {
  add_run(app, "run", options->run, "the run folder");
  app.add_flag("--scores", options->scores, "print the probability of the answer after a tab");
  add_device(app, *options);
  return {&app, [options, command] { return answer(open_for(command, *options), *options); }};
}

}  // namespace

Command add_answer(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& app = add_command(
      line, "answer", "print the answer to each question of standard input",
      "lm answer runs/attentive-reader-1 < questions.txt",
      "A line is a document, a tab, and a question in which @placeholder stands for what is asked; the "
      "answer is an entity of the document: @entity0, @entity1, ...");
  add_attention(app, *options);
  return add_answering(app, "answer", options);
}

Command add_classify(CommandLine& line) {
  CLI::App& app = add_command(
      line, "classify", "print the class of each sentence of standard input",
      "lm classify runs/classify-trec-1 < questions.txt",
      "One line per sentence: its most probable class. Sentences are written as in the training text.");
  return add_answering(app, "classify", std::make_shared<AnswerOptions>());
}

// --- Embed ---

namespace {

/// Prints one vector for each line of input, in its order. An empty line is an empty sentence, which has a
/// vector, too. Returns 0. InputError for a line that cannot be read; those before it are answered, except
/// with word vectors: which words need them is known at the end only.
int embed(const AnswerOptions& options) {
  const OpenRun run = open_for("embed", options);
  if (options.vectors.empty()) return answer(run, options);
  auto& task = dynamic_cast<SkipThoughtTask&>(run.task());
  InputLines input;
  std::vector<InputLine> lines;
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::string line; input.next(line);) {
    lines.push_back({line, input.name()});
    texts.emplace_back(text_of_line(line, task.tokenization().unit), input.name());
  }
  const std::vector<Variable> tables =
      expand_vocabulary(dynamic_cast<SkipThought&>(*run.model), task, options.vectors, texts);
  const Vectors vectors = task.vectors(*run.model, lines, tables);
  for (std::int64_t i = 0; i < vectors.size(); ++i) fmt::print("{}\n", fmt::join(vectors[i], " "));
  return 0;
}

}  // namespace

Command add_embed(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& app = add_command(
      line, "embed", "print the vector of each sentence of standard input",
      "lm embed runs/skip-thought-1 < sentences.txt",
      "One line per sentence: the numbers of its vector. Sentences are written as in the training text.");
  add_run(app, "run", options->run, "the run folder, of task skip_thought");
  add_text(app, "--vectors", options->vectors, "FILE",
           "word vectors of word2vec or GloVe, in text, for words that the run does not know");
  add_device(app, *options);
  return {&app, [options] { return embed(*options); }};
}

// --- Transcribe ---

namespace {

/// Prints one line for each file, in their order; it is empty for one that cannot be read. Returns 0.
/// InputErrors, as of files of which none can be read, come before anything is printed.
int transcribe(const AnswerOptions& options) {
  const OpenRun run = open_for("transcribe", options);
  validate(run.config.recipe, options.run);
  warn_of_changed_files(run);
  std::vector<InputLine> recordings;
  for (const std::string& file : options.files) recordings.push_back({file, file});
  for (const LineAnswer& it : run.task().answer(*run.model, recordings)) {
    print_warning(it.note);
    print_answer(options, it);
  }
  return 0;
}

}  // namespace

Command add_transcribe(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& app = add_command(line, "transcribe", "print what is said in recordings",
                              "lm transcribe runs/speech-digits-1 one.wav two.wav",
                              "One line per recording, a WAV or FLAC file, or another that libsndfile "
                              "reads, with one channel, of the run's data.sample_rate. All recordings are "
                              "taken as those of one speaker. The "
                              "defaults of the options are the run's.");
  add_run(app, "run", options->run, "the run folder");
  app.add_option("files", options->files, "recordings")->type_name("FILE.wav")->required();
  add_decoding(app, options->settings, "beam, ngram, ngram_weight, insertion_bonus");
  app.add_flag("--scores", options->scores, "print the log probability of the transcript after a tab");
  add_device(app, *options);
  return {&app, [options] { return transcribe(*options); }};
}

}  // namespace rondo
