// Translation as a task: pairs of sentences, two vocabularies, the encoder-decoder, and the loss of each next
// symbol of the target after its true previous symbols (teacher forcing). Next: data/pair_batches.h,
// nn/models/encoder_decoder.h, lm/evaluation/translation_evaluation.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/parallel_text.h"
#include "lm/evaluation/translation_evaluation.h"
#include "lm/tasks/sentence_task.h"
#include "lm/tasks/task.h"

namespace rondo {

/// A metric by which the best weights are chosen: nats per target symbol, BLEU, or chrF.
enum class SelectionMetric { nats, bleu, chrf };
inline std::vector<std::string> names_of(SelectionMetric) { return {"nats", "bleu", "chrf"}; }

struct TranslationOptions {
  PairBatchOptions batches{};
  double label_smoothing = 0;  // autograd/cross_entropy.h
  SelectionMetric decides = SelectionMetric::nats;
  int64_t eval_beam = 1;  // in evaluations during training
  BleuTokenization bleu_tokenization = BleuTokenization::mteval_13a;
};
/// Includes the keys of PairBatchOptions.
Keys keys_of(TranslationOptions& options);
/// InputError for settings out of range.
void check_options(const TranslationOptions& options);

class Translation : public SentenceObjective<PairBatches, PairBatch> {
 public:
  /// The model and the texts must outlive it. The seed determines the order of the batches. InputErrors of
  /// check_options() and PairBatches.
  Translation(EncoderDecoder& model, const TranslationOptions& options, const Pairs& train,
              const TranslationText& valid, uint64_t seed = 1);

  Module& model() override { return model_; }
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  int64_t scored_per_epoch() const override { return batches_.scored(); }
  /// All metrics on the validation text, the deciding one first; if that has no references, the nats alone.
  /// `progress` gets the number of sentences done.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override;

 private:
  void stage(Batch& batch) const override;

  EncoderDecoder& model_;
  TranslationOptions options_;
  const TranslationText& valid_;
};

/// All metrics, the deciding one first.
Scores scores_of(SelectionMetric decides, const Evaluation& nats, const TranslationScores& scores,
                 int64_t sentences, int64_t beam, double seconds);

/// Section [data].
struct ParallelTextOptions {
  ParallelOptions files{};
  Tokenization tokenization{};
  VocabularyLimits limits{};
  PairOptions pairs{};
  double pairs_share = 1;  // of the training pairs, from the beginning
};
Keys keys_of(ParallelTextOptions& options);

struct TranslationSettings {
  ParallelTextOptions data{};
  EncoderDecoderOptions model{};
  TranslationOptions train{};
  BeamOptions decoding{};  // of `lm translate`, `lm eval` and final figures
};
Sections sections_of(TranslationSettings& settings);
/// InputError if settings contradict each other; `where` begins the text.
void check_settings(const TranslationSettings& settings, const std::string& where);
std::string model_text_of(const EncoderDecoderOptions& options);

/// A share of the lines of a training text, from its beginning; at least one.
TextPair first_lines(const TextPair& text, double share);
/// Pairs of ids, with the targets as references. The vocabularies must outlive it. InputError, with the line,
/// if a reference is not UTF-8.
TranslationText translation_text(const TextPair& text, const PairVocabularies& vocabularies,
                                 bool reverse_source);
/// Pairs of a batch of the settings, made up: lm/tasks/task.h. Without a source its size is 0.
Pairs some_pairs(const TranslationSettings& settings, std::int64_t source_size, std::int64_t target_size);
/// What a user should know of the pairs that a training leaves out; `max_length` is that of the settings.
std::vector<std::string> notes_of(const Pairs& train, std::int64_t max_length);
/// Translates a text, and measures nats, BLEU and chrF; of pairs without a source, which are a language
/// model's, nats alone.
Scores measure_translation(EncoderDecoder& model, const TranslationText& text,
                           const TranslationSettings& settings, bool has_source,
                           const std::function<void(std::int64_t)>& progress);

/// A warning if more than half of the translations of a text are empty; else empty.
std::string warning_of_empty(std::int64_t empty, std::int64_t translations);

/// An encoder-decoder, and what it reads and writes.
struct Translator {
  EncoderDecoder& model;
  const PairVocabularies& vocabularies;
  bool has_source = true;  // false: it is a language model
};

/// The best translations of lines.
std::vector<LineAnswer> translate_lines(const Translator& translator, const TranslationSettings& settings,
                                        const std::vector<InputLine>& lines);

/// A task whose model, or a part of it, translates.
class TranslatingTask {
 public:
  virtual ~TranslatingTask() = default;
  virtual TranslationSettings& translation() = 0;
  virtual Translator translator(Module& model) = 0;
};

class TranslationTask : public TaskWith<TranslationTask, TranslationSettings, EncoderDecoder>,
                        public TranslatingTask {
 public:
  Sections sections() override { return sections_of(settings); }
  void check(const std::string& where) const override { check_settings(settings, where); }
  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.data.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.data.limits.max_size; }
  std::string selection_metric() const override { return name_of(settings.train.decides); }
  bool higher_is_better() const override { return settings.train.decides != SelectionMetric::nats; }
  std::string preferred_reading() const override { return search_text(settings.decoding.beam); }
  std::string model_text() const override { return model_text_of(settings.model); }
  Usage usage() const override { return {"translate", "to translate with it", "< sentences"}; }

  void open(const DataSource& source) override;
  std::vector<FileDigest> files() const override { return texts_.files; }
  void open_other(const std::string& path, const DataSource& source) override;
  void make_vocabularies() override;
  std::vector<std::string> vocabulary_names() const override;
  VocabularyFiles vocabularies() const override;
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override;
  void prepare() override;
  std::vector<std::string> notes() const override;
  std::vector<UnknownShare> unknown_shares() const override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  std::string size_text() const override;
  std::int64_t validation_size() const override { return encoded_.at(Split::valid).pairs.size(); }
  std::vector<std::string> measured_splits() const override { return names_of_measured(texts_); }

  std::vector<std::int64_t> sizes() const override {
    return {vocabularies_->source.size(), vocabularies_->target.size()};
  }
  std::vector<std::int64_t> assumed_sizes(std::int64_t vocabulary) const override {
    return {vocabulary, vocabulary};
  }
  const Vocabulary& vocabulary() const override { return vocabularies_->target; }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    return translate_lines(translator(model), settings, lines);
  }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override;

  TranslationSettings& translation() override { return settings; }
  Translator translator(Module& model) override { return {own(model), *vocabularies_}; }

 private:
  const TranslationText& encoded(Split split);
  /// The pairs that are trained on.
  const Pairs& train();

  ParallelText texts_{};
  std::optional<PairVocabularies> vocabularies_;
  std::optional<Pairs> train_;
  std::map<Split, TranslationText> encoded_;
};

}  // namespace rondo
