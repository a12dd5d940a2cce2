// `lm answer`: questions about documents from standard input, the entities that answer them to standard
// output, line by line.
#include <algorithm>
#include <optional>
#include <string>

#include "data/cloze.h"
#include "data/text.h"
#include "lm/commands/options.h"
#include "lm/program/attention_file.h"
#include "lm/program/compute.h"
#include "lm/program/input_lines.h"
#include "lm/program/output.h"
#include "lm/program/question_answering_measurement.h"

namespace rondo {
namespace {

struct AnswerOptions {
  std::string run;
  bool scores = false;    // print the probability of the answer after it
  std::string attention;  // file for what was attended to; empty: none
  std::optional<int> threads;
  Device device = Device::cpu;
  std::optional<Precision> precision{};
};

/// A line of standard input: its question without names, and the names; an empty document: an empty line.
using Line = AnonymousQuestion;

const QuestionOptions& reading_options(const OpenReader& run) {
  return run.config.recipe.question_answering.data.questions;
}

Line read_line(const std::string& line, const std::string& name, const OpenReader& run) {
  std::string text = text_of_line(line, name, Unit::words);
  text.pop_back();  // the newline
  if (stripped(text).empty()) return {};
  check_utf8(text, name);
  const std::size_t tab = text.find('\t');
  check_input(tab != text.npos, "{}: a line is a document, a tab, and a question with {}", name, placeholder);
  Line anonymized = anonymous(std::string_view(text).substr(0, tab), std::string_view(text).substr(tab + 1),
                              run.model->entities(), name);
  prepare(anonymized.document, anonymized.question, reading_options(run));
  const std::vector<std::string_view> kept = words_of(anonymized.document);
  check_input(std::any_of(kept.begin(), kept.end(), [](auto it) { return entity_number(it) >= 0; }),
              "{}: none of the sentences that match the question best (data.sentences = {}) names an entity",
              name, reading_options(run).sentences);
  const std::int64_t words = std::ranges::count(anonymized.document, ' ') + 1,
                     read = reading_options(run).document_words;
  if (words > read)
    fmt::print(
        stderr,
        "lm: {}: the document has {} words, of which this run reads the first {} (data.document_words)\n",
        name, words, read);
  return anonymized;
}

std::string name_of_entity(const Line& line, std::int32_t entity) {
  const auto number = static_cast<std::size_t>(entity);
  return number < line.names.size() ? line.names[number] : entity_marker(entity);
}

/// What the model attended to in the document before it gave the answer.
Alignment alignment_between(const Line& line, const Answer& answer) {
  Alignment alignment;
  for (std::string_view rest = line.document; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::int64_t entity = entity_number(rest.substr(0, end));
    alignment.source.push_back(entity < 0 ? std::string(rest.substr(0, end))
                                          : name_of_entity(line, static_cast<std::int32_t>(entity)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  alignment.source.resize(answer.attention.size() - 1);  // the words that were read
  alignment.source.emplace_back(eos_symbol);
  alignment.target = {name_of_entity(line, answer.entity)};
  alignment.weights = {answer.attention};
  return alignment;
}

void answer_all(const OpenReader& run, const std::vector<Line>& lines, bool scores, AttentionFile& file) {
  QuestionText text;
  for (const Line& it : lines)
    if (!it.document.empty()) text.add(it.document, it.question, entity_marker(0), "");
  std::vector<Answer> answers;
  if (text.size() > 0)
    answers = most_probable_answers(
        *run.model, encode_questions(text, run.vocabulary, reading_options(run).document_words));
  auto next = answers.begin();
  for (const Line& it : lines) {
    if (!it.document.empty()) {
      fmt::print("{}", name_of_entity(it, next->entity));
      if (scores) fmt::print("\t{:.4f}", next->probability);
      if (file) file.add(alignment_between(it, *next));
      ++next;
    }
    fmt::print("\n");
  }
  flush_output();
}

/// One line of output for each line of input, in its order. A line is a document, a tab and a question with
/// @placeholder; the answer is the name of an entity, or its marker where the document has markers, chosen as
/// most_probable_answers() does; with scores "ANSWER<TAB>PROBABILITY". An empty line gives an empty line.
/// Returns 0. InputError for a line that cannot be read; those before it are answered.
int answer(const AnswerOptions& options) {
  const Device device = choose_device(options.device, options.precision, options.threads).device;
  const OpenReader run = open_reader(options.run, device);
  AttentionFile file(options.attention);
  InputLines lines;
  const auto read = [&](const std::string& line, const std::string& name) {
    return read_line(line, name, run);
  };
  file.fill([&] {
    answer_lines(lines, read,
                 [&](const std::vector<Line>& some) { answer_all(run, some, options.scores, file); });
  });
  return 0;
}

}  // namespace

Command add_answer(CommandLine& line) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App& app = add_command(
      line, "answer", "print the answer to each question of standard input",
      "lm answer runs/attentive-reader-1 < questions.txt",
      "A line is a document, a tab, and a question in which @placeholder stands for what is asked; the "
      "answer "
      "is a name of the document. Names are words with capital letters, or @entity0, @entity1, ... in a "
      "document that has no names. An empty line has no answer.");
  app.add_option("run", options->run, "the run folder")->type_name("RUN");
  app.add_flag("--scores", options->scores, "print the probability of the answer after a tab");
  add_text(app, "--attention", options->attention, "FILE.svg|FILE.jsonl",
           "write how much each word of the document was attended to: a picture if the name ends in .svg, "
           "else one JSON object per line");
  add_device(app, *options);
  return {&app, [options, &app] {
            check_run_given(app, options->run, "runs/attentive-reader-1 < questions.txt");
            return answer(*options);
          }};
}

}  // namespace rondo
