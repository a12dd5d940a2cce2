// Multi-task learning with the program: a recipe that names its tasks, killed and resumed trainings,
// translations of each task, and what is refused.
#include "lm/tasks/multi_task.h"

#include <algorithm>

#include "data/files/files.h"
#include "data/sentences/pairs.h"
#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/settings/settings.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* head = "[recipe]\nname = \"three-tasks\"\ntask = \"multi_task\"\n";
constexpr const char* tasks = R"(
[tasks.translate]
source = "de"
target = "en"
[tasks.copy]
source = "en"
target = "en"
ratio = 0.5
[tasks.write]
target = "en"
ratio = 0.3
)";
constexpr const char* tasks_within_a_language = R"(
[tasks.halves]
source = "en"
target = "en"
pairs = "halves"
ratio = 0.5
[tasks.next]
source = "de"
target = "de"
pairs = "next_lines"
ratio = 0.5
)";
constexpr const char* settings = R"(
[model]
cell = "gru"
embedding = 6
readout = 6
hidden = 8
tied = "output"
dropout = 0.2
[train]
epochs = 4
batch = 10
eval_every = 25
log_every = 1
save_every = 0.0
learning_rate = 0.01
optimizer = "adam"
clip = 1.0
bleu_tokenization = "none"
)";

/// Generated sentences of de, en that reverses them, and a recipe: of three tasks, unless others are given.
class ThreeTasks : public ToyTraining {
 public:
  explicit ThreeTasks(const std::string& sections = tasks) : ToyTraining(head + sections + settings) {
    for (const auto& [split, seed, count] :
         {std::tuple("train", 1u, 300), {"valid", 2u, 20}, {"test", 3u, 20}}) {
      const TextPair text = reversal_task(seed, count, {.letters = 5, .max_length = 5});
      write_text(split, "de", text.source.content);
      write_text(split, "en", text.target.content);
    }
  }
  void write_text(const std::string& split, const std::string& language, const std::string& text) const {
    write(fmt::format("data/{}.{}", split, language), text);
  }
};
const std::string with_pairs_within = std::string(tasks) + tasks_within_a_language;

TEST(MultiTaskRun, ResumesToTheSameBytes) {
  expect_resumes_to_the_same_bytes(ThreeTasks(with_pairs_within), {}, {1, 75, 130});
}

TEST(MultiTaskRun, LogsAFigureOfEachTaskAndTranslatesWithTheFirst) {
  const ThreeTasks data;
  const std::string said = data.trained("run");
  expect_contains(said, "translate 300 sentences, copy 300 sentences, write 300 sentences");
  std::vector<Json> evaluations;
  for (const auto& entry : log_of(data.path("run")))
    if (entry.value("split", "") == "valid" && entry.contains("step")) evaluations.push_back(entry);
  EXPECT_GT(evaluations.size(), 4u);
  EXPECT_TRUE(evaluations.front().contains("bleu"));
  for (const char* figure : {"nats", "copy.nats", "write.nats"})
    EXPECT_LT(evaluations.back().at(figure), evaluations.front().at(figure)) << figure << ": it is learnt";

  const std::string sentences = "a b c\n\nc a\n";
  const std::string translated = output_of_lm({"translate", data.path("run"), "--threads", "1"}, sentences);
  EXPECT_EQ(std::ranges::count(translated, '\n'), 3);
  EXPECT_EQ(output_of_lm({"translate", data.path("run"), "--task", "translate", "--threads", "1"}, sentences),
            translated);
  const auto scores = [&](const char* task) {
    return output_of_lm({"translate", data.path("run"), "--task", task, "--scores", "--threads", "1"},
                        sentences);
  };
  EXPECT_NE(scores("copy"), scores("translate")) << "another encoder";
  expect_contains(output_of_lm({"eval", data.path("run"), "--split", "test", "--threads", "1"}), "BLEU");
  expect_refused({"export", data.path("run"), "--format", "onnx", "--out", data.path("out")},
                 "where one of language_modelling or translation is needed");
  expect_refused({"translate", data.path("run"), "--task", "none"},
                 "--task none: the tasks of this run are translate, copy, write");
  expect_refused(run_lm({"translate", data.path("run"), "--task", "write"}, {.input = "a\n"}),
                 "this is a language model, without a source to translate");
}

