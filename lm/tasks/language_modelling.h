// Language modelling as a task: a text, its vocabulary, the language model; chunks of the text, the loss of
// predicting each next symbol, the state carried from chunk to chunk if the batches are streams (truncated
// back-propagation through time), and penalties on activations. Next: lm/tasks/batches.h,
// nn/models/language_model.h.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "lm/tasks/batches.h"
#include "lm/tasks/task.h"
#include "lm/tasks/text_options.h"
#include "lm/training/objective.h"
#include "nn/models/language_model.h"

namespace rondo {

/// The loss of a chunk: the mean over its symbols, or the sum over time of the means over streams (Zaremba et
/// al. 2014), whose gradient is proportional to the chunk's length.
enum class LossScale { mean, sum_over_time };
inline std::vector<std::string> names_of(LossScale) { return {"mean", "sum_over_time"}; }

/// How a text is read in an evaluation: like the training batches, or always as one stream.
enum class EvaluatedAs { batching, stream };
inline std::vector<std::string> names_of(EvaluatedAs) { return {"batching", "stream"}; }
/// A key of section [data], not [train].
Keys keys_of(EvaluatedAs& evaluated_as);

struct LanguageModellingOptions {
  BatchOptions batches{};
  int64_t micro_batch = 0;  // streams computed at once, a divisor of the batch; 0: all
  int64_t reset_every = 0;  // updates between returns to the initial state; 0: only at each epoch
  LossScale loss = LossScale::mean;
  double activation_regularization = 0, temporal_regularization = 0;  // nn/regularization.h
  EvaluatedAs evaluated_as = EvaluatedAs::batching;
  int64_t eval_streams = 1, final_streams = 1;  // for evaluations during training, and for final figures
};
/// All keys except data.batching and data.evaluated_as; includes those of BatchOptions.
Keys keys_of(LanguageModellingOptions& options);
/// InputError for settings out of range, for a micro-batch that does not divide the batch, and for settings
/// that only streams have.
void check_options(const LanguageModellingOptions& options);

/// How a text is read for evaluations during training, and for final figures. `line_end` is the id that ends
/// a line; the last argument is that of the model's options.
Reading validation_reading(const LanguageModellingOptions& options, std::optional<int32_t> line_end,
                           bool trained_initial_states);
Reading final_reading(const LanguageModellingOptions& options, std::optional<int32_t> line_end,
                      bool trained_initial_states);

class LanguageModelling : public Objective {
 public:
  /// The model and the ids must outlive it. Without `valid_ids`, evaluate() must not be called. `line_end` is
  /// the id that ends a line; the seed determines the order of the batches, and `<unk>` has
  /// `unknown_id`. InputErrors of check_options()
  /// and Batches.
  LanguageModelling(LanguageModel& model, const LanguageModellingOptions& options,
                    std::span<const int32_t> train_ids, std::span<const int32_t> valid_ids = {},
                    std::optional<int32_t> line_end = {}, uint64_t seed = 1,
                    std::optional<int32_t> unknown_id = {});

  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override;
  bool next_batch(Batch& batch) override;
  /// The largest batch, and the smallest: products of few rows keep packed weights (tensor/gemm.h).
  bool stage_extreme(Batch& batch, size_t number) override;
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  std::string remedy_for_memory() const override;
  void carry_state(int64_t part) override;
  void end_batch(int64_t step) override;
  double epoch_fraction() const override;
  /// Nats per symbol of the validation text.
  Scores evaluate(const std::function<void(int64_t)>& progress = {}) override;
  void divide(int64_t ranks, int64_t own) override;
  void collect_state(Ranks& ranks) override;
  void save(StateWriter& to) const override;
  void load(const StateReader& from) override;

  int64_t scored_per_epoch() const override { return batches_.symbols(); }
  /// The chunk of the staged batch.
  const Chunk& chunk() const { return chunk_; }

  /// Re-estimates the population statistics of batch normalisation for the current weights: the average over
  /// the rows of the first epoch, which is read once more (nn/layers/batch_norm.h). Returns its number of
  /// symbols; `progress` gets the number done. Leaves the model in evaluation mode.
  int64_t estimate_statistics(const std::function<void(int64_t)>& progress);

 private:
  /// Some streams of a chunk, divided into pieces in time: several pieces if padding can be left out.
  struct Part {
    int64_t first = 0;       // stream
    size_t first_index = 0;  // in the batch's indices: inputs, targets, inputs, ... of the pieces
    std::vector<Chunk> pieces;
  };
  std::vector<Part> parts_of(const Chunk& chunk) const;
  /// Whether lines and crops are computed without their padding: not on a GPU, where a step needs a fixed
  /// number of launches; nor with masks, which are drawn once for a whole chunk.
  bool leaves_out_padding() const {
    return !carries_state() && !is_gpu(model_.device()) && !masks(model_.options());
  }
  /// Tells the trainer what it must know of chunk_.
  void stage(Batch& batch);
  /// This rank's.
  std::vector<Part> own_parts_of(const Chunk& chunk) const;
  /// Runs a part from `states`, which are then the states at its end; calls use(output, piece) for each
  /// piece.
  template <class Ids, class Use>
  void forward(const Part& part, std::vector<State>& states, Ids ids, Use use);
  /// The loss plus the penalties on activations: the value to differentiate.
  Variable penalized(Variable loss, const LanguageModel::Output& output) const;
  /// Whether the staged chunk begins with initial states that are trained.
  bool begins_with_trained_states() const {
    return model_.options().trained_initial_states && states_.front().steps == 0;
  }
  bool carries_state() const { return batches_.carries_state(); }
  /// The values of the whole batch's initial states.
  std::vector<State> first_states() const { return detached(model_.initial_states(options_.batches.batch)); }
  /// What a part of the chunk begins with; initial states that are trained get a gradient.
  std::vector<State> states_before(const Part& part) const;
  void advance(std::vector<State>& states, const Chunk& chunk, int64_t step) const;

