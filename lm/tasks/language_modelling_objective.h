// The objective of language modelling: chunks of a text, the loss of predicting each next symbol, the state
// carried from chunk to chunk if the batches are streams (truncated back-propagation through time), and
// penalties on activations. Next: lm/tasks/batches.h, nn/models/language_model.h.
#pragma once

#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "lm/evaluation/evaluation.h"
#include "lm/tasks/batches.h"
#include "lm/training/objective.h"
#include "nn/cells/catalogue.h"
#include "nn/models/language_model.h"
#include "nn/regularization.h"
#include "tensor/random.h"
#include "tensor/tensor.h"

namespace rondo {

/// The loss of a chunk: the mean over its symbols, or the sum over time of the means over streams (Zaremba et
/// al. 2014), whose gradient is proportional to the chunk's length.
enum class LossScale { mean, sum_over_time };
inline std::vector<std::string> names_of(LossScale) { return {"mean", "sum_over_time"}; }

/// How a text is read in an evaluation: like the training batches, or always as one stream.
enum class EvaluatedAs { batching, stream };
inline std::vector<std::string> names_of(EvaluatedAs) { return {"batching", "stream"}; }
/// A key of section [data], not [train].
inline Keys keys_of(EvaluatedAs& evaluated_as) {
  return {{"evaluated_as", choice(evaluated_as),
           "how valid.txt and test.txt are read: according to data.batching (streams; lines; or "
           "sequences of train.length), or always with the state carried on"}};
}

struct LanguageModellingOptions {
  BatchOptions batches{};
  int64_t micro_batch = 0;  // streams computed at once, a divisor of the batch; 0: all
  int64_t reset_every = 0;  // updates between returns to the initial state; 0: only at each epoch
  LossScale loss = LossScale::mean;
  double activation_regularization = 0, temporal_regularization = 0;  // nn/regularization.h
  EvaluatedAs evaluated_as = EvaluatedAs::batching;
  int64_t eval_streams = 1, final_streams = 1;  // for evaluations during training, and for final figures
  int64_t eval_warm_up = 0;                     // symbols before each of eval_streams
};
/// All keys except data.batching and data.evaluated_as; includes those of BatchOptions.
inline Keys keys_of(LanguageModellingOptions& options) {
  return joined(
      {keys_of(options.batches),
       {{"reset_every", &options.reset_every, at_least(0), "steps",
         "after which streams begin again from the initial state, counted over all epochs (Chung et al. "
         "2015: 100); each epoch begins from it as well; evaluations do not reset theirs; 0: only between "
         "epochs"},
        {"micro_batch", &options.micro_batch, at_least(0), "streams",
         "computed at once, a divisor of the batch: less memory, same result (except in bn_ cells); "
         "0: the whole batch"},
        {"loss", choice(options.loss),
         "mean over all symbols, or sum over time and mean over the batch: scales gradients, hence clip"},
        {"activation_regularization", &options.activation_regularization, at_least(0), "",
         "factor of the mean square of the last recurrent layer's output after dropout, added to the loss "
         "but not to the logged one (AR)"},
        {"temporal_regularization", &options.temporal_regularization, at_least(0), "",
         "the same, for the mean squared difference of its output, before dropout, from step to step"
         " (TAR)"},
        {"eval_streams", &options.eval_streams, any_width(), "streams",
         "pieces that evaluations during training read side by side: more is faster, 1 is exact; lines and "
         "sequences from the initial state are exact always"},
        {"eval_warm_up", &options.eval_warm_up, at_least(0), "symbols",
         "that each of train.eval_streams but the first reads before it, unscored, so that it does not begin "
         "without context"},
        {"final_streams", &options.final_streams, any_width(), "streams",
         "the same for `lm eval`, and for the figures of valid.txt and test.txt at the end of the "
         "training"}}});
}
/// Throws InputError for settings out of range, for a micro-batch that does not divide the batch, and for
/// settings that only streams have.
inline void check_options(const LanguageModellingOptions& options) {
  check_limits_of(options);
  check_input(options.micro_batch == 0 || options.batches.batch % options.micro_batch == 0,
              "micro_batch = {} does not divide the batch of {}: set it to a divisor, or to 0",
              options.micro_batch, options.batches.batch);
  const auto only_with_streams = [&](const char* key, double value) {
    check_input(value == 0 || options.batches.batching == Batching::streams,
                "{} = {} is for data.batching = \"streams\", not \"{}\": set it to 0", key, value,
                name_of(options.batches.batching));
  };
  only_with_streams("length_deviation", options.batches.chunks.deviation);
  only_with_streams("reset_every", static_cast<double>(options.reset_every));
  only_with_streams("activation_regularization", options.activation_regularization);
  only_with_streams("temporal_regularization", options.temporal_regularization);
}

/// How a text is read by an evaluation, with so many streams, and symbols before each, where it is read in
/// streams. `line_end` is the id that ends a line; the last argument is that of the model's options.
inline Reading evaluation_reading(const LanguageModellingOptions& options, int64_t streams, int64_t warm_up,
                                  std::optional<int32_t> line_end, bool trained_initial_states) {
  const bool as_batched = options.evaluated_as == EvaluatedAs::batching;
  const BatchOptions& batches = options.batches;
  Reading reading{.trained_initial_states = trained_initial_states};
  if (as_batched && batches.batching == Batching::lines)
    reading.line_end = line_end;
  else if (as_batched && batches.batching == Batching::crops)
    reading.sequence = batches.chunks.length;
  else
    reading.streams = streams, reading.warm_up = streams > 1 ? warm_up : 0;
  return reading;
}

/// All defined tensors of `states`, with their names in files: "state.0.h", "state.0.c", ...
inline std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states) {
  std::vector<std::pair<std::string, Tensor>> named;
  for (size_t layer = 0; layer < states.size(); ++layer) {
    for (const auto& [name, value] : states[layer].tensors())
      named.emplace_back(fmt::format("state.{}.{}", layer, name), value.value());
  }
  return named;
}

