// One training as an object.
#include "lm/training/training.h"

#include <chrono>
#include <cmath>
#include <map>

#include "autograd/functions.h"
#include "autograd/operators.h"
#include "lm/program/model.h"
#include "nn/regularization.h"
#include "optim/clipping.h"

namespace rondo {
namespace {

/// to = from, rows [first, first + from's) of each.
void copy_states(const std::vector<State>& from, const std::vector<State>& to, int64_t first = 0) {
  for (size_t layer = 0; layer < to.size(); ++layer) {
    const auto copy_rows = [&](const Variable& x, const Variable& into) {
      if (x.defined()) copy(x.value(), into.value().slice(first, first + x.shape()[0]));
    };
    copy_rows(from[layer].h, to[layer].h);
    copy_rows(from[layer].c, to[layer].c);
  }
}

/// Ids of no particular place.
Tokens any_place(size_t, std::vector<int32_t> ids) { return tokens(std::move(ids)); }

// What ends a training, or starts its averaging, on its way to and from a state file.

bool asks_trigger(const Recipe::Train& train) {
  return train.averaging == "non_monotonic" || train.non_monotonic_stopping;
}

/// Which criterion to stop is met, in words; empty: none.
std::string criterion_met(const Recipe::Train& train, const EarlyStopping& early_stopping,
                          const NonMonotonicTrigger& trigger) {
  if (early_stopping.should_stop())
    return fmt::format("no improvement in {} evaluations", early_stopping.state().evaluations_since);
  return train.non_monotonic_stopping && trigger.fired() ? "validation no longer falls" : "";
}

bool at_the_end(const Recipe::Train& train, int64_t epoch, const EarlyStopping& early_stopping,
                const NonMonotonicTrigger& trigger) {
  return epoch > train.epochs || !criterion_met(train, early_stopping, trigger).empty();
}

/// What is laid out like the model's values, parameter by parameter: no layout is part of the format.
void add(StateWriter& file, const std::string& name, const Module& model, const Tensor& buffer) {
  for (const Segment& segment : model.segments())
    file.add(name + "." + segment.name, Module::view(buffer, segment));
}
void read(const StateReader& file, const std::string& name, const Module& model, const Tensor& buffer,
          real least = std::numeric_limits<real>::lowest()) {
  for (const Segment& segment : model.segments())
    file.read(name + "." + segment.name, Module::view(buffer, segment), least);
}

void add(StateWriter& file, const EarlyStopping& early_stopping) {
  file.add("validation.best", early_stopping.state().loss);
  file.add("validation.evaluations_since", early_stopping.state().evaluations_since);
}
void read(const StateReader& file, EarlyStopping& early_stopping) {
  BestLoss best;
  file.read("validation.best", best.loss);
  file.read("validation.evaluations_since", best.evaluations_since);
  early_stopping.restore(best);
}

void add(StateWriter& file, const NonMonotonicTrigger& trigger) {
  const NonMonotonicTrigger::State& state = trigger.state();
  file.add("trigger.fired", int64_t{state.fired});
  file.add("trigger.lowest", state.lowest);
  file.add("trigger.last", std::ssize(state.last));
  for (size_t i = 0; i < state.last.size(); ++i) file.add(fmt::format("trigger.last.{}", i), state.last[i]);
}
void read(const StateReader& file, NonMonotonicTrigger& trigger) {
  NonMonotonicTrigger::State state;
  int64_t fired = 0, count = 0;
  file.read("trigger.fired", fired, 0, 1);
  file.read("trigger.lowest", state.lowest);
  file.read("trigger.last", count);
  for (int64_t i = 0; i < count; ++i) file.read(fmt::format("trigger.last.{}", i), state.last.emplace_back());
  state.fired = fired == 1;
  trigger.restore(std::move(state));
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> named_tensors(const std::vector<State>& states) {
  std::vector<std::pair<std::string, Tensor>> named;
  for (size_t layer = 0; layer < states.size(); ++layer) {
    named.emplace_back(fmt::format("state.{}.h", layer), states[layer].h.value());
    if (states[layer].c.defined())
      named.emplace_back(fmt::format("state.{}.c", layer), states[layer].c.value());
  }
  return named;
}

Training::Training(const Recipe& recipe, int64_t vocabulary_size, std::span<const int32_t> train_ids,
                   std::optional<int32_t> line_end, Device device)
    : recipe_(recipe),
      batches_(batch_options(recipe, line_end), train_ids),
      model_(model_options(recipe), vocabulary_size, static_cast<uint64_t>(recipe.train.seed), device),
      optimizer_(make_optimizer(optimizer_options(recipe), model_.values(), model_.gradients())),
      schedule_(schedule_options(recipe), optimizer_->learning_rate()),
      early_stopping_(recipe.train.early_stopping),
      trigger_(recipe.train.averaging_interval),
      average_(model_.values()),
      states_(model_.initial_states(recipe.train.batch)),
      gpu_(device == Device::cuda ? std::make_unique<GpuStep>() : nullptr) {}

int64_t Training::micro_batch() const {
  return recipe_.train.micro_batch > 0 ? recipe_.train.micro_batch : recipe_.train.batch;
}

template <class Ids, class Use, class End>
void Training::forward(const Chunk& chunk, const std::vector<State>& states, Ids ids, Use use, End end) {
  const int64_t B = chunk.streams;
  // Padding ends a row, from a state that nobody reads on from, and is not scored: only statistics of the
  // batch have to know of it.
  const bool across_rows = !model_.buffers().empty();
  const int64_t count = micro_batch();
  size_t number = 0;
  for (int64_t first = 0; first < B; first += count) {
    model_.begin_update({static_cast<uint64_t>(recipe_.train.seed),
                         static_cast<uint64_t>(step_),
                         {count, first, B},
                         gpu_ ? gpu_->update() : nullptr});
    std::vector<State> now = streams_of(states, first, count);
    for (const Chunk& piece : pieces_of(streams_of(chunk, first, count))) {
      const auto inputs = ids(number++, piece.inputs), targets = ids(number++, piece.targets);
      auto [output, after] =
          model_.forward({inputs, piece.steps, piece.streams, across_rows ? piece.lengths : Lengths()},
                         streams_of(now, 0, piece.streams));
      use(output, targets);
      now = std::move(after);
    }
    end();
    if (batches_.carries_state()) copy_states(now, states, first);
  }
}

std::vector<Chunk> Training::pieces_of(Chunk chunk) const {
  const bool is_padded = chunk.scored < chunk.steps * chunk.streams;
  if (!is_padded || batches_.carries_state() || !leaves_out_padding(model_.options(), model_.device()))
    return {std::move(chunk)};
  return pieces_without_padding(chunk, piece_steps);
}

void Training::go_on(std::vector<State>& states, const Chunk& chunk) const {
  if (!batches_.carries_state()) return;
  for (State& state : states) state.steps += chunk.steps;
}

bool Training::state_ends_after(int64_t step) const {
  return recipe_.train.reset_every > 0 && step % recipe_.train.reset_every == 0;
}

void Training::reset_states() {
  copy_states(model_.initial_states(recipe_.train.batch), states_);
  for (State& state : states_) state.steps = 0;
}

template <class Ids, class Take>
void Training::losses_and_gradients(const Chunk& chunk, Ids ids, Take take) {
  const bool sum_over_time = recipe_.train.loss == "sum_over_time";
  const real scale = real(1) / static_cast<real>(sum_over_time ? chunk.streams : chunk.scored);
  model_.set_training(true);
  optimizer_->zero_gradients();
  Variable sum;  // of the pieces of a micro-batch
  forward(
      chunk, states_, ids,
      [&](const LanguageModel::Output& output, const Tokens& targets) {
        const CrossEntropy loss = model_.cross_entropy(output, targets);
        const Variable penalized_loss = penalized(loss.total * scale, output, chunk.streams);
        sum = sum.defined() ? sum + penalized_loss : penalized_loss;
        take(loss.each);
      },
      [&] {
        if (sum.defined()) std::exchange(sum, {}).backward();
      });
}

double Training::rate_of(const Chunk& chunk) const {
  // A sum over time has grown with the chunk itself.
  const bool in_proportion = recipe_.train.length_deviation > 0 && recipe_.train.loss != "sum_over_time";
  return learning_rate() *
         (in_proportion ? static_cast<double>(chunk.steps) / static_cast<double>(recipe_.train.length) : 1);
}

void Training::advance(const Chunk& chunk) {
  const auto start = std::chrono::steady_clock::now();
  const double rate = rate_of(chunk);
  if (gpu_)
    advance_on_gpu(chunk, rate);
  else
    advance_on_cpu(chunk, rate);
  go_on(states_, chunk);
  if (state_ends_after(step_)) reset_states();
  pending_.symbols += chunk.scored;
  pending_.learning_rate = rate;
  if (recipe_.train.averaging == "always" && !average_.started()) average_.start();
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Training::advance_on_cpu(const Chunk& chunk, double rate) {
  double nats = 0;
  losses_and_gradients(chunk, any_place, [&](const Tensor& each) {
    for (const real it : each.to_vector()) nats += it;
  });
  const double norm = gradient_norm(model_.gradients());
  ++step_;
  check_finite(nats, norm, step_);
  optimizer_->step(rate, clipping_factor(norm, recipe_.train.clip));
  if (average_.started()) average_.update();
  pending_.nats += nats;
  pending_.gradient_norm = norm;
}

void Training::advance_on_gpu(const Chunk& chunk, double rate) {
  if (gpu_->is_full()) collect();
  const auto pieces = static_cast<size_t>(2 * (chunk.streams / micro_batch()));
  GpuStep::Numbers& numbers =
      gpu_->prepare(static_cast<uint64_t>(step_), pieces, static_cast<size_t>(chunk.steps * micro_batch()));
  optimizer_->write_numbers(rate, &numbers.optimizer);
  if (average_.started()) average_.write_numbers(&numbers.average);
  std::vector<Tokens> ids;
  for (int64_t first = 0; first < chunk.streams; first += micro_batch()) {
    const Chunk part = streams_of(chunk, first, micro_batch());
    ids.push_back(gpu_->ids(ids.size(), part.inputs));
    ids.push_back(gpu_->ids(ids.size(), part.targets));
  }
  // What a graph has recorded holds for chunks of one length, of which every symbol is scored, and where the
  // host has nothing to count, as batch normalisation has.
  const bool replays = replays_ && batches_.carries_state() && model_.buffers().empty() &&
                       chunk.scored == chunk.steps * chunk.streams;
  gpu_->run({chunk.steps, average_.started()}, replays, [&] {
    const Tensor nats = Tensor::zeros({1}, Device::cuda);
    losses_and_gradients(
        chunk, [&](size_t i, const std::vector<int32_t>&) { return ids[i]; },
        [&](const Tensor& each) { accumulate(total(each), nats); });
    gpu_->judge(nats, model_.gradients(), recipe_.train.clip);
    optimizer_->launch(gpu_->optimizer_numbers());
    if (average_.started()) average_.launch(gpu_->average_numbers());
  });
  pending_steps_.push_back(++step_);
}

void Training::collect() {
  const std::vector<StepRecord> records = gpu_->collect();
  for (size_t i = 0; i < records.size(); ++i) {
    check_finite(records[i].nats, records[i].norm, pending_steps_[i]);
    pending_.nats += records[i].nats;
    pending_.gradient_norm = records[i].norm;
  }
  pending_steps_.clear();
}

Training::Update Training::progress() {
  const auto start = std::chrono::steady_clock::now();
  if (gpu_) collect();
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::exchange(pending_, {});
}

Variable Training::penalized(Variable loss, const LanguageModel::Output& output, int64_t streams) const {
  // A micro-batch has its share of the mean over all streams.
  const auto factor = [&](double weight, const Variable& x) {
    return static_cast<real>(weight * static_cast<double>(x.shape()[1]) / static_cast<double>(streams));
  };
  const double activation = recipe_.train.activation_regularization,
               temporal = recipe_.train.temporal_regularization;
  if (activation > 0)
    loss = loss + activation_regularization(output.dropped) * factor(activation, output.dropped);
  if (temporal > 0) loss = loss + temporal_regularization(output.hidden) * factor(temporal, output.hidden);
  return loss;
}

void Training::check_finite(double loss, double norm, int64_t step) const {
  if (std::isfinite(loss) && std::isfinite(norm)) return;
  // A GPU is asked later: the values are as they were at that step, the gradients are those of another.
  const bool knows_gradients = step == step_;
  std::string culprit = !knows_gradients      ? "no parameter, so a gradient or the loss"
                        : std::isfinite(loss) ? "no number by itself, but the sum of their squares"
                                              : "no parameter, so it is the loss itself";
  for (const Segment& segment : model_.segments()) {
    const bool value = all_finite(Module::view(model_.values(), segment));
    if (value && (!knows_gradients || all_finite(Module::view(model_.gradients(), segment)))) continue;
    culprit = (value ? "the gradient of " : "") + segment.name;
    break;
  }
  throw Diverged(fmt::format(
      "step {}: the loss is {:.4g} and the gradient's norm {:.4g}; the first that is not finite: {}", step,
      loss, norm, culprit));
}

int64_t Training::estimate_statistics(const std::function<void(int64_t)>& progress) {
  const NoGradient guard;
  model_.set_training(false);
  model_.set_statistics_rate(0);
  for (const Buffer* buffer : model_.buffers()) buffer->reset();
  Batches batches = batches_;
  batches.seek(1, 0);
  std::vector<State> states = model_.initial_states(recipe_.train.batch);
  int64_t symbols = 0, step = 0;
  for (Chunk chunk; batches.next(chunk); progress(symbols += chunk.scored)) {
    forward(
        chunk, states, any_place, [](const LanguageModel::Output&, const Tokens&) {}, [] {});
    go_on(states, chunk);
    if (state_ends_after(++step)) states = model_.initial_states(recipe_.train.batch);
  }
  model_.set_statistics_rate({});
  return symbols;
}

bool Training::validated(double nats_per_symbol) {
  check_finite(nats_per_symbol, 0, step_);
  validated_step_ = step_;
  schedule_.evaluated(nats_per_symbol);
  const bool fires = trigger_.take(nats_per_symbol);
  if (fires && recipe_.train.averaging == "non_monotonic" && !average_.started()) average_.start();
  return early_stopping_.evaluated(nats_per_symbol);
}

void Training::begins_with(double nats_per_symbol) {
  check_finite(nats_per_symbol, 0, step_);
  validated_step_ = step_;
  early_stopping_.evaluated(nats_per_symbol);
}

void Training::begin_next_epoch() {
  ++epoch_;
  batches_.seek(epoch_, 0);
  reset_states();
}

bool Training::done() const { return at_the_end(recipe_.train, epoch_, early_stopping_, trigger_); }

std::string Training::ended_by() const {
  return epoch_ > recipe_.train.epochs ? "" : criterion_met(recipe_.train, early_stopping_, trigger_);
}

bool is_finished(const Recipe& recipe, const std::filesystem::path& state) {
  const StateReader file(state);
  int64_t epoch = 0;
  file.read("epoch", epoch, 1);
  EarlyStopping early_stopping(recipe.train.early_stopping);
  read(file, early_stopping);
  NonMonotonicTrigger trigger(recipe.train.averaging_interval);
  if (asks_trigger(recipe.train)) read(file, trigger);
  return at_the_end(recipe.train, epoch, early_stopping, trigger);
}

void Training::save(const std::filesystem::path& path, int64_t log_position) const {
  check(pending_steps_.empty(), "[save] steps whose end is not known");
  StateWriter file;
  add(file, "values", model_, model_.values());
  for (const Buffer* buffer : model_.buffers()) file.add("buffer." + buffer->name(), buffer->tensor());
  for (const NamedTensor& it : optimizer_->state_tensors())
    add(file, "optimizer." + it.name, model_, it.tensor);
  for (const auto& [name, number] : optimizer_->state_scalars()) file.add("optimizer." + name, number);
  for (const auto& [name, tensor] : named_tensors(states_)) file.add(name, tensor);
  file.add("state.steps", states_.front().steps);  // the same for all
  file.add("schedule.best", schedule_.state().best.loss);
  file.add("schedule.evaluations_since", schedule_.state().best.evaluations_since);
  file.add("schedule.decays", schedule_.state().decays);
  add(file, early_stopping_);
  if (asks_trigger(recipe_.train)) add(file, trigger_);
  for (const NamedTensor& it : average_.state_tensors()) add(file, "averaging." + it.name, model_, it.tensor);
  if (recipe_.train.averaging != "never") file.add("averaging.count", average_.count());
  file.add("step", step_);
  file.add("epoch", epoch_);
  file.add("validated_step", validated_step_);
  file.add("position", batches_.position());
  file.add("log_position", log_position);
  file.add("seconds", seconds_);
  if (const std::string name = file.first_not_finite(); !name.empty())
    throw Diverged(fmt::format("step {}: what would be saved is not finite: {}", step_, name));
  file.write(path);
}

int64_t Training::load(const std::filesystem::path& path) {
  if (gpu_) gpu_->forget();
  const StateReader file(path);
  file.check_values_or_warn();
  read(file, "values", model_, model_.values());
  for (const Buffer* buffer : model_.buffers())
    file.read("buffer." + buffer->name(), buffer->tensor(), buffer->least());
  for (const NamedTensor& it : optimizer_->state_tensors())
    read(file, "optimizer." + it.name, model_, it.tensor, it.least);
  std::map<std::string, double> scalars = optimizer_->state_scalars();
  for (auto& [name, number] : scalars) file.read("optimizer." + name, number);
  try {
    optimizer_->restore_scalars(scalars);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path.string(), error.what()));
  }
  for (const auto& [name, tensor] : named_tensors(states_)) file.read(name, tensor);
  int64_t steps = 0;
  file.read("state.steps", steps);
  for (State& state : states_) state.steps = steps;
  Schedule::State schedule;
  file.read("schedule.best", schedule.best.loss);
  file.read("schedule.evaluations_since", schedule.best.evaluations_since);
  file.read("schedule.decays", schedule.decays);
  EarlyStopping early_stopping = early_stopping_;
  read(file, early_stopping);
  if (asks_trigger(recipe_.train)) read(file, trigger_);
  int64_t averaged = 0;
  if (recipe_.train.averaging != "never") file.read("averaging.count", averaged);
  average_.restore(averaged);
  for (const NamedTensor& it : average_.state_tensors())
    read(file, "averaging." + it.name, model_, it.tensor);
  int64_t position = 0, log_position = 0;
  file.read("step", step_);
  file.read("epoch", epoch_, 1);
  file.read("validated_step", validated_step_, -1);
  file.read("position", position);
  file.read("log_position", log_position);
  file.read("seconds", seconds_, 0);
  check_input(position <= batches_.length(), "{}: position {} of {} in the text: it belongs to another run",
              path.string(), position, batches_.length());
  schedule_.restore(schedule);
  early_stopping_ = early_stopping;
  batches_.seek(epoch_, position);
  return log_position;
}

void check_state_layout(const std::filesystem::path& path, const Module& model) {
  const StateReader file(path);
  for (const Segment& segment : model.segments()) file.check_shape("values." + segment.name, segment.shape);
}

}  // namespace rondo
