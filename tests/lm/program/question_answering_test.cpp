// Cloze questions, from a text or files to a trained and measured run that answers.
#include <map>

#include "data/text/text.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* reader_recipe = R"(
[recipe]
task = "question_answering"
[data]
entities = 6
[model]
embedding = 8
hidden = 12
[train]
epochs = 4
batch = 10
learning_rate = 0.02
log_every = 1
)";

/// A text in which people meet, and a recipe.
class Meetings : public ToyTraining {
 public:
  Meetings() : ToyTraining(reader_recipe) {
    for (const auto& [split, count] : std::map<std::string, int>{{"train", 60}, {"valid", 20}, {"test", 20}})
      write("data/" + split + ".txt", text(count));
  }
  std::string text(int articles) {
    const Words people{"Ada", "Bob", "Cleo", "Dan", "Eve"};
    std::string written;
    for (int i = 0; i < articles; ++i) {
      const std::string &who = people[next(5)], &whom = people[next(5)];
      written += " = Meeting = \nToday " + who + " met " + whom + " . Then " + whom +
                 (i % 7 == 0   ? " at 7"
                  : i % 7 == 3 ? " at 8"
                               : "") +
                 " left and " + who + " slept . Later " + who + " rose .\n";
    }
    return written;
  }
};

TEST(QuestionAnsweringRun, IsTrainedMeasuredAndShown) {
  Meetings data;
  const std::string run = data.path("run"), told = output_of_lm(data.train("run"));
  expect_contains(told, "questions about 6 entities");
  expect_contains(told, "the questions are made from the text");
  expect_contains(told, "without reading, on valid: most frequent entity");
  expect_contains(told, "lm answer " + run);
  expect_contains(told, " questions  ");
  for (const char* other : {"one pass", "perplexity"}) EXPECT_EQ(told.find(other), std::string::npos) << told;
  const auto json = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  EXPECT_EQ(json.at("generated_questions"), true);
  const std::vector<nlohmann::json> log = log_of(run);
  EXPECT_EQ(log.back().at("accuracy"), json.at("accuracy"));
  EXPECT_GT(json.at("most_frequent_entity").get<double>(), 0);
  expect_contains(output_of_lm({"eval", run}), "\nmost frequent entity ");
  const auto row = rows_of_table({run})[0];
  EXPECT_EQ(row.at("test accuracy"), json.at("accuracy"));
  for (const char* column : {"test bits", "test perplexity"}) EXPECT_FALSE(row.contains(column)) << column;
  const std::string vocabulary = bytes_of_file(run + "/vocab.txt"),
                    kept = bytes_of_file(run + "/evaluations.jsonl");
  EXPECT_TRUE(vocabulary.ends_with("\n<unk>\n"));
  const std::vector<std::string_view> measured = split_lines(kept);
  ASSERT_EQ(measured.size(), 4u) << "two by the training";
  for (const std::string_view line : measured) {
    const auto entry = nlohmann::json::parse(line);
    EXPECT_EQ(entry.at("vocabulary_size"), split_lines(vocabulary).size());
    EXPECT_EQ(entry.at("types"), split_lines(vocabulary).size() - 1) << "<unk> is no type of this text";
  }
  expect_contains(output_of_lm({"info", run}), "6 of them entities");
  expect_contains(output_of_lm({"info", "--recipe", "attentive-reader", "--vocab-size", "900"}),
                  "attentive reader");
}

