// What a recipe's tensors take.
#include "lm/program/memory_estimate.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "autograd/cross_entropy.h"
#include "lm/evaluation/evaluation.h"
#include "lm/program/model.h"
#include "lm/tasks/chunk_length.h"
#include "tensor/available_memory.h"

namespace rondo {
namespace {

/// Numbers, not bytes. Of the largest settings products are beyond 2^63: hence no integers.
struct Sizes {
  double P;  // parameters
  CellSizes cells;
  std::int64_t V;    // symbols
  double E;          // the embedding; one-hot: V
  double H, widest;  // units of all recurrent layers, and of the widest
  double W;          // all output layers
  double F;          // what the decoder sees of a row: with K experts, K latents
  std::int64_t K;
  double decoder;                    // V F / K, its weights; of an adaptive softmax those of head and tail
  std::vector<std::int64_t> logits;  // of a row: V; of an adaptive softmax in the head and in each cluster
  bool has_minor_cells;

  Sizes(const Recipe& recipe, const LanguageModelOptions& options, const LanguageModel& model);
};

double to_double(std::int64_t number) { return static_cast<double>(number); }

double total_width(const std::vector<std::int64_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0.0);
}

Sizes::Sizes(const Recipe& recipe, const LanguageModelOptions& options, const LanguageModel& model)
    : P(to_double(model.parameter_count())),
      cells(model.cells()),
      V(model.vocabulary_size()),
      H(total_width(options.hidden)),
      widest(to_double(*std::max_element(options.hidden.begin(), options.hidden.end()))),
      W(total_width(options.output_layers)),
      K(options.experts),
      logits(model.logits_at_once()) {
  has_minor_cells = std::ssize(model.cells()) > std::ssize(options.hidden);
  E = to_double(recipe.model.embedding > 0 ? recipe.model.embedding : V);
  const double last = to_double(options.last_width());
  F = K > 1 ? to_double(K) * (recipe.model.embedding > 0 ? E : last) : last;
  decoder = to_double(V) * F / to_double(K);
  if (options.output != OutputKind::adaptive) return;
  decoder = 0;
  for (const Segment& segment : model.segments())
    if (segment.name.starts_with("decoder.")) decoder += to_double(segment.shape.size());
}

/// The largest block of logits, if all rows are of its cluster.
double block_of(std::int64_t rows, const Sizes& it) {
  double largest = 0;
  for (const std::int64_t V : it.logits)
    largest = std::max(largest, to_double(cross_entropy_block_rows(rows * it.K, V, it.K)) * to_double(V));
  return largest;
}

double numbers_per_parameter(const TrainerOptions& options) {
  const Tensor nothing = Tensor::zeros({1});
  const auto state = make_optimizer(options.optimizer, nothing, nothing)->state_tensors().size();
  const int average = options.averaging == Averaging::never ? 0 : 2;  // optim/averaging.h
  const int without_noise = options.weight_noise > 0;                 // optim/weight_noise.h
  return static_cast<double>(2 + state) + average + without_noise;
}

}  // namespace

/// The allocator rounds blocks up, by an eighth on average. Above an exbibyte one is like the other.
std::int64_t bytes_of(double numbers) {
  constexpr auto most = static_cast<double>(std::int64_t{1} << 60);
  return static_cast<std::int64_t>(std::min(numbers * sizeof(real) / 8 * 9, most));
}

CellSizes::CellSizes(std::span<Cell* const> cells) {
  for (const Cell* cell : cells) {
    kept += to_double(cell->kept_for_backward());
    projected = std::max(projected, to_double(cell->projected_width()));
    step_weights += to_double(cell->step_weights());
    for (const Recurrent* weight : cell->recurrent_weights())
      dropped += to_double(weight->weight.shape().size());
  }
}

double kept_of_state(const RecurrentRegularization& regularization) {
  double kept = 3;
  if (regularization.dropout > 0) kept += 1;
  if (regularization.zoneout > 0) kept += 2;  // the mask, and the state that it is laid on
  if (regularization.zoneout_memory > 0) kept += 2;
  return kept;
}

