// What the tensors of a translation's training take.
#include "lm/program/translation_memory.h"

#include <algorithm>
#include <span>

#include "autograd/cross_entropy.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/memory_estimate.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

/// The cells of a model's encoder, or of its decoder.
CellSizes sizes_of_side(const EncoderDecoder& model, bool decoder) {
  const std::vector<Cell*> cells = model.cells();
  const std::span all(cells);
  const auto decoder_layers = static_cast<size_t>(model.options().decoder_layers);
  return CellSizes(decoder ? all.last(decoder_layers) : all.first(all.size() - decoder_layers));
}

/// Numbers, not bytes: see memory_estimate.cpp.
struct TranslationSizes {
  CellSizes encoder, decoder;
  double R, dropped;  // of both
  double E, H, W, V;  // embedding, units, readout, target symbols

  explicit TranslationSizes(const EncoderDecoder& model)
      : encoder(sizes_of_side(model, false)),
        decoder(sizes_of_side(model, true)),
        R(encoder.step_weights + decoder.step_weights),
        dropped(encoder.dropped + decoder.dropped),
        E(static_cast<double>(model.options().embedding)),
        H(static_cast<double>(model.options().hidden)),
        W(static_cast<double>(model.options().readout_width())),
        V(static_cast<double>(model.target_vocabulary())) {}
};

double block_of(std::int64_t rows, std::int64_t symbols) {
  return static_cast<double>(cross_entropy_block_rows(rows, symbols, 1)) * static_cast<double>(symbols);
}

}  // namespace

PairSize largest_batch(const PairBatchOptions& options, const Pairs& pairs, std::uint64_t seed) {
  PairBatches batches(options, pairs, seed);
  PairSize largest;
  for (PairBatch batch; batches.next(batch);) {
    const auto rows = [](const PairSize& it) { return it.sentences * (it.source_steps + it.target_steps); };
    const PairSize size{batch.sentences, batch.source_steps, batch.target_steps};
    if (rows(size) > rows(largest)) largest = size;
  }
  return largest;
}

PairSize assumed_size(const TranslationRecipe& recipe) {
  const std::int64_t steps = recipe.data.pairs.max_length > 0 ? recipe.data.pairs.max_length + 1 : 40;
  const SentenceBatchOptions& batches = recipe.task.batches.order;
  if (batches.by == BatchBy::sentences) return {batches.batch, steps, steps};
  return {std::max<std::int64_t>(1, batches.batch / steps), steps, steps};
}

/// P (2 + S + A) + 2 (R + V W) + 4 R_d numbers of weights, as in memory_estimate.cpp, and for N_s = S B rows
/// of the source and N_t = T B of the target
///   N_s (D E + G + 3 H L),  N_t (D E + G + 3 H L):  embeddings, gates, states of all layers, D with dropout;
///   N_s 3 H, N_t (5 H + D W) + 3 T S B:             what attention reads and returns, and its weights; with
///                                                   additive scores (T + 3) S B H: tanh at all pairs of
///                                                   positions; of the keys the gradient, and of one step
///                                                   what tanh reads and its gradient;
///   the loss: a block of logits, and gradients of its input and of its weight.
std::int64_t translation_training_bytes(const Recipe& recipe, const EncoderDecoder& model,
                                        const PairSize& size, std::int64_t parameters) {
  const TranslationSizes it(model);
  const auto P = static_cast<double>(parameters);
  const EncoderDecoderOptions& options = model.options();
  const RecurrentRegularization& regularization = options.regularization;
  const auto B = static_cast<double>(size.sentences), S = static_cast<double>(size.source_steps),
             T = static_cast<double>(size.target_steps);
  const auto encoder_layers = static_cast<double>(options.encoder_layers),
             decoder_layers = static_cast<double>(options.decoder_layers);
  const double D = 1 + kept_of_dropout(options.dropout);
  const double C = kept_of_state(regularization);
  const bool attends = options.attention != SourceAttention::none;
  double rows = S * B * (D * it.E + it.encoder.kept + C * it.H * encoder_layers) +
                T * B * (D * it.E + it.decoder.kept + C * it.H * decoder_layers) +
                T * B * (5 * it.H + (D + 1) * it.W);
  if (attends) rows += S * B * 3 * it.H + 3 * T * S * B;
  if (options.attention == SourceAttention::additive) rows += (T + 3) * S * B * it.H;
  if (options.input_feeding || !attends) rows += T * B * it.H;  // the decoder's input, joined
  const double loss =
      block_of(size.target_steps * size.sentences, model.target_vocabulary()) + T * B * it.W + it.V * it.W;
  const double weights =
      numbers_of_weights(P, it.R + it.V * it.W, it.dropped, recipe.trainer, regularization);
  return bytes_of(weights + rows + loss);
}

/// 2 P + R + V W numbers of weights, and of rows_at_once rows of source and target, or of one longer pair, or
/// of a beam of all sentences that are translated at once, states, gates and logits.
std::int64_t translation_evaluation_bytes(const EncoderDecoder& model, const PairSize& size,
                                          std::int64_t parameters) {
  const TranslationSizes it(model);
  const auto P = static_cast<double>(parameters);
  const auto N = static_cast<double>(std::max(rows_at_once, size.source_steps + size.target_steps));
  return bytes_of(2 * P + it.R + it.V * it.W + N * (it.E + 6 * it.H + it.W) +
                  block_of(rows_at_once, model.target_vocabulary()));
}

void check_translation_fits(const Recipe& recipe, const EncoderDecoder& model, const PairSize& size,
                            std::int64_t parameters, std::int64_t available) {
  const std::int64_t wanted = translation_training_bytes(recipe, model, size, parameters);
  check_input(wanted <= available,
              "{}: training would take about {}, and {} are available: make train.batch, model.hidden or "
              "data.max_length smaller; the largest batch has {} sentences of {} and {} symbols",
              recipe.name, bytes_text(wanted), bytes_text(available), size.sentences, size.source_steps,
              size.target_steps);
}

}  // namespace rondo
