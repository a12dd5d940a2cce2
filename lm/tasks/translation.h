// Translation as a task: pairs of sentences, two vocabularies, and the encoder-decoder. The objective:
// lm/tasks/translation_objective.h. Next: lm/decoding/translate.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/text/unicode.h"
#include "lm/tasks/translation_objective.h"
#include "nn/cells/catalogue.h"
#include "tensor/version.h"

namespace rondo {

/// Section [data].
struct ParallelTextOptions {
  ParallelOptions files{};
  Tokenization tokenization{};
  VocabularyLimits limits{};
  PairOptions pairs{};
  double pairs_share = 1;  // of the training pairs, from the beginning
};
inline Keys keys_of(ParallelTextOptions& it) {
  return joined({keys_of(it.files),
                 keys_of(it.tokenization),
                 keys_of(it.limits),
                 keys_of(it.pairs),
                 {{"pairs_share", &it.pairs_share, between(1e-9, 1), "share of the training pairs",
                   "to read, from the beginning of the text; its vocabularies are of these alone"}}});
}

struct TranslationSettings {
  ParallelTextOptions data{};
  EncoderDecoderOptions model{};
  TranslationOptions train{};
  BeamOptions decoding{};  // of `lm translate`, `lm eval` and final figures
  // Answers have the word of the source that was attended to most in place of `<unk>`; not a key.
  bool replace_unknown = false;
};
inline Sections sections_of(TranslationSettings& settings) {
  return {.data = keys_of(settings.data),
          .model = keys_of(settings.model),
          .train = keys_of(settings.train),
          .others = section("decoding", keys_of(settings.decoding))};
}
/// Throws InputError if settings contradict each other; `where` begins the text.
inline void check_settings(const TranslationSettings& settings, const std::string& where) {
  check_section(where, "", settings.data.files);
  check_section(where, "data", settings.data.tokenization);
  check_section(where, "data", settings.data.limits);
  check_input(!settings.data.tokenization.tokenize && !settings.data.tokenization.lowercase,
              "{}: data.tokenize and data.lowercase change what is read, and translations are compared with "
              "text as it is written: leave them out",
              where);
  check_section(where, "", settings.model);
  check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows, "train.batch",
                     settings.train.batches.order.batch);
  check_section(where, "train", settings.train);
  check_section(where, "decoding", settings.decoding);
  check_input(settings.model.tied != TiedTables::all || settings.data.pairs.shared_vocabulary,
              "{}: model.tied = \"all\" needs data.shared_vocabulary = true", where);
}
inline std::string model_text_of(const EncoderDecoderOptions& it) {
  return fmt::format("{}{} x {} {} to {} x {} {}, {}", it.bidirectional ? "bidirectional " : "",
                     it.encoder_layers, it.hidden, it.cell, it.decoder_layers, it.hidden, it.cell,
                     it.attention == Score::none ? "fixed context" : name_of(it.attention) + " attention");
}

