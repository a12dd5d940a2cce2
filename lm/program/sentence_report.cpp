// What the vectors of a run are good for.
#include "lm/program/sentence_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/evaluation/sentence_tasks.h"
#include "lm/evaluation/vocabulary_expansion.h"
#include "lm/program/json_lines.h"
#include "lm/program/measurement.h"
#include "lm/program/output.h"
#include "lm/program/progress.h"
#include "lm/program/provenance.h"
#include "lm/program/sentence_sets.h"

namespace rondo {
namespace {

using Json = nlohmann::ordered_json;

std::string one_a_line(const std::vector<std::string>& sentences) {
  return fmt::format("{}\n", fmt::join(sentences, "\n"));
}

/// All sentences of the sets, each set with its name.
std::vector<std::pair<std::string, std::string>> texts_of(const std::vector<SentenceSet>& sets) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const SentenceSet& set : sets)
    for (const SentenceSplit& split : set.splits)
      for (const auto* sentences : {&split.sentences, &split.others})
        texts.emplace_back(one_a_line(*sentences), set.name);
  return texts;
}

SentenceFigures figures_of(const RelatednessScores& it) {
  return {{"pearson", it.pearson}, {"spearman", it.spearman}, {"mse", it.mse}};
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
    return figures_of(measure_relatedness(splits[0], splits[1], splits[2]));
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

std::string text_of(const SentenceFigures& figures) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : figures)
    texts.push_back(fmt::format("{} {:.{}f}", key, value, key == "accuracy" || key == "f1" ? 2 : 4));
  return fmt::format("{}", fmt::join(texts, "  "));
}

Json json_of(const SentenceFigures& figures) {
  Json json = Json::object();
  for (const auto& [key, value] : figures) json[key] = value;
  return json;
}
}  // namespace

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

namespace {

SentenceFigures figures_of(const nlohmann::json& json) {
  SentenceFigures figures;
  for (const char* key : {"pearson", "spearman", "mse", "accuracy", "f1"})
    if (json.contains(key)) figures.emplace_back(key, figure_at(json, key));
  return figures;
}

void keep(const RunFolder& run, const SentenceSet& set, const SentenceSetFigures& figures,
          const EvaluateOptions& options, const Compute& compute) {
  Json json = json_of(figures);
  if (!options.vectors.empty()) json["word_vectors"] = options.vectors;
  json["model"] = sha256_hex(InputFile(run.model()));
  append_measurement(run, std::move(json), compute, set.sha256);
}

}  // namespace

std::vector<Variable> expand_vocabulary(SkipThought& model, SkipThoughtTask& task, const std::string& file,
                                        const std::vector<std::pair<std::string, std::string>>& texts) {
  std::vector<std::string> missing;
  std::unordered_set<std::string> seen;
  for (const auto& [text, name] : texts)
    for (const std::string& word : task.vocabulary().encode(text, name).missing)
      if (seen.insert(word).second) missing.push_back(word);
  VocabularyExpansion expansion = rondo::expand_vocabulary(model, task.vocabulary(), file, missing);
  fmt::print(stderr,
             "lm: {}: vectors for {} of {} words that the run does not know, by a map from {} words\n",
             printable(file), expansion.found, expansion.asked, expansion.shared);
  task.set_vocabulary(std::move(expansion.vocabulary));
  return std::move(expansion.tables);
}

int evaluate_sentences(const EvaluateOptions& options) {
  check_input(!options.dynamic && !options.cache && !options.tune && !options.budget && !options.streams &&
                  options.text.empty() && options.settings.empty() && options.data.empty(),
              "--sentences measures the vectors of a run as it is: leave out the other options of lm eval");
  const Compute compute = choose_device(options.device, options.precision, options.threads);
  const OpenTask run = open_task(options.run, compute.device);
  auto& task = run.task_as<SkipThoughtTask>("skip_thought");
  auto& model = dynamic_cast<SkipThought&>(*run.model);
  std::vector<Variable> tables;
  const std::vector<SentenceSet> sets = read_sentence_sets(options.sentences);
  if (!options.vectors.empty()) tables = expand_vocabulary(model, task, options.vectors, texts_of(sets));
  Json list = Json::array();
  Progress progress(stderr);
  for (const SentenceSet& set : sets) {
    const SentenceSetFigures figures = measure_sentences(
        model, task.vocabulary(), set, tables, [&](const std::string& what, std::int64_t items) {
          return progress_of(progress, fmt::format("{}: {}", set.name, what), items);
        });
    progress.erase();
    keep_if_possible([&] { keep(run.folder, set, figures, options, compute); });
    list.push_back(json_of(figures));
    if (options.json) continue;
    fmt::print("{:<5} {:>6} {}  {}  (means of words: {})\n", set.name, set.scored(),
               set.splits.front().others.empty() ? "sentences" : "pairs", text_of(figures.vectors),
               text_of(figures.word_means));
    flush_output();
  }
  if (options.json) print_json(Json{{"run", options.run}, {"sets", list}});
  return 0;
}

std::vector<SentenceSetFigures> kept_sentence_figures(const RunFolder& run) {
  struct Kept {
    std::string model;               // its SHA-256
    std::vector<std::string> files;  // their digests, and the name of the word vectors
    SentenceSetFigures figures;
  };
  std::vector<Kept> all;
  read_json_lines(run.evaluations(), "`lm eval` keeps", [&](const nlohmann::json& entry) {
    if (!entry.contains("set")) return true;
    std::vector<std::string> files = digests_of(entry.at("sha256").get<std::vector<std::string>>());
    files.push_back(entry.value("word_vectors", ""));
    all.push_back({entry.at("model"),
                   std::move(files),
                   {entry.at("set"), integer_at(entry, "scored"), figures_of(entry.at("vectors")),
                    figures_of(entry.at("word_means"))}});
    return true;
  });
  std::vector<SentenceSetFigures> figures;
  if (all.empty()) return figures;
  const std::string model =
      file_is_there(run.model()) ? sha256_hex(InputFile(run.model())) : all.back().model;
  std::vector<Kept> last;  // of each set
  for (Kept& it : all) {
    if (it.model != model) continue;
    std::erase_if(last, [&](const Kept& before) {
      if (before.figures.set != it.figures.set) return false;
      it.figures.replaces_others |= before.figures.replaces_others || before.files != it.files;
      return true;
    });
    last.push_back(std::move(it));
  }
  for (Kept& it : last) figures.push_back(std::move(it.figures));
  return figures;
}

}  // namespace rondo
