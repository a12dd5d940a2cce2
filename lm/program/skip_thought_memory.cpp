// What the tensors of the training of a skip-thought model take.
#include "lm/program/skip_thought_memory.h"

#include <algorithm>

#include "autograd/cross_entropy.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/memory_estimate.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

double block_of_logits(std::int64_t rows, std::int64_t V) {
  return static_cast<double>(cross_entropy_block_rows(std::max<std::int64_t>(rows, 1), V, 1)) *
         static_cast<double>(V);
}

}  // namespace

TripleSize largest_batch(const SentenceBatchOptions& options, const Triples& triples, std::uint64_t seed) {
  TripleBatches batches(options, triples, seed);
  TripleSize largest;
  for (TripleBatch batch; batches.next(batch);) {
    const TripleSize size{batch.middle.sentences, batch.middle.steps, batch.previous.steps, batch.next.steps};
    if (size.symbols() > largest.symbols()) largest = size;
  }
  return largest;
}

TripleSize assumed_size(const SkipThoughtRecipe& recipe) {
  const std::int64_t steps = recipe.data.triples.max_length > 0 ? recipe.data.triples.max_length + 1 : 40;
  const SentenceBatchOptions& batches = recipe.task.batches;
  const std::int64_t triples =
      batches.by == BatchBy::sentences ? batches.batch : std::max<std::int64_t>(1, batches.batch / steps);
  return {triples, steps, steps, steps};
}

/// P (2 + S + A) + 2 (R + V H) + 4 R_d numbers of weights, as in translation_memory.cpp, and for the N_m rows
/// of the middle sentence and the N rows of both others
///   N_m (D E + G + C H),  N (D E + (E + H) + G + C H + D H):  embeddings, the decoders' inputs, gates,
///   states; the loss: a block of logits, and the gradients of its inputs and of its weight.
/// The parts of a combination are computed one after the other.
std::int64_t skip_thought_training_bytes(const Recipe& recipe, const SkipThought& model,
                                         const TripleSize& size) {
  const SkipThoughtOptions& options = model.options();
  const auto P = static_cast<double>(model.parameter_count()), E = static_cast<double>(options.embedding),
             H = static_cast<double>(options.hidden), V = static_cast<double>(model.vocabulary());
  const auto B = static_cast<double>(size.triples);
  const double middle = B * static_cast<double>(size.middle_steps),
               written = B * static_cast<double>(size.previous_steps + size.next_steps);
  const double D = 1 + kept_of_dropout(options.dropout);
  const double C = kept_of_state(options.regularization);
  double most = 0, step_weights = 0, dropped = 0;
  for (const auto& part : model.parts()) {
    const CellSizes encoder(part->encoder.cells()), decoder(part->next.cells());
    most = std::max(most, middle * (D * E + encoder.kept + (C + (part->bidirectional ? 1 : 0)) * H) +
                              written * (D * E + (E + H) + decoder.kept + C * H + D * H));
    step_weights = std::max(step_weights, encoder.step_weights + 2 * decoder.step_weights);
    dropped = std::max(dropped, encoder.dropped + 2 * decoder.dropped);
  }
  const std::int64_t longest = std::max(size.previous_steps, size.next_steps);
  const double loss = block_of_logits(longest * size.triples, model.vocabulary()) + written * H;
  const double weights =
      numbers_of_weights(P, step_weights + V * H, dropped, recipe.trainer, options.regularization);
  return bytes_of(weights + most + loss);
}

/// 2 P + R + V H numbers of weights, and of rows_at_once rows, or of one longer triple, states, gates and
/// logits.
std::int64_t skip_thought_evaluation_bytes(const SkipThought& model, const TripleSize& size) {
  const SkipThoughtOptions& options = model.options();
  double step_weights = 0, projected = 0;
  for (const auto& part : model.parts()) {
    const std::vector<Cell*> cells = SkipThought::cells_of(*part);
    const CellSizes sizes(cells);
    step_weights = std::max(step_weights, sizes.step_weights);
    projected = std::max(projected, sizes.projected);
  }
  const auto E = static_cast<double>(options.embedding), H = static_cast<double>(options.hidden),
             V = static_cast<double>(model.vocabulary());
  const auto N = static_cast<double>(
      std::max(rows_at_once, size.middle_steps + std::max(size.previous_steps, size.next_steps)));
  return bytes_of(2 * static_cast<double>(model.parameter_count()) + step_weights + V * H +
                  N * (2 * E + projected + 4 * H) + block_of_logits(rows_at_once, model.vocabulary()));
}

void check_skip_thought_fits(const Recipe& recipe, const SkipThought& model, const TripleSize& size,
                             std::int64_t available) {
  const std::int64_t wanted = skip_thought_training_bytes(recipe, model, size);
  check_input(wanted <= available,
              "{}: training would take about {}, and {} are available: make train.batch, model.hidden or "
              "data.max_length smaller; the largest batch has {} triples of {}, {} and {} symbols",
              recipe.name, bytes_text(wanted), bytes_text(available), size.triples, size.previous_steps,
              size.middle_steps, size.next_steps);
}

}  // namespace rondo