/// A share of the lines of a training text, from its beginning; at least one.
inline TextPair first_lines(const TextPair& text, double share) {
  const auto lines = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(text.lines)));
  const auto begin_of = [&](Text side) {
    std::size_t end = 0;
    for (std::int64_t i = 0; i < lines; ++i) end = side.content.find('\n', end) + 1;
    side.content.resize(end);
    return side;
  };
  return {begin_of(text.source), begin_of(text.target)};
}
/// Pairs of ids, with the targets as references. The vocabularies must outlive it. InputError, with the line,
/// if a reference is not UTF-8.
inline TranslationText translation_text(const TextPair& text, const Vocabulary& source,
                                        const Vocabulary& target, bool reverse_source) {
  TranslationText result{
      .pairs = encode_pairs(text, source, target), .target = &target, .reverse_source = reverse_source};
  std::int64_t number = 0;
  for (const std::string_view line : split_lines(text.target.content)) {
    ++number;
    if (text.has_gaps && line.empty()) continue;
    result.references.emplace_back(line);
    // Metrics need UTF-8: refused before a training, not at its first evaluation.
    code_points(line, fmt::format("{}: line {}", text.target.name, number));
  }
  return result;
}
/// Pairs of a batch of the settings, made up: lm/tasks/task.h. Without a source its size is 0.
inline Pairs some_pairs(const TranslationSettings& settings, std::int64_t source_size,
                        std::int64_t target_size) {
  const std::int64_t length = length_within(settings.data.pairs.max_length),
                     count = sentences_of(settings.train.batches.order, length);
  return {some_sentences(count, source_size > 0 ? length : 1, std::max<std::int64_t>(1, source_size)),
          some_sentences(count, length, target_size)};
}
/// What a user should know of the pairs that a training leaves out; `max_length` is that of the
/// settings.
inline std::vector<std::string> notes_of(const Pairs& train, std::int64_t max_length) {
  std::vector<std::string> notes;
  const std::int64_t all = train.size() + train.left_out + train.empty;
  if (train.left_out > 0)
    notes.push_back(fmt::format("{} of {} training pairs are longer than data.max_length = {}: left out",
                                train.left_out, all, max_length));
  if (train.empty > 0)
    notes.push_back(fmt::format("{} of {} training pairs have an empty side: left out", train.empty, all));
  return notes;
}
/// A warning if more than half of the translations of a text are empty; else empty.
inline std::string warning_of_empty(std::int64_t empty, std::int64_t translations) {
  if (2 * empty <= translations) return "";
  return fmt::format("{} of {} translations are empty", empty, translations);
}

constexpr const char* shown_line_end = "</s>";
/// Fills in a translation of a line whose symbols, with its end, are `source`.
inline void fill_in(LineAnswer& answer, const Hypothesis& found, const std::vector<std::string>& source,
                    const Vocabulary& target, bool replace_unknown) {
  Alignment alignment{.source = {}, .target = {}, .weights = found.attention};
  SymbolWriter writer(target.tokenization().unit);
  for (std::size_t t = 0; t < found.ids.size(); ++t) {
    std::string symbol = target.symbol(found.ids[t]);
    if (replace_unknown && found.ids[t] == target.unknown_id()) {
      const std::vector<float>& weights = found.attention.at(t);
      const auto most = std::max_element(weights.begin(), weights.end() - 1);  // not of the end
      symbol = source.at(static_cast<std::size_t>(most - weights.begin()));
    }
    answer.text += writer.next(symbol);
    alignment.target.push_back(printable(symbol));
  }
  answer.score = found.score;
  if (found.attention.empty()) return;
  if (found.finished) alignment.target.emplace_back(shown_line_end);
  for (const std::string& symbol : source) alignment.source.push_back(printable(symbol));
  answer.alignment = std::move(alignment);
}

/// An encoder-decoder, and what it reads and writes.
struct Translator {
  EncoderDecoder& model;
  const Vocabulary &source, &target;
  bool has_source = true;  // false: it is a language model
};

/// A task whose model, or a part of it, translates.
class TranslatingTask : public Task {
 public:
  virtual TranslationSettings& translation() = 0;
  virtual const TranslationSettings& translation() const = 0;
  virtual Translator translator(Module& model) = 0;
  /// The pairs that are trained on, and those of a split to be measured.
  virtual const Pairs& pairs_of_training() const = 0;
  virtual const TranslationText& measured_text(const std::string& split) const = 0;

