// The sets of sentences that vectors are measured on.
#include "lm/program/sentence_sets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "data/input_file.h"
#include "data/labelled_sentences.h"
#include "data/sentence_pairs.h"
#include "data/text.h"
#include "lm/evaluation/sentence_tasks.h"
#include "tensor/error.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

/// A set and its files, of one split each.
struct KnownSet {
  const char* name;
  SentenceSetKind kind;
  std::vector<std::string> files;
};

const std::vector<KnownSet>& known_sets() {
  using enum SentenceSetKind;
  static const std::vector<KnownSet> sets{
      {"SICK", relatedness, {"SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"}},
      {"MSRP", paraphrase, {"msr_paraphrase_train.txt", "msr_paraphrase_test.txt"}},
      {"pairs", paraphrase, {"pairs.train.tsv", "pairs.test.tsv"}},
      {"MR", classification, {"rt-polarity.all"}},
      {"CR", classification, {"custrev.all"}},
      {"SUBJ", classification, {"subj.all"}},
      {"MPQA", classification, {"mpqa.all"}},
      {"TREC", classification, {"TREC.train.all", "TREC.test.all"}},
  };
  return sets;
}

SentenceSplit split_of(JudgedPairs pairs, SentenceSetKind kind) {
  SentenceSplit split{std::move(pairs.first), std::move(pairs.second)};
  if (kind == SentenceSetKind::relatedness) {
    split.scores = std::move(pairs.judgments);
  } else {
    for (const double it : pairs.judgments) split.labels.push_back(it >= 1 ? 1 : 0);
  }
  return split;
}

/// Pairs are related by 1 to 5, or are paraphrases, 1, or not, 0.
void add_pairs(SentenceSet& set, const fs::path& file) {
  JudgedPairs pairs = set.kind == SentenceSetKind::relatedness
                          ? read_judged_pairs(file, sick_columns, 1, 5)
                          : read_judged_pairs(file, paraphrase_columns, 0, 1, true);
  if (set.kind != SentenceSetKind::relatedness) {
    const std::vector<double>& all = pairs.judgments;
    for (const double it : all)
      check_input(it == 0 || it == 1, "{}: a judgment of {}, which is neither 0 nor 1", file.string(), it);
    const bool is_train = set.splits.empty();
    check_input(!is_train || std::count(all.begin(), all.end(), all.front()) < std::ssize(all),
                "{}: all pairs are judged {}, and a classifier learns from both", file.string(), all.front());
  }
  set.sha256.push_back(pairs.sha256 + "  " + file.string());
  set.splits.push_back(split_of(std::move(pairs), set.kind));
}

/// These files are distributed in UTF-8, or in Latin-1 without saying so.
Encoding encoding_of(const fs::path& file) {
  const std::string raw = read_regular_file(file, std::numeric_limits<std::uint64_t>::max());
  return replace_invalid_utf8(raw) == raw ? Encoding::utf8 : Encoding::windows_1252;
}

/// Leaves out lines of a label alone, as CR has one.
Text without_empty_sentences(Text text) {
  std::string kept;
  std::int64_t left_out = 0;
  for (const std::string_view line : split_lines(text.content)) {
    const std::string_view bare = stripped(line);
    const bool has_sentence = std::any_of(bare.begin(), bare.end(), is_space);
    left_out += !has_sentence;
    if (has_sentence) kept.append(line).append("\n");
  }
  if (left_out > 0)
    fmt::print(stderr, "lm: {}: {} lines without a sentence are left out\n", text.name, left_out);
  text.content = std::move(kept);
  return text;
}

void add_labelled(SentenceSet& set, const std::vector<fs::path>& files) {
  std::vector<LabelledText> texts;
  for (const fs::path& file : files) {
    texts.push_back(
        labelled_text(without_empty_sentences(read_labelled_file(file, encoding_of(file), Unit::words))));
    set.sha256.push_back(texts.back().sentences.sha256 + "  " + file.string());
  }
  const Labels labels(texts.front());
  set.classes = labels.size();
  for (const LabelledText& text : texts) {
    SentenceSplit split;
    for (const std::string_view line : split_lines(text.sentences.content))
      split.sentences.emplace_back(line);
    for (std::size_t i = 0; i < text.labels.size(); ++i) {
      const auto id = labels.id(text.labels[i]);
      check_input(id.has_value(), "{}: line {}: no sentence of {} has the label '{}'", text.sentences.name,
                  text.lines[i], texts.front().sentences.name, excerpt(text.labels[i]));
      split.labels.push_back(*id);
    }
    set.splits.push_back(std::move(split));
  }
}

SentenceSet read_set(const KnownSet& known, const fs::path& folder) {
  SentenceSet set{known.name, known.kind};
  std::vector<fs::path> files;
  for (const std::string& name : known.files) {
    files.push_back(folder / name);
    check_input(file_is_there(files.back()), "{}: missing; {} consists of {}",
                printable(files.back().string()), known.name, fmt::join(known.files, ", "));
  }
  if (set.kind == SentenceSetKind::classification)
    add_labelled(set, files);
  else
    for (const fs::path& file : files) add_pairs(set, file);
  const std::int64_t trained_on = std::ssize(set.splits.front().sentences);
  check_input(set.kind == SentenceSetKind::relatedness || trained_on >= cross_validation_folds,
              "{}: {} {}, and cross-validation in {} parts needs {} or more",
              printable(files.front().string()), trained_on,
              set.kind == SentenceSetKind::classification ? "sentences" : "pairs", cross_validation_folds,
              cross_validation_folds);
  return set;
}

}  // namespace

std::vector<SentenceSet> read_sentence_sets(const std::vector<std::string>& folders) {
  std::vector<SentenceSet> sets;
  for (const std::string& folder : folders) {
    std::error_code ignored;
    check_input(fs::is_directory(folder, ignored), "{}: no such folder", printable(folder));
    const std::size_t before = sets.size();
    std::vector<std::string> names;
    for (const KnownSet& known : known_sets()) {
      names.insert(names.end(), known.files.begin(), known.files.end());
      const bool is_there = std::any_of(known.files.begin(), known.files.end(), [&](const std::string& file) {
        return file_is_there(fs::path(folder) / file);
      });
      if (is_there) sets.push_back(read_set(known, folder));
    }
    check_input(sets.size() > before, "{}: none of the known sets of sentences is here: {}",
                printable(folder), fmt::join(names, ", "));
  }
  return sets;
}

}  // namespace rondo
