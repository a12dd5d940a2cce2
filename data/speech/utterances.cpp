// A corpus of speech; see data/speech/utterances.h.
#include "data/speech/utterances.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <system_error>

namespace rondo {

namespace fs = std::filesystem;

namespace {

Utterance utterance_of(std::string_view line, const std::string& name, const fs::path& folder) {
  const std::vector<std::string_view> fields = split_fields(line);
  check_input(fields.size() == 3, "{}: expected FILE.wav<TAB>SPEAKER<TAB>TRANSCRIPT, and it has {} tabs",
              name, fields.size() - 1);
  const std::string_view file = fields[0], speaker = fields[1], transcript = stripped(fields[2]);
  check_input(!file.empty() && !speaker.empty(), "{}: no {}", name, file.empty() ? "file" : "speaker");
  check_input(!transcript.empty(), "{}: no transcript", name);
  check_input(std::ranges::none_of(transcript, [](char c) { return c >= 0 && c < ' '; }),
              "{}: a transcript with a control character", name);
  const fs::path path = folder / file;
  check_input(file_is_there(path), "{}: there is no file {}", name, printable(path.string()));
  const InputFile opened(path);  // refuses a folder
  return {name, std::string(speaker), std::string(transcript), {path.string()}};
}

SpeechText read_table(const fs::path& file, SpeechCorpus& corpus) {
  const Text table = read_sentences(file, Unit::characters);
  corpus.files.push_back({table.name, table.sha256});
  corpus.notes.insert(corpus.notes.end(), table.notes.begin(), table.notes.end());
  SpeechText text{.name = table.name};
  std::int64_t number = 0;
  const std::string left_out = use_each(split_lines(table.content), "lines", [&](std::string_view line) {
    const std::string name = fmt::format("{}: line {}", table.name, ++number);
    text.utterances.push_back(utterance_of(line, name, file.parent_path()));
  });
  if (!left_out.empty()) corpus.notes.push_back(left_out);
  return text;
}

SpeechCorpus corpus_of_tables(const fs::path& folder) {
  SpeechCorpus corpus;
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    const fs::path file = plain_or_packed(folder / (name_of(split) + ".tsv"));
    if (split == Split::test && !file_is_there(file)) continue;
    check_is_there(
        file,
        ": a line for each utterance, FILE.wav<TAB>SPEAKER<TAB>TRANSCRIPT (for a folder of digits set "
        "data.source = \"digits\")");
    corpus.splits[name_of(split)] = read_table(file, corpus);
  }
  return corpus;
}

constexpr std::array<std::string_view, 10> words = {"zero", "one", "two",   "three", "four",
                                                    "five", "six", "seven", "eight", "nine"};

/// A recording of the Free Spoken Digit Dataset, by its name.
struct SpokenDigit {
  std::string path, speaker;
  std::size_t digit;
  std::int64_t index;
};
std::optional<SpokenDigit> digit_of(const fs::path& path) {
  static const std::regex form("([0-9])_(.+)_([0-9]{1,6})\\.wav");
  const std::string name = path.filename().string();
  std::smatch parts;
  if (!std::regex_match(name, parts, form)) return std::nullopt;
  return SpokenDigit{path.string(), parts[2], std::stoul(parts[1]), std::stoll(parts[3])};
}

/// By speaker, in the order of their names.
std::map<std::string, std::vector<SpokenDigit>> digits_of(const fs::path& folder) {
  std::map<std::string, std::vector<SpokenDigit>> digits;
  std::error_code failure;
  for (const fs::directory_entry& it : fs::directory_iterator(folder, failure))
    if (auto digit = digit_of(it.path())) digits[digit->speaker].push_back(std::move(*digit));
  check_input(!failure, "{}: cannot be read: {}", printable(folder.string()), failure.message());
  check_input(!digits.empty(), "{}: no recordings of digits, which are called DIGIT_SPEAKER_INDEX.wav",
              printable(folder.string()));
  for (auto& [speaker, of_speaker] : digits) std::ranges::sort(of_speaker, {}, &SpokenDigit::path);
  return digits;
}

/// Adds utterances that have each recording once.
void add_strings(SpeechText& text, std::vector<SpokenDigit> digits, std::int64_t longest,
                 std::mt19937_64& random) {
  shuffle(digits, random);
  for (std::size_t at = 0; at < digits.size();) {
    const std::size_t length = 1 + random() % static_cast<std::uint64_t>(longest);
    Utterance it{"", digits[at].speaker, "", {}};
    for (const std::size_t end = std::min(at + length, digits.size()); at < end; ++at) {
      if (!it.transcript.empty()) it.transcript += ' ';
      it.transcript += words[digits[at].digit];
      it.files.push_back(digits[at].path);
    }
    it.name = fmt::format("{}", fmt::join(it.files, " + "));
    text.utterances.push_back(std::move(it));
  }
}

SpeechCorpus corpus_of_digits(const fs::path& given, const SpeechOptions& options) {
  const fs::path folder = file_is_there(given / "recordings") ? given / "recordings" : given;
  std::map<std::string, std::vector<SpokenDigit>> digits = digits_of(folder), held_out;
  for (const std::string& speaker : options.held_out_speakers) {
    check_input(digits.contains(speaker), "held_out_speakers: there is no {}, or it is named twice", speaker);
    held_out.insert(digits.extract(speaker));
  }
  check_input(!digits.empty(),
              "held_out_speakers: all speakers are held out, and so nobody is left to train");
  SpeechCorpus corpus;
  std::mt19937_64 random = epoch_generator(0, 0);
  const auto strings = [&](const std::string& name, const auto& speakers, std::int64_t times,
                           std::int64_t begin, std::int64_t end) {
    SpeechText& text = corpus.splits[name] = {.name = fmt::format("{} ({})", folder.string(), name)};
    for (std::int64_t time = 0; time < times; ++time)
      for (const auto& [speaker, all] : speakers) {
        std::vector<SpokenDigit> some;
        for (const SpokenDigit& it : all)
          if (it.index >= begin && it.index < end) some.push_back(it);
        add_strings(text, std::move(some), options.longest, random);
      }
    check_input(!text.utterances.empty(), "{}: no recordings of the indices {} and above, for {}",
                folder.string(), begin, name);
  };
  constexpr std::int64_t all = 1'000'000;
  strings("test", digits, 1, 0, 5);
  strings("valid", digits, 1, 5, 10);
  if (!held_out.empty()) strings("speakers", held_out, 1, 0, all);
  strings("train", digits, options.repeats, 10, all);
  corpus.stand_in = "strings of spoken digits, a stand-in for the Wall Street Journal corpus of the paper";
  corpus.notes.push_back(fmt::format("{}: {}", folder.string(), corpus.stand_in));
  return corpus;
}

/// The frames of all recordings of an utterance, one after the other.
Frames frames_of(const std::vector<std::string>& files, Filterbank& filterbank) {
  std::vector<float> samples;
  for (const std::string& file : files) {
    const std::vector<float> recording = read_recording(file, filterbank.options().sample_rate);
    samples.insert(samples.end(), recording.begin(), recording.end());
  }
  Frames frames{width_of(filterbank.options()), filterbank(samples)};
  check_input(frames.size() > 0, "{}: {} samples are shorter than a frame (data.window)",
              fmt::join(files, " + "), samples.size());
  return frames;
}

}  // namespace