  const std::string& cell() const override { return translation().model.cell; }
  const Tokenization& tokenization() const override { return translation().data.tokenization; }
  std::int64_t largest_vocabulary() const override { return translation().data.limits.max_size; }
  std::string selection_metric() const override { return name_of(translation().train.decides); }
  bool higher_is_better() const override { return translation().train.decides != SelectionMetric::nats; }
  std::string preferred_reading() const override { return search_text(translation().decoding.beam); }
  Usage usage() const override { return {"translate", "to translate with it", "< sentences"}; }
  /// Translates a text, and measures nats, BLEU and chrF; of pairs without a source, which are a language
  /// model's, nats alone.
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    const Translator it = translator(model);
    const TranslationText& text = measured_text(split);
    const TranslationOptions& options = translation().train;
    const ReportDone progress = progress_of("translating " + split, text.pairs.size());
    const auto of_references = [&](Evaluation nats) {
      for (const std::string& line : text.references) nats.bytes += std::ssize(line) + 1;
      return scores_of(nats, Reading{.line_end = 0}.text());
    };
    if (!it.has_source) {
      Scores scores = of_references(evaluate_pairs(it.model, text));
      scores.details.insert(scores.details.begin(), {"sentences", text.pairs.size()});
      return scores;
    }
    const BeamOptions& search = translation().decoding;
    auto [lines, nats, scores] = evaluate_translations(it.model, text, options, search, progress);
    scores.details = of_references(nats).details;
    scores.details.insert(scores.details.begin(),
                          {{"beam", search.beam},
                           {"length_penalty", search.length_penalty},
                           {"bleu_signature", bleu_signature({.tokenization = options.bleu_tokenization}, 1,
                                                             signature_version())},
                           {"chrf_signature", chrf_signature(false, 1, signature_version())},
                           {"symbols", nats.symbols}});
    scores.warning = warning_of_empty(std::ranges::count(lines, ""), text.pairs.size());
    return scores;
  }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const ReportDone& progress) override {
    const Pairs& pairs = split == "train" ? pairs_of_training() : measured_text(split).pairs;
    return rondo::probe(translator(model).model, pairs, translation().train.batches.reverse_source, options,
                        progress);
  }
  /// The best translations of lines. An empty line has an empty one of score 0.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    const auto& [translating, source, target, has_source] = translator(model);
    const TranslationSettings& settings = translation();
    check_input(has_source, "this is a language model, without a source to translate");
    check_input(!settings.decoding.attention || translating.options().attention != Score::none,
                "this model has no attention to show, or to replace unknown words by");
    check_input(!settings.replace_unknown || tokenization().unit == Unit::words,
                "unknown words can be replaced, and the symbols of this model are {}",
                name_of(tokenization().unit));
    EncodedLines encoded = encode_lines(lines, source);
    for (LineAnswer& it : encoded.answers) it.score = 0;
    const auto found = translate(translating, encoded.ids, settings.train.batches.reverse_source,
                                 {*target.line_end_id(), target.unknown_id()}, settings.decoding);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& [text, name] = lines[encoded.lines[i]];
      std::vector<std::string> written =
          symbols_written(source, text_of_line(text, source.tokenization().unit), name, LastLine::ends);
      written.back() = shown_line_end;
      LineAnswer& best = encoded.answers[encoded.lines[i]];
      for (const Hypothesis& it : found[i])
        fill_in(&it == found[i].data() ? best : best.next_best.emplace_back(), it, written, target,
                settings.replace_unknown);
    }
    return encoded.answers;
  }
};

