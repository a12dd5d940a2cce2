// Language modelling as a task: chunks of a text, the loss of predicting each next symbol, the state carried
// from chunk to chunk where the batches are streams (truncated back-propagation through time), and what the
// recurrent recipes add to the loss. Next: lm/tasks/batches.h, nn/models/language_model.h.
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

/// Of the losses of a chunk's symbols: their mean, or the sum over time of the means over streams (Zaremba et
/// al. 2014), whose gradient grows with the chunk.
enum class LossScale { mean, sum_over_time };
inline std::vector<std::string> names_of(LossScale) { return {"mean", "sum_over_time"}; }

/// How a text is read that is evaluated: as its batches are, or as one stream in any case.
enum class EvaluatedAs { batching, stream };
inline std::vector<std::string> names_of(EvaluatedAs) { return {"batching", "stream"}; }
/// It is a key of the text, not of the training.
Keys keys_of(EvaluatedAs& evaluated_as);

struct LanguageModellingOptions {
  BatchOptions batches{};
  int64_t micro_batch = 0;  // streams of a batch at once, which divide it; 0: all
  int64_t reset_every = 0;  // updates after which the state is zero again; 0: only with each epoch
  LossScale loss = LossScale::mean;
  double activation_regularization = 0, temporal_regularization = 0;  // nn/regularization.h
  EvaluatedAs evaluated_as = EvaluatedAs::batching;
  int64_t eval_streams = 1, final_streams = 1;  // of evaluations during training, and of final figures
};
/// All but how texts are cut and read: those of the batches among them.
Keys keys_of(LanguageModellingOptions& options);
/// InputError for settings out of range, and a micro-batch that does not divide the batch.
void check_options(const LanguageModellingOptions& options);

/// How evaluations during training read a text, and how final figures do. `line_end` is the id that ends a
/// line.
Reading validation_reading(const LanguageModellingOptions& options, std::optional<int32_t> line_end);
Reading final_reading(const LanguageModellingOptions& options, std::optional<int32_t> line_end);

class LanguageModelling : public Task {
 public:
  /// The model and the ids must outlive it. Without `valid_ids` there is no evaluate(). `line_end` is the id
  /// that ends a line, and the seed draws the order of the batches. InputErrors of check_options() and
  /// Batches.
  LanguageModelling(LanguageModel& model, const LanguageModellingOptions& options,
                    std::span<const int32_t> train_ids, std::span<const int32_t> valid_ids = {},
                    std::optional<int32_t> line_end = {}, uint64_t seed = 1);

  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override;
  bool next_batch(Batch& batch) override;
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override;
  void carry_state(int64_t part) override;
  void end_batch(int64_t step) override;
  double share_of_epoch() const override;
  /// Nats per symbol of the validation text.
  Figure evaluate(const std::function<void(int64_t)>& progress = {}) override;
  void save(StateWriter& to) const override;
  void load(const StateReader& from) override;

  int64_t scored_per_epoch() const override { return batches_.symbols(); }
  /// The chunk of the staged batch.
  const Chunk& chunk() const { return chunk_; }

  /// The population statistics of batch normalisation anew, for the weights as they are: the average over the
  /// rows of the first epoch, read once more (nn/layers/batch_norm.h). Returns its symbols; `progress` is
  /// told those done. Leaves the model as it is evaluated.
  int64_t estimate_statistics(const std::function<void(int64_t)>& progress);

 private:
  /// Some streams of a chunk, in pieces of time: where padding can be left out there may be several.
  struct Part {
    int64_t first = 0;       // stream
    size_t first_index = 0;  // of the batch's indices: inputs, targets, inputs, ... of the pieces
    std::vector<Chunk> pieces;
  };
  std::vector<Part> parts_of(const Chunk& chunk) const;
  /// Runs a part from `states`, which it moves to where the part ends; use(output, piece) gets each piece.
  template <class Ids, class Use>
  void forward(const Part& part, std::vector<State>& states, Ids ids, Use use);
  /// With the penalties on activations: what gradients are taken of.
  Variable penalized(Variable loss, const LanguageModel::Output& output) const;
  /// Whether some cell takes statistics of a batch, for which padding must be left out.
  bool looks_across_rows() const;
  bool carries_state() const { return batches_.carries_state(); }
  void advance(std::vector<State>& states, const Chunk& chunk, int64_t step) const;

  LanguageModel& model_;
  LanguageModellingOptions options_;
  std::span<const int32_t> valid_ids_;
  Reading validation_;
  Batches batches_;
  int64_t epoch_ = 1;
  Chunk chunk_;
  std::vector<Part> parts_;    // of the chunk
  std::vector<State> states_;  // [batch, H] of each layer, always in one place; zero where nothing is carried
  std::vector<State> after_;   // of the part whose loss was computed last
};

/// Nats per symbol.
Figure figure_of(const Evaluation& evaluation, const Reading& reading);

/// Whether a training computes segments, lines for one, without their padding.
bool leaves_out_padding(const LanguageModelOptions& options, Device device);

/// Everything in `state` that is defined, for files: "state.0.h", "state.0.c", ...
std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states);

}  // namespace rondo
