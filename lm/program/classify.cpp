// `lm classify`.
#include "lm/program/classify.h"

#include "lm/program/classification_measurement.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"

namespace rondo {
namespace {

/// Prints a line for each sentence; one without ids is an empty line.
void answer(OpenClassifier& run, const std::vector<std::vector<std::int32_t>>& sentences, bool scores) {
  Sentences to_classify;
  for (const std::vector<std::int32_t>& ids : sentences)
    if (!ids.empty()) to_classify.add(ids);
  const std::vector<MostProbableClass> classes = most_probable_classes(*run.model, to_classify);
  auto next = classes.begin();
  for (const std::vector<std::int32_t>& ids : sentences) {
    if (!ids.empty()) {
      fmt::print("{}", run.labels.name(next->id));
      if (scores) fmt::print("\t{:.4f}", next->probability);
      ++next;
    }
    fmt::print("\n");
  }
  flush_output();
}

}  // namespace

int classify(const ClassifyOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  OpenClassifier run = open_classifier(options.run, device);
  InputLines lines;
  const auto read = [&](const std::string& line, const std::string& name) {
    return encoded_line(run.vocabulary, text_of_line(line, name, run.vocabulary.tokenization().unit), name);
  };
  answer_lines(lines, read, [&](const auto& sentences) { answer(run, sentences, options.scores); });
  return 0;
}

}  // namespace rondo
