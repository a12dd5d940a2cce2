// Labelled text; see data/sentences/labelled_sentences.h.
#include "data/sentences/labelled_sentences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace rondo {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view blanks = " \t\r\v\f";

/// The characters of Windows-1252 at 0x80 to 0x9f, where Latin-1 has control characters.
constexpr std::array<std::string_view, 32> windows_1252_marks = {
    "€",      "\u0081", "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", "\u008d", "Ž", "\u008f",
    "\u0090", "‘",      "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", "\u009d", "ž", "Ÿ"};

/// Some of the sentences of a text, as a text of its own.
LabelledText part_of(const LabelledText& whole, std::vector<std::size_t> sentences, Split split) {
  std::ranges::sort(sentences);
  const std::vector<std::string_view> all = split_lines(whole.sentences.content);
  LabelledText part;
  part.sentences.name = fmt::format("{} ({})", whole.sentences.name, name_of(split));
  part.sentences.sha256 = whole.sentences.sha256;
  for (const std::size_t i : sentences) {
    part.sentences.content += all[i];
    part.sentences.content += '\n';
    part.labels.push_back(whole.labels[i]);
    part.lines.push_back(whole.lines[i]);
  }
  return part;
}

/// Moves shares of the training text to the splits that have no file.
void hold_out(LabelledTexts& texts, const LabelledFiles& files) {
  const LabelledText whole = std::move(texts.train);
  std::vector<std::size_t> order(whole.labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random = epoch_generator(0, 0);
  shuffle(order, random);
  const auto take = [&](Split split, double share) {
    const auto count =
        static_cast<std::size_t>(std::llround(share * static_cast<double>(whole.labels.size())));
    check_input(
        count > 0 && count < order.size(),
        "{}: a share of {} of its {} sentences cannot be held out (data.{}_share): {} are left, and both "
        "parts need one",
        whole.sentences.name, share, whole.labels.size(), name_of(split), order.size());
    const auto first = order.end() - static_cast<std::ptrdiff_t>(count);
    LabelledText part = part_of(whole, {first, order.end()}, split);
    order.erase(first, order.end());
    texts.notes.push_back(fmt::format("{}: {} of {} sentences are held out as the {} text",
                                      whole.sentences.name, count, whole.labels.size(), name_of(split)));
    return part;
  };
  if (files.valid_share > 0) texts.valid = take(Split::valid, files.valid_share);
  if (files.test_share > 0) texts.test = take(Split::test, files.test_share);
  texts.train = part_of(whole, order, Split::train);
}

}  // namespace

Text read_labelled_file(const fs::path& file, Encoding encoding, Unit unit) {
  if (encoding == Encoding::utf8)
    return read_sentences(file, unit, ", or set data.encoding = \"windows_1252\"");
  Text text = read_text(file);
  text.content = utf8_of_windows_1252(text.content);
  check_sentences(text, unit);
  return text;
}

std::string utf8_of_windows_1252(std::string_view text) {
  std::string utf8;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80)
      utf8 += letter;
    else if (byte < 0xa0)
      utf8 += windows_1252_marks[byte - 0x80];
    else
      utf8 += {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
  }
  return utf8;
}

Keys keys_of(LabelledFiles& files) {
  return {
      {"train_file", &files.train, any_text(), "", "the training text, a file of the data folder"},
      {"valid_file", &files.valid, any_text(), "", "the validation text; empty: see data.valid_share"},
      {"test_file", &files.test, any_text(), "",
       "the test text; empty, or no such file: see data.test_share"},
      {"valid_share", &files.valid_share, from_to_below(0, 1), "share of sentences",
       "of the training text, held out as the validation text; 0: none"},
      {"test_share", &files.test_share, from_to_below(0, 1), "share of sentences",
       "of the training text, held out as the test text; 0: none"},
      {"encoding", choice(files.encoding), "of the files; windows_1252 includes Latin-1"},
  };
}

