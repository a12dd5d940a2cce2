// Language modelling as a job of `lm train`: a text, its vocabulary, the language model.
#include <numbers>
#include <numeric>
#include <span>

#include "data/input_file.h"
#include "data/kneser_ney.h"
#include "data/ngram.h"
#include "data/text.h"
#include "lm/decoding/sampling.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/probe.h"
#include "lm/program/job.h"
#include "lm/program/measurement.h"
#include "lm/program/model.h"
#include "lm/program/run.h"
#include "lm/program/shell_command.h"
#include "lm/tasks/self_test.h"
#include "lm/training/checkpoint.h"
#include "lm/training/memory.h"
#include "lm/training/word_vectors.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

/// The text to train on.
CorpusText corpus_text_of(const TrainOptions& options, Setup& setup) {
  const bool is_given = setup.place_data(options.data, !setup.config.recipe.data.files.empty());
  try {
    CorpusText text = open_text(setup.config.recipe.data, setup.config.made_by.data,
                                is_given ? Pipes::accepted : Pipes::refused,
                                options.quiet ? ReadingProgress() : reading_progress(stdout));
    setup.check_same_data(sha256_lines(text.files));
    return text;
  } catch (const NotUtf8& error) {
    const bool has_unit = setup.knows_text() || setup.keeps_vocabulary();  // of another run
    throw InputError(fmt::format("{}{}", error.what(), has_unit ? "" : ", or --set data.unit=bytes"));
  }
}

Vocabulary vocabulary_for(const CorpusText& text, const Setup& setup) {
  const Recipe& recipe = setup.config.recipe;
  const std::vector<Vocabulary> known = known_vocabularies(setup);
  if (!known.empty()) return known.front();
  const bool by_frequency = recipe.model.output == OutputKind::adaptive;
  return vocabulary_of(recipe.data, text,
                       by_frequency ? SymbolOrder::frequency : SymbolOrder::first_occurrence);
}

/// Records the word vectors that a new model begins with. InputError if they are not those of the resumed
/// run.
void record_embedding_file(Setup& setup) {
  const std::string& file = setup.config.recipe.embedding_file;
  std::string& recorded = setup.config.made_by.embedding_file;
  const bool is_trained = setup.has_base() || (setup.resumes && file_is_there(setup.run.state()));
  if (file.empty() || is_trained) return;
  const std::string sha256 = sha256_hex(InputFile(file));
  check_input(!setup.resumes || sha256 == recorded,
              "{}: the word vectors have changed since this run was made", printable(file));
  recorded = sha256;
}

/// The model's `nats` on the validation text beside those of n-gram models, which are scored on the same
/// symbols: all except the first.
std::string beside_ngrams(double nats, const Vocabulary& vocabulary, const Corpus& corpus) {
  constexpr int order = 5;
  const std::span<const int32_t> train = corpus.train.ids, valid = corpus.valid.ids;
  const NgramEntropy ngram = ngram_entropy(train, valid, vocabulary.size());
  const auto line_end = vocabulary.line_end_id();
  const NgramModel kneser_ney_model = kneser_ney(train, vocabulary.size(), line_end, order).model;
  const std::vector<double> log_p = log_probabilities(kneser_ney_model, valid, line_end);
  const double sum = std::accumulate(log_p.begin() + 1, log_p.end(), 0.0);
  const auto bits = [](double it) { return it / std::numbers::ln2; };
  return fmt::format(
      "on valid: model {:.3f}, Kneser-Ney of order {} {:.3f}, bigram {:.3f}, unigram {:.3f} bits per symbol",
      bits(nats), order, bits(-sum / static_cast<double>(log_p.size() - 1)), bits(ngram.bigram),
      bits(ngram.unigram));
}

class LanguageModellingJob : public Job {
 public:
  LanguageModellingJob(const TrainOptions& options, Setup& setup)
      : recipe_(setup.config.recipe),
        text_(corpus_text_of(options, setup)),
        vocabulary_(vocabulary_for(text_, setup)) {
    check_input(vocabulary_.types() >= 2, "{}: one symbol only, nothing to predict", text_.train.name);
    corpus_ = encode_corpus(text_, vocabulary_, ids_folder());
    note_long_texts();
    const auto line_end = vocabulary_.line_end_id();
    const Reading last = final_reading(recipe_, line_end);
    check_streams(validation_reading(recipe_, line_end), std::ssize(corpus_.valid.ids));
    check_streams(last, std::ssize(corpus_.valid.ids));
    if (corpus_.test) check_streams(last, std::ssize(corpus_.test->ids));
    layout_.emplace(model_options(recipe_), vocabulary_.size(), 1, Device::meta);
    record_embedding_file(setup);
  }

