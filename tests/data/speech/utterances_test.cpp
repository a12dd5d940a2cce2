// Corpora of speech: tables, strings of digits, and their batches.
#include "data/speech/utterances.h"

#include <map>
#include <set>

#include "tests/data/speech/wav.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr FilterbankOptions few_filters{.sample_rate = 8000, .filters = 4};

class SpeechFolder {
 public:
  SpeechFolder() {
    for (const char* name : {"a.wav", "b.wav", "c.wav"})
      write_bytes(folder_ / name, wav_of(tone(900 + 100 * static_cast<std::size_t>(name[0] - 'a'), 0.1,
                                              2000 * (name[0] - 'a' + 1))));
    write_bytes(folder_ / "train.tsv", "a.wav\tann\tyes no\nb.wav\tbob\t  no  \n");
    write_bytes(folder_ / "valid.tsv", "c.wav\tann\tyes\n");
  }
  void write(const std::string& name, const std::string& text) const { write_bytes(folder_ / name, text); }
  SpeechCorpus open() const { return open_speech(folder_.path(), {}); }
  std::string refusal(const std::string& table) const {
    write("valid.tsv", table);
    return error_of<InputError>([&] { open(); });
  }

 private:
  TemporaryFolder folder_;
};

TEST(Utterances, AreReadFromTables) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const SpeechFolder folder;
  const SpeechCorpus corpus = folder.open();
  EXPECT_TRUE(corpus.stand_in.empty());
  EXPECT_FALSE(corpus.has("test"));
  const SpeechText& train = corpus.at("train");
  ASSERT_EQ(train.utterances.size(), 2u);
  EXPECT_EQ(train.utterances[1].speaker, "bob");
  EXPECT_EQ(train.utterances[1].transcript, "no");
  EXPECT_EQ(corpus.files.size(), 3u) << "two tables, and the recordings as one";
  const Vocabulary vocabulary = speech_vocabulary(train);
  EXPECT_EQ(vocabulary.to_text(), "\\n\n\\x20\ne\nn\no\ns\ny\n");

  const Utterances read =
      read_utterances(corpus.at("valid"), vocabulary, {.filterbank = few_filters, .deltas = 0}, nullptr);
  EXPECT_EQ(read.labels, (std::vector<std::vector<std::int32_t>>{{6, 2, 5}}));
  EXPECT_EQ(read.frames.at(0).size(), (1100 - 200) / 80 + 1);
  expect_contains(error_of<InputError>([&] { corpus.at("test"); }), "this corpus has no split 'test'");

  // Another recording gives another digest.
  folder.write("b.wav", wav_of(tone(1000, 0.2)));
  EXPECT_NE(folder.open().files.back().sha256, corpus.files.back().sha256);
}

TEST(Utterances, AreRefusedInOneLine) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const SpeechFolder folder;
  expect_contains(folder.refusal("c.wav ann yes\n"),
                  "valid.tsv: line 1: expected FILE.wav<TAB>SPEAKER<TAB>TRANSCRIPT, and it has 0 tabs");
  expect_contains(folder.refusal("c.wav\tann\t \n"), "valid.tsv: line 1: no transcript");
  expect_contains(folder.refusal("c.wav\t\tyes\n"), "valid.tsv: line 1: no speaker");
  expect_contains(folder.refusal("x.wav\tann\tyes\n"), "valid.tsv: line 1: there is no file");
  expect_contains(folder.refusal("c.wav\tann\ty\tes\n"),
                  "valid.tsv: line 1: expected FILE.wav<TAB>SPEAKER<TAB>TRANSCRIPT, and it has 3 tabs");
  expect_contains(folder.refusal("c.wav\tann\t\xff\n"), "not UTF-8");
  expect_contains(error_of<InputError>([] { open_speech("nowhere", {}); }), "nowhere: no such folder");

  // Found when the recordings are read.
  folder.write("valid.tsv", "c.wav\tann\tyex\n");
  const SpeechCorpus corpus = folder.open();
  const Vocabulary vocabulary = speech_vocabulary(corpus.at("train"));
  const FrameOptions frames{.filterbank = few_filters};
  expect_contains(
      error_of<InputError>([&] { read_utterances(corpus.at("valid"), vocabulary, frames, nullptr); }),
      "valid.tsv: line 1: 'x' is not in the vocabulary");
  folder.write("a.wav", wav_of(tone(150, 0.1)));
  folder.write("b.wav", wav_of(std::vector<int>(500, 3)));
  const std::string refusal =
      error_of<InputError>([&] { read_utterances(corpus.at("train"), vocabulary, frames, nullptr); });
  expect_contains(refusal, "a.wav: 150 samples are shorter than a frame");
  expect_contains(refusal, "b.wav: silent");
  expect_contains(error_of<InputError>([] { check_options(SpeechOptions{.held_out_speakers = {"ann"}}); }),
                  "held_out_speakers is for data.source = \"digits\"");
}

