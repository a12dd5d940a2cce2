// Skip-thought vectors, from a text of passages to a trained and measured run and its vectors.
#include <cmath>
#include <sstream>

#include "data/text/text.h"
#include "lm/program/recipe.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* toy_skip_thought = R"(
[recipe]
task = "skip_thought"
[data]
sentences = "marks"
[model]
embedding = 6
hidden = 8
embedding_range = 1.0
[train]
epochs = 3
batch = 10
learning_rate = 0.02
log_every = 1
)";

/// Passages about one of three things each: a sentence tells what its neighbours are about.
class Passages : public ToyTraining {
 public:
  Passages() : ToyTraining(toy_skip_thought) {
    write("data/train.txt", text(60));
    write("data/valid.txt", text(15));
    write("data/test.txt", text(10));
  }

  std::string sentence(std::size_t thing) {
    const Words things[] = {
        {"dog", "barks", "runs"}, {"ship", "sails", "sinks"}, {"rose", "grows", "blooms"}};
    return "the " + things[thing][0] + (next(2) == 0 ? " now " : " ") + things[thing][1 + next(2)];
  }
  std::string text(int passages) {
    std::string written;
    for (int i = 0; i < passages; ++i) {
      const std::size_t thing = next(3);
      for (std::size_t left = 3 + next(3); left > 0; --left) written += sentence(thing) + " . ";
      written += '\n';
    }
    return written;
  }
  /// Files of SICK and TREC, where what a sentence is about decides.
  void write_sets() {
    fs::create_directory(path("sets"));
    for (const char* name : {"SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"}) {
      std::string pairs = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\n";
      for (int i = 0; i < 40; ++i) {
        const std::size_t a = next(3), b = next(2) == 0 ? a : next(3);
        const std::string first = sentence(a), second = a == b ? first : sentence(b);
        pairs += fmt::format("{}\t{}\t{}\t{}\n", i, first, second, a == b ? 4.5 : 1.5);
      }
      write(std::string("sets/") + name, pairs);
    }
    for (const char* name : {"TREC.train.all", "TREC.test.all", "subj.all"}) {
      std::string lines;
      for (int i = 0; i < 45; ++i) {
        const std::size_t thing = next(3);
        if (i == 20 && name[0] == 's') lines += "1 \n";  // as a set has: it is left out
        lines += fmt::format("{} {}\n", name[0] == 's' ? thing / 2 : thing, sentence(thing));
      }
      write(std::string("sets/") + name, lines);
    }
  }
  /// Between "dog", whose numbers it has, and "ship" stands a word that no run knows.
  static std::string word_vectors() {
    std::string vectors;
    int i = 0;
    for (const char* word : {"the", "dog", "cat", "ship", "rose", "now", "barks", "runs", "sails"}) {
      if (word != std::string("cat")) ++i;
      vectors += fmt::format("{} {} {} {}\n", word, i % 3, i * i % 5, 1.5 * i);
    }
    return vectors;
  }
};

