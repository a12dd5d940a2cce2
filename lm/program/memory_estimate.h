// The memory that a recipe's tensors will take, so that a run that cannot fit is refused at once. It is an
// estimate: measured peaks of tensors are within a quarter of it; text and program need memory in addition.
// The memory of the machine: tensor/available_memory.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "lm/program/recipe.h"
#include "lm/tasks/batches.h"
#include "nn/models/recurrent_options.h"
#include "nn/module.h"

namespace rondo {

/// The maximum size of a chunk of `streams` streams of the text.
using ChunkSizeOfStreams = std::function<ChunkSize(std::int64_t streams)>;

/// What tensors with this many numbers take.
std::int64_t bytes_of(double numbers);
/// The number of values that a model saves but does not train.
std::int64_t statistics_of(const Module& model);

/// What estimates count of cells, in numbers; not integers, as products of the largest settings are beyond
/// 2^63.
struct CellSizes {
  explicit CellSizes(std::span<Cell* const> cells);

  double step_weights = 0;  // that each step multiplies by
  double dropped = 0;       // recurrent weights, on which weight drop acts
  double kept = 0;          // of a row: what the steps of all cells keep for the backward pass
  double projected = 0;     // of a row: what a cell computes for all steps at once; the largest cell's
};
/// Numbers of state that a training keeps of each unit and step: h, c or its like, what a cell computes on
/// the way, and what regularization adds.
double kept_of_state(const RecurrentRegularization& regularization);
/// Numbers that dropout of this rate keeps of each one that it acts on: its result.
double kept_of_dropout(double rate);

/// P (2 + S + A + W) + 2 R + 4 R_d, which a training takes for weights: P `parameters`, each with value,
/// gradient, S numbers of optimizer state, A = 2 for an average, W = 1 for its value without noise; R that
/// are `packed` for forward and for backward; and with weight drop R_d that are `dropped`, of which results
/// and their gradients remain, beside the packed weights that evaluations read.
double numbers_of_weights(double parameters, double packed, double dropped, const TrainerOptions& trainer,
                          const RecurrentRegularization& regularization);

/// Of a row, in a stack of L layers with these cells. In a training, G + C H L + D H (L - 1) + H: gates and
/// states, those of both directions also joined; what dropout between the layers keeps; and the gradient of
/// the last layer.
double kept_of_stack(const RecurrentOptions& options, std::int64_t layers, const CellSizes& cells);
/// In an evaluation: what a layer computes and leaves; above the first one also what the layer below has
/// left, of each direction.
double evaluated_of_stack(const RecurrentOptions& options, std::int64_t layers, const CellSizes& cells);

/// Bytes of tensors at the peak of a training without its evaluations, and of its evaluations. `model` is the
/// recipe's, and needs no memory. Without `size_of`, lines are assumed to be at most train.length long.
std::int64_t training_bytes(const Recipe& recipe, const LanguageModel& model,
                            const ChunkSizeOfStreams& size_of = {});
std::int64_t evaluation_bytes(const Recipe& recipe, const LanguageModel& model);

/// InputError if a training would take more memory than `available` bytes, naming a train.micro_batch that
/// would fit or other settings to reduce.
void check_fits(const Recipe& recipe, const LanguageModel& model, std::int64_t available,
                const ChunkSizeOfStreams& size_of = {});

/// Bytes of tensors at the peak of the gradient statistics of dynamic evaluation; the evaluation itself takes
/// less.
std::int64_t dynamic_bytes(const Recipe& recipe, const LanguageModel& model);

/// InputError if dynamic evaluation would take more than `available` bytes, naming the settings to reduce.
void check_dynamic_fits(const Recipe& recipe, const LanguageModel& model, std::int64_t available);

}  // namespace rondo