TEST(Utterances, AreLeftOutOneByOne) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const SpeechFolder folder;
  const FrameOptions frames{.filterbank = few_filters};
  const std::string good = "a.wav\tann\tyes no\nb.wav\tbob\tno\n";
  const auto read = [&](const std::string& table) {
    folder.write("train.tsv", table);
    const SpeechCorpus corpus = folder.open();
    const FrameStatistics statistics = statistics_of(corpus.at("train"), few_filters);
    return std::pair(corpus, read_utterances(corpus.at("train"), speech_vocabulary(corpus.at("train")),
                                             frames, &statistics));
  };
  const Utterances expected = read(good).second;
  EXPECT_EQ(expected.left_out, "");
  folder.write("silent.wav", wav_of(std::vector<int>(500, 3)));
  const auto [corpus, found] =
      read("silent.wav\tann\tno\nnowhere.wav\tann\tno\n" + good + "silent.wav\tann\tno\n\n");
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found.transcripts, expected.transcripts);
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.places, (std::vector<std::size_t>{1, 2}));
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(found.frames[i].numbers, expected.frames[i].numbers);
  ASSERT_EQ(corpus.notes.size(), 1u);
  expect_contains(corpus.notes[0], "2 of 6 lines are left out: ");
  expect_contains(corpus.notes[0], "train.tsv: line 2: there is no file");
  expect_contains(corpus.notes[0], "train.tsv: line 6: expected FILE.wav");
  expect_contains(found.left_out, "2 of 4 utterances are left out: ");
  expect_contains(found.left_out, "silent.wav: silent: all 500 samples are the same; ");
}

TEST(Utterances, AreNormalizedBySpeakerOrCorpus) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const SpeechFolder folder;
  const SpeechCorpus corpus = folder.open();
  const SpeechText& train = corpus.at("train");
  const Vocabulary vocabulary = speech_vocabulary(train);
  const FrameOptions options{.filterbank = few_filters};
  const FrameStatistics statistics = statistics_of(train, few_filters);
  const auto mean_of = [](const std::vector<Frames>& frames) {
    double sum = 0, count = 0;
    for (const Frames& it : frames)
      for (std::int64_t t = 0; t < it.size(); ++t) sum += static_cast<double>(it[t][0]), count += 1;
    return sum / count;
  };
  const Utterances by_speaker = read_utterances(train, vocabulary, options, nullptr);
  const Utterances by_corpus = read_utterances(train, vocabulary, options, &statistics);
  for (const Frames& of_one : by_speaker.frames) EXPECT_NEAR(mean_of({of_one}), 0, 1e-4);
  EXPECT_NEAR(mean_of(by_corpus.frames), 0, 1e-4);
  EXPECT_GT(std::abs(mean_of({by_corpus.frames[0]})), 1e-4);
}

/// Three speakers with 12 recordings of two digits.
class Digits {
 public:
  Digits() {
    for (const std::string speaker : {"ann", "bob", "cy"})
      for (const int digit : {3, 7})
        for (int index = 0; index < 12; ++index)
          write_bytes(folder_ / fmt::format("{}_{}_{}.wav", digit, speaker, index),
                      wav_of(tone(400 + 10 * static_cast<std::size_t>(index), 0.05)));
    write_bytes(folder_ / "README.wav", "none of them");
  }
  SpeechCorpus open(const SpeechOptions& options) const { return open_speech(folder_.path(), options); }

 private:
  TemporaryFolder folder_;
};