  std::vector<std::string> sha256_lines() const override { return rondo::sha256_lines(text_.files); }
  std::vector<std::string> notes() const override { return notes_; }
  std::vector<UnknownShare> unknown_shares() const override {
    std::vector<UnknownShare> shares;
    const auto add = [&](const Text& text, const EncodedText& encoded) {
      shares.push_back({text.name, encoded.counts.unknowns, std::ssize(encoded.ids)});
    };
    add(text_.train, corpus_.train);
    add(text_.valid, corpus_.valid);
    if (corpus_.test) add(*text_.test, *corpus_.test);
    return shares;
  }
  std::vector<std::string> warnings() const override {
    const std::string warning = warning_of_same_texts(text_);
    return warning.empty() ? std::vector<std::string>() : std::vector{warning};
  }
  std::string warning_of(const Figure& figure, const RunFolder& run) const override {
    return warning_of_cost(figure.value, vocabulary_.size(),
                           reason_of_cost(figure.value, vocabulary_.size(),
                                          validation_reading(recipe_, vocabulary_.line_end_id()),
                                          command_with({"eval", run.path.string(), "--split", "valid"})));
  }
  VocabularyFiles vocabularies() const override { return files_of(vocabulary_, RunFolder().vocabulary()); }
  std::string size_text() const override {
    return fmt::format("{}, {}", counted_text(std::ssize(corpus_.train.ids), "symbols"),
                       vocabulary_text(vocabulary_.size()));
  }
  int64_t validation_size() const override { return std::ssize(corpus_.valid.ids); }

  const Module& layout() const override { return *layout_; }
  void check_memory(Device device) override;

  void begin(Device device) override {
    training_.emplace(recipe_, vocabulary_.size(), corpus_.train.ids, vocabulary_.line_end_id(), device,
                      corpus_.valid.ids, vocabulary_.unknown_id());
  }
  Module& model() override { return training_->model; }
  Trainer& trainer() override { return training_->trainer; }
  void set_initial_values() override;
  void test_model() override { check_gradients_reach_all(training_->model); }
  Probed probe(const std::function<void(int64_t)>& progress) override {
    return rondo::probe(training_->model, corpus_.train.ids, {.steps = recipe_.task.batches.chunks.length},
                        progress);
  }

  void keep_best(const RunFolder& run) override {
    Job::keep_best(run);
    best_evaluation_ = training_->task.last_evaluation();
  }
  void measure_best(Watch& watch, const Setup& setup, const Compute& compute) override;
  void conclude(Terminal& terminal, const RunFolder& run) override;

 private:
  /// Of a training with this train.micro_batch.
  TrainingMemory memory_with(int64_t micro_batch, Device device) const;
  void estimate_statistics(Watch& watch, const RunFolder& run);
  /// Says where the ids of texts are that are not held in memory.
  void note_long_texts();

  const Recipe& recipe_;
  CorpusText text_;
  Vocabulary vocabulary_;
  std::vector<std::string> notes_ = text_.notes;
  Corpus corpus_;
  std::optional<LanguageModel> layout_;
  std::optional<Training> training_;
  std::optional<Evaluation> best_evaluation_;  // by this process, on the validation text
  double best_ = 0;                            // nats of the best model on the validation text
};

void LanguageModellingJob::note_long_texts() {
  std::vector<const Text*> texts{&text_.train, &text_.valid};
  if (text_.test) texts.push_back(&*text_.test);
  for (const Text* text : texts)
    if (text->source)
      notes_.push_back(fmt::format("{}: not held in memory (data.memory); its ids are in {}", text->name,
                                   ids_path(*text, vocabulary_, ids_folder()).string()));
}

TrainingMemory LanguageModellingJob::memory_with(int64_t micro_batch, Device device) const {
  LanguageModellingOptions options = recipe_.task;
  options.micro_batch = micro_batch;
  return measure_training_memory(
      device, recipe_.trainer,
      [&](Device meta) {
        return std::make_unique<LanguageModel>(model_options(recipe_), vocabulary_.size(), 1, meta);
      },
      [&](Module& model) {
        return std::make_unique<LanguageModelling>(
            static_cast<LanguageModel&>(model), options, corpus_.train.ids, corpus_.valid.ids,
            vocabulary_.line_end_id(), static_cast<uint64_t>(recipe_.trainer.seed));
      });
}

