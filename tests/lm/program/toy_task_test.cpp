// A task of another program: one class and a line of the registry. It goes through the program as Rondo's own
// do.
#include <fcntl.h>
#include <unistd.h>

#include "data/text/text.h"
#include "lm/program/cli.h"
#include "lm/tasks/classification.h"
#include "lm/tasks/task.h"
#include "tests/lm/program/program.h"

namespace rondo {

AddCommand add_train, add_eval, add_answer, add_table;

namespace {

struct RecallSettings {
  Tokenization tokenization{};
  VocabularyLimits limits{};
  SentenceClassifierOptions model{{}, 1, Summary::last};
  SentenceBatchOptions train{};
  bool counts_errors = false;
};

/// What a model recalls: the share of lines whose first word it finds most probable.
Scores recalled(SentenceClassifier& model, const LabelledSentences& lines, bool counts_errors) {
  const std::vector<MostProbableClass> found = most_probable_classes(model, lines.sentences);
  std::int64_t right = 0;
  for (std::size_t i = 0; i < found.size(); ++i) right += found[i].id == lines.labels[i];
  const auto share = static_cast<double>(right) / static_cast<double>(lines.size());
  Scores scores{.metrics = {{"recalled", share}},
                .higher_is_better = true,
                .count = lines.size(),
                .unit = "lines",
                .preposition = ""};
  if (counts_errors) scores.metrics.push_back({"errors", static_cast<double>(lines.size() - right)});
  return scores;
}

/// The classes are the words of the vocabulary.
class RecallObjective : public Classification {
 public:
  RecallObjective(SentenceClassifier& model, const RecallSettings& settings, const LabelledSentences& train,
                  const LabelledSentences& valid, std::uint64_t seed)
      : Classification(model, settings.train, train, valid, seed), classifier_(model), lines_(valid) {}
  Scores evaluate(const std::function<void(std::int64_t)>& /*progress*/) override {
    return recalled(classifier_, lines_, false);
  }

 private:
  SentenceClassifier& classifier_;
  const LabelledSentences& lines_;
};

/// Reads a line, and recalls its first word.
class RecallTask : public SentenceTask<RecallTask, RecallSettings, SentenceClassifier, CorpusText,
                                       LabelledSentences, Classification> {
 public:
  Sections sections() override {
    return {.data = joined({keys_of(settings.tokenization), keys_of(settings.limits)}),
            .model = keys_of(settings.model),
            .train = joined({keys_of(settings.train),
                             {{"counts_errors", &settings.counts_errors, {}, "", "one metric more"}}})};
  }
  void check(const std::string& where) const override { check_section(where, "", settings.model); }
  bool predicts_text() const override { return false; }
  std::string selection_metric() const override { return "recalled"; }
  bool higher_is_better() const override { return true; }
  std::string model_text() const override { return "a reader"; }
  Usage usage() const override { return {"answer", "to ask it", "< lines"}; }

  void open(const DataSource& source) override {
    texts_ = open_corpus(source.path, settings.tokenization.unit, source.pipes);
  }
  void make_vocabularies() override {
    vocabularies_ = {Vocabulary(texts_.train, settings.tokenization, settings.limits)};
  }
  void assume(const std::vector<std::int64_t>& sizes) override {
    const std::int64_t count = settings.train.batch;
    set_encoded({some_sentences(count, 40, sizes.at(0)), some_ids(static_cast<double>(count), sizes.at(0))});
  }
  std::string size_text() const override { return counted_text(encoded("train").size(), "lines"); }

  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override {
    return std::make_unique<SentenceClassifier>(settings.model, sizes.at(0), sizes.at(0), seed, device);
  }
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override {
    return std::make_unique<RecallObjective>(own(model), settings, encoded("train"), encoded("valid"), seed);
  }
  Scores measure(Module& model, const std::string& split, const ProgressOf& /*progress_of*/) override {
    return recalled(own(model), encoded(split), settings.counts_errors);
  }
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    EncodedLines encoded = encode_lines(lines, vocabulary());
    const std::vector<MostProbableClass> found = most_probable_classes(own(model), encoded.ids);
    for (std::size_t i = 0; i < found.size(); ++i)
      encoded.answers[encoded.lines[i]].text = vocabulary().symbol(found[i].id);
    return encoded.answers;
  }

 private:
  LabelledSentences encode(const std::string& split) const override {
    const Text& of = text(split);
    LabelledSentences lines{encode_sentences(of.content, of.name, vocabulary()), {}};
    for (std::int64_t i = 0; i < lines.sentences.size(); ++i)
      lines.labels.push_back(lines.sentences[i].front());
    return lines;
  }
};

/// The program in this process, so that it has the task; `input` is its standard input.
std::string printed_by_lm(Words words, const std::string& input = "") {
  words.insert(words.begin(), "lm");
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const TemporaryFolder folder;
  write_bytes(folder / "input", input);
  const int before = dup(STDIN_FILENO), file = open((folder / "input").c_str(), O_RDONLY | O_CLOEXEC);
  dup2(file, STDIN_FILENO);
  testing::internal::CaptureStdout();
  const int status = run_program(static_cast<int>(arguments.size()), arguments.data(),
                                 {add_train, add_eval, add_answer, add_table});
  const std::string out = testing::internal::GetCapturedStdout();
  dup2(before, STDIN_FILENO);
  close(before), close(file);
  EXPECT_EQ(status, 0) << out;
  return out;
}

TEST(ToyTask, IsTrainedResumedEvaluatedTabledAndAsked) {
  registered_tasks().push_back({"recall", [] { return std::make_unique<RecallTask>(); }});
  const ToyTraining data(R"(
[recipe]
task = "recall"
[model]
embedding = 8
hidden = 16
[train]
epochs = 8
batch = 10
learning_rate = 0.05
)");
  for (const auto& [name, count] : {std::pair("train", 100), {"valid", 30}, {"test", 20}}) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text +=
          std::array{"red", "green", "blue"}[i * i % 7 % 3] + std::string(i % 2 ? " is it\n" : " it was\n");
    data.write(fmt::format("data/{}.txt", name), text);
  }
  const std::string run = data.path("run"), more = data.path("more");
  expect_contains(printed_by_lm(data.train("whole")), " answer " + data.path("whole"));
  printed_by_lm(data.train("run", {"--epochs", "3"}));
  printed_by_lm(data.resume("run", {"--epochs", "8"}));
  EXPECT_EQ(data.model_digest("run"), data.model_digest("whole"));

  expect_contains(printed_by_lm({"eval", run, "--split", "test", "--threads", "1"}),
                  "test: 20 lines\nrecalled    1.00\n");
  EXPECT_EQ(printed_by_lm({"answer", run, "--threads", "1"}, "red it was\n\nblue is it\n"), "red\n\nblue\n");

  const auto table = Json::parse(printed_by_lm({"table", run, "--json"}));
  EXPECT_EQ(table.at("rows")[0].at("test recalled"), 1);
  EXPECT_FALSE(table.at("rows")[0].contains("test errors"));
  // A metric more: it is in the output, in evaluations.jsonl and in the table, by its entry in recalled()
  // alone.
  printed_by_lm(data.train("more", {"--set", "train.counts_errors=true"}));
  expect_contains(printed_by_lm({"eval", more, "--threads", "1"}), "\nerrors      0.00\n");
  expect_contains(bytes_of_file(more + "/evaluations.jsonl"), "\"errors\":0");
  expect_contains(printed_by_lm({"table", more}), "errors");
  registered_tasks().pop_back();
}

}  // namespace
}  // namespace rondo
