// `lm classify`: sentences from standard input, their most probable classes to standard output, line by line.
#include <algorithm>
#include <optional>
#include <string>

#include "lm/commands/options.h"
#include "lm/program/classification_measurement.h"
#include "lm/program/compute.h"
#include "lm/program/figure_warnings.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"

namespace rondo {
namespace {

struct ClassifyOptions {
  std::string run;
  bool scores = false;  // print the probability of the class after it
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// Prints the classes of sentences, some after the others.
class Classifications {
 public:
  Classifications(OpenClassifier& run, bool scores) : run_(run), scores_(scores) {}

  /// A line for each sentence; one without ids is an empty line.
  void print(const std::vector<std::vector<std::int32_t>>& sentences) {
    Sentences to_classify;
    for (const std::vector<std::int32_t>& ids : sentences)
      if (!ids.empty()) to_classify.add(ids);
    const std::vector<MostProbableClass> classes = most_probable_classes(
        *run_.model, to_classify, [&](std::int64_t done) { show_progress(done, to_classify.size()); });
    progress_.erase();
    auto next = classes.begin();
    for (const std::vector<std::int32_t>& ids : sentences) {
      if (!ids.empty()) {
        fmt::print("{}", run_.labels.name(next->id));
        if (scores_) fmt::print("\t{:.4f}", next->probability);
        ++next;
      }
      fmt::print("\n");
    }
    printed_ += std::ssize(sentences);
    flush_output();
  }

 private:
  void show_progress(std::int64_t done, std::int64_t sentences) {
    if (done < sentences) progress_.status(fmt::format("{} sentences classified", printed_ + done));
  }

  OpenClassifier& run_;
  bool scores_;
  Progress progress_{stderr};
  std::int64_t printed_ = 0;  // sentences
};

/// One line of output for each line of input, in its order: the label, with scores "LABEL<TAB>PROBABILITY".
/// An empty line gives an empty line. Returns 0. InputError for a line that cannot be read; those before it
/// are answered.
int classify(const ClassifyOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenClassifier run = open_classifier(options.run, device);
  InputLines lines;
  UnknownShare unknown{.text = "the input", .is_predicted = false};
  const auto read = [&](const std::string& line, const std::string& name) {
    auto ids =
        encoded_line(run.vocabulary, text_of_line(line, name, run.vocabulary.tokenization().unit), name);
    unknown.symbols += std::ssize(ids);
    if (const auto id = run.vocabulary.unknown_id())
      unknown.unknowns += std::count(ids.begin(), ids.end(), *id);
    return ids;
  };
  Classifications classifications(run, options.scores);
  answer_lines(lines, read, [&](const auto& sentences) { classifications.print(sentences); });
  print_warning(warning_of_unknowns(unknown));
  return 0;
}

}  // namespace

Command add_classify(CommandLine& line) {
  const auto options = std::make_shared<ClassifyOptions>();
  CLI::App& app = add_command(
      line, "classify", "print the class of each sentence of standard input",
      "lm classify runs/classify-trec-1 < questions.txt",
      "One line per sentence: its most probable class. An empty line has none. Sentences are UTF-8, written "
      "as in the run's training text: if its words are separated by spaces, so are these.");
  app.add_option("run", options->run, "the run folder")->type_name("RUN");
  app.add_flag("--scores", options->scores, "print the probability of the class after a tab");
  add_device(app, *options);
  return {&app, [options, &app] {
            check_run_given(app, options->run, "runs/classify-trec-1 < questions.txt");
            return classify(*options);
          }};
}

}  // namespace rondo