Keys keys_of(SpeechOptions& it) {
  return {
      {"source", choice(it.source),
       "files: train.tsv, valid.tsv and perhaps test.tsv in the data folder, with lines FILE.wav, SPEAKER, "
       "TRANSCRIPT, separated by tabs; digits: recordings DIGIT_SPEAKER_INDEX.wav, joined to utterances"},
      {"repeats", &it.repeats, between(1, 10'000), "times",
       "with data.source = \"digits\": how often the training text has each recording"},
      {"longest", &it.longest, between(1, 1000), "digits", "with data.source = \"digits\": of an utterance"},
      {"held_out_speakers", &it.held_out_speakers,
       "with data.source = \"digits\": speakers of the split `speakers`, which the others then lack"},
  };
}

void check_options(const SpeechOptions& options) {
  check_limits_of(options);
  check_input(options.source == SpeechSource::digits || options.held_out_speakers.empty(),
              "held_out_speakers is for data.source = \"digits\": in files, test.tsv says who speaks");
}

const SpeechText& SpeechCorpus::at(std::string_view split) const {
  const auto found = splits.find(split);
  check_input(found != splits.end(), "this corpus has no split '{}'", split);
  return found->second;
}

SpeechCorpus open_speech(const fs::path& folder, const SpeechOptions& options) {
  check_options(options);
  if (!has_audio()) throw_no_audio();
  check_is_folder(folder);
  SpeechCorpus corpus =
      options.source == SpeechSource::digits ? corpus_of_digits(folder, options) : corpus_of_tables(folder);
  std::set<std::string> recordings;  // of all splits, each once, in the order of their paths
  for (const auto& [name, text] : corpus.splits)
    for (const Utterance& it : text.utterances) recordings.insert(it.files.begin(), it.files.end());
  Sha256 digest;
  for (const std::string& file : recordings) digest.update(sha256_hex(InputFile(file)));
  corpus.files.push_back(
      {fmt::format("{} ({} recordings)", folder.string(), recordings.size()), digest.hex()});
  return corpus;
}

Vocabulary speech_vocabulary(const SpeechText& train) {
  std::set<std::string> symbols;
  Vocabulary vocabulary({.unit = Unit::characters});
  for (const Utterance& it : train.utterances) {
    SymbolReader reader(it.transcript, vocabulary.tokenization(), it.name);
    while (const auto symbol = reader.next()) symbols.emplace(*symbol);
  }
  vocabulary.add("\n");
  for (const std::string& symbol : symbols) vocabulary.add(symbol);
  return vocabulary;
}

FrameStatistics statistics_of(const SpeechText& text, const FilterbankOptions& options) {
  Filterbank filterbank(options);
  FrameStatistics statistics;
  use_each(text.utterances, "utterances",
           [&](const Utterance& it) { statistics.add(frames_of(it.files, filterbank)); });
  return statistics;
}

Utterances read_utterances(const SpeechText& text, const Vocabulary& vocabulary, const FrameOptions& options,
                           const FrameStatistics* statistics,
                           const std::function<void(std::int64_t)>& progress) {
  Utterances read{.options = options, .vocabulary = &vocabulary};
  Filterbank filterbank(options.filterbank);
  std::map<std::string, FrameStatistics> of_speaker;
  std::vector<std::vector<std::int32_t>> labels;
  for (const Utterance& it : text.utterances)
    labels.push_back(vocabulary.encode(it.transcript, it.name, LastLine::goes_on).ids);
  std::size_t next = 0;
  read.left_out = use_each(text.utterances, "utterances", [&](const Utterance& it) {
    const std::size_t place = next++;
    read.frames.push_back(frames_of(it.files, filterbank));
    read.labels.push_back(std::move(labels[place]));
    read.transcripts.push_back(it.transcript);
    read.places.push_back(place);
    of_speaker[it.speaker].add(read.frames.back());
    if (progress) progress(read.size());
  });
  for (std::size_t i = 0; i < read.frames.size(); ++i)
    (statistics ? *statistics : of_speaker.at(text.utterances[read.places[i]].speaker))
        .normalize(read.frames[i]);
  return read;
}

// --- Batches ---

std::int64_t Utterances::scored() const {
  std::int64_t all = 0;
  for (const std::vector<std::int32_t>& it : labels) all += std::ssize(it);
  return all;
}

void fill_batch(UtteranceBatch& batch, const Utterances& utterances, const SentenceBatchOptions& /*options*/,
                std::span<const std::int64_t> whole, const BatchOrder& /*order*/) {
  for (const std::int64_t i : whole) batch.scored += utterances.lengths(i).second;
  const std::span<const std::int64_t> chosen = batch.share.of(whole);
  batch.indices.assign(chosen.begin(), chosen.end());
  for (const std::int64_t i : chosen) {
    batch.lengths.push_back(utterances.steps(i));
    batch.labels.push_back(utterances.labels[static_cast<std::size_t>(i)]);
  }
  batch.steps = longest_of(batch.lengths);
  batch.utterances = std::ssize(chosen);
  batch.width = width_of(utterances.options);
  batch.frames.resize(static_cast<std::size_t>(batch.steps * batch.utterances * batch.width));
  for (std::int64_t b = 0; b < batch.utterances; ++b) {
    const Frames& frames =
        utterances.frames[static_cast<std::size_t>(batch.indices[static_cast<std::size_t>(b)])];
    const Frames steps = steps_of(frames, utterances.options);
    for (std::int64_t t = 0; t < steps.size(); ++t)
      std::copy_n(steps[t], batch.width, batch.frames.data() + (t * batch.utterances + b) * batch.width);
  }
}

}  // namespace rondo