void check_options(const LabelledFiles& files) {
  check_limits_of(files);
  check_input(!files.train.empty(), "train_file is the name of a file: it cannot be empty");
  check_input(
      !files.valid.empty() || files.valid_share > 0,
      "valid_file is empty and data.valid_share is 0, so there is no validation text: name a file, or hold "
      "out a share of the training text, as in data.valid_share = 0.1");
  check_input(files.valid.empty() || files.valid_share == 0,
              "valid_file and data.valid_share both give the validation text: set data.valid_file = \"\", or "
              "data.valid_share = 0");
  check_input(files.test.empty() || files.test_share == 0,
              "test_file and data.test_share both give the test text: set data.test_file = \"\", or "
              "data.test_share = 0");
  check_input(files.valid_share + files.test_share < 1,
              "valid_share and data.test_share are {} together: nothing is left to train on",
              files.valid_share + files.test_share);
}

LabelledText labelled_text(Text file) {
  LabelledText text;
  std::string sentences;
  std::int64_t line = 0;
  text.left_out = use_each(split_lines(file.content), "lines", [&](std::string_view row) {
    ++line;
    const std::string_view label = row.substr(0, row.find_first_of(blanks));
    const std::string_view sentence = row.substr(std::min(label.size() + 1, row.size()));
    check_input(!label.empty(), "{}: line {}: no label: a line is a label, a space and a sentence", file.name,
                line);
    check_input(sentence.find_first_not_of(blanks) != std::string_view::npos,
                "{}: line {}: no sentence after the label '{}'", file.name, line, excerpt(label));
    text.labels.emplace_back(label);
    text.lines.push_back(line);
    sentences += sentence;
    sentences += '\n';
  });
  text.sentences = std::move(file);
  text.sentences.content = std::move(sentences);
  return text;
}

LabelledTexts open_labelled_texts(const fs::path& folder, const LabelledFiles& files, Unit unit) {
  check_options(files);
  check_is_folder(folder, fmt::format(": labelled text is a folder with {}", printable(files.train)));
  LabelledTexts texts;
  const auto read = [&](Split split, const std::string& name) {
    const fs::path file = plain_or_packed(folder / name);
    check_is_there(file, fmt::format(" (data.{}_file)", name_of(split)));
    texts[split] = labelled_text(texts.record(read_labelled_file(file, files.encoding, unit)));
    if (const std::string& note = texts[split].left_out; !note.empty()) texts.notes.push_back(note);
  };
  read(Split::train, files.train);
  if (!files.valid.empty()) read(Split::valid, files.valid);
  if (!files.test.empty()) {
    if (file_is_there(plain_or_packed(folder / files.test)))
      read(Split::test, files.test);
    else
      texts.notes.push_back(note_of_missing_test(folder / files.test, "data.test_file"));
  }
  if (files.valid_share > 0 || files.test_share > 0) hold_out(texts, files);
  return texts;
}

Vocabulary labels_of(const LabelledText& train) {
  const std::set<std::string> names(train.labels.begin(), train.labels.end());
  check_input(names.size() > 1, "{}: all sentences have the label '{}': nothing to tell apart",
              train.sentences.name, names.empty() ? "" : excerpt(*names.begin()));
  Vocabulary labels(tokenization_of_labels);
  for (const std::string& name : names) labels.add(name);
  return labels;
}

std::vector<std::int32_t> ids_of_labels(const LabelledText& text, const Vocabulary& labels) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < text.labels.size(); ++i) {
    const auto id = labels.id(text.labels[i]);
    check_input(id.has_value(), "{}: line {}: no sentence of the training text has the label '{}'",
                text.sentences.name, text.lines[i], excerpt(text.labels[i]));
    ids.push_back(*id);
  }
  return ids;
}

LabelledSentences encode_labelled(const LabelledText& text, const Vocabulary& vocabulary,
                                  const Vocabulary& labels) {
  const std::vector<std::int32_t> ids = ids_of_labels(text, labels);
  return {encode_sentences(text.sentences.content, text.sentences.name, vocabulary), ids};
}

// --- Batches ---

void fill_batch(LabelledBatch& batch, const LabelledSentences& sentences,
                const SentenceBatchOptions& /*options*/, std::span<const std::int64_t> whole,
                const BatchOrder& /*order*/) {
  const std::span<const std::int64_t> chosen = batch.share.of(whole);
  batch.sentences = padded(sentences.sentences.at(chosen));
  for (const std::int64_t i : chosen) batch.labels.push_back(sentences.labels[static_cast<std::size_t>(i)]);
}

}  // namespace rondo