/// Names a train.micro_batch with which the training would fit.
void LanguageModellingJob::check_memory(Device device) {
  TrainingMemory wanted = memory_with(recipe_.task.micro_batch, device);
  const auto available = available_memory(device);
  if (!available || wanted.training <= *available) return;
  const int64_t batch = recipe_.task.batches.batch;
  const int64_t at_once = recipe_.task.micro_batch > 0 ? recipe_.task.micro_batch : batch;
  const int64_t least = traits_of(recipe_.model.cell).looks_across_rows ? 2 : 1;
  wanted.remedy = "no train.micro_batch makes it fit: " + wanted.remedy;
  for (int64_t streams = at_once - 1; streams >= least; --streams) {
    if (batch % streams != 0) continue;
    const int64_t bytes = memory_with(streams, device).training;
    if (bytes > *available) continue;
    wanted.remedy = fmt::format("set train.micro_batch={}, with about {}", streams, bytes_text(bytes));
    break;
  }
  check_training_fits(recipe_.name, wanted, *available);
}

void LanguageModellingJob::set_initial_values() {
  if (recipe_.embedding_file.empty()) return;
  const Tensor table = parameter_named(training_->model, "embedding.weight").value();
  const std::int64_t found = set_word_vectors(table, vocabulary_, recipe_.embedding_file);
  notes_.push_back(fmt::format("{}: vectors of {} of {} words; the others begin with random ones",
                               printable(recipe_.embedding_file), found, vocabulary_.size()));
}

/// Re-estimates the statistics of batch normalisation over the whole training text, because the moving
/// averages are of the last batches only. Repeating it, after --resume of a finished run, gives the same
/// file. Does nothing for a model without such statistics.
void LanguageModellingJob::estimate_statistics(Watch& watch, const RunFolder& run) {
  LanguageModel& model = training_->model;
  if (model.buffers().empty()) return;
  const int64_t symbols = training_->task.estimate_statistics(
      watch.progress_of("estimating statistics", std::ssize(corpus_.train.ids)));
  save_model(run.model(), model);
  watch.terminal.line(fmt::format("statistics re-estimated over {} training symbols", symbols));
}

void LanguageModellingJob::measure_best(Watch& watch, const Setup& setup, const Compute& compute) {
  LanguageModel& best_model = training_->model;
  const RunFolder& run = setup.run;
  load_model(run.model(), best_model);
  estimate_statistics(watch, run);
  const std::string model = sha256_hex(InputFile(run.model()));
  const std::optional<int32_t> unknown = vocabulary_.unknown_id();
  const auto evaluate = [&](const std::string& split, const EncodedText& text, const Reading& reading,
                            const std::optional<Evaluation>& known = {}) {
    Measurement it;
    it.split = split;
    it.model = model;
    it.types = vocabulary_.types();
    it.vocabulary_size = vocabulary_.size();
    it.parameters = best_model.parameter_count();
    it.reading = reading;
    it.result = known ? *known
                      : evaluate_ids(best_model, text.ids, reading, unknown,
                                     watch.progress_of("evaluating " + split, std::ssize(text.ids)));
    it.result.bytes = scored_bytes(reading, text.counts);
    watch.observers.measured(split, figure_of(it.result, reading));
    keep(run, it, compute, setup.config.made_by.sha256);
    return it.result.nats();
  };
  const auto line_end = vocabulary_.line_end_id();
  const Reading reading = final_reading(recipe_, line_end);
  // Not measured twice, unless statistics have changed the model.
  if (reading != validation_reading(recipe_, line_end) || !best_model.buffers().empty())
    best_evaluation_.reset();
  best_ = evaluate("valid", corpus_.valid, reading, best_evaluation_);
  if (corpus_.test) evaluate("test", *corpus_.test, reading);
  if (corpus_.test && reading.sequence > 0)  // and once more with the state carried on
    evaluate("test", *corpus_.test, {.streams = recipe_.task.final_streams});
}

void LanguageModellingJob::conclude(Terminal& terminal, const RunFolder& run) {
  terminal.line(fmt::format("best on valid: {}", figure_text(recipe_, best_)));
  if (recipe_.report.ngrams) terminal.line(beside_ngrams(best_, vocabulary_, corpus_));
  if (recipe_.report.sample > 0) {
    terminal.line(fmt::format("a sample of {} symbols:", recipe_.report.sample));
    Sampler sampler(training_->model, vocabulary_, {.seed = static_cast<uint64_t>(recipe_.trainer.seed)});
    for (int64_t i = 0; i < recipe_.report.sample; ++i) fmt::print("{}", sampler.next());
    fmt::print("\n");
  }
  terminal.line(fmt::format("the run is {}; to sample from it: {}", run.path.string(),
                            command_with({"generate", run.path.string()})));
}

}  // namespace

std::unique_ptr<Job> make_language_modelling_job(const TrainOptions& options, Setup& setup) {
  return std::make_unique<LanguageModellingJob>(options, setup);
}

}  // namespace rondo
