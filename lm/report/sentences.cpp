// What the vectors of a run are good for.
#include "lm/report/sentences.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "data/files/input_file.h"
#include "data/sentences/labelled_sentences.h"
#include "data/sentences/tables.h"
#include "data/text/text.h"
#include "lm/evaluation/sentence_tasks.h"
#include "lm/evaluation/skip_thought_evaluation.h"
#include "lm/program/files.h"
#include "lm/program/log.h"
#include "lm/program/terminal.h"
#include "lm/report/evaluation_report.h"
#include "tensor/error.h"

namespace rondo {

// --- Sentence sets ---

namespace {

namespace fs = std::filesystem;

/// A set and its files, of one split each.
struct KnownSet {
  const char* name;
  SentenceSetKind kind;
  std::vector<std::string> files;
};

using enum SentenceSetKind;
const std::vector<KnownSet> known_sets{
    {"SICK", relatedness, {"SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"}},
    {"MSRP", paraphrase, {"msr_paraphrase_train.txt", "msr_paraphrase_test.txt"}},
    {"pairs", paraphrase, {"pairs.train.tsv", "pairs.test.tsv"}},
    {"MR", classification, {"rt-polarity.all"}},
    {"CR", classification, {"custrev.all"}},
    {"SUBJ", classification, {"subj.all"}},
    {"MPQA", classification, {"mpqa.all"}},
    {"TREC", classification, {"TREC.train.all", "TREC.test.all"}},
};

/// Pairs are related by 1 to 5, or are paraphrases, 1, or not, 0.
void add_pairs(SentenceSet& set, const fs::path& file) {
  const bool are_related = set.kind == relatedness;
  JudgedPairs pairs = are_related ? read_judged_pairs(file, sick_columns, 1, 5)
                                  : read_judged_pairs(file, paraphrase_columns, 0, 1, true);
  print_warning(pairs.left_out);
  const double first = pairs.judgments.front();
  const bool are_equal = std::ranges::count(pairs.judgments, first) == pairs.size();
  check_input(
      !are_equal || (!are_related && !set.splits.empty()), "{}: all pairs are judged {}: {}", file.string(),
      first,
      are_related ? "nothing correlates with equal scores" : "a classifier learns from both judgments");
  SentenceSplit split{std::move(pairs.first), std::move(pairs.second)};
  if (are_related) {
    split.scores = std::move(pairs.judgments);
  } else {
    for (const double it : pairs.judgments) {
      check_input(it == 0 || it == 1, "{}: a judgment of {}, which is neither 0 nor 1", file.string(), it);
      split.labels.push_back(static_cast<std::int32_t>(it));
    }
  }
  set.sha256.push_back(pairs.sha256 + "  " + file.string());
  set.splits.push_back(std::move(split));
}

/// These files are distributed in UTF-8, or in Latin-1 without saying so.
Encoding encoding_of(const fs::path& file) {
  const std::string raw = read_file(file);
  return replace_invalid_utf8(raw) == raw ? Encoding::utf8 : Encoding::windows_1252;
}

void add_labelled(SentenceSet& set, const std::vector<fs::path>& files) {
  std::vector<LabelledText> texts;
  for (const fs::path& file : files) {
    texts.push_back(labelled_text(read_labelled_file(file, encoding_of(file), Unit::words)));
    print_warning(texts.back().left_out);
    set.sha256.push_back(texts.back().sentences.sha256 + "  " + file.string());
  }
  const Vocabulary labels = labels_of(texts.front());
  set.classes = labels.size();
  for (const LabelledText& text : texts) {
    SentenceSplit split;
    for (const std::string_view line : split_lines(text.sentences.content))
      split.sentences.emplace_back(line);
    split.labels = ids_of_labels(text, labels);
    set.splits.push_back(std::move(split));
  }
}

SentenceSet read_set(const KnownSet& known, const fs::path& folder) {
  SentenceSet set{known.name, known.kind};
  std::vector<fs::path> files;
  for (const std::string& name : known.files) {
    files.push_back(plain_or_packed(folder / name));
    check_is_there(files.back(),
                   fmt::format("; {} consists of {}", known.name, fmt::join(known.files, ", ")));
  }
  if (set.kind == classification)
    add_labelled(set, files);
  else
    for (const fs::path& file : files) add_pairs(set, file);
  const std::int64_t trained_on = std::ssize(set.splits.front().sentences);
  check_input(set.kind == relatedness || trained_on >= cross_validation_folds,
              "{}: {} {}, and cross-validation in {} parts needs {} or more", files.front().string(),
              trained_on, set.kind == classification ? "sentences" : "pairs", cross_validation_folds,
              cross_validation_folds);
  return set;
}

}  // namespace

std::vector<SentenceSet> read_sentence_sets(const std::vector<std::string>& folders) {
  std::vector<SentenceSet> sets;
  for (const std::string& folder : folders) {
    check_is_folder(folder);
    const std::size_t before = sets.size();
    std::vector<std::string> names;
    for (const KnownSet& known : known_sets) {
      names.insert(names.end(), known.files.begin(), known.files.end());
      const bool is_there = std::ranges::any_of(known.files, [&](const std::string& file) {
        return file_is_there(plain_or_packed(fs::path(folder) / file));
      });
      if (is_there) sets.push_back(read_set(known, folder));
    }
    check_input(sets.size() > before, "{}: none of the known sets of sentences is here: {}", folder,
                fmt::join(names, ", "));
  }
  return sets;
}

// --- What vectors are good for ---

namespace {

using Json = nlohmann::ordered_json;

std::string one_a_line(const std::vector<std::string>& sentences) {
  return fmt::format("{}\n", fmt::join(sentences, "\n"));
}

SentenceFigures measure(const SentenceSet& set,
                        const std::function<Vectors(const std::vector<std::string>&)>& vectors_of,
                        const std::function<void(std::int64_t)>& progress) {
  const auto pairs_of = [&](const SentenceSplit& split) {
    return pair_features(vectors_of(split.sentences), vectors_of(split.others));
  };
  if (set.kind == SentenceSetKind::relatedness) {
    std::vector<ScoredPairs> splits;
    for (const SentenceSplit& split : set.splits) splits.push_back({pairs_of(split), split.scores});
    const RelatednessScores it = measure_relatedness(splits[0], splits[1], splits[2]);
    return {{"pearson", it.pearson}, {"spearman", it.spearman}, {"mse", it.mse}};
  }
  std::vector<LabelledVectors> splits;
  for (const SentenceSplit& split : set.splits)
    splits.push_back({split.others.empty() ? vectors_of(split.sentences) : pairs_of(split), split.labels});
  const ClassScores scores = splits.size() == 1 ? measure_classification(splits[0], set.classes, progress)
                                                : measure_classification(splits[0], splits[1], set.classes);
  SentenceFigures figures{{"accuracy", scores.accuracy()}};
  if (set.kind == SentenceSetKind::paraphrase) figures.emplace_back("f1", scores.f1);
  return figures;
}

SentenceFigures figures_of(const nlohmann::json& json) {
  SentenceFigures figures;
  for (const char* key : {"pearson", "spearman", "mse", "accuracy", "f1"})
    if (json.contains(key)) figures.emplace_back(key, figure_at(json, key));
  return figures;
}

Json json_of(const SentenceFigures& figures) {
  Json json = Json::object();
  for (const auto& [key, value] : figures) json[key] = value;
  return json;
}
}  // namespace

std::vector<std::pair<std::string, std::string>> texts_of(const std::vector<SentenceSet>& sets) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const SentenceSet& set : sets)
    for (const SentenceSplit& split : set.splits)
      for (const auto* sentences : {&split.sentences, &split.others})
        texts.emplace_back(one_a_line(*sentences), set.name);
  return texts;
}