std::int64_t statistics_of(const Module& model) {
  std::int64_t count = 0;
  for (const Buffer* buffer : model.buffers()) count += buffer->shape().size();
  return count;
}

double kept_of_dropout(double rate) { return rate == 0 ? 0 : 1; }

double numbers_of_weights(double parameters, double packed, double dropped, const TrainerOptions& trainer,
                          const RecurrentRegularization& regularization) {
  return parameters * numbers_per_parameter(trainer) + 2 * packed +
         (regularization.weight_drop > 0 ? 4 * dropped : 0);
}

double kept_of_stack(const RecurrentOptions& options, std::int64_t layers, const CellSizes& cells) {
  const double H = to_double(options.hidden), L = to_double(layers);
  const double C = kept_of_state(options.regularization) + (options.bidirectional ? 1 : 0);
  const double D = kept_of_dropout(options.dropout);
  return cells.kept + C * H * L + D * H * (L - 1) + H;
}

double evaluated_of_stack(const RecurrentOptions& options, std::int64_t layers, const CellSizes& cells) {
  const double below = layers == 1 ? 0 : options.bidirectional ? 4 : 2;
  return cells.projected + (2 + below) * to_double(options.hidden);
}

/// P (2 + S + A + W) + 2 (R + V F / K) + 4 R_d + N (E + G + C H + W + D + L) + max(B V + (N + V / K) F, N
/// widest) numbers, with
///   P parameters: values, gradients, S vectors of optimizer state, A = 2 for an average, W = 1 with noise;
///   R weights that each step multiplies by, and the decoder, packed for forward and for backward (if streams
///   are few enough for that; in long chunks, input weights are not packed); R_d with weight drop, the
///   recurrent weights: results and their gradients remain, beside the packed weights that evaluations
///   read;
///   N = streams at once x longest chunk, the rows of a chunk, padding included where that is computed.
///   Forward leaves for backward in each row the embedding E (one-hot: V); the gates G of all cells and what
///   their joins and inner layers keep; for each of the H units of all layers C numbers of state (h, c or its
///   like, what a cell computes on the way, and what regularization and a minor cell add); the output layers'
///   widths W; where there is dropout, the width D of what it acts on; and L of latents, before and after
///   tanh and dropped. On top of that lies what the loss takes: a block of B rows of logits V (of an adaptive
///   softmax those of its head or of its largest cluster, and V F / K is the size of its weights), and the
///   gradients of its input, F wide, and of its weight, one for each piece of time; and later the gradient of
///   h. Those of the gates overwrite them.
std::int64_t training_bytes(const Recipe& recipe, const LanguageModel& model,
                            const ChunkSizeOfStreams& size_of) {
  const LanguageModelOptions options = model_options(recipe);
  const Sizes it(recipe, options, model);
  const std::int64_t streams =
      recipe.task.micro_batch > 0 ? recipe.task.micro_batch : recipe.task.batches.batch;
  const ChunkSize size =
      size_of ? size_of(streams) : ChunkSize{streams * longest_chunk(recipe.task.batches.chunks)};
  const double N = to_double(size.rows);
  const RecurrentRegularization& regularization = options.regularization;
  const double C = kept_of_state(regularization) + (it.has_minor_cells ? 2 : 0);  // two states, joined
  const double last = to_double(options.hidden.back());
  double D = options.embedding_dropout > 0 ? it.E : 0;
  const auto add_dropout = [&](double rate, double width) { D += kept_of_dropout(rate) * width; };
  add_dropout(options.input_dropout.value_or(options.dropout), it.E);
  add_dropout(options.hidden_dropout.value_or(options.dropout), it.H - last);
  add_dropout(options.output_dropout.value_or(options.dropout), last);
  add_dropout(options.latent_dropout, it.F);
  const double L = it.K > 1 ? 2 * it.F : 0;
  const double logits = block_of(size.rows, it);
  const double chunk = N * (it.E + it.cells.kept + C * it.H + it.W + D + L) +
                       std::max(logits + N * it.F + to_double(size.pieces) * it.decoder, N * it.widest);
  const double weights = numbers_of_weights(it.P, it.cells.step_weights + it.decoder, it.cells.dropped,
                                            recipe.trainer, regularization);
  return bytes_of(weights + chunk);
}