  LanguageModel& model_;
  LanguageModellingOptions options_;
  std::span<const int32_t> valid_ids_;
  Reading validation_;
  std::optional<int32_t> unknown_id_;
  Batches batches_;
  int64_t ranks_ = 1, rank_ = 0;
  int64_t epoch_ = 1;
  Chunk chunk_;
  std::vector<Part> parts_;  // of the chunk, this rank's
  // [batch, H] of each layer, always in one place; the first ones if no state is carried.
  std::vector<State> states_;
  std::vector<State> after_;  // the states after the part whose loss was computed last
};

/// All defined tensors of `states`, with their names in files: "state.0.h", "state.0.c", ...
std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states);

struct LanguageModellingSettings {
  TextOptions data{};  // section [data] also has keys of batches and evaluations
  LanguageModelOptions model{};
  std::string embedding_file{};  // of section [model]: word vectors that its embedding begins with
  LanguageModellingOptions train{};
  DynamicOptions dynamic{};  // of `lm eval --dynamic`
  CacheOptions cache{};      // of `lm eval --cache`
};
/// The options of the model, each of whose layers has its own width.
LanguageModelOptions model_options(const LanguageModellingSettings& settings);

class LanguageModellingTask
    : public TaskWith<LanguageModellingTask, LanguageModellingSettings, LanguageModel> {
 public:
  Sections sections() override;
  void check(const std::string& where) const override;
  const std::string& cell() const override { return settings.model.cell; }
  const Tokenization& tokenization() const override { return settings.data.tokenization; }
  std::int64_t largest_vocabulary() const override { return settings.data.limits.max_size; }
  bool keeps_vocabulary() const override {
    return Task::keeps_vocabulary() || !settings.data.vocabulary_file.empty();
  }
  /// The reading of papers: as final_reading() has it, in one stream.
  std::string preferred_reading() const override;
  std::string model_text() const override;
  Usage usage() const override { return {"generate", "to sample from it", ""}; }

  bool reads_current_folder() const override { return !settings.data.files.empty(); }
  void open(const DataSource& source) override;
  std::vector<FileDigest> files() const override { return texts_.files; }
  std::vector<NamedFile> named_files() override;
  void open_other(const std::string& path, const DataSource& source) override;
  void make_vocabularies() override;
  std::vector<std::string> vocabulary_names() const override;
  VocabularyFiles vocabularies() const override { return files_of(*vocabulary_, "vocab.txt"); }
  void set_vocabularies(const VocabularyFiles& files, const std::string& folder) override;
  void prepare() override;
  std::vector<std::string> notes() const override;
  std::vector<UnknownShare> unknown_shares() const override;
  void assume(const std::vector<std::int64_t>& sizes) override;
  std::string size_text() const override;
  std::int64_t validation_size() const override { return std::ssize(encoded_.at(Split::valid).ids); }
  std::vector<std::string> measured_splits() const override { return names_of_measured(texts_); }

  std::vector<std::int64_t> sizes() const override { return {vocabulary_->size()}; }
  std::unique_ptr<Module> make_model(const std::vector<std::int64_t>& sizes, std::uint64_t seed,
                                     Device device) const override;
  std::vector<std::string> set_initial_values(Module& model) override;
  std::unique_ptr<Objective> make_objective(Module& model, std::uint64_t seed) override;
  /// Re-estimates the statistics of batch normalisation over the whole training text, because the moving
  /// averages are of the last batches only. Repeating it gives the same model.
  std::string complete(Objective& objective, const ProgressOf& progress_of) override;
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override;
  /// Of a test text that is read in sequences, also those with the state carried on.
  std::vector<Scores> final_scores(Module& model, const std::string& split,
                                   const ProgressOf& progress_of) override;
  /// Measures with another way to read the text, or a model that adapts to it.
  Scores measure(LanguageModel& model, const std::string& split, const Reading& reading,
                 const Adaptation& how, const ProgressOf& progress_of);
  ProbeOptions probe_options() const override { return {.steps = settings.train.batches.chunks.length}; }
  Probed probe(Module& model, const std::string& split, const ProbeOptions& options,
               const std::function<void(std::int64_t)>& progress) override;

  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  const CorpusText& texts() const { return texts_; }
  /// The ids of a split, which are read once.
  const EncodedText& encoded(Split split);
  /// How a text is read for evaluations during training, and for final figures.
  Reading validation_reading() const;
  Reading final_reading() const;

 private:
  CorpusText texts_{};
  std::optional<Vocabulary> vocabulary_;
  std::map<Split, EncodedText> encoded_;
};

}  // namespace rondo
