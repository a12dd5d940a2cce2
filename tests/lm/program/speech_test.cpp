// Speech, from recordings and transcripts to a trained and measured run. The words are tones: "lo" and "hi".
#include <cmath>
#include <map>

#include "data/speech/features.h"
#include "tests/data/speech/wav.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr const char* speech_recipe = R"(
[recipe]
task = "speech"
[data]
sample_rate = 8000
filters = 8
deltas = 1
stack = 2
[model]
cell = "gru"
layers = 1
hidden = 16
dropout = 0.1
[train]
epochs = 5
batch = 6
optimizer = "adam"
learning_rate = 0.03
clip = 5
log_every = 1
)";

class ToneData : public ToyTraining {
 public:
  ToneData() : ToyTraining(speech_recipe) {
    for (const auto& [split, count] : std::map<std::string, int>{{"train", 60}, {"valid", 15}, {"test", 12}})
      write("data/" + split + ".tsv", table(count));
  }

  /// Writes recordings, and returns their lines of a table.
  std::string table(int lines) {
    std::string written;
    for (int line = 0; line < lines; ++line) {
      std::string transcript;
      std::vector<int> samples;
      for (std::size_t word = 0, words = 1 + next(3); word < words; ++word) {
        const bool high = next(2) == 0;
        transcript += std::string(word == 0 ? "" : " ") + (high ? "hi" : "lo");
        for (const int sample : tone(700 + next(300), high ? 0.2 : 0.05, 6000))
          samples.push_back(sample + static_cast<int>(next(200)));
        for (int pause = 0; pause < 300; ++pause) samples.push_back(static_cast<int>(next(200)));
      }
      const std::string name = fmt::format("{}.wav", ++recordings_);
      write("data/" + name, wav_of(samples));
      written += fmt::format("{}\t{}\t{}\n", name, next(2) == 0 ? "ann" : "bob", transcript);
    }
    return written;
  }

 private:
  int recordings_ = 0;
};

class SpeechRun : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  }
  ToneData data;
  const std::string run = data.path("run");
};

TEST_F(SpeechRun, IsTrainedMeasuredAndTranscribes) {
  // By speaker, a single recording would be normalised by itself.
  const std::string told = data.trained("run", {"data.normalized_by=corpus"});
  expect_contains(told, "60 utterances of 2 speakers");
  expect_contains(told, "lm transcribe " + run);
  expect_contains(told, " characters by greedy search");
  EXPECT_EQ(told.find("perplexity"), std::string::npos) << "CTC predicts no text symbol by symbol";
  EXPECT_EQ(told.find("stand-in"), std::string::npos);
  EXPECT_EQ(bytes_of_file(run + "/vocab.txt"), "\\n\n\\x20\nh\ni\nl\no\n");
  const std::vector<Json> log = log_of(run);
  EXPECT_EQ(log.back().at("split"), "test");
  EXPECT_LE(log.back().at("cer").get<double>(), 5);
  EXPECT_TRUE(log.back().contains("wer"));
  EXPECT_FALSE(log.back().contains("perplexity"));

  const auto json = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  EXPECT_EQ(json.at("utterances"), 12);
  EXPECT_EQ(json.at("cer"), log.back().at("cer"));
  EXPECT_EQ(json.at("nats"), log.back().at("nats"));
  EXPECT_EQ(json.at("character_errors").at("of"), log.back().at("characters"));
  EXPECT_EQ(json.at("symbols"), log.back().at("characters"));
  EXPECT_FALSE(json.contains("stand_in"));
  expect_contains(output_of_lm({"eval", run}), " characters by greedy search\nCER ");
  // Kept: two by the training, then these two.
  EXPECT_EQ(lines_of(run + "/evaluations.jsonl"), 4u);

  const std::string test = bytes_of_file(data.path("data/test.tsv"));
  const std::string file = data.path("data/" + test.substr(0, test.find('\t')));
  const std::size_t second = test.find('\t', test.find('\t') + 1) + 1;
  const std::string said = test.substr(second, test.find('\n') - second);
  EXPECT_EQ(output_of_lm({"transcribe", run, file}), said + "\n");
  EXPECT_EQ(output_of_lm({"transcribe", run, file, file, "--beam", "4"}), said + "\n" + said + "\n");
  const std::string transcribed = output_of_lm({"transcribe", run, file, "--scores"});
  EXPECT_TRUE(transcribed.starts_with(said + "\t-")) << transcribed;

  expect_contains(output_of_lm({"info", run}), "bidirectional 1 x 16 gru, CTC");
  EXPECT_FALSE(json.contains("bits")) << "a transcript is not predicted symbol by symbol";
  EXPECT_EQ(rows_of_table({run})[0].at("test CER"), json.at("cer"));
}

