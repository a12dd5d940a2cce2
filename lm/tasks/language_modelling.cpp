// Language modelling as a task.
#include "lm/tasks/language_modelling.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "autograd/functions.h"
#include "autograd/operators/arithmetic.h"
#include "data/text.h"
#include "lm/tasks/task.h"
#include "lm/training/checkpoint.h"
#include "lm/training/word_vectors.h"
#include "nn/cells/catalogue.h"
#include "nn/regularization.h"
#include "tensor/kernels.h"
#include "tensor/one_device.h"

namespace rondo {
namespace {

/// Copies `from` to rows [first, first + rows of `from`) of each state in `to`.
void copy_states(const std::vector<State>& from, const std::vector<State>& to, int64_t first = 0) {
  CopySeveral copies{};
  int count = 0;
  Extent extent;
  Device device = Device::cpu;
  const auto copy_collected = [&] {
    if (count > 0) launch(device, extent, copies);
    copies = {}, extent = {}, count = 0;
  };
  for (size_t layer = 0; layer < to.size(); ++layer) {
    const std::vector<State::Named> of = from[layer].tensors(), into = to[layer].tensors();
    for (size_t i = 0; i < of.size(); ++i) {
      const Tensor &source = of[i].value.value(),
                   place = into[i].value.value().slice(first, first + source.rows());
      check_one_device("copy_states", place, source);
      check(source.shape() == place.shape(), "[copy_states] {} does not fit into {}", source.shape(),
            place.shape());
      if (count == CopySeveral::most) copy_collected();
      device = place.device();
      extent = {extent.rows + source.rows(), std::max(extent.columns, source.columns())};
      copies.parts[count++] = {source.read_operand(), place.write_operand(), source.columns(), extent.rows};
    }
  }
  copy_collected();
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states) {
  std::vector<std::pair<std::string, Tensor>> named;
  for (size_t layer = 0; layer < states.size(); ++layer) {
    for (const auto& [name, value] : states[layer].tensors())
      named.emplace_back(fmt::format("state.{}.{}", layer, name), value.value());
  }
  return named;
}

Keys keys_of(EvaluatedAs& evaluated_as) {
  return {{"evaluated_as",
           choice(evaluated_as),
           {},
           "",
           "how valid.txt and test.txt are read: according to data.batching (streams; lines; or "
           "sequences of train.length), or always with the state carried on"}};
}

Keys keys_of(LanguageModellingOptions& options) {
  return joined(
      {keys_of(options.batches),
       {{"reset_every", &options.reset_every, at_least(0), "steps",
         "after which streams begin again from the initial state, counted over all epochs (Chung et al. "
         "2015: "
         "100); each epoch begins from it as well; evaluations do not reset theirs; 0: only between epochs"},
        {"micro_batch", &options.micro_batch, at_least(0), "streams",
         "computed at once, a divisor of the batch: less memory, same result (except in bn_ cells); "
         "0: the whole batch"},
        {"loss",
         choice(options.loss),
         {},
         "",
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
        {"final_streams", &options.final_streams, any_width(), "streams",
         "the same for `lm eval`, and for the figures of valid.txt and test.txt at the end of the "
         "training"}}});
}

void check_options(const LanguageModellingOptions& options) {
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

Reading validation_reading(const LanguageModellingOptions& options, std::optional<int32_t> line_end,
                           bool trained_initial_states) {
  Reading reading = final_reading(options, line_end, trained_initial_states);
  if (reading.carries_state()) reading.streams = options.eval_streams;
  return reading;
}

Reading final_reading(const LanguageModellingOptions& options, std::optional<int32_t> line_end,
                      bool trained_initial_states) {
  const bool as_batched = options.evaluated_as == EvaluatedAs::batching;
  const BatchOptions& batches = options.batches;
  Reading reading{.trained_initial_states = trained_initial_states};
  if (as_batched && batches.batching == Batching::lines)
    reading.line_end = line_end;
  else if (as_batched && batches.batching == Batching::crops)
    reading.sequence = batches.chunks.length;
  else
    reading.streams = options.final_streams;
  return reading;
}

LanguageModelling::LanguageModelling(LanguageModel& model, const LanguageModellingOptions& options,
                                     std::span<const int32_t> train_ids, std::span<const int32_t> valid_ids,
                                     std::optional<int32_t> line_end, uint64_t seed,
                                     std::optional<int32_t> unknown_id)
    : model_(model),
      options_(options),
      valid_ids_(valid_ids),
      validation_(validation_reading(options, line_end, model.options().trained_initial_states)),
      unknown_id_(unknown_id),
      batches_(options.batches, train_ids, line_end, seed),
      states_(first_states()) {
  check_options(options);
  if (options_.micro_batch == 0) options_.micro_batch = options.batches.batch;
}

void LanguageModelling::begin_epoch(int64_t epoch) {
  epoch_ = epoch;
  batches_.seek(epoch, 0);
  copy_states(first_states(), states_);
  for (State& state : states_) state.steps = 0;
}

bool LanguageModelling::next_batch(Batch& batch) {
  if (!batches_.next(chunk_)) return false;
  stage(batch);
  return true;
}

bool LanguageModelling::stage_extreme(Batch& batch, size_t number) {
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

void LanguageModelling::stage(Batch& batch) {
  parts_ = own_parts_of(chunk_);
  batch.parts = std::ssize(parts_);
  for (const Part& part : parts_)
    for (const Chunk& piece : part.pieces) {
      batch.indices.push_back(piece.inputs);
      batch.indices.push_back(piece.targets);
    }
  batch.scored = chunk_.scored;
  // Merity et al. 2018, section 5. A sum over time is proportional to the chunk's length by itself.
  if (options_.batches.chunks.deviation > 0 && options_.loss == LossScale::mean)
    batch.rate_factor =
        static_cast<double>(chunk_.steps) / static_cast<double>(options_.batches.chunks.length);
  // Not with batch normalisation, for which the host counts rows, nor with padding, which the host marks as
  // not scored, nor of an adaptive softmax, whose clusters have as many rows as the chunk has targets in
  // them, nor at trained initial states: they are computed anew, not read from states_, whose addresses a
  // captured graph has.
  if (carries_state() && model_.options().output != OutputKind::adaptive && !begins_with_trained_states() &&
      model_.buffers().empty() && !look_across_rows(model_.cells()) &&
      chunk_.scored == chunk_.steps * chunk_.streams)
    batch.kind = chunk_.steps;
}

std::vector<LanguageModelling::Part> LanguageModelling::parts_of(const Chunk& chunk) const {
  std::vector<Part> parts;
  size_t index = 0;
  for (int64_t first = 0; first < chunk.streams; first += options_.micro_batch) {
    const Chunk streams = streams_of(chunk, first, options_.micro_batch);
    const bool is_padded = streams.scored < streams.steps * streams.streams;
    parts.push_back({first, index,
                     leaves_out_padding() && is_padded ? pieces_without_padding(streams, piece_steps)
                                                       : std::vector{streams}});
    index += 2 * parts.back().pieces.size();
  }
  return parts;
}

std::vector<LanguageModelling::Part> LanguageModelling::own_parts_of(const Chunk& chunk) const {
  const std::vector<Part> all = parts_of(chunk);
  const auto first = [&](int64_t rank) { return all.begin() + std::ssize(all) * rank / ranks_; };
  std::vector<Part> own(first(rank_), first(rank_ + 1));
  const size_t first_index = own.front().first_index;
  for (Part& part : own) part.first_index -= first_index;
  return own;
}

template <class Ids, class Use>
void LanguageModelling::forward(const Part& part, std::vector<State>& states, Ids ids, Use use) {
  // Padding is at the end of a row, is not scored, and the state after it is not used: only batch statistics
  // need to know of it. With lengths the output there would be 0, a jump for temporal regularization.
  const bool across_rows = look_across_rows(model_.cells());
  for (const Chunk& piece : part.pieces) {
    auto [output, after] =
        model_.forward({ids(piece), piece.steps, piece.streams, across_rows ? piece.lengths : Lengths()},
                       streams_of(states, 0, piece.streams));
    use(output, piece);
    states = std::move(after);
  }
}

std::vector<State> LanguageModelling::states_before(const Part& part) const {
  if (begins_with_trained_states()) return model_.initial_states(options_.micro_batch);
  return streams_of(states_, part.first, options_.micro_batch);
}

Loss LanguageModelling::loss(int64_t number, const std::vector<Tokens>& indices, RandomContext random) {
  const Part& part = parts_[static_cast<size_t>(number)];
  size_t next = part.first_index;
  random.slice = {options_.micro_batch, part.first, chunk_.streams};
  model_.begin_update(random);
  const int64_t count = options_.loss == LossScale::mean ? chunk_.scored : chunk_.streams;
  const real scale = real(1) / static_cast<real>(count);
  after_ = states_before(part);
  Loss loss;
  forward(
      part, after_, [&](const Chunk&) { return indices[next++]; },
      [&](const LanguageModel::Output& output, const Chunk&) {
        const CrossEntropy nats = model_.cross_entropy(output, indices[next++]);
        const Variable sum = penalized(nats.total * scale, output);
        loss.minimised = loss.minimised.defined() ? loss.minimised + sum : sum;
        loss.reported.push_back(nats.each);
      });
  return loss;
}

void LanguageModelling::carry_state(int64_t part) {
  if (carries_state()) copy_states(after_, states_, parts_[static_cast<size_t>(part)].first);
  after_.clear();
}

void LanguageModelling::end_batch(int64_t step) { advance(states_, chunk_, step); }

void LanguageModelling::advance(std::vector<State>& states, const Chunk& chunk, int64_t step) const {
  for (State& state : states)
    if (carries_state()) state.steps += chunk.steps;
  if (options_.reset_every == 0 || step % options_.reset_every != 0) return;
  copy_states(first_states(), states);
  for (State& state : states) state.steps = 0;
}

Variable LanguageModelling::penalized(Variable loss, const LanguageModel::Output& output) const {
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

double LanguageModelling::epoch_fraction() const {
  return static_cast<double>(batches_.position()) / static_cast<double>(batches_.length());
}

std::string LanguageModelling::remedy_for_memory() const {
  const std::string shorter = options_.batches.batching == Batching::lines
                                  ? "the longest lines of the text shorter"
                                  : "train.length smaller";
  return fmt::format("{}make model.hidden, model.embedding or {}",
                     options_.micro_batch > 1 ? "set a smaller train.micro_batch, or " : "", shorter);
}

Scores LanguageModelling::evaluate(const std::function<void(int64_t)>& progress) {
  check(!valid_ids_.empty(), "[language modelling] no validation text was given");
  return scores_of(evaluate_ids(
                       model_, valid_ids_, validation_, unknown_id_, progress ? progress : [](int64_t) {}),
                   validation_.text());
}

int64_t LanguageModelling::estimate_statistics(const std::function<void(int64_t)>& progress) {
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

void LanguageModelling::divide(int64_t ranks, int64_t own) {
  const int64_t batch = options_.batches.batch;
  check_input(batch % ranks == 0,
              "a batch of {} cannot be divided among {} ranks: set train.batch to a multiple of {}, or start "
              "as many ranks as divide it",
              batch, ranks, ranks);
  options_.micro_batch = std::gcd(options_.micro_batch, batch / ranks);
  ranks_ = ranks;
  rank_ = own;
}

void LanguageModelling::collect_state(Ranks& ranks) {
  if (!carries_state()) return;
  for (const auto& [name, state] : named_tensors(states_)) {
    const int64_t share = state.rows() / ranks_, first = rank_ * share;
    fill(state.slice_rows(0, first), 0);
    fill(state.slice_rows(first + share, state.rows()), 0);
    ranks.add_up_tensor(state);
  }
}

void LanguageModelling::save(StateWriter& to) const {
  for (const auto& [name, tensor] : named_tensors(states_)) to.add(name, tensor);
  to.add("state.steps", states_.front().steps);  // the same for all
  to.add("position", batches_.position());
}

void LanguageModelling::load(const StateReader& from) {
  for (const auto& [name, tensor] : named_tensors(states_)) from.read(name, tensor);
  int64_t steps = 0, position = 0;
  from.read("state.steps", steps);
  for (State& state : states_) state.steps = steps;
  from.read("position", position, 0, batches_.length());
  batches_.seek(epoch_, position);
}

// --- The task ---

LanguageModelOptions model_options(const LanguageModellingSettings& settings) {
  LanguageModelOptions options = layer_by_layer(settings.model);
  options.max_time_steps = settings.train.batches.chunks.length;
  return options;
}

Sections LanguageModellingTask::sections() {
  return {.data = joined({keys_of(settings.data), keys_of(settings.train.batches.batching),
                          keys_of(settings.train.evaluated_as)}),
          .model = joined({keys_of(settings.model),
                           {{"embedding_file", &settings.embedding_file, any_text(), "",
                             "word vectors that the embedding begins with, in the text format of word2vec or "
                             "GloVe; empty: none"}}}),
          .train = keys_of(settings.train),
          .others = joined(
              {section("dynamic", keys_of(settings.dynamic)), section("cache", keys_of(settings.cache))})};
}

namespace {

void check_model(const LanguageModelOptions& model, const std::string& where) {
  const std::int64_t widths = std::ssize(model.hidden);
  check_input(widths == 1 || widths == model.layers,
              "{}: model.hidden has {} widths for {} layers: give one for each, or one for all", where,
              widths, model.layers);
  const LanguageModelOptions defaults;
  check_input(model.minor_input == defaults.minor_input || model.major_ratio != defaults.major_ratio,
              "{}: model.minor_input = \"{}\", but there is no minor cell: set model.major_ratio, as in 0.9",
              where, name_of(model.minor_input));
  check_input(
      model.output_activation == defaults.output_activation || !model.output_layers.empty(),
      "{}: model.output_activation = \"{}\", but there is no layer to have it: set model.output_layers, as "
      "in [650]",
      where, name_of(model.output_activation));
  const double rates[] = {model.dropout, model.input_dropout.value_or(0), model.hidden_dropout.value_or(0),
                          model.output_dropout.value_or(0), model.latent_dropout};
  check_input(!model.variational ||
                  std::any_of(std::begin(rates), std::end(rates), [](double rate) { return rate > 0; }),
              "{}: model.variational = true says how model.dropout drops, which is 0, as are those for its "
              "parts: set one, or leave this out",
              where);
  const auto is_default = [](const InitialValues& it) { return it.kind == InitialValues::Kind::pytorch; };
  check_input(
      model.init_all == 0 ||
          (is_default(model.input_init) && is_default(model.recurrent_init) && is_default(model.output_init)),
      "{}: model.init_all = {} sets every parameter: leave out model.input_init, model.recurrent_init and "
      "model.output_init, or set model.init_all = 0",
      where, model.init_all);
}

}  // namespace

void LanguageModellingTask::check(const std::string& where) const {
  const TextOptions& data = settings.data;
  const LanguageModellingOptions& train = settings.train;
  check_section(where, "data", data.tokenization);
  check_section(where, "data", data.limits);
  check_input(
      data.tokenization.unit != Unit::pieces || data.vocabulary == VocabularyFrom::train,
      "{}: data.vocabulary = \"all\": pieces are learnt from train.txt alone, and can write any text: set "
      "data.vocabulary = \"train\"",
      where);
  check_model(settings.model, where);
  const bool in_parts = train.micro_batch > 0;
  check_rows_at_once(where, traits_of(settings.model.cell).looks_across_rows,
                     in_parts ? "train.micro_batch" : "train.batch",
                     in_parts ? train.micro_batch : train.batches.batch);
  check_section(where, "train", train);
  check_input(settings.embedding_file.empty() || settings.model.embedding > 0,
              "{}: model.embedding_file is for an embedding, and model.embedding = 0 has none", where);
  check_input(settings.embedding_file.empty() || data.tokenization.unit == Unit::words,
              "{}: model.embedding_file has vectors of words, and data.unit = \"{}\": leave it out", where,
              name_of(data.tokenization.unit));
  const VocabularyLimits &limits = data.limits, unlimited;
  check_input(
      data.vocabulary_file.empty() ||
          (data.vocabulary == VocabularyFrom::train && limits.min_count == unlimited.min_count &&
           limits.max_size == unlimited.max_size && limits.reserve_unknown == unlimited.reserve_unknown),
      "{}: data.vocabulary_file is the whole vocabulary: leave data.vocabulary, data.min_count, "
      "data.max_size and data.unknown at their defaults",
      where);
  check_input(
      data.vocabulary_file.empty() || settings.model.output != OutputKind::adaptive,
      "{}: model.output = \"adaptive\" orders the vocabulary by frequency, and data.vocabulary_file has "
      "an order of its own: leave one out",
      where);
  check_section(where, "", model_options(settings));
}

std::string LanguageModellingTask::preferred_reading() const {
  LanguageModellingOptions train = settings.train;
  train.final_streams = 1;
  constexpr std::int32_t any_id = 0;
  return rondo::final_reading(train, any_id, settings.model.trained_initial_states).text();
}

std::string LanguageModellingTask::model_text() const {
  const LanguageModelOptions &it = settings.model, defaults;
  std::string text = it.hidden.size() == 1 ? fmt::format("{} x {} {}", it.layers, it.hidden.front(), it.cell)
                                           : fmt::format("{} {}", fmt::join(it.hidden, " + "), it.cell);
  if (it.major_ratio != defaults.major_ratio)
    text += fmt::format(", of which major {}", fmt::join(it.major_ratio, ", "));
  if (!it.output_layers.empty())
    text += fmt::format(", then {} {}", fmt::join(it.output_layers, " + "),
                        it.output_activation == OutputActivation::tanh ? "tanh" : "linear");
  if (it.experts > 1) text += fmt::format(", a mixture of {} softmaxes", it.experts);
  if (it.output == OutputKind::adaptive) text += ", an adaptive softmax";
  return text;
}

void LanguageModellingTask::open(const DataSource& source) {
  texts_ = open_text(settings.data, source.path, source.pipes, source.progress);
}

std::vector<NamedFile> LanguageModellingTask::named_files() {
  return {{"embedding_file", &settings.embedding_file, true},
          {"", &settings.data.vocabulary_file}};  // its symbols are recorded: they are the vocabulary
}

void LanguageModellingTask::open_other(const std::string& path, const DataSource& source) {
  texts_.test = open_other_text(settings.data, path, source.progress);
  texts_.files = {{path, texts_.test->sha256}};
  texts_.notes = texts_.test->notes;
}

void LanguageModellingTask::make_vocabularies() {
  const bool by_frequency = settings.model.output == OutputKind::adaptive;
  vocabulary_ = vocabulary_of(settings.data, texts_,
                              by_frequency ? SymbolOrder::frequency : SymbolOrder::first_occurrence);
}

std::vector<std::string> LanguageModellingTask::vocabulary_names() const {
  return names_of_files("vocab.txt", tokenization());
}

void LanguageModellingTask::set_vocabularies(const VocabularyFiles& files, const std::string& folder) {
  vocabulary_ = vocabulary_among(files, "vocab.txt", folder, tokenization());
}

const EncodedText& LanguageModellingTask::encoded(Split split) {
  if (!encoded_.contains(split)) {
    const Text& text = texts_.at(split);
    EncodedText encoded = encode_text(text, *vocabulary_, ids_folder());
    check_input(encoded.ids.size() >= 2, "{}: only {}; 2 or more are needed, the first being context",
                text.name, counted_text(std::ssize(encoded.ids), "symbols"));
    encoded_.emplace(split, std::move(encoded));
  }
  return encoded_.at(split);
}

void LanguageModellingTask::prepare() {
  check_input(vocabulary_->types() >= 2, "{}: one symbol only, nothing to predict", texts_.train.name);
  encoded(Split::train);
  check_streams(validation_reading(), std::ssize(encoded(Split::valid).ids));
  check_streams(final_reading(), std::ssize(encoded(Split::valid).ids));
  if (texts_.test) check_streams(final_reading(), std::ssize(encoded(Split::test).ids));
}

std::vector<std::string> LanguageModellingTask::notes() const {
  std::vector<std::string> notes = texts_.notes;
  for (const auto& [split, it] : encoded_)
    if (const Text& text = texts_.at(split); text.source)
      notes.push_back(fmt::format("{}: not held in memory (data.memory); its ids are in {}", text.name,
                                  ids_path(text, *vocabulary_, ids_folder()).string()));
  return notes;
}

std::vector<UnknownShare> LanguageModellingTask::unknown_shares() const {
  std::vector<UnknownShare> shares;
  for (const auto& [split, it] : encoded_)
    shares.push_back({texts_.at(split).name, it.counts.unknowns, std::ssize(it.ids)});
  return shares;
}

void LanguageModellingTask::assume(const std::vector<std::int64_t>& sizes) {
  // Lines of train.length symbols, or a text for streams or crops: enough for a batch, and for an evaluation.
  const LanguageModellingOptions& train = settings.train;
  constexpr std::int32_t end = 0;  // of a line
  const std::int64_t length = longest_chunk(train.batches.chunks);
  const double count = static_cast<double>(train.batches.batch + 2) * static_cast<double>(length) +
                       2 * static_cast<double>(std::max(train.eval_streams, rows_at_once));
  std::vector<std::int32_t> ids = some_ids(count, sizes.at(0));
  if (train.batches.batching == Batching::lines)
    for (std::size_t i = 0; i < ids.size(); ++i)
      ids[i] = (static_cast<std::int64_t>(i) + 1) % length == 0 ? end : std::max(ids[i], end + 1);
  vocabulary_ = some_vocabulary();
  for (const Split split : {Split::train, Split::valid}) encoded_[split].ids = TextIds(ids);
}

std::string LanguageModellingTask::size_text() const {
  return fmt::format("{}, {}", counted_text(std::ssize(encoded_.at(Split::train).ids), "symbols"),
                     vocabulary_text(vocabulary_->size()));
}

std::unique_ptr<Module> LanguageModellingTask::make_model(const std::vector<std::int64_t>& sizes,
                                                          std::uint64_t seed, Device device) const {
  return std::make_unique<LanguageModel>(model_options(settings), sizes.at(0), seed, device);
}

std::vector<std::string> LanguageModellingTask::set_initial_values(Module& model) {
  if (settings.embedding_file.empty()) return {};
  const Tensor table = parameter_named(model, "embedding.weight").value();
  const std::int64_t found = set_word_vectors(table, *vocabulary_, settings.embedding_file);
  return {fmt::format("{}: vectors of {} of {} words; the others begin with random ones",
                      printable(settings.embedding_file), found, vocabulary_->size())};
}

std::unique_ptr<Objective> LanguageModellingTask::make_objective(Module& model, std::uint64_t seed) {
  return std::make_unique<LanguageModelling>(own(model), settings.train, encoded(Split::train).ids,
                                             encoded(Split::valid).ids, vocabulary_->line_end_id(), seed,
                                             vocabulary_->unknown_id());
}

std::string LanguageModellingTask::complete(Objective& objective, const ProgressOf& progress_of) {
  if (objective.model().buffers().empty()) return "";
  const std::int64_t symbols = dynamic_cast<LanguageModelling&>(objective).estimate_statistics(
      progress_of("estimating statistics", std::ssize(encoded(Split::train).ids)));
  return fmt::format("statistics re-estimated over {} training symbols", symbols);
}

Reading LanguageModellingTask::validation_reading() const {
  return rondo::validation_reading(settings.train, vocabulary_->line_end_id(),
                                   settings.model.trained_initial_states);
}

Reading LanguageModellingTask::final_reading() const {
  return rondo::final_reading(settings.train, vocabulary_->line_end_id(),
                              settings.model.trained_initial_states);
}

Scores LanguageModellingTask::measure(Module& model, const std::string& split,
                                      const ProgressOf& progress_of) {
  return measure(own(model), split, final_reading(), {}, progress_of);
}

std::vector<Scores> LanguageModellingTask::final_scores(Module& model, const std::string& split,
                                                        const ProgressOf& progress_of) {
  std::vector<Scores> all{measure(model, split, progress_of)};
  if (split == "test" && final_reading().sequence > 0)
    all.push_back(measure(own(model), split, {.streams = settings.train.final_streams}, {}, progress_of));
  return all;
}

Scores LanguageModellingTask::measure(LanguageModel& model, const std::string& split, const Reading& reading,
                                      const Adaptation& how, const ProgressOf& progress_of) {
  const EncodedText& text = encoded(split_from_string(split));
  const auto show = progress_of("evaluating " + split, std::ssize(text.ids) - 1);
  const std::optional<std::int32_t> unknown = vocabulary_->unknown_id();
  Evaluation evaluation = how.dynamic || how.cache ? evaluate_adaptively(model, text.ids, how, unknown, show)
                                                   : evaluate_ids(model, text.ids, reading, unknown, show);
  evaluation.bytes = scored_bytes(reading, text.counts);
  Scores scores = scores_of(evaluation, reading.text());
  const auto add = [&](const std::string& name, auto value) { scores.details.push_back({name, value}); };
  if (reading.line_end)
    add("by_lines", true);
  else if (reading.sequence > 0)
    add("sequence", reading.sequence);
  else
    add("streams", reading.streams);
  if (const auto& it = how.dynamic) {
    add("dynamic.learning_rate", it->learning_rate);
    add("dynamic.decay", it->decay);
    add("dynamic.epsilon", it->epsilon);
    add("dynamic.length", it->length);
    add("dynamic.style", name_of(it->style));
    add("dynamic.statistics_streams", it->statistics_streams);
    add("dynamic.statistics_symbols", how.statistics->symbols);
    add("dynamic.statistics_batches", how.statistics->batches);
  }
  if (const auto& it = how.cache) {
    add("cache.window", it->window);
    add("cache.theta", it->theta);
    add("cache.lambda", it->lambda);
  }
  return scores;
}

Probed LanguageModellingTask::probe(Module& model, const std::string& split, const ProbeOptions& options,
                                    const std::function<void(std::int64_t)>& progress) {
  const EncodedText& text = encoded(split_from_string(split));
  check_input(std::ssize(text.ids) > options.steps,
              "{}: {} symbols are too few for a sequence of {} and the symbol after it: use fewer --steps",
              texts_.at(split_from_string(split)).name, text.ids.size(), options.steps);
  return rondo::probe(own(model), text.ids, options, progress);
}

}  // namespace rondo
