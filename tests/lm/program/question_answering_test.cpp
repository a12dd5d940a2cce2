// Cloze questions, from files to a trained and measured run that answers.
#include <map>

#include "data/text/text.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* reader_recipe = R"(
[recipe]
task = "question_answering"
[model]
embedding = 8
hidden = 12
[train]
epochs = 4
batch = 10
learning_rate = 0.02
log_every = 1
)";

/// Questions about people who meet, and a recipe.
class Meetings : public ToyTraining {
 public:
  Meetings() : ToyTraining(reader_recipe) {
    for (const auto& [split, count] :
         std::map<std::string, int>{{"training", 60}, {"validation", 20}, {"test", 20}}) {
      fs::create_directories(path("data/" + split));
      for (int i = 0; i < count; ++i) add_questions(fmt::format("data/{}/{:03}", split, i), i);
    }
  }
  /// Two questions about one meeting.
  void add_questions(const std::string& name, int i) {
    const std::size_t one = next(6), other = (one + 1 + next(5)) % 6;
    const std::string who = fmt::format("@entity{}", one), whom = fmt::format("@entity{}", other),
                      when = i % 7 == 0   ? "at 7 "
                             : i % 7 == 3 ? "at 8 "
                                          : "";
    const std::string met = "Today " + who + " met " + whom + " .";
    write(name + "a.question",
          fmt::format("text\n\n{}\n\nThen @placeholder left {}and {} slept .\n\n{}\n", met, when, who, whom));
    write(name + "b.question", fmt::format("text\n\n{} Then {} left {}and {} slept .\n\nLater @placeholder "
                                           "rose .\n\n{}\n",
                                           met, whom, when, who, who));
  }
};

class QuestionAnsweringRun : public testing::Test {
 protected:
  Meetings data;
  const std::string run = data.path("run");
};

TEST_F(QuestionAnsweringRun, IsTrainedMeasuredAndShown) {
  const std::string told = data.trained("run");
  expect_contains(told, "questions about 6 entities");
  expect_contains(told, "lm answer " + run);
  expect_contains(told, " questions  ");
  for (const char* other : {"one pass", "perplexity"}) EXPECT_EQ(told.find(other), std::string::npos) << told;
  const auto json = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  const std::vector<Json> log = log_of(run);
  EXPECT_EQ(log.back().at("accuracy"), json.at("accuracy"));
  EXPECT_GT(json.at("most_frequent_entity").get<double>(), 0);
  expect_contains(output_of_lm({"eval", run}), "\nmost frequent entity ");
  const auto row = rows_of_table({run})[0];
  EXPECT_EQ(row.at("test accuracy"), json.at("accuracy"));
  for (const char* column : {"test bits", "test perplexity"}) EXPECT_FALSE(row.contains(column)) << column;
  const Words vocabulary = lines_in(bytes_of_file(run + "/vocab.txt"));
  EXPECT_EQ(vocabulary.back(), "<unk>");
  const std::vector<Json> kept = objects_in(run + "/evaluations.jsonl");
  EXPECT_EQ(kept.size(), 4u) << "two by the training";
  for (const Json& entry : kept) {
    EXPECT_EQ(entry.at("vocabulary_size"), vocabulary.size());
    EXPECT_EQ(entry.at("types"), vocabulary.size() - 1) << "<unk> is no type of this text";
  }
  expect_contains(output_of_lm({"info", run}), "6 of them entities");
  expect_contains(output_of_lm({"info", "--recipe", "attentive-reader", "--vocab-size", "900"}),
                  "attentive reader");
}

TEST_F(QuestionAnsweringRun, AnswersQuestions) {
  data.trained("run", {"--epochs", "8"});
  // Whether it learns to read: tests/lm/tasks/question_answering_test.cpp.
  const std::string asked =
      "Today @entity1 met @entity5 .\tThen @entity5 left and @placeholder slept .\n\n"
      "Today @entity4 met @entity2 .\tThen @placeholder left and @entity4 slept .\n";
  const Words lines = lines_in(output_of_lm({"answer", run}, asked));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "");
  EXPECT_TRUE(lines[2].starts_with("@entity")) << lines[2];
  const std::string file = data.path("attention.jsonl");
  const std::string out =
      output_of_lm({"answer", run, "--scores", "--attention", file, "--threads", "1"}, asked);
  expect_contains(out, lines[0] + "\t0.");
  const Json attention = objects_in(file).front();
  EXPECT_EQ(attention.at("source"), (Words{"Today", "@entity1", "met", "@entity5", ".", "<eos>"}));
  EXPECT_EQ(attention.at("target"), Words{lines[0]});
  double sum = 0;
  for (const double weight : attention.at("weights")[0]) sum += weight;
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(lines_of(file), 3u) << "one for each line of input";
  EXPECT_EQ(output_of_lm({"answer", run, "--attention", file}, ""), "");
  EXPECT_EQ(bytes_of_file(file), "");
  const std::string picture = data.path("attention.svg");
  output_of_lm({"answer", run, "--attention", picture}, asked);
  expect_contains(bytes_of_file(picture), "@entity5");
  expect_refused(run_lm({"answer", run, "--attention", run + "/vocab.txt"}, {.input = asked}),
                 "is a file of the run");

  const auto refused = [&](const std::string& input, const std::string& part) {
    expect_refused(run_lm({"answer", run}, {.input = input}), "standard input, line 1: " + part);
  };
  refused("no tab here\n", "a line is a document, a tab, and a question");
  refused("Today @entity1 met @entity5 .\twho ?\n", "the question has no @placeholder");
  refused("nobody met .\t@placeholder ?\n", "the document names no entity");
  refused("A \xff @entity1 .\t@placeholder ?\n", "not UTF-8");
  refused("Today @entity4 met @entity6 .\t@placeholder ?\n",
          "@entity6, and this run's model knows markers below @entity6");
}

TEST_F(QuestionAnsweringRun, ResumesToTheSameBytes) {
  const Words everywhere{"model.cell=bn_lstm", "model.batch_norm_attention=true",
                         "model.trained_initial_states=true"};
  expect_resumes_to_the_same_bytes(data, everywhere, {1, 2, 20}, {"vocab.txt"});
}

TEST_F(QuestionAnsweringRun, IsProbed) {
  expect_probes(data, "document.l0_reverse", "the loss of the answer", {"--epochs", "2"});
}

TEST_F(QuestionAnsweringRun, BadInputIsRefusedBeforeARunIsMade) {
  expect_refused_training(data, {"train.batch=1", "model.batch_norm_attention=true"},
                          "train.batch = 1: batch normalisation");
  expect_refused_training(data, {"train.batch=1", "model.cell=bn_lstm"}, "set it to 2 or more");
  fs::rename(data.path("data/training"), data.path("data/other"));
  expect_refused_training(data, {}, "training: no such folder");
  expect_refused_training(data, {}, "docs/cloze.py makes them from a text");
}

// A value of each key that changes what a training of a few steps does.
TEST_F(QuestionAnsweringRun, EachKeyOfItsSectionsHasAnEffect) {
  expect_each_has_an_effect(data, R"(
    data.document_words=8 data.sentences=1 data.merge_numbers=true data.min_count=1000
    data.max_size=18
    model.cell=gru model.embedding=7 model.embedding_init=normal model.embedding_range=0.5 model.hidden=6
    model.layers=2 model.bidirectional=false model.dropout=0.4 model.init_all=0.2 model.weight_drop=0.3
    model.forget_bias=1 model.trained_initial_states=true model.batch_norm_attention=true
    train.batch=8 train.renumber_entities=false)");
}

}  // namespace
}  // namespace rondo