class TranslationTask : public TextTask<TranslationTask, TranslationSettings, EncoderDecoder, ParallelText,
                                        TranslationText, TranslatingTask> {
 public:
  Sections sections() override { return sections_of(settings); }
  void check(const std::string& where) const override { check_settings(settings, where); }
  std::string model_text() const override { return model_text_of(settings.model); }

  void open(const DataSource& source) override {
    const ParallelOptions& files = settings.data.files;
    check_input(source.path.empty() || files.generated_pairs == 0,
                "--data {}: data.generated_pairs = {} generates the text: leave --data out", source.path,
                files.generated_pairs);
    check_input(files.generated_pairs > 0 || !source.path.empty(),
                "which text? give --data a folder with {0}.{1} and {0}.{2}", files.train,
                files.source_language, files.target_language);
    texts_ = open_parallel_text(source.path, files, settings.data.tokenization.unit);
    if (settings.data.pairs_share < 1) texts_.train = first_lines(texts_.train, settings.data.pairs_share);
  }
  std::string other_text() const override { return "NAME"; }
  void open_other(const std::string& path, const DataSource& /*source*/) override {
    const ParallelOptions& files = settings.data.files;
    check_input(
        files.generated_pairs == 0,
        "{}: the text of this run is generated (data.generated_pairs), and its languages have no files",
        path);
    texts_ = {};
    const auto side = [&](const std::string& language) {
      return texts_.record(open_side(path, language, tokenization().unit));
    };
    texts_.test = TextPair{side(files.source_language), side(files.target_language)};
  }
  void make_vocabularies() override {
    const ParallelTextOptions& data = settings.data;
    auto [source, target] =
        vocabularies_of(texts_.train, data.tokenization, data.limits, data.pairs.shared_vocabulary);
    vocabularies_ = {std::move(source), std::move(target)};
  }
  void prepare() override {
    pairs_of_training();
    for (const std::string& split : measured_splits()) encoded(split);
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = texts_.notes;
    if (train_)
      for (std::string& it : notes_of(*train_, settings.data.pairs.max_length))
        notes.push_back(std::move(it));
    return notes;
  }
  std::vector<UnknownShare> unknown_shares() const override {
    std::vector<UnknownShare> shares;
    const auto add = [&](const TextPair& of, const Pairs& pairs) {
      shares.push_back(share_of(of.source, pairs.source, vocabularies_.front(), false));
      shares.push_back(share_of(of.target, pairs.target, vocabularies_.back()));
    };
    if (train_) add(texts_.train, *train_);
    for (const auto& [split, it] : encoded_) add(text(split), it.pairs);
    return shares;
  }
  void assume(const Sizes& sizes) override {
    vocabularies_ = {some_vocabulary(), some_vocabulary()};
    train_ = some_pairs(settings, sizes.at(0), sizes.at(1));
    set_encoded(
        {.pairs = *train_, .target = &vocabulary(), .reverse_source = settings.train.batches.reverse_source});
  }
  std::string size_text() const override {
    return fmt::format("{} pairs, {} and {} symbols, vocabularies of {} and {} symbols", train_->size(),
                       train_->source.symbols(), train_->target.symbols(), vocabularies_.front().size(),
                       vocabularies_.back().size());
  }
  std::int64_t validation_size() const override { return encoded("valid").pairs.size(); }

  Sizes assumed_sizes(std::int64_t vocabulary) const override { return {vocabulary, vocabulary}; }
  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    return std::make_unique<EncoderDecoder>(settings.model, sizes.at(0), sizes.at(1), seed, device);
  }
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override {
    return std::make_unique<Translation>(own(model), settings.train, pairs_of_training(), encoded("valid"),
                                         seed);
  }

  TranslationSettings& translation() override { return settings; }
  const TranslationSettings& translation() const override { return settings; }
  Translator translator(Module& model) override {
    return {own(model), vocabularies_.front(), vocabularies_.back()};
  }
  const Pairs& pairs_of_training() const override {
    if (!train_)
      train_ = encode_pairs(texts_.train, vocabularies_.front(), vocabularies_.back(),
                            settings.data.pairs.max_length, true);
    return *train_;
  }
  const TranslationText& measured_text(const std::string& split) const override { return encoded(split); }

 private:
  TranslationText encode(const std::string& split) const override {
    return translation_text(text(split), vocabularies_.front(), vocabularies_.back(),
                            settings.train.batches.reverse_source);
  }
  std::vector<std::string> vocabulary_files() const override {
    return {"vocab.source.txt", "vocab.target.txt"};
  }

  mutable std::optional<Pairs> train_;
};

}  // namespace rondo
