// Speech, from recordings and transcripts to a trained and measured run. The words are tones: "lo" and "hi".
#include <cmath>
#include <map>

#include "data/recording.h"
#include "tests/data/wav.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

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

class ToneData {
 public:
  ToneData() {
    fs::create_directory(folder_ / "data");
    for (const auto& [split, count] : std::map<std::string, int>{{"train", 60}, {"valid", 15}, {"test", 12}})
      write_bytes(folder_ / ("data/" + split + ".tsv"), table(count));
    write_bytes(folder_ / "toy.toml", speech_recipe);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  Words train(const std::string& run, const Words& more = {}) const {
    Words words{"train", "--recipe", path("toy.toml"), "--data", path("data"),
                "--out", path(run),  "--threads",      "1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
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
      write_bytes(folder_ / "data" / name, wav_of(samples));
      written += fmt::format("{}\t{}\t{}\n", name, next(2) == 0 ? "ann" : "bob", transcript);
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
  int recordings_ = 0;
};

class SpeechRun : public testing::Test {
  void SetUp() override {
    if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  }
};

TEST_F(SpeechRun, IsTrainedMeasuredAndTranscribes) {
  ToneData data;
  const std::string run = data.path("run");
  // By speaker, a single recording would be normalised by itself.
  const std::string told = output_of_lm(data.train("run", {"--set", "data.normalized_by=corpus"}));
  expect_contains(told, "60 utterances of 2 speakers");
  expect_contains(told, "lm transcribe " + run);
  EXPECT_EQ(told.find("stand-in"), std::string::npos);
  EXPECT_EQ(bytes_of_file(run + "/vocab.txt"), "\\n\n\\x20\nh\ni\nl\no\n");
  const std::vector<nlohmann::json> log = log_of(run);
  EXPECT_EQ(log.back().at("split"), "test");
  EXPECT_LE(log.back().at("cer").get<double>(), 5);
  EXPECT_TRUE(log.back().contains("wer"));

  const auto json = json_of_lm({"eval", run, "--split", "test", "--threads", "1"});
  EXPECT_EQ(json.at("utterances"), 12);
  EXPECT_EQ(json.at("cer"), log.back().at("cer"));
  EXPECT_EQ(json.at("nats"), log.back().at("nats"));
  EXPECT_EQ(json.at("characters").at("of"), log.back().at("characters"));
  EXPECT_EQ(json.at("symbols"), log.back().at("characters"));
  EXPECT_FALSE(json.contains("stand_in"));
  expect_contains(output_of_lm({"eval", run}), "15 utterances, decoded by greedy search\nCER ");
  // Kept: two by the training, then these two.
  EXPECT_EQ(lines_of(run + "/evaluations.jsonl"), 4u);

  const std::string test = bytes_of_file(data.path("data/test.tsv"));
  const std::string file = data.path("data/" + test.substr(0, test.find('\t')));
  const std::size_t second = test.find('\t', test.find('\t') + 1) + 1;
  const std::string said = test.substr(second, test.find('\n') - second);
  EXPECT_EQ(output_of_lm({"transcribe", run, file}), said + "\n");
  EXPECT_EQ(output_of_lm({"transcribe", run, file, file, "--beam", "4"}), said + "\n" + said + "\n");
  const auto transcribed = json_of_lm({"transcribe", run, file});
  EXPECT_EQ(transcribed.at("recordings")[0].at("transcript"), said);
  EXPECT_LE(transcribed.at("recordings")[0].at("log_probability").get<double>(), 0);

  expect_contains(output_of_lm({"info", run}), "bidirectional 1 x 16 gru, CTC");
  EXPECT_EQ(json_of_lm({"table", run}).at("runs")[0].at("test").at("cer"), json.at("cer"));
  expect_contains(output_of_lm({"table", run}), "CER");
  EXPECT_EQ(output_of_lm({"info", run, "--verify"}).find("broken"), std::string::npos);
}

TEST_F(SpeechRun, SearchesWithAnNgramModel) {
  ToneData data;
  const std::string run = data.path("run");
  output_of_lm(data.train("run", {"--epochs", "2"}));
  write_bytes(data.path("text.txt"), "lo hi\nhi\nlo\nhi lo lo\n");
  write_bytes(data.path("only.txt"), "lo\nlo lo\n");
  for (const std::string name : {"text", "only"}) {
    fs::create_directory(data.path(name));
    for (const char* split : {"train", "valid"})
      fs::copy_file(data.path(name + ".txt"), data.path(name + "/" + split + ".txt"));
    output_of_lm({"ngram", "--data", data.path(name), "--order", "1", "--out", data.path(name + ".arpa")});
  }
  const auto tuned = json_of_lm({"eval", run, "--tune", "--set", "decoding.beam=8", "--set",
                                 "decoding.ngram=" + data.path("text.arpa"), "--threads", "1"});
  expect_contains(tuned.at("read"), "a beam of 8 with " + data.path("text.arpa"));
  EXPECT_LE(tuned.at("wer").get<double>(),
            json_of_lm({"eval", run, "--threads", "1"}).at("wer").get<double>());
  EXPECT_EQ(tuned.at("tuned_on_valid").at("wer"), tuned.at("wer"));

  // A model that knows one word alone, with a large weight, lets nothing else be heard.
  const std::string file = data.path("data/1.wav");
  const std::string heard =
      output_of_lm({"transcribe", run, file, "--ngram", data.path("only.arpa"), "--ngram-weight", "50"});
  EXPECT_EQ(heard.find("hi"), std::string::npos) << heard;

  expect_refused(run_lm({"transcribe", run, file, "--ngram-weight", "2"}), "give --ngram FILE");
  expect_refused(run_lm({"transcribe", run, file, "--ngram", data.path("only.arpa"), "--beam", "1"}),
                 "give --beam 2 or more");
  expect_refused(run_lm({"eval", run, "--tune"}), "--tune searches the weights of an n-gram model");
  expect_refused(run_lm({"eval", run, "--set", "decoding.ngram=x.arpa"}), "set decoding.beam above 1");
  expect_refused(run_lm({"eval", run, "--set", "decoding.beam=4", "--set", "decoding.ngram=x.arpa"}),
                 "x.arpa");
  expect_refused(run_lm({"eval", run, "--set", "model.layers=3"}), "only settings of [decoding] can change");
}

TEST_F(SpeechRun, ResumesToTheSameBytes) {
  ToneData data;
  const Words by_corpus{"--set", "data.normalized_by=corpus"};
  output_of_lm(data.train("whole", by_corpus));
  Words words = data.train("killed", by_corpus);
  for (const std::size_t lines : {1, 15, 30}) {
    Program program(words);
    const bool runs = program.wait_until([&] {
      return fs::exists(data.path("killed/log.jsonl")) && lines_of(data.path("killed/log.jsonl")) >= lines;
    });
    ASSERT_TRUE(runs) << "ended before it could be interrupted";
    // In the middle of an epoch the state is saved by a signal only; a kill goes back to the last epoch.
    const int signal = lines == 15 ? SIGTERM : SIGKILL;
    ASSERT_EQ(program.end(signal).status, 128 + signal);
    words = {"train", "--out", data.path("killed"), "--resume", "--threads", "1"};
  }
  output_of_lm(words);
  for (const char* file : {"model.safetensors", "frames.txt", "vocab.txt"})
    EXPECT_EQ(bytes_of_file(data.path("killed/") + file), bytes_of_file(data.path("whole/") + file)) << file;
  EXPECT_EQ(log_of(data.path("killed")), log_of(data.path("whole")));
  write_bytes(data.path("whole/frames.txt"), "1\n");
  expect_refused(run_lm({"eval", data.path("whole")}), "not the vocabulary that this run was made with");
}

TEST_F(SpeechRun, LeavesOutWhatIsTooShort) {
  ToneData data;
  const std::string train = bytes_of_file(data.path("data/train.tsv"));
  write_bytes(data.path("data/train.tsv"), train + "1.wav\tann\t" + std::string(60, 'h') + "\n");
  const std::string valid = bytes_of_file(data.path("data/valid.tsv"));
  write_bytes(data.path("data/valid.tsv"), valid + "1.wav\tann\t" + std::string(60, 'h') + "\n");
  expect_contains(output_of_lm(data.train("run", {"--epochs", "1"})),
                  "1 training utterances have fewer steps than their transcripts need, and are left out");
  const auto json = json_of_lm({"eval", data.path("run")});
  EXPECT_EQ(json.at("impossible"), 1);
  EXPECT_EQ(json.at("symbols").get<int>() + 60, json.at("characters").at("of"));
  EXPECT_EQ(json.at("utterances"), 16);
  EXPECT_TRUE(std::isfinite(json.at("nats").get<double>()));
  expect_contains(output_of_lm({"eval", data.path("run")}), "without 1 utterances that have fewer steps");
}

TEST_F(SpeechRun, SaysWhereTheCorpusIsAStandIn) {
  const TemporaryFolder folder;
  for (const int digit : {1, 2})
    for (int index = 0; index < 14; ++index)
      for (const char* speaker : {"ann", "bob"})
        write_bytes(folder / fmt::format("{}_{}_{}.wav", digit, speaker, index),
                    wav_of(tone(800, digit == 1 ? 0.2 : 0.05, 5000 + 100 * index)));
  write_bytes(folder / "toy.toml", speech_recipe);
  const std::string run = folder / "run";
  const std::string told = output_of_lm({"train", "--recipe", folder / "toy.toml", "--data", folder.path(),
                                         "--out", run, "--epochs", "1", "--threads", "1", "--set",
                                         "data.source=digits", "--set", "data.held_out_speakers=[\"bob\"]"});
  expect_contains(told, "a stand-in for");
  expect_contains(output_of_lm({"eval", run, "--split", "test"}), "a stand-in for");
  expect_contains(json_of_lm({"eval", run}).at("stand_in"), "a stand-in for");
  const auto speakers = json_of_lm({"eval", run, "--split", "speakers"});
  EXPECT_EQ(json_of_lm({"table", run}).at("runs")[0].at("speakers").at("cer"), speakers.at("cer"));
}

TEST_F(SpeechRun, BadInputIsRefusedBeforeARunIsMade) {
  ToneData data;
  const auto refused = [&](const Words& more, const std::string& part) {
    expect_refused(run_lm(data.train("new", more)), part);
    EXPECT_FALSE(fs::exists(data.path("new")));
  };
  refused({"--set", "data.sample_rate=16000"}, "8000 samples a second, and this corpus has 16000");
  refused({"--set", "data.highest=5000"}, "toy.toml: data.highest = 5000: 8000 samples a second");
  refused({"--set", "data.held_out_speakers=[\"ann\"]"}, "held_out_speakers is for data.source");
  refused({"--set", "data.source=digits"}, "no recordings of digits");
  refused({"--set", "model.hidden=7"}, "give an even number");
  refused({"--set", "model.embedding=7"}, "model.embedding");
  refused({"--set", "model.hidden=1000000"}, "training would take about");
  refused({"--set", "decoding.ngram=x.arpa"}, "set decoding.beam above 1");
  refused({"--set", "decoding.ngram=x.arpa", "--set", "decoding.beam=4"}, "x.arpa");
  expect_refused(run_lm({"train", "--recipe", data.path("toy.toml"), "--out", data.path("new")}), "--data");
  const std::string valid = bytes_of_file(data.path("data/valid.tsv"));
  write_bytes(data.path("data/valid.tsv"), "1.wav\tann\tlox\n");
  refused({}, "valid.tsv: line 1: the transcript has 'x'");
  write_bytes(data.path("data/valid.tsv"), valid);
  const std::string wav = bytes_of_file(data.path("data/1.wav"));
  write_bytes(data.path("data/1.wav"), wav.substr(0, 500));
  refused({}, "1.wav: truncated");
}

TEST_F(SpeechRun, OtherCommandsRefuseIt) {
  ToneData data;
  const std::string run = data.path("run"), file = data.path("data/1.wav");
  output_of_lm(data.train("run", {"--epochs", "1"}));
  for (const Words& words : std::vector<Words>{
           {"generate", run}, {"score", run}, {"translate", run}, {"classify", run}, {"finetune", run}})
    expect_refused(run_lm(words), "speech");
  for (const Words& more : std::vector<Words>{{"--dynamic"}, {"--streams", "2"}, {"--text", file}}) {
    Words words{"eval", run};
    words.insert(words.end(), more.begin(), more.end());
    expect_refused(run_lm(words), more.front() + ": is for language models");
  }
  expect_refused(run_lm({"eval", run, "--split", "speakers"}),
                 "no split 'speakers': this corpus has train, valid, test");
  expect_refused(run_lm({"transcribe"}), "lm transcribe runs/speech-digits-1 FILE.wav");
  expect_refused(run_lm({"transcribe", run}), "no recording given");
  const Result missing = run_lm({"transcribe", run, file, "nowhere.wav"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.out, "");
  expect_contains(missing.err, "nowhere.wav");
  write_bytes(data.path("other.wav"), wav_of(tone(900, 0.1), 16000));
  expect_refused(run_lm({"transcribe", run, data.path("other.wav")}), "16000 samples a second");
}

// A value of each key that changes what a training of a few steps does.
TEST_F(SpeechRun, EachKeyOfItsSectionsHasAnEffect) {
  ToneData data;
  const auto log = [&](const Words& settings) {
    static int number = 0;
    const std::string name = fmt::format("run-{}", ++number);
    Words words{"--epochs", "1"};
    for (const std::string& it : settings) words.insert(words.end(), {"--set", it});
    output_of_lm(data.train(name, words));
    std::string told;
    for (const nlohmann::json& entry : log_of(data.path(name))) told += entry.dump() + '\n';
    return sha256_hex(told);  // a failure prints it
  };
  const std::string plain = log({});
  const std::vector<Words> changes = {{"data.window=20"},
                                      {"data.step=12"},
                                      {"data.filters=7"},
                                      {"data.lowest=100"},
                                      {"data.highest=3000"},
                                      {"data.energy=true"},
                                      {"data.normalized_by=corpus"},
                                      {"data.deltas=0"},
                                      {"data.stack=1"},
                                      {"model.cell=lstm"},
                                      {"model.hidden=14"},
                                      {"model.layers=2"},
                                      {"model.bidirectional=false"},
                                      {"model.dropout=0.4"},
                                      {"model.variational=true"},
                                      {"model.init_all=0.2"},
                                      {"model.weight_drop=0.3"},
                                      {"train.batch=8"},
                                      {"train.batch_by=symbols", "train.batch=200"}};
  for (const Words& settings : changes) EXPECT_NE(log(settings), plain) << settings.front();
  EXPECT_EQ(log({}), plain) << "else any setting would pass";
}

}  // namespace
}  // namespace rondo
