// Language modelling as a task: a text, its vocabulary, and the language model. The objective:
// lm/tasks/language_modelling_objective.h. Next: nn/models/language_model.h.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "data/sentences/tables.h"
#include "data/text/text.h"
#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/tasks/language_modelling_objective.h"
#include "lm/tasks/task.h"
#include "lm/tasks/text_options.h"
#include "lm/training/checkpoint.h"
#include "nn/cells/catalogue.h"

namespace rondo {

struct LanguageModellingSettings {
  TextOptions data{};  // section [data] also has keys of batches and evaluations
  LanguageModelOptions model{};
  std::string embedding_file{};  // of section [model]: word vectors that its embedding begins with
  LanguageModellingOptions train{};
  DynamicOptions dynamic{};  // of `lm eval --dynamic`
  CacheOptions cache{};      // of `lm eval --cache`
};
inline LanguageModelOptions model_options(const LanguageModellingSettings& settings) {
  LanguageModelOptions options = settings.model;
  options.max_time_steps = settings.train.batches.chunks.length;
  return options;
}

inline void check_model(const LanguageModelOptions& model, const std::string& where) {
  const std::int64_t widths = std::ssize(model.hidden);
  check_input(widths == 1 || widths == model.layers,
              "{}: model.hidden has {} widths for {} layers: give one for each, or one for all", where,
              widths, model.layers);
  const LanguageModelOptions defaults;
  check_input(model.minor_input == defaults.minor_input || model.major_ratio != defaults.major_ratio,
              "{}: model.minor_input = \"{}\", but there is no minor cell: set model.major_ratio, as in 0.9",
              where, name_of(model.minor_input));
  check_input(
      model.output_activation == defaults.output_activation || !model.output_layers.empty(),
      "{}: model.output_activation = \"{}\", but there is no layer to have it: set model.output_layers, as "
      "in [650]",
      where, name_of(model.output_activation));
  const double rates[] = {model.dropout, model.input_dropout.value_or(0), model.hidden_dropout.value_or(0),
                          model.output_dropout.value_or(0), model.latent_dropout};
  check_input(!model.variational ||
                  std::any_of(std::begin(rates), std::end(rates), [](double rate) { return rate > 0; }),
              "{}: model.variational = true says how model.dropout drops, which is 0, as are those for its "
              "parts: set one, or leave this out",
              where);
  const auto is_default = [](const InitialValues& it) { return it.kind == InitialValues::Kind::pytorch; };
  check_input(
      model.init_all == 0 ||
          (is_default(model.input_init) && is_default(model.recurrent_init) && is_default(model.output_init)),
      "{}: model.init_all = {} sets every parameter: leave out model.input_init, model.recurrent_init and "
      "model.output_init, or set model.init_all = 0",
      where, model.init_all);
}

/// Sets the rows of `table` [V, E] of words that the file has to their vectors, the first of each; the other
/// rows stay. Returns how many. InputErrors of read_word_vectors(); for vectors of another width than E, and
/// for a file without any word of the vocabulary.
inline std::int64_t set_word_vectors(const Tensor& table, const Vocabulary& vocabulary,
                                     const std::filesystem::path& file) {
  const std::string name = file.string();
  const auto E = static_cast<std::size_t>(table.shape().columns());
  std::vector<real> rows = table.to_vector();
  std::vector<bool> is_set(static_cast<std::size_t>(vocabulary.size()));
  read_word_vectors(file, [&](std::string_view word, std::span<const double> vector) {
    check_input(vector.size() == E, "{}: vectors of {} numbers, and the embedding has {}", name,
                vector.size(), E);
    const auto id = vocabulary.id(word);
    if (!id || is_set[static_cast<std::size_t>(*id)]) return;
    is_set[static_cast<std::size_t>(*id)] = true;
    std::ranges::transform(vector, rows.begin() + static_cast<std::ptrdiff_t>(*id * E),
                           [](double it) { return static_cast<real>(it); });
  });
  const auto found = std::ranges::count(is_set, true);
  check_input(found > 0, "{}: none of its words is in the vocabulary", name);
  table.set(rows.data());
  return found;
}

class LanguageModellingTask : public TextTask<LanguageModellingTask, LanguageModellingSettings, LanguageModel,
                                              CorpusText, EncodedText> {
 public:
  Sections sections() override {
    return {
        .data = joined({keys_of(settings.data), keys_of(settings.train.batches.batching),
                        keys_of(settings.train.evaluated_as)}),
        .model = joined({keys_of(settings.model),
                         {{"embedding_file", &settings.embedding_file, any_text(), "",
                           "word vectors that the embedding begins with, in the text format of word2vec or "
                           "GloVe; empty: none"}}}),
        .train = keys_of(settings.train),
        .others = joined(
            {section("dynamic", keys_of(settings.dynamic)), section("cache", keys_of(settings.cache))})};
  }
  void check(const std::string& where) const override {
    const TextOptions& data = settings.data;
    const LanguageModellingOptions& train = settings.train;
    check_section(where, "data", data.tokenization);
    check_section(where, "data", data.limits);
    check_input(
        data.tokenization.unit != Unit::pieces || data.vocabulary == VocabularyFrom::train,
        "{}: data.vocabulary = \"all\": pieces are learnt from train.txt alone, and can write any text: set "
        "data.vocabulary = \"train\"",
        where);
    check_model(settings.model, where);
    const bool in_parts = train.micro_batch > 0;
    check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows,
                       in_parts ? "train.micro_batch" : "train.batch",
                       in_parts ? train.micro_batch : train.batches.batch);
    check_section(where, "train", train);
    check_input(settings.embedding_file.empty() || settings.model.embedding > 0,
                "{}: model.embedding_file is for an embedding, and model.embedding = 0 has none", where);
    check_input(settings.embedding_file.empty() || data.tokenization.unit == Unit::words,
                "{}: model.embedding_file has vectors of words, and data.unit = \"{}\": leave it out", where,
                name_of(data.tokenization.unit));
    const VocabularyLimits &limits = data.limits, unlimited;
    check_input(
        data.vocabulary_file.empty() ||
            (data.vocabulary == VocabularyFrom::train && limits.min_count == unlimited.min_count &&
             limits.max_size == unlimited.max_size && limits.reserve_unknown == unlimited.reserve_unknown),
        "{}: data.vocabulary_file is the whole vocabulary: leave data.vocabulary, data.min_count, "
        "data.max_size and data.unknown at their defaults",
        where);
    check_input(
        data.vocabulary_file.empty() || settings.model.output != OutputKind::adaptive,
        "{}: model.output = \"adaptive\" orders the vocabulary by frequency, and data.vocabulary_file has "
        "an order of its own: leave one out",
        where);
    check_section(where, "", model_options(settings));
  }
  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.data.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.data.limits.max_size; }
  bool keeps_vocabulary() const override {
    return Task::keeps_vocabulary() || !settings.data.vocabulary_file.empty();
  }
  /// The reading of papers: as final_reading() has it, in one stream.
  std::string preferred_reading() const override {
    constexpr std::int32_t any_id = 0;
    return rondo::evaluation_reading(settings.train, 1, 0, any_id, settings.model.trained_initial_states)
        .text();
  }
  std::string model_text() const override {
    const LanguageModelOptions &it = settings.model, defaults;
    std::string text = it.hidden.size() == 1
                           ? fmt::format("{} x {} {}", it.layers, it.hidden.front(), it.cell)
                           : fmt::format("{} {}", fmt::join(it.hidden, " + "), it.cell);
    if (it.major_ratio != defaults.major_ratio)
      text += fmt::format(", of which major {}", fmt::join(it.major_ratio, ", "));
    if (!it.output_layers.empty())
      text += fmt::format(", then {} {}", fmt::join(it.output_layers, " + "),
                          it.output_activation == OutputActivation::tanh ? "tanh" : "linear");
    if (it.experts > 1) text += fmt::format(", a mixture of {} softmaxes", it.experts);
    if (it.output == OutputKind::adaptive) text += ", an adaptive softmax";
    return text;
  }
  Usage usage() const override { return {"generate", "to sample from it", ""}; }

  bool reads_current_folder() const override { return !settings.data.files.empty(); }
  void open(const DataSource& source) override {
    texts_ = open_text(settings.data, source.path, source.pipes, source.progress);
  }
  std::vector<NamedFile> named_files() override {
    return {{"embedding_file", &settings.embedding_file, true},
            {"", &settings.data.vocabulary_file}};  // its symbols are recorded: they are the vocabulary
  }
  std::string other_text() const override { return "FILE"; }
  void open_other(const std::string& path, const DataSource& source) override {
    texts_.test = open_text_file(path, tokenization().unit, Pipes::accepted,
                                 reading_of(settings.data, source.progress));
    texts_.files = {{path, texts_.test->sha256}};
    texts_.notes = texts_.test->notes;
  }
  void make_vocabularies() override {
    const bool by_frequency = settings.model.output == OutputKind::adaptive;
    vocabularies_ = {vocabulary_of(settings.data, texts_,
                                   by_frequency ? SymbolOrder::frequency : SymbolOrder::first_occurrence)};
    if (std::string note = note_of_punctuation(vocabulary()); !note.empty())
      texts_.notes.push_back(std::move(note));
  }
  void prepare() override {
    check_input(vocabulary().types() >= 2, "{}: one symbol only, nothing to predict", texts_.train.name);
    encoded("train");
    check_streams(evaluation_reading(settings.train.eval_streams, settings.train.eval_warm_up),
                  std::ssize(encoded("valid").ids), "train.eval_streams: ");
    for (const std::string& split : measured_splits())
      check_streams(final_reading(), std::ssize(encoded(split).ids), "train.final_streams: ");
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = texts_.notes;
    for (const auto& [split, it] : encoded_)
      if (const Text& of = text(split); of.source)
        notes.push_back(fmt::format("{}: not held in memory (data.memory); its ids are in {}", of.name,
                                    ids_path(of, vocabulary(), ids_folder()).string()));
    return notes;
  }
  void assume(const Sizes& sizes) override {
    // Lines of train.length symbols, or a text for streams or crops: enough for a batch, and for an
    // evaluation.
    const LanguageModellingOptions& train = settings.train;
    constexpr std::int32_t end = 0;  // of a line
    const std::int64_t length = longest_chunk(train.batches.chunks);
    const double count =
        static_cast<double>(train.batches.batch + 2) * static_cast<double>(length) +
        2 * static_cast<double>(std::max(train.eval_streams, rows_at_once) + train.eval_warm_up);
    std::vector<std::int32_t> ids = some_ids(count, sizes.at(0));
    if (train.batches.batching == Batching::lines)
      for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = (static_cast<std::int64_t>(i) + 1) % length == 0 ? end : std::max(ids[i], end + 1);
    vocabularies_ = {some_vocabulary()};
    set_encoded({TextIds(ids), {}});
  }
  std::string size_text() const override {
    return fmt::format("{}, {}", counted_text(std::ssize(encoded("train").ids), "symbols"),
                       vocabulary_text(vocabulary().size()));
  }
  std::int64_t validation_size() const override { return std::ssize(encoded("valid").ids); }

  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    return std::make_unique<LanguageModel>(model_options(settings), sizes.at(0), seed, device);
  }
  std::vector<std::string> set_initial_values(Module& model) override {
    if (settings.embedding_file.empty()) return {};
    const Tensor table = parameter_named(model, "embedding.weight").value();
    const std::int64_t found = set_word_vectors(table, vocabulary(), settings.embedding_file);
    return {fmt::format("{}: vectors of {} of {} words; the others begin with random ones",
                        settings.embedding_file, found, vocabulary().size())};
  }
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override {
    return std::make_unique<LanguageModelling>(own(model), settings.train, encoded("train").ids,
                                               encoded("valid").ids, vocabulary().line_end_id(), seed,
                                               vocabulary().unknown_id());
  }
  /// Re-estimates the statistics of batch normalisation over the whole training text, because the moving
  /// averages are of the last batches only. Repeating it gives the same model.
  std::string complete(Objective& objective, const ProgressOf& progress_of) override {
    if (objective.model().buffers().empty()) return "";
    const std::int64_t symbols = dynamic_cast<LanguageModelling&>(objective).estimate_statistics(
        progress_of("estimating statistics", std::ssize(encoded("train").ids)));
    return fmt::format("statistics re-estimated over {} training symbols", symbols);
  }
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    return measure(own(model), split, final_reading(), {}, progress_of);
  }
  /// A test text that is read in sequences is measured once more, with the state carried on.
  std::vector<Scores> final_scores(Module& model, const std::string& split,
                                   const ProgressOf& progress_of) override {
    std::vector<Scores> all{measure(model, split, progress_of)};
    if (split == "test" && final_reading().sequence > 0)
      all.push_back(measure(own(model), split, {.streams = settings.train.final_streams}, {}, progress_of));
    return all;
  }
  /// Measures with another way to read the text, or a model that adapts to it.
  Scores measure(LanguageModel& model, const std::string& split, const Reading& reading,
                 const Adaptation& how, const ProgressOf& progress_of) {
    const EncodedText& text = encoded(split);
    const auto show = progress_of("evaluating " + split, std::ssize(text.ids) - 1);
    const std::optional<std::int32_t> unknown = vocabulary().unknown_id();
    Evaluation evaluation = how.dynamic || how.cache
                                ? evaluate_adaptively(model, text.ids, how, unknown, show)
                                : evaluate_ids(model, text.ids, reading, unknown, show);
    evaluation.bytes = scored_bytes(reading, text.counts);
    Scores scores = scores_of(evaluation, reading.text());
    const auto add = [&](const std::string& name, auto value) { scores.details.push_back({name, value}); };
    if (reading.line_end)
      add("by_lines", true);
    else if (reading.sequence > 0)
      add("sequence", reading.sequence);
    else
      add("streams", reading.streams);
    for (const Detail& it : settings_of(how)) scores.details.push_back(it);
    if (how.dynamic) {
      add("dynamic.statistics_symbols", how.statistics->symbols);
      add("dynamic.statistics_batches", how.statistics->batches);
    }
    return scores;
  }
  ProbeOptions probe_options() const override { return {.steps = settings.train.batches.chunks.length}; }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const ReportDone& progress) override {
    return rondo::probe(own(model), encoded(split).ids, options, progress);
  }

  /// How a text is read for final figures.
  Reading final_reading() const { return evaluation_reading(settings.train.final_streams); }

 private:
  Reading evaluation_reading(std::int64_t streams, std::int64_t warm_up = 0) const {
    return rondo::evaluation_reading(settings.train, streams, warm_up, vocabulary().line_end_id(),
                                     settings.model.trained_initial_states);
  }
  std::vector<UnknownShare> shares_of(const std::string& split, const EncodedText& it) const override {
    return {{text(split).name, it.counts.unknowns, std::ssize(it.ids)}};
  }
  EncodedText encode(const std::string& split) const override {
    const Text& of = text(split);
    EncodedText encoded = encode_text(of, vocabulary(), ids_folder());
    check_input(encoded.ids.size() >= 2, "{}: only {}; 2 or more are needed, the first being context",
                of.name, counted_text(std::ssize(encoded.ids), "symbols"));
    return encoded;
  }
};

}  // namespace rondo
