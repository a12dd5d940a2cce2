// `lm answer` and `lm classify`: lines of standard input, each answered by the task of a run (Task::answer),
// to standard output.
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "lm/commands/options.h"
#include "lm/program/compute.h"
#include "lm/program/files.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "lm/report/page.h"
#include "lm/tasks/registry.h"

namespace rondo {
namespace {

struct AnswerOptions : ComputeOptions {
  std::string run;
  bool scores = false;    // print the probability of the answer after it
  std::string attention;  // file for what was attended to; empty: none
};

/// The tasks whose runs a command is for.
std::string tasks_of(const std::string& command) {
  std::vector<std::string> names;
  for (const RegisteredTask& it : registered_tasks())
    if (it.make()->usage().command == command) names.push_back(it.name);
  return fmt::format("{}", fmt::join(names, " and "));
}

/// Prints a line of output for each line of input, in its order: the answer, with scores
/// "ANSWER<TAB>PROBABILITY". An empty line gives an empty line. Returns 0. InputError for a line that cannot
/// be read; those before it are answered.
int answer(const std::string& command, const AnswerOptions& options) {
  const Device device = choose_device(options).device;
  const OpenTask run = open_task(options.run, device);
  if (run.task().usage().command != command) refuse_task(run.folder, run.config, tasks_of(command));
  AttentionFile attention(options.attention);
  UnknownShare unknown{.text = "the input", .is_predicted = false};
  attention.fill([&] {
    answer_lines(run.task(), *run.model, [&](const std::vector<LineAnswer>& answers) {
      for (const LineAnswer& it : answers) {
        if (!it.note.empty()) fmt::print(stderr, "lm: {}\n", it.note);
        fmt::print("{}", it.text);
        if (options.scores && it.probability) fmt::print("\t{:.4f}", *it.probability);
        fmt::print("\n");
        if (attention && !it.alignment.source.empty()) attention.add(it.alignment);
        unknown.symbols += it.symbols, unknown.unknowns += it.unknowns;
      }
      flush_output();
    });
  });
  print_warning(warning_of_unknowns(unknown));
  return 0;
}

}  // namespace

Command add_answer(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& app = add_command(
      line, "answer", "print the answer to each question of standard input",
      "lm answer runs/attentive-reader-1 < questions.txt",
      "A line is a document, a tab, and a question in which @placeholder stands for what is asked; the "
      "answer is a name of the document: a word with a capital letter, or @entity0, @entity1, ...");
  add_run(app, "run", options->run, "the run folder");
  app.add_flag("--scores", options->scores, "print the probability of the answer after a tab");
  add_text(app, "--attention", options->attention, "FILE.svg|FILE.jsonl",
           "write how much each word of the document was attended to: a picture if the name ends in .svg, "
           "else one JSON object per line");
  add_device(app, *options);
  return {&app, [options] { return answer("answer", *options); }};
}

Command add_classify(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& app = add_command(
      line, "classify", "print the class of each sentence of standard input",
      "lm classify runs/classify-trec-1 < questions.txt",
      "One line per sentence: its most probable class. Sentences are UTF-8, written as in the run's training "
      "text.");
  add_run(app, "run", options->run, "the run folder");
  app.add_flag("--scores", options->scores, "print the probability of the class after a tab");
  add_device(app, *options);
  return {&app, [options] { return answer("classify", *options); }};
}

}  // namespace rondo
