// Translation as a job of `lm train`: pairs of sentences, two vocabularies, the encoder-decoder.
#include <optional>

#include "lm/program/job_of.h"
#include "lm/program/measure_translator.h"
#include "lm/program/run.h"
#include "lm/program/translator.h"
#include "lm/tasks/translation.h"

namespace rondo {
namespace {

ParallelText text_of(const TrainOptions& options, Setup& setup) {
  const ParallelTextOptions& data = setup.config.recipe.translation.data;
  setup.place_data(options.data, false);
  const std::string& folder = setup.config.made_by.data;
  check_generated_has_no_folder(data.files, options.data);
  check_input(data.files.generated_pairs > 0 || !folder.empty(),
              "which text? give --data a folder with {0}.{1} and {0}.{2}", data.files.train,
              data.files.source_language, data.files.target_language);
  ParallelText text = open_parallel_text(folder, data.files, data.tokenization.unit);
  if (data.pairs_share < 1) text.train = first_lines(text.train, data.pairs_share);
  return text;
}

PairVocabularies vocabularies_for(const TextPair& train, const Setup& setup) {
  const ParallelTextOptions& data = setup.config.recipe.translation.data;
  std::vector<Vocabulary> known = known_vocabularies(setup);
  if (known.empty())
    return vocabularies_of(train, data.tokenization, data.limits, data.pairs.shared_vocabulary);
  return {std::move(known.front()), std::move(known.back())};
}

class TranslationJob : public JobOf<EncoderDecoder, Translation> {
 public:
  TranslationJob(const TrainOptions& options, Setup& setup)
      : JobOf(setup.config.recipe),
        text_(text_of(options, setup)),
        vocabularies_(vocabularies_for(text_.train, setup)) {
    setup.check_same_data(sha256_lines());
    train_ = training_pairs(text_.train, vocabularies_, of_task().data.pairs.max_length);
    valid_ = encoded(text_.valid);
    if (text_.test) test_ = encoded(*text_.test);
    layout_ = make_model(Device::meta);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(text_.files); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = text_.notes;
    for (std::string& it : notes_of(train_, of_task().data.pairs.max_length)) notes.push_back(std::move(it));
    return notes;
  }
  std::vector<UnknownShare> unknown_shares() const override {
    return {share_of(text_.train.source, train_.source, vocabularies_.source, false),
            share_of(text_.train.target, train_.target, vocabularies_.target, true),
            share_of(text_.valid.source, valid_.pairs.source, vocabularies_.source, false),
            share_of(text_.valid.target, valid_.pairs.target, vocabularies_.target, true)};
  }
  VocabularyFiles vocabularies() const override {
    VocabularyFiles files = files_of(vocabularies_.source, RunFolder().source_vocabulary());
    for (auto& file : files_of(vocabularies_.target, RunFolder().target_vocabulary()))
      files.push_back(std::move(file));
    return files;
  }
  std::string size_text() const override {
    return fmt::format("{} pairs, {} and {} symbols, vocabularies of {} and {} symbols", train_.size(),
                       train_.source.symbols(), train_.target.symbols(), vocabularies_.source.size(),
                       vocabularies_.target.size());
  }
  int64_t validation_size() const override { return valid_.pairs.size(); }

  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(*model_, train_, of_task().task.batches.reverse_source, {}, progress);
  }

  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  std::unique_ptr<EncoderDecoder> make_model(Device device) const override {
    return std::make_unique<EncoderDecoder>(of_task().model, vocabularies_.source.size(),
                                            vocabularies_.target.size(), seed(), device);
  }
  std::unique_ptr<Translation> make_task(EncoderDecoder& model) override {
    return std::make_unique<Translation>(model, of_task().task, train_, valid_, seed());
  }
  void measure(Watch& watch, const Setup& setup, const Compute& compute) override;

  const TranslationRecipe& of_task() const { return recipe_.translation; }
  TranslationText encoded(const TextPair& text) const {
    return translation_text(text, vocabularies_, of_task().task.batches.reverse_source);
  }

  ParallelText text_;
  PairVocabularies vocabularies_;
  Pairs train_;
  TranslationText valid_;
  std::optional<TranslationText> test_;
};

void TranslationJob::measure(Watch& watch, const Setup& setup, const Compute& compute) {
  measure_translator(*model_, of_task(), valid_, test_, watch, setup, compute);
}

void TranslationJob::conclude(Terminal& terminal, const RunFolder& run) {
  say_run(terminal, run, "to translate with it", "< sentences");
}

}  // namespace

std::unique_ptr<Job> make_translation_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<TranslationJob>(options, setup);
}

}  // namespace rondo