TEST(QuestionAnsweringRun, AnswersQuestions) {
  Meetings data;
  const std::string run = data.path("run");
  output_of_lm(data.train("run", {"--epochs", "8"}));
  // Names that the run has never seen. Whether it learns to read: tests/lm/tasks/question_answering_test.cpp.
  const std::string asked =
      "Today Zoe met Yann .\tThen Yann left and @placeholder slept .\n\n"
      "Today @entity4 met @entity2 .\tThen @placeholder left and @entity4 slept .\n";
  const std::string answers = output_of_lm({"answer", run}, asked);
  const std::vector<std::string_view> lines = split_lines(answers);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "");
  EXPECT_TRUE(lines[2].starts_with("@entity")) << "the document has no names";
  const std::string file = data.path("attention.jsonl");
  const std::string out =
      output_of_lm({"answer", run, "--scores", "--attention", file, "--threads", "1"}, asked);
  expect_contains(out, std::string(lines[0]) + "\t0.");
  const auto attention = nlohmann::json::parse(bytes_of_file(file).substr(0, bytes_of_file(file).find('\n')));
  EXPECT_EQ(attention.at("source"), (Words{"Today", "Zoe", "met", "Yann", ".", "<eos>"}));
  EXPECT_EQ(attention.at("target"), Words{std::string(lines[0])});
  double sum = 0;
  for (const double weight : attention.at("weights")[0]) sum += weight;
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(lines_of(file), 3u) << "one for each line of input";
  EXPECT_EQ(output_of_lm({"answer", run, "--attention", file}, ""), "");
  EXPECT_EQ(bytes_of_file(file), "");
  const std::string picture = data.path("attention.svg");
  write_bytes(picture, "old");
  const auto before_a_refused_line = [&](const std::string& input) {
    const Result result = run_lm({"answer", run, "--attention", picture}, {.input = input + "no tab here\n"});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(split_lines(result.err).size(), 1u) << result.err;
    return bytes_of_file(picture);
  };
  EXPECT_EQ(before_a_refused_line(""), "old");
  const std::string kept = before_a_refused_line(asked);
  EXPECT_TRUE(kept.starts_with("<svg ")) << kept;
  expect_contains(kept, "Yann");
  expect_refused(run_lm({"answer", run, "--attention", run + "/vocab.txt"}, {.input = asked}),
                 "is a file of the run");

  const auto refused = [&](const std::string& input, const std::string& part) {
    expect_refused(run_lm({"answer", run}, {.input = input}), "standard input, line 1: " + part);
  };
  refused("no tab here\n", "a line is a document, a tab, and a question");
  refused("Today Zoe met Yann .\twho ?\n", "the question has no @placeholder");
  refused("nobody met .\t@placeholder ?\n", "the document has no entity");
  refused("A \xff Zoe .\t@placeholder ?\n", "not UTF-8");
  refused("Today @entity4 met @entity6 .\t@placeholder ?\n",
          "@entity6, and this run's model knows markers below @entity6");
  refused("so An met Bo , Cy , Di , Ed , Flo and Gus .\t@placeholder ?\n", "7 entities");
}

TEST(QuestionAnsweringRun, ResumesToTheSameBytes) {
  Meetings data;
  const Words everywhere{"--set", "model.cell=bn_lstm",
                         "--set", "model.batch_norm_attention=true",
                         "--set", "model.trained_initial_states=true"};
  expect_resumes_to_the_same_bytes(data, everywhere, {1, 2, 20}, {"vocab.txt"});
}

TEST(QuestionAnsweringRun, IsProbed) {
  Meetings data;
  output_of_lm(data.train("plain", {"--epochs", "2"}));
  output_of_lm(data.train("probed", {"--epochs", "2", "--set", "train.probe_every=1"}));
  expect_probes(data.path("plain"), data.path("probed"), "document.l0_reverse", "the loss of the answer");
}

TEST(QuestionAnsweringRun, BadInputIsRefusedBeforeARunIsMade) {
  Meetings data;
  const auto refused = [&](const Words& more, const std::string& part) {
    expect_refused(run_lm(data.train("new", more)), part);
    EXPECT_FALSE(fs::exists(data.path("new")));
  };
  refused({"--set", "data.entities=1"}, "data.entities = 1");
  refused({"--set", "train.batch=1", "--set", "model.batch_norm_attention=true"},
          "train.batch = 1: batch normalisation");
  refused({"--set", "train.batch=1", "--set", "model.cell=bn_lstm"}, "set it to 2 or more");
  refused({"--set", "data.document_words=3"}, "no question can be made");
  data.write("data/train.txt", "nobody . nothing .\n");
  refused({}, "train.txt: no question can be made");
}

// A value of each key that changes what a training of a few steps does.
TEST(QuestionAnsweringRun, EachKeyOfItsSectionsHasAnEffect) {
  Meetings data;
  const std::string plain = data.digest_of_log({});
  for (const char* setting : {"data.document_words=8",
                              "data.entities=7",
                              "data.sentences=1",
                              "data.merge_numbers=true",
                              "data.min_count=1000",
                              "data.max_size=18",
                              "model.cell=gru",
                              "model.embedding=7",
                              "model.embedding_init=normal",
                              "model.embedding_range=0.5",
                              "model.hidden=6",
                              "model.layers=2",
                              "model.bidirectional=false",
                              "model.dropout=0.4",
                              "model.init_all=0.2",
                              "model.weight_drop=0.3",
                              "model.forget_bias=1",
                              "model.trained_initial_states=true",
                              "model.batch_norm_attention=true",
                              "train.batch=8",
                              "train.renumber_entities=false"})
    EXPECT_NE(data.digest_of_log({setting}), plain) << setting;
  EXPECT_EQ(data.digest_of_log({}), plain) << "else any setting would pass";
}

}  // namespace
}  // namespace rondo