TEST_F(SpeechRun, SearchesWithAnNgramModel) {
  data.trained("run", {"--epochs", "2"});
  data.write("text.txt", "lo hi\nhi\nlo\nhi lo lo\n");
  data.write("only.txt", "lo\nlo lo\n");
  for (const std::string name : {"text", "only"}) {
    fs::create_directory(data.path(name));
    for (const char* split : {"train", "valid"})
      fs::copy_file(data.path(name + ".txt"), data.path(name + "/" + split + ".txt"));
    output_of_lm({"ngram", "--data", data.path(name), "--order", "1", "--out", data.path(name + ".arpa")});
  }
  const auto json = json_of_lm(
      {"eval", run, "decoding.beam=8", "decoding.ngram=" + data.path("text.arpa"), "--threads", "1"});
  expect_contains(json.at("read"), "a beam of 8 with " + data.path("text.arpa"));

  // A model that knows one word alone, with a large weight, lets nothing else be heard.
  const std::string file = data.path("data/1.wav");
  const std::string only = "decoding.ngram=" + data.path("only.arpa");
  const std::string heard =
      output_of_lm({"transcribe", run, file, "--beam", "32", only, "decoding.ngram_weight=50"});
  EXPECT_EQ(heard.find("hi"), std::string::npos) << heard;

  expect_refused({"transcribe", run, file, only, "--beam", "1"},
                 "an n-gram model takes part in a search: set decoding.beam above 1");
  expect_refused({"eval", run, "--tune"}, "--tune, --budget and --streams are for language models");
  expect_refused({"eval", run, "decoding.ngram=x.arpa"}, "set decoding.beam above 1");
  expect_refused({"eval", run, "decoding.beam=4", "decoding.ngram=x.arpa"}, "x.arpa");
  expect_refused({"eval", run, "model.layers=3"},
                 "only settings of [dynamic] and [cache], or of [decoding], can change");
}

TEST_F(SpeechRun, KeepsItsNgramModelWhereItIs) {
  const std::string arpa = data.path("tones.arpa"), file = data.path("data/1.wav");
  fs::create_directory(data.path("text"));
  for (const char* split : {"train", "valid"})
    write_bytes(data.path(fmt::format("text/{}.txt", split)), "lo hi\nhi\n");
  output_of_lm({"ngram", "--data", data.path("text"), "--order", "1", "--out", arpa});
  const Result trained =
      run_lm_well(data.train("run", {"--epochs", "1", "decoding.beam=4", "decoding.ngram=tones.arpa"}),
                  {.folder = data.path("")});
  // From another folder.
  const std::string heard = output_of_lm({"transcribe", run, file});
  output_of_lm({"eval", run});
  const Words resume = data.resume("run");
  output_of_lm(resume);
  expect_refused({"transcribe", run, file, "--beam", "1"},
                 "set decoding.beam above 1, as in 32, or decoding.ngram to");

  write_bytes(arpa, bytes_of_file(arpa) + "\n");
  const Result changed = run_lm({"transcribe", run, file});
  EXPECT_EQ(changed.out, heard);
  expect_contains(changed.err, "tones.arpa: has changed since the run " + run + " was made");
  expect_refused(resume, "tones.arpa: has changed since this run was made");

  fs::remove(arpa);
  for (const Words& words : {Words{"transcribe", run, file}, Words{"eval", run}, resume})
    expect_refused(words, "tones.arpa: this file, which the ");
  output_of_lm({"transcribe", run, file, "decoding.ngram="});
  output_of_lm({"eval", run, "decoding.ngram="});
}

TEST_F(SpeechRun, ResumesToTheSameBytes) {
  expect_resumes_to_the_same_bytes(data, {"data.normalized_by=corpus"}, {1, 15, 30},
                                   {"frames.txt", "vocab.txt"});
  data.write("whole/frames.txt", "1\n");
  expect_refused({"eval", data.path("whole")}, "not the vocabulary that this run was made with");
}

TEST_F(SpeechRun, LeavesOutWhatIsTooShort) {
  const std::string train = bytes_of_file(data.path("data/train.tsv"));
  data.write("data/train.tsv", train + "1.wav\tann\t" + std::string(60, 'h') + "\n");
  const std::string valid = bytes_of_file(data.path("data/valid.tsv"));
  data.write("data/valid.tsv", valid + "1.wav\tann\t" + std::string(60, 'h') + "\n");
  expect_contains(data.trained("run", {"--epochs", "1"}),
                  "1 training utterances have fewer steps than their transcripts need, and are left out");
  const auto json = json_of_lm({"eval", run});
  EXPECT_EQ(json.at("impossible"), 1);
  EXPECT_EQ(json.at("symbols").get<int>() + 60, json.at("character_errors").at("of"));
  EXPECT_EQ(json.at("utterances"), 16);
  EXPECT_TRUE(std::isfinite(json.at("nats").get<double>()));
  expect_contains(output_of_lm({"eval", run}), "\nimpossible  1\n");
}

