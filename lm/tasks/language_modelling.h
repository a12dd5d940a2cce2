// Language modelling as a task: chunks of a text, the loss of predicting each next symbol, the state carried
// from chunk to chunk if the batches are streams (truncated back-propagation through time), and penalties on
// activations. Next: lm/tasks/batches.h, nn/models/language_model.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lm/evaluation/evaluation.h"
#include "lm/tasks/batches.h"
#include "lm/training/task.h"
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

class LanguageModelling : public Task {
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
  double share_of_epoch() const override;
  /// Nats per symbol of the validation text.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;
  /// What evaluate() found last, read as validation_reading() says.
  const std::optional<Evaluation>& last_evaluation() const { return last_evaluation_; }
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
  std::optional<Evaluation> last_evaluation_;
  Batches batches_;
  int64_t ranks_ = 1, rank_ = 0;
  int64_t epoch_ = 1;
  Chunk chunk_;
  std::vector<Part> parts_;  // of the chunk, this rank's
  // [batch, H] of each layer, always in one place; the first ones if no state is carried.
  std::vector<State> states_;
  std::vector<State> after_;  // the states after the part whose loss was computed last
};

/// Nats per symbol.
Figure figure_of(const Evaluation& evaluation, const Reading& reading);

/// All defined tensors of `states`, with their names in files: "state.0.h", "state.0.c", ...
std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states);

}  // namespace rondo