TEST(MultiTaskRun, EachTaskIsMeasured) {
  const ThreeTasks data;
  data.trained("run");
  Json best;  // figures of all tasks when the first one's was the best
  for (const auto& entry : log_of(data.path("run")))
    if (entry.value("best", false) && entry.contains("copy.nats")) best = entry;
  const auto row = [&] { return rows_of_table({data.path("run")})[0]; };
  const auto before = row();

  const auto measured = [&](const std::string& task, const std::string& split) {
    return json_of_lm({"eval", data.path("run"), "--task", task, "--split", split, "--threads", "1"});
  };
  const auto translate = measured("translate", "valid"), copy = measured("copy", "valid"),
             write = measured("write", "valid");
  EXPECT_NEAR(translate.at("nats"), best.at("nats"), 1e-6);
  EXPECT_NEAR(copy.at("nats"), best.at("copy.nats"), 1e-6);
  EXPECT_NEAR(write.at("nats"), best.at("write.nats"), 1e-6);
  EXPECT_FALSE(write.contains("bleu"));
  // A line of the text copied, as `lm translate` and `lm bleu` have it.
  const std::string copied = output_of_lm({"translate", data.path("run"), "--task", "copy", "--threads", "1"},
                                          bytes_of_file(data.path("data/valid.en")));
  const auto bleu =
      Json::parse(output_of_lm({"bleu", data.path("data/valid.en"), "--tokenize", "none", "--json"}, copied));
  EXPECT_NEAR(copy.at("bleu"), bleu.at("bleu").at("score"), 1e-9);
  measured("write", "test");
  expect_contains(output_of_lm({"eval", data.path("run"), "--task", "write"}),
                  "valid: 74 symbols in lines from a zero state");

  Words measured_tasks;
  for (const Json& it : objects_in(data.path("run/evaluations.jsonl")))
    measured_tasks.push_back(it.value("task", "-"));
  EXPECT_EQ(measured_tasks, (Words{"-", "-", "translate", "copy", "write", "write", "write"}));
  for (const auto& [task, expected] : {std::pair("translate", translate), {"copy", copy}, {"write", write}}) {
    const auto of_files =
        json_of_lm({"eval", data.path("run"), data.path("data/valid"), "--task", task, "--threads", "1"});
    EXPECT_EQ(of_files.at("nats"), expected.at("nats")) << task;
  }
  EXPECT_EQ(row(), before) << "other tasks and texts are not in the row of the first";
}

MultiTaskLearning& task_of(const Recipe& recipe) { return dynamic_cast<MultiTaskLearning&>(*recipe.task); }

TEST(MultiTaskText, HasThePairsOfEachTask) {
  const ThreeTasks data(with_pairs_within);
  data.write_text("valid", "de", "b a\nc c b\n");
  data.write_text("valid", "en", "a b\nb c c\n");
  const Recipe recipe = resolve_recipe(data.path("toy.toml"), {});
  MultiTaskLearning& task = task_of(recipe);
  const std::vector<MixedTaskOptions> parts = task.settings.tasks;
  task.open({.path = data.path("data")});
  const TextPair halves = task.text_of(parts[3], Split::valid), next = task.text_of(parts[4], Split::valid);
  EXPECT_EQ(halves.source.content, "a\nb c\n");
  EXPECT_EQ(halves.target.content, "b\nc\n");
  EXPECT_EQ(next.source.content, "b a\nc c b\n");
  EXPECT_EQ(next.target.content, "c c b\n\n");
  // Of a share of the pairs the translation's alone; and a vocabulary of whole lines.
  task.settings.translation.data.pairs_share = 0.1;
  EXPECT_EQ(task.text_of(parts[0], Split::train).lines, 30);
  EXPECT_EQ(task.text_of(parts[3], Split::train).lines, 300);
  task.settings.translation.data.pairs_share = 0.01;
  task.settings.tasks = {parts[0], parts[3]};  // without copies
  task.make_vocabularies();
  EXPECT_EQ(content_among(task.vocabularies(), "vocab.target.txt"),
            Vocabulary(clean_text(bytes_of_file(data.path("data/train.en")), "train", Unit::words), {}, {})
                .to_text());
}

TEST(MultiTaskRun, WritesTheSecondHalfOfALine) {
  const ThreeTasks data(with_pairs_within);
  const std::string said = data.trained("run"), en = bytes_of_file(data.path("data/train.en"));
  int left_out = 0;
  for (const std::string_view line : split_lines(en)) left_out += line.find(' ') == line.npos;
  ASSERT_GT(left_out, 0);
  expect_contains(said, fmt::format("halves {} sentences, next 299 sentences", 300 - left_out));
  expect_contains(said, fmt::format("halves: {} of 300 training pairs have an empty side", left_out));
  expect_contains(said, "next: 1 of 300 training pairs have an empty side");
  expect_contains(output_of_lm({"info", data.path("run")}),
                  "task        halves: en to en, pairs = halves, ratio 0.5");
}

// A third language, whose vocabulary has a file of its own; a tenth of the pairs for the translation alone.
TEST(MultiTaskRun, ReadsFurtherLanguagesAndAShareOfThePairs) {
  const ThreeTasks data(tasks + std::string("[tasks.tag]\nsource = \"de\"\ntarget = \"tags\"\n"));
  for (const auto& [split, lines] : {std::pair("train", 300), {"valid", 20}, {"test", 20}}) {
    std::string tags;
    for (int i = 0; i < lines; ++i) tags += "x\n";
    data.write_text(split, "tags", tags);
  }
  const std::string said = data.trained("run", {"--epochs", "1", "data.pairs_share=0.1"});
  expect_contains(said, "translate 30 sentences, copy 300 sentences, write 300 sentences, tag 30 sentences");
  expect_contains(bytes_of_file(data.path("run/vocab.tags.txt")), "x\n");
  const std::string tags =
      output_of_lm({"translate", data.path("run"), "--task", "tag", "--threads", "1"}, "a b\nc\n");
  EXPECT_EQ(std::ranges::count(tags, '\n'), 2);
  EXPECT_EQ(tags.find_first_not_of("x \n"), std::string::npos) << tags;
  output_of_lm({"eval", data.path("run"), "decoding.beam=1", "--threads", "1"});
  EXPECT_EQ(rows_of_table({data.path("run")})[0].at("valid reading"), "a beam of 5") << "the run's own";
  output_of_lm(data.resume("run", {"--epochs", "2"}));
  data.write_text("train", "tags", "x\n");
  expect_refused(data.resume("run", {"--epochs", "3"}), "each line needs its translation");
}