class LanguageModelling : public Objective {
 public:
  /// The model and the ids must outlive it. Without `valid_ids`, evaluate() must not be called. `line_end` is
  /// the id that ends a line, `unknown_id` that of `<unk>`. The seed determines the order of the batches.
  /// InputErrors of check_options() and Batches.
  LanguageModelling(LanguageModel& model, const LanguageModellingOptions& options,
                    std::span<const int32_t> train_ids, std::span<const int32_t> valid_ids = {},
                    std::optional<int32_t> line_end = {}, uint64_t seed = 1,
                    std::optional<int32_t> unknown_id = {})
      : model_(model),
        options_(options),
        valid_ids_(valid_ids),
        validation_(evaluation_reading(options, options.eval_streams, options.eval_warm_up, line_end,
                                       model.options().trained_initial_states)),
        unknown_id_(unknown_id),
        batches_(options.batches, train_ids, line_end, seed),
        states_(first_states()) {
    check_options(options);
    if (options_.micro_batch == 0) options_.micro_batch = options.batches.batch;
  }

  Module& model() override { return model_; }
  void begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    batches_.seek(epoch, 0);
    reset(states_);
  }
  bool next_batch(Batch& batch) override {
    if (!batches_.next(chunk_)) return false;
    stage(batch);
    return true;
  }
  /// The largest batch, and the smallest: products of few rows keep packed weights (tensor/products/gemm.h).
  bool stage_extreme(Batch& batch, size_t number) override {
    if (number > 1) return false;
    batches_.find(number == 0 ? Extreme::largest : Extreme::smallest, !leaves_out_padding(), chunk_);
    for (const auto& [name, state] : named_tensors(states_)) {  // as in the middle of a text
      const Tensor drawn(state.shape());
      fill_uniform(drawn, {.seed = 1, .name = hash_of(name)}, real(-0.9), real(0.9));
      copy(drawn.to(state.device()), state);
    }
    stage(batch);
    return true;
  }
  Loss loss(int64_t number, const std::vector<Tokens>& indices, RandomContext random) override {
    const Part& part = parts_[static_cast<size_t>(number)];
    size_t next = part.first_index;
    random.slice = {options_.micro_batch, part.first, chunk_.streams};
    model_.begin_update(random);
    const real scale = real(1) / static_cast<real>(averaged());
    const auto mean = [&](const Variable& total) {
      return count_is_staged_ ? scale_rows(total, reciprocals(*indices.back(), model_.device()))
                              : total * scale;
    };
    after_ = states_before(part);
    Loss loss;
    forward(
        part, after_, [&](const Chunk&) { return indices[next++]; },
        [&](const LanguageModel::Output& output, const Chunk&) {
          const CrossEntropy nats = model_.cross_entropy(output, indices[next++]);
          const Variable sum = penalized(mean(nats.total), output);
          loss.minimised = loss.minimised.defined() ? loss.minimised + sum : sum;
          loss.reported.push_back(nats.each);
        });
    return loss;
  }
  std::string remedy_for_memory() const override {
    const std::string shorter = options_.batches.batching == Batching::lines
                                    ? "the longest lines of the text shorter"
                                    : "train.length smaller";
    return fmt::format("{}make model.hidden, model.embedding or {}",
                       options_.micro_batch > 1 ? "set a smaller train.micro_batch, or " : "", shorter);
  }
  void carry_state(int64_t part) override {
    if (carries_state()) copy_states(after_, states_, parts_[static_cast<size_t>(part)].first);
    after_.clear();
  }
  void end_batch(int64_t step) override { advance(states_, chunk_, step); }
  double epoch_fraction() const override {
    return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
  }
  /// Nats per symbol of the validation text.
  Scores evaluate(const ReportDone& progress = {}) override {
    check(!valid_ids_.empty(), "[language modelling] no validation text was given");
    return scores_of(evaluate_ids(
                         model_, valid_ids_, validation_, unknown_id_, progress ? progress : [](int64_t) {}),
                     validation_.text());
  }
  void divide(int64_t ranks, int64_t own) override {
    const int64_t batch = options_.batches.batch;
    check_input(
        batch % ranks == 0,
        "a batch of {} cannot be divided among {} ranks: set train.batch to a multiple of {}, or start "
        "as many ranks as divide it",
        batch, ranks, ranks);
    options_.micro_batch = std::gcd(options_.micro_batch, batch / ranks);
    ranks_ = ranks;
    rank_ = own;
  }
  void collect_state(Ranks& ranks) override {
    if (!carries_state()) return;
    for (const auto& [name, state] : named_tensors(states_)) {
      const int64_t share = state.rows() / ranks_, first = rank_ * share;
      fill(state.slice_rows(0, first), 0);
      fill(state.slice_rows(first + share, state.rows()), 0);
      ranks.add_up_tensor(state);
    }
  }
  void save(StateWriter& to, const std::string& prefix = "") const override {
    for (const auto& [name, tensor] : named_tensors(states_)) to.add(prefix + name, tensor);
    to.add(prefix + "state.steps", states_.front().steps);  // the same for all
    to.add(prefix + "position", batches_.position());
  }
  void load(const StateReader& from, const std::string& prefix = "") override {
    for (const auto& [name, tensor] : named_tensors(states_)) from.read(prefix + name, tensor);
    int64_t steps = 0, position = 0;
    from.read(prefix + "state.steps", steps);
    for (State& state : states_) state.steps = steps;
    from.read(prefix + "position", position, 0, batches_.length());
    batches_.seek(epoch_, position);
  }

  int64_t scored_per_epoch() const override { return batches_.symbols(); }
  /// The chunk of the staged batch.
  const Chunk& chunk() const { return chunk_; }

  /// Re-estimates the population statistics of batch normalisation for the current weights: the average over
  /// the rows of the first epoch, which is read once more (nn/layers/normalization.h). Returns its number of
  /// symbols; `progress` gets the number done. Leaves the model in evaluation mode.
  int64_t estimate_statistics(const ReportDone& progress) {
    const NoGradient guard;
    model_.set_training(false);
    model_.set_statistics_rate(0);
    for (const Buffer* buffer : model_.buffers()) buffer->reset();
    Batches batches = batches_;
    batches.seek(1, 0);
    std::vector<State> states = first_states();
    int64_t symbols = 0, step = 0;
    for (Chunk chunk; batches.next(chunk); progress(symbols += chunk.scored)) {
      for (const Part& part : parts_of(chunk)) {
        std::vector<State> now = streams_of(states, part.first, options_.micro_batch);
        forward(
            part, now, [](const Chunk& piece) { return tokens(piece.inputs); },
            [](const LanguageModel::Output&, const Chunk&) {});
        if (carries_state()) copy_states(now, states, part.first);
      }
      advance(states, chunk, ++step);
    }
    model_.set_statistics_rate({});
    return symbols;
  }

 private:
  /// Some streams of a chunk, divided into pieces in time: several pieces if padding can be left out.
  struct Part {
    int64_t first = 0;  // stream
    std::vector<Chunk> pieces;
    size_t first_index = 0;  // in the batch's indices: inputs, targets, inputs, ... of the pieces
  };
  std::vector<Part> parts_of(const Chunk& chunk) const {
    std::vector<Part> parts;
    for (int64_t first = 0; first < chunk.streams; first += options_.micro_batch) {
      const Chunk streams = streams_of(chunk, first, options_.micro_batch);
      const bool is_padded = streams.scored < streams.steps * streams.streams;
      parts.push_back({first, leaves_out_padding() && is_padded ? pieces_without_padding(streams, piece_steps)
                                                                : std::vector{streams}});
    }
    return parts;
  }
  /// Whether lines and crops are computed without their padding: not on a GPU, where a step needs a fixed
  /// number of launches; nor with masks, which are drawn once for a whole chunk.
  bool leaves_out_padding() const {
    return !carries_state() && !is_gpu(model_.device()) && !masks(model_.options());
  }
  /// Tells the trainer what it must know of chunk_.
  void stage(Batch& batch) {
    // Trained initial states are computed anew, not read from states_, whose addresses a captured graph has.
    const bool recorded =
        is_gpu(model_.device()) && model_.can_be_recorded() && !begins_with_trained_states();
    if (recorded && options_.batches.batching == Batching::lines)
      lengthen(chunk_, steps_of_kind(chunk_.steps));
    parts_ = own_parts_of(chunk_);
    batch.parts = std::ssize(parts_);
    for (Part& part : parts_) {
      part.first_index = batch.indices.size();
      for (const Chunk& piece : part.pieces) {
        batch.indices.push_back(piece.inputs);
        batch.indices.push_back(piece.targets);
      }
    }
    batch.scored = chunk_.scored;
    count_is_staged_ = false;
    // Merity et al. 2018, section 5. A sum over time is proportional to the chunk's length by itself.
    if (options_.batches.chunks.deviation > 0 && options_.loss == LossScale::mean)
      batch.rate_factor =
          static_cast<double>(chunk_.steps) / static_cast<double>(options_.batches.chunks.length);
    if (!recorded) return;
    batch.kind = {chunk_.steps};
    count_is_staged_ = !carries_state();  // of lines, and of the last crops, not everything is scored
    if (count_is_staged_) batch.indices.push_back({static_cast<int32_t>(averaged())});
  }
  /// What the sum of the losses of chunk_ is divided by.
  int64_t averaged() const { return options_.loss == LossScale::mean ? chunk_.scored : chunk_.streams; }
  /// This rank's.
  std::vector<Part> own_parts_of(const Chunk& chunk) const {
    const std::vector<Part> all = parts_of(chunk);
    const auto first = [&](int64_t rank) { return all.begin() + std::ssize(all) * rank / ranks_; };
    return {first(rank_), first(rank_ + 1)};
  }
  /// Runs a part from `states`, which are then the states at its end; calls use(output, piece) for each
  /// piece.
  template <class Ids, class Use>
  void forward(const Part& part, std::vector<State>& states, Ids ids, Use use) {
    // Padding is at the end of a row, is not scored, and the state after it is not used: only batch
    // statistics need to know of it. With lengths the output there would be 0, a jump for temporal
    // regularization.
    const bool across_rows = look_across_rows(model_.cells());
    for (const Chunk& piece : part.pieces) {
      auto [output, after] = model_.forward(
          {ids(piece), piece.steps, piece.streams, across_rows ? Lengths(piece.lengths) : Lengths()},
          streams_of(states, 0, piece.streams));
      use(output, piece);
      states = std::move(after);
    }
  }
  /// The loss plus the penalties on activations: the value to differentiate.
  Variable penalized(Variable loss, const LanguageModel::Output& output) const {
    // A micro-batch contributes its share to the mean over all streams.
    const auto factor = [&](double weight, const Variable& x) {
      return static_cast<real>(weight * static_cast<double>(x.shape()[1]) /
                               static_cast<double>(chunk_.streams));
    };
    const double activation = options_.activation_regularization, temporal = options_.temporal_regularization;
    if (activation > 0)
      loss = loss + activation_regularization(output.dropped) * factor(activation, output.dropped);
    if (temporal > 0) loss = loss + temporal_regularization(output.hidden) * factor(temporal, output.hidden);
    return loss;
  }
  /// Whether the staged chunk begins with initial states that are trained.
  bool begins_with_trained_states() const {
    return model_.options().trained_initial_states && states_.front().steps == 0;
  }
  bool carries_state() const { return batches_.carries_state(); }
  /// The values of the whole batch's initial states.
  std::vector<State> first_states() const { return detached(model_.initial_states(options_.batches.batch)); }
  /// What a part of the chunk begins with; initial states that are trained get a gradient.
  std::vector<State> states_before(const Part& part) const {
    if (begins_with_trained_states()) return model_.initial_states(options_.micro_batch);
    return streams_of(states_, part.first, options_.micro_batch);
  }
  void advance(std::vector<State>& states, const Chunk& chunk, int64_t step) const {
    for (State& state : states)
      if (carries_state()) state.steps += chunk.steps;
    if (options_.reset_every > 0 && step % options_.reset_every == 0) reset(states);
  }
  void reset(std::vector<State>& states) const {
    copy_states(first_states(), states);
    for (State& state : states) state.steps = 0;
  }

  LanguageModel& model_;
  LanguageModellingOptions options_;
  std::span<const int32_t> valid_ids_;
  Reading validation_;
  std::optional<int32_t> unknown_id_;
  Batches batches_;
  int64_t ranks_ = 1, rank_ = 0;
  int64_t epoch_ = 1;
  Chunk chunk_;
  std::vector<Part> parts_;       // of the chunk, this rank's
  bool count_is_staged_ = false;  // averaged(), behind the indices of parts_
  // [batch, H] of each layer, always in one place; the initial states if no state is carried.
  std::vector<State> states_;
  std::vector<State> after_;  // the states after the part whose loss was computed last
};

}  // namespace rondo
