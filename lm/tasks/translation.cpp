// Translation as a task.
#include "lm/tasks/translation.h"

#include <algorithm>
#include <cmath>

#include "autograd/operators/arithmetic.h"
#include "data/text.h"
#include "data/unicode.h"
#include "lm/decoding/translate.h"
#include "lm/tasks/task.h"
#include "nn/cells/catalogue.h"
#include "tensor/clock.h"

namespace rondo {

Keys keys_of(TranslationOptions& it) {
  return joined(
      {keys_of(it.batches),
       {{"label_smoothing", &it.label_smoothing, from_to_below(0, 1), "share of probability",
         "that the training loss spreads evenly over all symbols; evaluations do not"},
        {"decides",
         choice(it.decides),
         {},
         "",
         "the metric on the validation text by which the best weights are chosen"},
        {"eval_beam", &it.eval_beam, any_beam(), "hypotheses",
         "of the translations in evaluations during training; 1: greedy"},
        {"bleu_tokenization",
         choice(it.bleu_tokenization),
         {},
         "",
         "what BLEU compares: 13a for written text; none for text whose words are separated already"}}});
}

void check_options(const TranslationOptions& options) { check_limits_of(options); }

Translation::Translation(EncoderDecoder& model, const TranslationOptions& options, const Pairs& train,
                         const TranslationText& valid, uint64_t seed)
    : SentenceObjective(PairBatches(options.batches, train, seed)),
      model_(model),
      options_(options),
      valid_(valid) {
  check_options(options);
}

void Translation::stage(Batch& batch) const {
  batch.indices = {staged_.source, staged_.inputs, staged_.targets};
  batch.scored = staged_.scored;
}

Loss Translation::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  const int64_t B = staged_.sentences;
  begin_update(random);
  const auto source = model_.encode({indices[0], staged_.source_steps, B, staged_.source_lengths});
  const auto output = model_.decode({indices[1], staged_.target_steps, B, staged_.target_lengths}, source);
  const CrossEntropy nats = model_.cross_entropy(output.readout, indices[2], options_.label_smoothing);
  return {nats.total / static_cast<real>(staged_.scored), {nats.each}};
}

std::string Translation::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or data.max_length smaller; the largest batch has {} sentences of {} "
      "and {} symbols",
      staged_.sentences, staged_.source_steps, staged_.target_steps);
}

Scores Translation::evaluate(const std::function<void(int64_t)>& progress) {
  const auto begin = Clock::now();
  const Evaluation nats = evaluate_pairs(model_, valid_);
  if (valid_.references.empty()) return scores_of(nats, "sentences");
  BeamOptions options{.beam = options_.eval_beam};
  // There no probability ends a hypothesis, and further steps take the same memory.
  if (!has_memory(model_.device())) options.max_length = 2;
  const TranslationScores scores = scores_of(translations(model_, valid_, options, progress),
                                             valid_.references, options_.bleu_tokenization);
  return scores_of(options_.decides, nats, scores, valid_.pairs.size(), options.beam, seconds_since(begin));
}

Scores scores_of(SelectionMetric decides, const Evaluation& nats, const TranslationScores& scores,
                 int64_t sentences, int64_t beam, double seconds) {
  const std::vector<std::vector<Metric>> all = {
      text_metrics(nats.nats()), {{"bleu", scores.bleu()}}, {{"chrf", scores.chrf()}}};
  const auto first = static_cast<std::size_t>(decides);
  Scores result{.metrics = all[first],
                .higher_is_better = decides != SelectionMetric::nats,
                .count = sentences,
                .unit = "sentences",
                .read = search_text(beam),
                .preposition = "by",
                .seconds = seconds};
  if (result.higher_is_better) result.tie_breaker = nats.nats();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i != first) result.metrics.insert(result.metrics.end(), all[i].begin(), all[i].end());
  return result;
}

// --- The task ---

Keys keys_of(ParallelTextOptions& it) {
  return joined({keys_of(it.files),
                 keys_of(it.tokenization),
                 keys_of(it.limits),
                 keys_of(it.pairs),
                 {{"pairs_share", &it.pairs_share, between(1e-9, 1), "share of the training pairs",
                   "to read, from the beginning of the text; its vocabularies are of these alone"}}});
}

Sections sections_of(TranslationSettings& settings) {
  return {.data = keys_of(settings.data),
          .model = keys_of(settings.model),
          .train = keys_of(settings.train),
          .others = section("decoding", keys_of(settings.decoding))};
}

void check_settings(const TranslationSettings& settings, const std::string& where) {
  check_section(where, "", settings.data.files);
  check_section(where, "data", settings.data.tokenization);
  check_section(where, "data", settings.data.limits);
  check_section(where, "", settings.model);
  check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows, "train.batch",
                     settings.train.batches.order.batch);
  check_section(where, "train", settings.train);
  check_section(where, "decoding", settings.decoding);
  check_input(settings.model.tied != TiedTables::all || settings.data.pairs.shared_vocabulary,
              "{}: model.tied = \"all\" needs data.shared_vocabulary = true", where);
}