TEST(MultiTaskRecipe, HasASectionForEachTask) {
  Recipe recipe = resolve_recipe("multi-task-many-to-one-multi30k", {parse_setting("data.pairs_share=0.1"),
                                                                     parse_setting("tasks.write.ratio=0.7")});
  const std::string text = write_toml(keys_of(recipe));
  Recipe back;
  read_recipe(back, text, "recipe", {});
  EXPECT_EQ(write_toml(keys_of(back)), text);
  EXPECT_EQ(task_of(back).settings.tasks[2].ratio, 0.7);
  EXPECT_EQ(task_of(back).settings.translation.data.pairs_share, 0.1);
  Recipe skip_thought = resolve_recipe("multi-task-skip-thought-multi30k", {});
  for (const MixedTaskOptions& it : task_of(skip_thought).settings.tasks)
    EXPECT_EQ(it.pairs, it.translates() ? PairsOf::lines : PairsOf::halves) << it.name;
}

TEST(MultiTaskRecipe, RefusesWhatIsNotARecipe) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& sections) {
    write_bytes(folder / "a.toml", head + sections);
    const std::string text = error_of([&] { resolve_recipe(folder / "a.toml", {}); });
    return text.substr(text.find(": ") + 2);
  };
  const std::string first = "[tasks.t]\nsource = \"de\"\ntarget = \"en\"\n";
  write_bytes(folder / "a.toml", head + first);
  EXPECT_EQ(resolve_recipe(folder / "a.toml", {}).task->parts().size(), 1);
  const std::pair<std::string, std::string> refused[] = {
      {"", "which tasks? write a section [tasks.NAME] for each, with source and target"},
      {"[tasks.t]\nsource = \"de\"\n", "tasks.t.target is missing: which language does it write?"},
      {"[tasks.t]\nsource = \"en\"\ntarget = \"en\"\n",
       "tasks.t is the first task, whose scores decide: it has"},
      {first + "ratio = 0.5\n", "tasks.t.ratio = 0.5: the first task is the reference, whose ratio is 1"},
      {first + "[tasks.u]\ntarget = \"en\"\nratio = 0\n", "tasks.u.ratio = 0: leave the task out"},
      {first + "[tasks.u]\ntarget = \"../en\"\n", "tasks.u: a language is the end of the names of files"},
      {first + "[tasks.u]\ntarget = \"en\"\npairs = \"halves\"\n",
       "tasks.u.pairs = \"halves\": these are pairs within"},
      {first + "pairs = \"next_lines\"\n",
       "tasks.t.pairs = \"next_lines\": these are pairs within the text of"},
      {first + "[tasks.u]\nsource = \"en\"\ntarget = \"en\"\npairs = \"halfs\"\n", "did you mean 'halves'?"},
      {first + "[model]\ntied = \"all\"\nreadout = 256\n", "model.tied = \"all\" is for one encoder-decoder"},
      {first + "rate = 1\n", "unknown key 'tasks.t.rate'; did you mean"},
      {first + "[data]\nsource_language = \"de\"\n", "unknown key 'data.source_language'"},
      {first + "[data]\ngenerated_pairs = 9\n", "data.generated_pairs is for recipe.task = \"translation\""},
      {first + "[tasks.u]\n", "tasks.u.target is missing"},
      {first + "[tran]\n", "unknown section [tran]; did you mean 'train'?"},
      {"[tasks]\nsource = \"de\"\n", "each task has a section of its own: [tasks.NAME]"}};
  for (const auto& [sections, part] : refused) expect_contains(error(sections), part);
  write_bytes(folder / "b.toml", "[recipe]\ntask = \"translation\"\n" + first);
  expect_contains(error_of([&] { resolve_recipe(folder / "b.toml", {}); }),
                  "b.toml:3:1: tasks are for recipe.task = \"multi_task\", and here it is "
                  "\"translation\"");
  const std::string unknown =
      error_of([&] { resolve_recipe("multi-task-many-to-one-multi30k", {parse_setting("tasks.x=1")}); });
  EXPECT_EQ(unknown,
            "--set tasks.x=1: unknown key 'tasks.x'; the sections are recipe, data, model, train, decoding, "
            "tasks.translate, tasks.autoencode, tasks.write, and `" +
                this_program() + " info --keys --recipe NAME` lists their keys");
}

}  // namespace
}  // namespace rondo