/// 2 P + R + V F / K + N (E + projected + 2 widest + F) + B V numbers: values and gradients, which a model
/// always has; packs for forward alone; and of N rows at a time (lm/evaluation/evaluation.h) what a layer
/// reads, computes and leaves. Nothing is kept for a backward.
std::int64_t evaluation_bytes(const Recipe& recipe, const LanguageModel& model) {
  const Sizes it(recipe, model_options(recipe), model);
  const std::int64_t streams = std::max(recipe.task.eval_streams, recipe.task.final_streams);
  const std::int64_t rows = streams * steps_at_once(streams);
  return bytes_of(2 * it.P + it.cells.step_weights + it.decoder +
                  to_double(rows) * (it.E + it.cells.projected + 2 * it.widest + it.F) + block_of(rows, it));
}

void check_fits(const Recipe& recipe, const LanguageModel& model, std::int64_t available,
                const ChunkSizeOfStreams& size_of) {
  const std::int64_t wanted = training_bytes(recipe, model, size_of);
  if (wanted <= available) return;
  const std::int64_t batch = recipe.task.batches.batch;
  const std::int64_t at_once = recipe.task.micro_batch > 0 ? recipe.task.micro_batch : batch;
  Recipe smaller = recipe;
  const std::int64_t least = traits_of(recipe.model.cell).looks_across_rows ? 2 : 1;
  for (std::int64_t streams = at_once - 1; streams >= least; --streams) {
    smaller.task.micro_batch = streams;
    if (batch % streams == 0 && training_bytes(smaller, model, size_of) <= available)
      throw InputError(fmt::format(
          "{}: training would take about {}, and {} are available: set train.micro_batch={}, with about {}",
          recipe.name, bytes_text(wanted), bytes_text(available), streams,
          bytes_text(training_bytes(smaller, model, size_of))));
  }
  throw InputError(fmt::format(
      "{}: training would take about {}, and {} are available, which no train.micro_batch makes enough: make "
      "model.hidden, model.embedding or {}",
      recipe.name, bytes_text(wanted), bytes_text(available),
      recipe.task.batches.batching == Batching::lines ? "the longest lines of the text shorter"
                                                      : "train.length smaller"));
}

/// That of a training without regularization, averages and optimizer on chunks of dynamic.length, and once
/// more the parameters: the sums of squares, and their roots.
std::int64_t dynamic_bytes(const Recipe& recipe, const LanguageModel& model) {
  Recipe plain = recipe;
  LanguageModelOptions& it = plain.model;
  it.input_dropout = it.hidden_dropout = it.output_dropout = std::nullopt;
  it.dropout = it.latent_dropout = it.embedding_dropout = 0;
  it.regularization = {};
  plain.trainer.optimizer = {.kind = OptimizerKind::sgd};
  plain.trainer.averaging = Averaging::never;
  plain.trainer.weight_noise = 0;
  plain.task.batches.batch = recipe.dynamic.statistics_streams;
  plain.task.micro_batch = 0;
  plain.task.batches.chunks.length = recipe.dynamic.length;
  plain.task.batches.chunks.deviation = 0;
  return training_bytes(plain, model) + bytes_of(2 * to_double(model.parameter_count()));
}

void check_dynamic_fits(const Recipe& recipe, const LanguageModel& model, std::int64_t available) {
  const std::int64_t wanted = dynamic_bytes(recipe, model);
  check_input(
      wanted <= available,
      "dynamic.statistics_streams = {}, dynamic.length = {}: the statistics would take about {}, and {} are "
      "available; make one of them smaller",
      recipe.dynamic.statistics_streams, recipe.dynamic.length, bytes_text(wanted), bytes_text(available));
}

}  // namespace rondo