TEST(SpokenDigits, AreSplitByIndexAndSpeaker) {
  if (!has_audio()) GTEST_SKIP() << "built without libsndfile and kissfft";
  const Digits digits;
  const SpeechOptions options{.source = SpeechSource::digits, .repeats = 3, .held_out_speakers = {"bob"}};
  const SpeechCorpus corpus = digits.open(options), again = digits.open(options);
  EXPECT_FALSE(corpus.stand_in.empty());
  // By split: how often each recording is there, which indices, whose.
  std::map<std::string, std::map<std::string, int>> counts;
  for (const std::string split : {"train", "valid", "test", "speakers"}) {
    for (std::size_t i = 0; i < corpus.at(split).utterances.size(); ++i) {
      const Utterance& it = corpus.at(split).utterances[i];
      EXPECT_EQ(it.files, again.at(split).utterances[i].files);
      std::string words;
      for (const std::string& file : it.files) {
        const std::string name = std::filesystem::path(file).stem().string();
        ++counts[split][name];
        EXPECT_NE(name.find("_" + it.speaker + "_"), std::string::npos);
        words += std::string(words.empty() ? "" : " ") + (name[0] == '3' ? "three" : "seven");
      }
      EXPECT_EQ(it.transcript, words);
      EXPECT_LE(it.files.size(), 7u);
    }
  }
  EXPECT_EQ(counts["test"].size(), 2u * 2 * 5);
  EXPECT_EQ(counts["valid"].size(), 2u * 2 * 5);
  EXPECT_EQ(counts["train"].size(), 2u * 2 * 2);
  EXPECT_EQ(counts["speakers"].size(), 2u * 12);
  for (const auto& [split, of_split] : counts)
    for (const auto& [name, count] : of_split) {
      EXPECT_EQ(count, split == "train" ? 3 : 1) << name;
      EXPECT_EQ(name.find("bob") != std::string::npos, split == "speakers") << name;
      const int index = std::stoi(name.substr(name.rfind('_') + 1));
      EXPECT_EQ(index < 5, split == "test" || (split == "speakers" && index < 5)) << name;
      EXPECT_TRUE(split != "train" || index >= 10) << name;
    }

  const auto refusal = [&](const std::vector<std::string>& held_out) {
    return error_of<InputError>(
        [&] { digits.open({.source = SpeechSource::digits, .held_out_speakers = held_out}); });
  };
  expect_contains(refusal({"dan"}), "held_out_speakers: there is no dan");
  expect_contains(refusal({"ann", "bob", "cy"}), "nobody is left to train");
  expect_contains(error_of<InputError>([] {
                    const TemporaryFolder empty;
                    open_speech(empty.path(), {.source = SpeechSource::digits});
                  }),
                  "no recordings of digits, which are called DIGIT_SPEAKER_INDEX.wav");
}

Utterances some_utterances() {
  Utterances utterances;
  for (std::int32_t i = 0; i < 25; ++i) {
    const auto frames = static_cast<std::size_t>(3 + i * 7 % 11);
    utterances.frames.push_back({4, std::vector<float>(frames * 4, static_cast<float>(i + 1))});
    utterances.labels.push_back({i + 1});
    utterances.transcripts.emplace_back("x");
  }
  return utterances;
}

TEST(UtteranceBatches, HaveEachUtteranceOnce) {
  Utterances utterances = some_utterances();
  utterances.options = {.filterbank = few_filters, .deltas = 0, .stack = 2};
  UtteranceBatches batches({.batch = 4}, utterances, 3);
  std::set<std::int64_t> seen;
  for (UtteranceBatch batch; batches.next(batch);) {
    EXPECT_EQ(batch.width, 8);
    EXPECT_LE(batch.utterances, 4);
    for (std::int64_t b = 0; b < batch.utterances; ++b) {
      const std::int64_t i = batch.indices[static_cast<std::size_t>(b)];
      EXPECT_TRUE(seen.insert(i).second);
      EXPECT_EQ(batch.labels[static_cast<std::size_t>(b)],
                (std::vector<std::int32_t>{static_cast<int>(i) + 1}));
      const std::int64_t steps = (utterances.frames[static_cast<std::size_t>(i)].size() + 1) / 2;
      EXPECT_EQ(batch.lengths[static_cast<std::size_t>(b)], steps);
      for (std::int64_t t = 0; t < batch.steps; ++t)
        for (std::int64_t j = 0; j < batch.width; ++j)
          EXPECT_EQ(batch.frames[static_cast<std::size_t>((t * batch.utterances + b) * batch.width + j)],
                    t < steps ? static_cast<float>(i + 1) : 0);
    }
  }
  EXPECT_EQ(seen.size(), 25u);

  UtteranceBatch largest;
  batches.seek_extreme(Extreme::largest);
  ASSERT_TRUE(batches.next(largest));
  EXPECT_EQ(largest.utterances, 4);
  EXPECT_EQ(largest.steps, 7) << "13 frames, two a step";
}

}  // namespace
}  // namespace rondo