TEST_F(SpeechRun, SaysWhereTheCorpusIsAStandIn) {
  fs::create_directory(data.path("digits"));
  for (const int digit : {1, 2})
    for (int index = 0; index < 14; ++index)
      for (const char* speaker : {"ann", "bob"})
        data.write(fmt::format("digits/{}_{}_{}.wav", digit, speaker, index),
                   wav_of(tone(800, digit == 1 ? 0.2 : 0.05, 5000 + 100 * index)));
  const std::string told = output_of_lm(data.train_on(
      "digits", "run", {"--epochs", "1", "data.source=digits", "data.held_out_speakers=[\"bob\"]"}));
  expect_contains(told, "a stand-in for");
  expect_contains(output_of_lm({"eval", run, "--split", "test"}), "a stand-in for");
  expect_contains(json_of_lm({"eval", run}).at("stand_in"), "a stand-in for");
  const auto speakers = json_of_lm({"eval", run, "--split", "speakers"});
  EXPECT_EQ(rows_of_table({run})[0].at("speakers CER"), speakers.at("cer"));
}

// Other corpora that are refused: tests/data/speech/utterances_test.cpp.
TEST_F(SpeechRun, BadInputIsRefusedBeforeARunIsMade) {
  expect_refused_training(data, {"data.highest=5000"},
                          "toy.toml: data.highest = 5000: 8000 samples a second");
  expect_refused_training(data, {"model.embedding=7"}, "model.embedding");
  data.write("data/valid.tsv", "1.wav\tann\tlox\n");
  expect_refused_training(data, {}, "valid.tsv: line 1: 'x' is not in the vocabulary");
}

TEST_F(SpeechRun, GoesOnWithoutOneBadRecording) {
  const std::string silent = data.path("data/silent.wav");
  data.write("data/silent.wav", wav_of(std::vector<int>(3000, 5)));
  for (const std::string split : {"train", "valid"})
    data.write("data/" + split + ".tsv",
               bytes_of_file(data.path("data/" + split + ".tsv")) + "silent.wav\tann\tlo hi\n\n");
  const Result told = run_lm_well(data.train("run", {"--epochs", "1", "data.normalized_by=corpus"}));
  for (const std::string part : {"1 of 62 lines are left out: ", "train: 1 of 61 utterances are left out: ",
                                 "valid: 1 of 16 utterances are left out: ", "60 utterances of 2 speakers"})
    expect_contains(told.out + told.err, part);
  const std::string why = silent + ": silent: all 3000 samples are the same";
  const Result measured = run_lm_well({"eval", run, "--json"});
  EXPECT_EQ(Json::parse(measured.out).at("utterances"), 15);
  expect_contains(measured.err, "lm: warning: 1 of 16 utterances are left out: " + why);

  const std::string file = data.path("data/1.wav"), heard = output_of_lm({"transcribe", run, file});
  const Result some = run_lm_well({"transcribe", run, silent, file, data.path("nowhere.wav")});
  EXPECT_EQ(some.out, "\n" + heard + "\n") << "a line for each file";
  expect_contains(some.err, "lm: warning: 2 of 3 utterances are left out: " + why + "; ");
  expect_contains(some.err, "nowhere.wav");
  expect_refused({"transcribe", run, silent}, why);
  // Another rate, too, is said of each, and refused if no recording is left.
  data.write("other.wav", wav_of(tone(900, 0.1), 16000));
  expect_refused({"transcribe", run, data.path("other.wav")}, "16000 samples a second");
}

TEST_F(SpeechRun, OtherCommandsRefuseIt) {
  data.trained("run", {"--epochs", "1"});
  expect_refused({"eval", run, data.path("data/1.wav")},
                 "this task is measured on its own text alone: choose it by --split");
  expect_refused({"eval", run, "--split", "speakers"}, "this corpus has no split 'speakers'");
  expect_refused({"transcribe", run}, "files is required");
}

TEST_F(SpeechRun, IsProbed) {
  expect_probes(data, "recurrent.l0_reverse", "the loss of the transcript", {"--epochs", "2"});
}

// A value of each key that changes what a training of a few steps does.
TEST_F(SpeechRun, EachKeyOfItsSectionsHasAnEffect) {
  expect_each_has_an_effect(data, R"(
    data.window=20 data.step=12 data.filters=7 data.lowest=100 data.highest=3000 data.energy=true
    data.normalized_by=corpus data.deltas=0 data.stack=1
    model.cell=lstm model.hidden=14 model.layers=2 model.bidirectional=false model.dropout=0.4
    model.variational=true model.init_all=0.2 model.trained_initial_states=true model.weight_drop=0.3
    train.batch=8 train.batch_by=symbols&train.batch=200)");
}

}  // namespace
}  // namespace rondo