std::string model_text_of(const EncoderDecoderOptions& it) {
  return fmt::format(
      "{}{} x {} {} to {} x {} {}, {}", it.bidirectional ? "bidirectional " : "", it.encoder_layers,
      it.hidden, it.cell, it.decoder_layers, it.hidden, it.cell,
      it.attention == SourceAttention::none ? "fixed context" : name_of(it.attention) + " attention");
}

TextPair first_lines(const TextPair& text, double share) {
  const auto lines = std::max<std::int64_t>(1, std::llround(share * static_cast<double>(text.lines)));
  const auto begin_of = [&](Text side) {
    std::size_t end = 0;
    for (std::int64_t i = 0; i < lines; ++i) end = side.content.find('\n', end) + 1;
    side.content.resize(end);
    return side;
  };
  return {begin_of(text.source), begin_of(text.target)};
}

TranslationText translation_text(const TextPair& text, const PairVocabularies& vocabularies,
                                 bool reverse_source) {
  TranslationText result{.pairs = encode_pairs(text, vocabularies),
                         .target = &vocabularies.target,
                         .reverse_source = reverse_source};
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

std::vector<std::string> notes_of(const Pairs& train, std::int64_t max_length) {
  std::vector<std::string> notes;
  const std::int64_t all = train.size() + train.left_out + train.empty;
  if (train.left_out > 0)
    notes.push_back(fmt::format("{} of {} training pairs are longer than data.max_length = {}: left out",
                                train.left_out, all, max_length));
  if (train.empty > 0)
    notes.push_back(fmt::format("{} of {} training pairs have an empty side: left out", train.empty, all));
  return notes;
}

std::string warning_of_empty(std::int64_t empty, std::int64_t translations) {
  if (2 * empty <= translations) return "";
  return fmt::format(
      "{} of {} translations are empty: the model has not learnt enough, or a wide beam prefers short ones: "
      "decoding.beam=1, or a decoding.length_penalty",
      empty, translations);
}

Scores measure_translation(EncoderDecoder& model, const TranslationText& text,
                           const TranslationSettings& settings, bool has_source,
                           const std::function<void(std::int64_t)>& progress) {
  const auto begin = Clock::now();
  Evaluation nats = evaluate_pairs(model, text);
  for (const std::string& line : text.references) nats.bytes += std::ssize(line) + 1;
  const Scores references = scores_of(nats, Reading{.line_end = 0}.text());
  if (!has_source) {
    Scores scores = references;
    scores.details.insert(scores.details.begin(), {"sentences", text.pairs.size()});
    return scores;
  }
  const BeamOptions& search = settings.decoding;
  const std::vector<std::string> found = translations(model, text, search, progress);
  const TranslationScores of_text = scores_of(found, text.references, settings.train.bleu_tokenization);
  Scores scores =
      scores_of(settings.train.decides, nats, of_text, text.pairs.size(), search.beam, seconds_since(begin));
  scores.details = {{"beam", search.beam},
                    {"length_penalty", search.length_penalty},
                    {"coverage_penalty", search.coverage_penalty},
                    {"bleu_signature", bleu_signature(of_text.bleu_options, 1, "rondo")},
                    {"chrf_signature", chrf_signature(of_text.chrf_options, 1, "rondo")},
                    {"symbols", nats.symbols}};
  scores.details.insert(scores.details.end(), references.details.begin(), references.details.end());
  scores.warning = warning_of_empty(std::count(found.begin(), found.end(), ""), text.pairs.size());
  return scores;
}

std::vector<LineAnswer> translate_lines(const Translator& translator, const TranslationSettings& settings,
                                        const std::vector<InputLine>& lines) {
  const auto& [model, vocabularies, has_source] = translator;
  check_input(has_source, "this is a language model, without a source to translate");
  EncodedLines encoded = encode_lines(lines, vocabularies.source);
  const Vocabulary& target = vocabularies.target;
  const auto found = translate(model, encoded.ids, settings.train.batches.reverse_source,
                               {*target.line_end_id(), target.unknown_id()}, settings.decoding);
  for (std::size_t i = 0; i < found.size(); ++i)
    encoded.answers[encoded.lines[i]].text = target.decode(found[i].front().ids);
  return encoded.answers;
}

void TranslationTask::open(const DataSource& source) {
  const ParallelOptions& files = settings.data.files;
  check_generated_has_no_folder(files, source.path);
  check_input(files.generated_pairs > 0 || !source.path.empty(),
              "which text? give --data a folder with {0}.{1} and {0}.{2}", files.train, files.source_language,
              files.target_language);
  texts_ = open_parallel_text(source.path, files, settings.data.tokenization.unit);
  if (settings.data.pairs_share < 1) texts_.train = first_lines(texts_.train, settings.data.pairs_share);
}

void TranslationTask::open_other(const std::string& path, const DataSource& /*source*/) {
  const ParallelOptions& files = settings.data.files;
  check_input(files.generated_pairs == 0,
              "{}: the text of this run is generated (data.generated_pairs), and its languages have no files",
              path);
  const Unit unit = settings.data.tokenization.unit;
  Text source_side = open_side(path, files.source_language, unit);
  texts_.test.emplace(std::move(source_side), open_side(path, files.target_language, unit));
  texts_.files.clear();
  for (const Text* side : {&texts_.test->source, &texts_.test->target}) {
    texts_.files.push_back({side->name, side->sha256});
    texts_.notes.insert(texts_.notes.end(), side->notes.begin(), side->notes.end());
  }
}

void TranslationTask::make_vocabularies() {
  const ParallelTextOptions& data = settings.data;
  vocabularies_ = vocabularies_of(texts_.train, data.tokenization, data.limits, data.pairs.shared_vocabulary);
}

namespace {
constexpr const char* source_file = "vocab.source.txt";
constexpr const char* target_file = "vocab.target.txt";
}  // namespace

std::vector<std::string> TranslationTask::vocabulary_names() const {
  std::vector<std::string> names = names_of_files(source_file, tokenization());
  for (const std::string& name : names_of_files(target_file, tokenization())) names.push_back(name);
  return names;
}

VocabularyFiles TranslationTask::vocabularies() const {
  VocabularyFiles files = files_of(vocabularies_->source, source_file);
  for (auto& file : files_of(vocabularies_->target, target_file)) files.push_back(std::move(file));
  return files;
}

void TranslationTask::set_vocabularies(const VocabularyFiles& files, const std::string& folder) {
  vocabularies_ = {vocabulary_among(files, source_file, folder, tokenization()),
                   vocabulary_among(files, target_file, folder, tokenization())};
}

const TranslationText& TranslationTask::encoded(Split split) {
  if (!encoded_.contains(split))
    encoded_.emplace(
        split, translation_text(texts_.at(split), *vocabularies_, settings.train.batches.reverse_source));
  return encoded_.at(split);
}

const Pairs& TranslationTask::train() {
  if (!train_) train_ = training_pairs(texts_.train, *vocabularies_, settings.data.pairs.max_length);
  return *train_;
}

void TranslationTask::prepare() {
  train(), encoded(Split::valid);
  if (texts_.test) encoded(Split::test);
}

std::vector<std::string> TranslationTask::notes() const {
  std::vector<std::string> notes = texts_.notes;
  if (train_)
    for (std::string& it : notes_of(*train_, settings.data.pairs.max_length)) notes.push_back(std::move(it));
  return notes;
}

std::vector<UnknownShare> TranslationTask::unknown_shares() const {
  std::vector<UnknownShare> shares;
  const auto add = [&](const TextPair& text, const Pairs& pairs) {
    shares.push_back(share_of(text.source, pairs.source, vocabularies_->source, false));
    shares.push_back(share_of(text.target, pairs.target, vocabularies_->target));
  };
  if (train_) add(texts_.train, *train_);
  for (const auto& [split, it] : encoded_) add(texts_.at(split), it.pairs);
  return shares;
}

Pairs some_pairs(const TranslationSettings& settings, std::int64_t source_size, std::int64_t target_size) {
  const std::int64_t length = length_within(settings.data.pairs.max_length),
                     count = sentences_of(settings.train.batches.order, length);
  return {some_sentences(count, source_size > 0 ? length : 1, std::max<std::int64_t>(1, source_size)),
          some_sentences(count, length, target_size)};
}

void TranslationTask::assume(const std::vector<std::int64_t>& sizes) {
  vocabularies_ = {some_vocabulary(), some_vocabulary()};
  train_ = some_pairs(settings, sizes.at(0), sizes.at(1));
  encoded_[Split::valid] = {.pairs = *train_,
                            .target = &vocabularies_->target,
                            .reverse_source = settings.train.batches.reverse_source};
}

std::string TranslationTask::size_text() const {
  return fmt::format("{} pairs, {} and {} symbols, vocabularies of {} and {} symbols", train_->size(),
                     train_->source.symbols(), train_->target.symbols(), vocabularies_->source.size(),
                     vocabularies_->target.size());
}

std::unique_ptr<Module> TranslationTask::make_model(const std::vector<std::int64_t>& sizes,
                                                    std::uint64_t seed, Device device) const {
  return std::make_unique<EncoderDecoder>(settings.model, sizes.at(0), sizes.at(1), seed, device);
}

std::unique_ptr<Objective> TranslationTask::make_objective(Module& model, std::uint64_t seed) {
  return std::make_unique<Translation>(own(model), settings.train, train(), encoded(Split::valid), seed);
}

Scores TranslationTask::measure(Module& model, const std::string& split, const ProgressOf& progress_of) {
  const TranslationText& text = encoded(split_from_string(split));
  return measure_translation(own(model), text, settings, true,
                             progress_of("translating " + split, text.pairs.size()));
}

Probed TranslationTask::probe(Module& model, const std::string& split, const ProbeOptions& options,
                              const std::function<void(std::int64_t)>& progress) {
  const Pairs& pairs = split == "train" ? train() : encoded(split_from_string(split)).pairs;
  return rondo::probe(own(model), pairs, settings.train.batches.reverse_source, options, progress);
}

}  // namespace rondo