std::string text_of(const SentenceFigures& figures) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : figures)
    texts.push_back(fmt::format("{} {:.{}f}", key, value, key == "accuracy" || key == "f1" ? 2 : 4));
  return fmt::format("{}", fmt::join(texts, "  "));
}

Json json_of(const SentenceSetFigures& it) {
  return {{"set", it.set},
          {"scored", it.scored},
          {"vectors", json_of(it.vectors)},
          {"word_means", json_of(it.word_means)}};
}

SentenceSetFigures measure_sentences(SkipThought& model, const Vocabulary& vocabulary, const SentenceSet& set,
                                     const std::vector<Variable>& tables, const ProgressOf& progress_of) {
  const auto measured_by = [&](const std::string& what, const auto& vectors_of) {
    const auto show = progress_of ? progress_of(what, set.scored()) : [](std::int64_t) {};
    show(0);
    return measure(
        set,
        [&](const std::vector<std::string>& sentences) {
          return of_unit_length(vectors_of(encode_sentences(one_a_line(sentences), set.name, vocabulary)));
        },
        show);
  };
  return {set.name, set.scored(),
          measured_by("sentence vectors",
                      [&](const Sentences& it) { return sentence_vectors(model, it, tables); }),
          measured_by("means of word vectors",
                      [&](const Sentences& it) { return mean_word_vectors(model, it, tables); })};
}

std::vector<Variable> expand_vocabulary(SkipThought& model, SkipThoughtTask& task, const std::string& file,
                                        const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<std::string> missing;
  std::unordered_set<std::string> seen;
  for (const auto& [text, name] : texts)
    for (const std::string& word : task.vocabulary().encode(text, name).missing)
      if (seen.insert(word).second) missing.push_back(word);
  VocabularyExpansion expansion = rondo::expand_vocabulary(model, task.vocabulary(), file, missing);
  print_note(fmt::format("{}: vectors for {} of {} words that the run does not know, by a map from {} words",
                         file, expansion.found, missing.size(), expansion.shared));
  task.set_vocabulary(std::move(expansion.vocabulary));
  return std::move(expansion.tables);
}

SentenceSetFigures sentence_figures_in(const nlohmann::json& entry) {
  return {entry.at("set"), integer_at(entry, "scored"), figures_of(entry.at("vectors")),
          figures_of(entry.at("word_means"))};
}

}  // namespace rondo
