// Cloze questions, from a text or files to a trained and measured run that answers.
#include <map>

#include "data/text.h"
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
class Meetings {
 public:
  Meetings() {
    fs::create_directory(folder_ / "data");
    for (const auto& [split, count] : std::map<std::string, int>{{"train", 60}, {"valid", 20}, {"test", 20}})
      write_bytes(folder_ / ("data/" + split + ".txt"), text(count));
    write_bytes(folder_ / "toy.toml", reader_recipe);
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  Words train(const std::string& run, const Words& more = {}) const {
    Words words{"train", "--recipe", path("toy.toml"), "--data", path("data"),
                "--out", path(run),  "--threads",      "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  std::string text(int articles) {
    const Words people{"Ada", "Bob", "Cleo", "Dan", "Eve"};
    std::string written;
    for (int i = 0; i < articles; ++i) {
      const std::string &who = people[next(5)], &whom = people[next(5)];
      written += " = Meeting = \nToday " + who + " met " + whom + " . Then " + whom +
                 (i % 7 == 0 ? " quietly" : "") + " left and " + who + " slept . Later " + who + " rose .\n";
    }
    return written;
  }

 private:
  std::size_t next(std::size_t below) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    return (random_ >> 33) % below;
  }

  TemporaryFolder folder_;
  std::uint64_t random_ = 1;
};

TEST(QuestionAnsweringRun, IsTrainedMeasuredAndShown) {
  Meetings data;
  const std::string run = data.path("run"), told = output_of_lm(data.train("run"));
  expect_contains(told, "questions about 6 entities");
  expect_contains(told, "the questions are made from the text");
  expect_contains(told, "without reading, on valid: most frequent entity");
  expect_contains(told, "lm answer " + run);
  const auto json = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  EXPECT_EQ(json.at("generated_questions"), true);
  const std::vector<nlohmann::json> log = log_of(run);
  EXPECT_EQ(log.back().at("accuracy"), json.at("accuracy"));
  EXPECT_GT(json.at("most_frequent_entity").get<double>(), 0);
  expect_contains(output_of_lm({"eval", run}), "questions made from the text; ");
  EXPECT_EQ(json_of_lm({"table", run}).at("runs")[0].at("test").at("accuracy"), json.at("accuracy"));
  expect_contains(output_of_lm({"info", run}), "6 of them entities");
  expect_contains(output_of_lm({"info", "--recipe", "attentive-reader", "--vocab-size", "900"}),
                  "attentive reader");
  EXPECT_EQ(output_of_lm({"info", run, "--verify"}).find("broken"), std::string::npos);
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

  const auto refused = [&](const std::string& input, const std::string& part) {
    expect_refused(run_lm({"answer", run}, {.input = input}), "standard input, line 1: " + part);
  };
  refused("no tab here\n", "a line is a document, a tab, and a question");
  refused("Today Zoe met Yann .\twho ?\n", "the question has no @placeholder");
  refused("nobody met .\t@placeholder ?\n", "the document has no entity");
  refused("A \xff Zoe .\t@placeholder ?\n", "not UTF-8");
  refused("so An met Bo , Cy , Di , Ed , Flo and Gus .\t@placeholder ?\n", "7 entities");
  expect_refused(run_lm({"answer"}), "lm answer runs/attentive-reader-1");
}

TEST(QuestionAnsweringRun, ResumesToTheSameBytes) {
  Meetings data;
  output_of_lm(data.train("whole"));
  Words words = data.train("killed");
  for (const std::size_t lines : {2, 20}) {
    Program program(words);
    const bool runs = program.wait_until([&] {
      return fs::exists(data.path("killed/log.jsonl")) && lines_of(data.path("killed/log.jsonl")) >= lines;
    });
    ASSERT_TRUE(runs) << "ended before it could be interrupted";
    // In the middle of an epoch the state is saved by a signal only; a kill goes back to the last epoch.
    const int signal = lines == 2 ? SIGTERM : SIGKILL;
    ASSERT_EQ(program.end(signal).status, 128 + signal);
    words = {"train", "--out", data.path("killed"), "--resume", "--threads", "1"};
  }
  output_of_lm(words);
  EXPECT_EQ(sha256_hex(bytes_of_file(data.path("killed/model.safetensors"))),
            sha256_hex(bytes_of_file(data.path("whole/model.safetensors"))));
  EXPECT_EQ(log_of(data.path("killed")), log_of(data.path("whole")));
}

TEST(QuestionAnsweringRun, BadInputIsRefusedBeforeARunIsMade) {
  Meetings data;
  const auto refused = [&](const Words& more, const std::string& part) {
    expect_refused(run_lm(data.train("new", more)), part);
    EXPECT_FALSE(fs::exists(data.path("new")));
  };
  refused({"--set", "data.entities=1"}, "data.entities = 1");
  refused({"--set", "model.hidden=7"}, "give an even number");
  refused({"--set", "model.hidden=1000000"}, "training would take about");
  refused({"--set", "data.document_words=3"}, "no question can be made");
  write_bytes(data.path("data/train.txt"), "nobody . nothing .\n");
  refused({}, "train.txt: no question can be made");
  expect_refused(run_lm({"train", "--recipe", data.path("toy.toml"), "--out", data.path("new")}), "--data");
}

TEST(QuestionAnsweringRun, OtherCommandsRefuseIt) {
  Meetings data;
  const std::string run = data.path("run");
  output_of_lm(data.train("run", {"--epochs", "1"}));
  for (const char* command : {"generate", "score", "translate", "finetune", "classify"})
    expect_refused(run_lm({command, run}), "question_answering");
  expect_refused(run_lm({"eval", run, "--dynamic"}), "--dynamic: is for language models");
  expect_refused(run_lm({"eval", run, "--set", "data.entities=9"}),
                 "a reader is evaluated as it was trained");
}

// A value of each key that changes what a training of a few steps does.
TEST(QuestionAnsweringRun, EachKeyOfItsSectionsHasAnEffect) {
  Meetings data;
  const auto log = [&](const std::string& setting) {
    static int number = 0;
    const std::string name = fmt::format("run-{}", ++number);
    Words more{"--epochs", "1"};
    if (!setting.empty()) more.insert(more.end(), {"--set", setting});
    output_of_lm(data.train(name, more));
    std::string told;
    for (const nlohmann::json& entry : log_of(data.path(name))) told += entry.dump() + '\n';
    return sha256_hex(told);  // a failure prints it
  };
  const std::string plain = log("");
  for (const char* setting :
       {"data.document_words=8", "data.entities=7", "data.min_count=1000", "data.max_size=18",
        "model.cell=gru", "model.embedding=7", "model.hidden=6", "model.layers=2",
        "model.bidirectional=false", "model.dropout=0.4", "model.init_all=0.2", "model.weight_drop=0.3",
        "model.forget_bias=1", "train.batch=8", "train.renumber_entities=false"})
    EXPECT_NE(log(setting), plain) << setting;
  EXPECT_EQ(log(""), plain) << "else any setting would pass";
}

}  // namespace
}  // namespace rondo