std::vector<std::vector<float>> vectors_of(const std::string& printed) {
  std::vector<std::vector<float>> vectors;
  for (const std::string_view line : split_lines(printed)) {
    std::istringstream numbers{std::string(line)};
    vectors.emplace_back();
    for (float number = 0; numbers >> number;) vectors.back().push_back(number);
  }
  return vectors;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double aa = 0, ab = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) aa += a[i] * a[i], ab += a[i] * b[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

class SkipThoughtRun : public testing::Test {
 protected:
  Passages data;
  const std::string run = data.path("run");
};

TEST_F(SkipThoughtRun, IsTrainedMeasuredAndEmbeds) {
  const std::string told = data.trained("run");
  expect_contains(told, "triples of");
  expect_contains(told, "lm embed " + run);
  const std::vector<Json> log = log_of(run);
  const auto json = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  EXPECT_EQ(json.at("nats"), log.back().at("nats"));
  EXPECT_EQ(json.at("symbols"), log.back().at("symbols"));
  EXPECT_LT(json.at("perplexity").get<double>(), 3.5) << "of 12 types, when the passage is known";
  expect_contains(output_of_lm({"eval", run}), "nats");
  expect_contains(output_of_lm({"info", run}), "uni-skip 8 gru");
  EXPECT_EQ(rows_of_table({run})[0].at("test nats"), json.at("nats"));

  // A line is a vector, in its order and independent of the others; an empty line has one, too.
  const std::string input = "the dog barks .\n\nthe rose blooms .\nthe dog now runs .\nthe dog barks .\n";
  const std::string printed = output_of_lm({"embed", run, "--threads", "1"}, input);
  const std::vector<std::vector<float>> vectors = vectors_of(printed);
  ASSERT_EQ(vectors.size(), 5u);
  for (const auto& it : vectors) ASSERT_EQ(it.size(), 8u);
  EXPECT_EQ(vectors[0], vectors[4]);
  EXPECT_GT(cosine(vectors[0], vectors[3]), cosine(vectors[0], vectors[2]));
  const auto alone = vectors_of(output_of_lm({"embed", run, "--threads", "1"}, "the rose blooms .\n")).at(0);
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(alone[j], vectors[2][j], 1e-5);
}

TEST_F(SkipThoughtRun, WordsThatItDoesNotKnowGetVectors) {
  data.trained("run", {"--epochs", "1"});
  const std::string vectors = data.word_vectors();
  data.write("vectors.txt", vectors);
  for (const Words& more : {Words{}, {"--vectors", data.path("vectors.txt")}})
    EXPECT_EQ(output_of_lm(Words{"embed", run} + more, ""), "") << "no sentences are no vectors";
  const std::string input = "cat\ndog\nthe dog\n";
  const Result told = run_lm_well({"embed", run, "--vectors", data.path("vectors.txt")}, {.input = input});
  expect_contains(told.err, "vectors for 1 of 1 words that the run does not know, by a map from 8 words");
  const auto expanded = vectors_of(told.out), plain = vectors_of(output_of_lm({"embed", run}, input));
  ASSERT_EQ(expanded.size(), 3u);
  EXPECT_NE(expanded[0], plain[0]) << "<unk> without them";
  for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(expanded[1][j], plain[1][j], 1e-5) << "dog keeps its own";
  std::string tiny;  // so that the map has large numbers
  for (const std::string_view line : split_lines(vectors)) {
    const std::size_t blank = line.find(' ');
    tiny += line.substr(0, blank);
    std::istringstream numbers(std::string(line.substr(blank)));
    for (double number; numbers >> number;) tiny += fmt::format(" {}", number * 1e-9);
    tiny += '\n';
  }
  data.write("vectors.txt", tiny + "king 3e38 3e38 3e38\n");
  expect_refused(run_lm({"embed", run, "--vectors", data.path("vectors.txt")}, {.input = "king\n"}),
                 "vectors.txt: the vector of 'king' is too large");
  data.write("vectors.txt", "the 1 2 3\ncat 1 2 3\n");
  expect_refused(run_lm({"embed", run, "--vectors", data.path("vectors.txt")}, {.input = input}),
                 "1 of its words are in the run's vocabulary, and a map from 3 numbers needs as many");
}

TEST_F(SkipThoughtRun, ItsVectorsAreMeasured) {
  data.write_sets();
  data.trained("run");
  const auto json = json_of_lm({"eval", run, "--sentences", data.path("sets"), "--threads", "1"});
  ASSERT_EQ(json.at("sets").size(), 3u);
  const auto &sick = json.at("sets")[0], &subj = json.at("sets")[1], &trec = json.at("sets")[2];
  EXPECT_EQ(sick.at("set"), "SICK");
  EXPECT_EQ(sick.at("scored"), 40);
  EXPECT_GT(sick.at("vectors").at("pearson").get<double>(), 0.8) << json.dump(2);
  EXPECT_EQ(subj.at("set"), "SUBJ");
  EXPECT_EQ(subj.at("scored"), 45) << "all, by cross-validation";
  EXPECT_EQ(trec.at("set"), "TREC");
  EXPECT_GT(trec.at("vectors").at("accuracy").get<double>(), 90);
  EXPECT_GT(trec.at("word_means").at("accuracy").get<double>(), 90);
  const auto row = rows_of_table({run})[0];
  EXPECT_EQ(row.at("TREC accuracy"), trec.at("vectors").at("accuracy"));
  EXPECT_EQ(row.at("SICK rho"), sick.at("vectors").at("spearman"));
  const std::string pairs = bytes_of_file(data.path("sets/SICK_test_annotated.txt"));
  data.write("sets/SICK_test_annotated.txt", pairs + "\n");
  const Result with_blank_line = run_lm_well({"eval", run, "--sentences", data.path("sets"), "--json"});
  EXPECT_EQ(Json::parse(with_blank_line.out).at("sets"), json.at("sets"));
  expect_contains(with_blank_line.err, "warning: 1 of 41 lines are left out: ");
  data.write("sets/SICK_test_annotated.txt", pairs);
  expect_contains(output_of_lm({"eval", run, "--sentences", data.path("sets")}), "(means of words: accuracy");

  const auto refused = [&](const std::string& file, const std::string& content, const std::string& part) {
    data.write("sets/" + file, content);
    expect_refused({"eval", run, "--sentences", data.path("sets")}, part);
  };
  expect_refused({"eval", run, "--sentences", data.path("data")}, "none of the known sets");

  EXPECT_EQ(run_lm({"table", run}).err, "");
  expect_refused({"eval", run, "--sentences", data.path("sets"), "--dynamic"},
                 "--dynamic excludes --sentences");
  expect_refused({"eval", run, "--vectors", data.path("toy.toml")}, "--vectors requires --sentences");
  data.write("sets/pairs.test.tsv", "1\tthe dog\tthe cat\n0\tthe dog\tthe rose\n");
  refused("pairs.train.tsv", "0.5\tthe dog\tthe cat\n1\tthe dog\tthe rose\n",
          "pairs.train.tsv: a judgment of 0.5, which is neither 0 nor 1");
  refused("pairs.train.tsv", "1\tthe dog\tthe cat\n1\tthe dog\tthe rose\n",
          "pairs.train.tsv: all pairs are judged 1: a classifier learns from both judgments");
  for (const char* file : {"sets/pairs.train.tsv", "sets/pairs.test.tsv"}) fs::remove(data.path(file));
  const std::string subjective = bytes_of_file(data.path("sets/subj.all"));
  refused("subj.all", "0 the dog\n1 the rose\n",
          "subj.all: 2 sentences, and cross-validation in 10 parts needs 10 or more");
  write_bytes(data.path("sets/subj.all"), subjective);
  refused("SICK_trial.txt", "sentence_A\tsentence_B\trelatedness_score\na\tb\t3\nc\td\t3\n",
          "SICK_trial.txt: all pairs are judged 3: nothing correlates with equal scores");
  refused("SICK_trial.txt", "a\tb\n1\t2\n", "SICK_trial.txt: line 1: no columns sentence_A");
  fs::remove(data.path("sets/SICK_trial.txt"));
  expect_refused({"eval", run, "--sentences", data.path("sets")}, "SICK_trial.txt: missing");
}

TEST_F(SkipThoughtRun, MeasuresItsVectorsWhileItTrains) {
  data.write_sets();
  data.trained("every-5", {"--steps", "10", "train.sentences_every=5",
                           fmt::format("train.sentence_sets=[\"{}\"]", data.path("sets"))});
  data.trained("never", {"--steps", "10"});
  std::vector<Json> measured;
  for (const auto& entry : log_of(data.path("every-5")))
    if (entry.at("event") == "sentences") measured.push_back(entry);
  ASSERT_EQ(measured.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(measured[i].at("step"), i < 3 ? 5 : 10);
    EXPECT_EQ(measured[i].at("set"), (Words{"SICK", "SUBJ", "TREC"})[i % 3]);
  }
  EXPECT_NE(measured[0].at("vectors"), measured[3].at("vectors"));
  EXPECT_EQ(bytes_of_file(data.path("every-5") + "/model.safetensors"),
            bytes_of_file(data.path("never") + "/model.safetensors"))
      << "to measure changes nothing";
  const auto later =
      json_of_lm({"eval", data.path("every-5"), "--sentences", data.path("sets"), "--threads", "1"});
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(later.at("sets")[i].at("vectors"), measured[3 + i].at("vectors")) << "the weights of step 10";
  expect_refused(data.train("refused", {"train.sentences_every=5"}), "train.sentence_sets");
  expect_refused(data.train("refused", {"train.sentence_sets=[\"sets\"]"}), "train.sentences_every");
}

TEST_F(SkipThoughtRun, ResumesToTheSameBytes) {
  const Words combined{"--epochs", "8", "model.encoder=combine", "model.cell=mi_gru"};
  expect_resumes_to_the_same_bytes(data, combined, {1, 10, 25});
}

TEST_F(SkipThoughtRun, BadInputIsRefusedBeforeARunIsMade) {
  expect_refused_training(data, {"data.max_length=1"},
                          "has a sentence of more than data.max_length = 1 symbols");
  expect_refused_training(data, {"data.unit=bytes"}, "give one sentence a line");
  expect_refused_training(data, {"model.alpha=2"}, "model.alpha is for");
  for (const std::string cell : {"sru", "qrnn"})
    expect_refused_training(data, {"model.decoder_cell=" + cell, "model.context=first_state"},
                            "the cell " + cell + " does not read the state before");
}

TEST_F(SkipThoughtRun, IsProbed) {
  expect_probes(data, "previous.l0", "the losses of the last words of both neighbours",
                {"--epochs", "2", "data.max_length=4"});
  const auto later = json_of_lm({"probe", data.path("probed"), "--split", "train"});
  EXPECT_EQ(later.at("runs").at(0).at("sequences"), log_of(data.path("probed")).front().at("sequences"))
      << "without the triples that are left out of the training";
}

// A value of each key that changes what a training of an epoch does.
TEST_F(SkipThoughtRun, EachKeyOfItsSectionsHasAnEffect) {
  expect_each_has_an_effect(data, R"(
    data.max_length=4 data.min_count=1000
    model.cell=mi_gru model.decoder_cell=lstm model.encoder=bi model.encoder=combine
    model.context=first_state model.context=both model.embedding=5 model.embedding_init=pytorch
    model.embedding_range=0.5 model.hidden=6 model.recurrent_init=orthogonal
    model.recurrent_init=normal&model.recurrent_range=0.3 model.trained_initial_states=true
    model.dropout=0.4 model.weight_drop=0.3
    train.batch=8 train.batch_by=symbols)");
}

}  // namespace
}  // namespace rondo
