// The trainer.
#include "lm/training/trainer.h"

#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "autograd/functions.h"
#include "lm/evaluation/evaluation.h"
#include "lm/training/checkpoint.h"
#include "lm/training/gpu_step.h"
#include "optim/step_control.h"

namespace rondo {
namespace {

bool asks_trigger(const TrainerOptions& options) {
  return options.averaging == Averaging::non_monotonic || options.non_monotonic_stopping;
}

/// The stopping criterion that is met, in words; empty: none.
std::string criterion_met(const TrainerOptions& options, const BestLoss& best,
                          const NonMonotonicTrigger& trigger) {
  if (options.early_stopping > 0 && best.evaluations_since >= options.early_stopping)
    return fmt::format("no improvement in {} evaluations", best.evaluations_since);
  return options.non_monotonic_stopping && trigger.fired() ? "validation no longer falls" : "";
}

bool all_trained(const TrainerOptions& options, int64_t step, int64_t epoch) {
  return options.steps > 0 ? step >= options.steps : epoch > options.epochs;
}

bool at_the_end(const TrainerOptions& options, int64_t step, int64_t epoch, const BestLoss& best,
                const NonMonotonicTrigger& trigger) {
  return all_trained(options, step, epoch) || !criterion_met(options, best, trigger).empty();
}

}  // namespace

Keys keys_of(TrainerOptions& options) {
  return joined(
      {{{"seed", &options.seed, at_least(0), "", "of the initial weights and of dropout"},
        {"epochs", &options.epochs, any_count(), "epochs", "times to read the training text"},
        {"steps", &options.steps, at_least(0), "steps",
         "updates after which the training ends, in place of epochs; 0: epochs end it"},
        {"clip", &options.clip, at_least(0), "", "largest norm of all gradients together; 0: no clipping"},
        {"weight_noise", &options.weight_noise, at_least(0), "",
         "standard deviation of normal noise on all weights, drawn for each update, while its gradients are "
         "computed (Graves 2013); 0: none"},
        {"averaging", choice(options.averaging),
         "evaluate and save the average of the weights after each step, while training continues from the "
         "weights themselves: never; non_monotonic: from the first evaluation whose loss is above the lowest "
         "of all but the last averaging_interval; always: from the first step, without the initial weights. "
         "With sgd these are NT-ASGD and ASGD"},
        {"averaging_interval", &options.averaging_interval, any_count(), "evaluations",
         "the most recent ones, which non_monotonic and non_monotonic_stopping leave out"},
        {"early_stopping", &options.early_stopping, at_least(0), "evaluations",
         "without improvement that end the training; 0: never"},
        {"non_monotonic_stopping", &options.non_monotonic_stopping,
         "end the training at an evaluation that would start non_monotonic averaging"}},
       keys_of(options.optimizer),
       keys_of(options.schedule)});
}

void check_options(const TrainerOptions& options) {
  check_limits_of(options);
  check_options(options.optimizer);
  check_options(options.schedule);
  check_input(
      options.averaging != Averaging::non_monotonic || !options.non_monotonic_stopping,
      "averaging = \"non_monotonic\" would start where non_monotonic_stopping ends: leave one of them "
      "out");
}

Trainer::Trainer(Objective& objective, const TrainerOptions& options)
    : objective_(objective),
      model_(objective.model()),
      options_(options),
      optimizer_(make_optimizer(options.optimizer, model_.values(), model_.gradients())),
      schedule_(options.schedule, optimizer_->learning_rate()),
      trigger_(options.averaging_interval),
      average_(model_.values()),
      gpu_(model_.device() == Device::cuda ? std::make_unique<GpuStep>() : nullptr) {
  check_options(options);
  objective_.begin_epoch(epoch_);
}

struct Trainer::Order {
  enum class Kind : int64_t { step, next_epoch, validated, baseline, collect_state, end };
  Kind kind = Kind::end;
  double loss = 0;
};

void Trainer::tell(const Order& order) const {
  if (!ranks_ || !ranks_->leads()) return;
  Order copy = order;
  ranks_->send(std::as_writable_bytes(std::span(&copy, 1)));
}

void Trainer::join(Ranks& ranks) {
  check_input(model_.buffers().empty(),
              "batch normalisation is over the rows of a whole batch, which cannot be divided among ranks");
  objective_.divide(ranks.count(), ranks.own());
  ranks_ = &ranks;
  if (gpu_) gradient_sum_ = std::make_unique<GradientSum>(model_, ranks);
}

void Trainer::follow() {
  check(ranks_ && !ranks_->leads(), "[trainer] follow() is for ranks other than 0");
  for (Order order;;) {
    ranks_->send(std::as_writable_bytes(std::span(&order, 1)));
    switch (order.kind) {
      case Order::Kind::step:
        next_batch();
        try {
          step();
        } catch (const Diverged&) {  // on a CPU; so has rank 0, which says so and ends
        }
        break;
      case Order::Kind::next_epoch:
        begin_next_epoch();
        break;
      case Order::Kind::validated:
        validated({.metrics = {{"", order.loss}}});
        break;
      case Order::Kind::baseline:
        set_baseline({.metrics = {{"", order.loss}}});
        break;
      case Order::Kind::collect_state:
        objective_.collect_state(*ranks_);
        break;
      case Order::Kind::end:
        return;
    }
  }
}

Trainer::~Trainer() { tell({Order::Kind::end}); }

bool Trainer::next_batch() {
  batch_ = {};
  return is_staged_ = objective_.next_batch(batch_);
}

bool Trainer::stage_extreme(size_t number) {
  batch_ = {};
  return is_staged_ = objective_.stage_extreme(batch_, number);
}

void Trainer::step() {
  check(std::exchange(is_staged_, false), "[trainer] step() is for the batch that next_batch() has staged");
  check(batch_.scored > 0, "[trainer] a batch scores {} items: next_batch() sets Batch::scored",
        batch_.scored);
  const auto start = Clock::now();
  tell({Order::Kind::step});
  const double rate = learning_rate() * batch_.rate_factor;
  stage(rate);
  ++step_;
  const auto update = [&] {
    const std::vector<Tensor> reported = compute_gradients();
    const StepControl control = decide(reported);
    optimizer_->launch(control, gpu_ ? gpu_->optimizer_numbers() : nullptr);
    if (average_.started()) average_.launch(control, gpu_ ? gpu_->average_numbers() : nullptr);
  };
  if (gpu_) {
    // A replay writes the weights unseen: this raises their version, so that copies made from them are made
    // again.
    model_.values().mutable_data();
    const bool replays = replays_ && may_be_replayed();
    batch_.kind.push_back(average_.started());
    gpu_->run(batch_.kind, replays, update);
    pending_steps_.push_back(step_);
  } else {
    update();
  }
  objective_.end_batch(step_);
  pending_.scored += batch_.scored;
  pending_.learning_rate = rate;
  if (options_.averaging == Averaging::always && !average_.started()) average_.start();
  count_time(start);
}

void Trainer::stage(double rate) {
  if (gpu_ && gpu_->is_full()) collect();
  const auto numbers = optimizer_->begin_step(rate);
  const auto average = average_.started() ? average_.begin_update() : std::span<const std::byte>();
  indices_ = gpu_ ? gpu_->stage(static_cast<uint64_t>(step_), std::move(batch_.indices), may_be_replayed(),
                                numbers, average)
                  : tokens_of(std::move(batch_.indices));
}

std::vector<Tensor> Trainer::compute_gradients() {
  const RandomContext random{
      .seed = static_cast<uint64_t>(options_.seed),
      .update = gpu_ ? gpu_->update() : Deferred<uint64_t>(static_cast<uint64_t>(step_ - 1))};
  std::vector<Tensor> reported;
  model_.set_training(true);
  model_.begin_gradients();
  const NoisyWeights noisy(model_.values(), model_.segments(), options_.weight_noise,
                           {.seed = random.seed, .update = random.update});
  if (gradient_sum_) gradient_sum_->begin();
  std::function<void(const Tensor&)> completed;
  for (int64_t part = 0; part < batch_.parts; ++part) {
    if (gradient_sum_ && part + 1 == batch_.parts)
      completed = [this](const Tensor& gradient) { gradient_sum_->completed(gradient); };
    Loss loss = objective_.loss(part, indices_, random);
    if (loss.minimised.defined()) std::exchange(loss.minimised, {}).backward(completed);
    objective_.carry_state(part);
    std::move(loss.reported.begin(), loss.reported.end(), std::back_inserter(reported));
  }
  // One of several ranks can have no line of a batch.
  check(ranks_ || !reported.empty(),
        "[trainer] loss() reports nothing: return the losses of what the batch scores in Loss::reported");
  model_.complete_gradients();
  if (gradient_sum_)
    gradient_sum_->finish();
  else if (ranks_)
    ranks_->add_up_tensor(model_.gradients());
  return reported;
}

StepControl Trainer::decide(const std::vector<Tensor>& reported) {
  if (gpu_) {
    const auto total = [](const Tensor& it) { return it.size() == 1 ? it : sum_on_device(it); };
    Tensor loss = reported.empty() ? Tensor::zeros({1}, Device::cuda) : total(reported[0]);
    if (reported.size() > 1 || ranks_) loss = clone(loss);  // the first is not ours
    for (size_t i = 1; i < reported.size(); ++i) accumulate(total(reported[i]), loss);
    if (ranks_) ranks_->add_up_tensor(loss);
    return gpu_->decide(loss, model_.gradients(), options_.clip);
  }
  double loss = 0;
  for (const Tensor& tensor : reported)
    for (const real it : tensor.to_vector()) loss += it;
  if (ranks_) ranks_->add_up(std::span(&loss, 1));
  const double norm = gradient_norm(model_.gradients());
  check_finite(loss, norm, step_);
  pending_.loss += loss;
  pending_.gradient_norm = norm;
  return {static_cast<real>(clipping_factor(norm, options_.clip))};
}

void Trainer::collect() {
  const std::vector<StepRecord> records = gpu_->collect();
  const bool judges = !ranks_ || ranks_->leads();  // another rank would miss a step that rank 0 has begun
  for (size_t i = 0; judges && i < records.size(); ++i) {
    check_finite(records[i].loss, records[i].norm, pending_steps_[i]);
    pending_.loss += records[i].loss;
    pending_.gradient_norm = records[i].norm;
  }
  pending_steps_.clear();
}

void Trainer::count_time(Clock::time_point start) {
  const double seconds = seconds_since(start);
  seconds_ += seconds;
  pending_.seconds += seconds;
}

StepMetrics Trainer::metrics() {
  const auto start = Clock::now();
  if (gpu_) collect();
  count_time(start);
  return std::exchange(pending_, {});
}

void Trainer::check_finite(double loss, double norm, int64_t step) const {
  if (std::isfinite(loss) && std::isfinite(norm)) return;
  // On a GPU this is called later: the values are still those of that step, but the gradients are of a later
  // one.
  const bool knows_gradients = step == step_;
  std::string culprit = !knows_gradients      ? "no parameter, so a gradient or the loss"
                        : std::isfinite(loss) ? "no number by itself, but the sum of their squares"
                                              : "no parameter, so it is the loss itself";
  for (const Segment& segment : model_.segments()) {
    const bool value = all_finite(part_of(model_.values(), segment));
    if (value && (!knows_gradients || all_finite(part_of(model_.gradients(), segment)))) continue;
    culprit = (value ? "the gradient of " : "") + segment.name;
    break;
  }
  throw Diverged(fmt::format(
      "step {}: the loss is {:.4g} and the gradient's norm {:.4g}; the first that is not finite: {}", step,
      loss, norm, culprit));
}

bool Trainer::validated(const Scores& scores) {
  check_finite(scores.loss(), 0, step_);
  tell({Order::Kind::validated, scores.loss()});
  validated_step_ = step_;
  schedule_.evaluated(scores.loss());
  const bool fires = trigger_.take(scores.loss());
  if (fires && options_.averaging == Averaging::non_monotonic && !average_.started()) average_.start();
  return best_.take(scores.loss());
}

void Trainer::set_baseline(const Scores& scores) {
  check_finite(scores.loss(), 0, step_);
  tell({Order::Kind::baseline, scores.loss()});
  validated_step_ = step_;
  best_.take(scores.loss());
}

void Trainer::begin_next_epoch() {
  check(!is_staged_, "[trainer] the staged batch waits for its step()");
  tell({Order::Kind::next_epoch});
  objective_.begin_epoch(++epoch_);
}

bool Trainer::done() const { return at_the_end(options_, step_, epoch_, best_, trigger_); }

std::string Trainer::ended_by() const {
  return all_trained(options_, step_, epoch_) ? "" : criterion_met(options_, best_, trigger_);
}

bool is_finished(const TrainerOptions& options, const std::filesystem::path& state) {
  const StateFile file(state);
  int64_t step = 0, epoch = 0;
  file.read("step", step);
  file.read("epoch", epoch, 1);
  BestLoss best;
  best.load(file, "validation");
  NonMonotonicTrigger trigger(options.averaging_interval);
  if (asks_trigger(options)) trigger.load(file);
  return at_the_end(options, step, epoch, best, trigger);
}

void Trainer::save(const std::filesystem::path& path, int64_t log_position) const {
  check(pending_steps_.empty(), "[save] steps whose end is not known: ask for metrics() before");
  check(!is_staged_, "[save] the staged batch waits for its step(): a resumed training would miss it");
  if (ranks_) {
    tell({Order::Kind::collect_state});
    objective_.collect_state(*ranks_);
  }
  StateFileWriter file;
  file.add_segments("values", model_.values(), model_.segments());
  for (const Buffer* buffer : model_.buffers()) file.add("buffer." + buffer->name(), buffer->tensor());
  optimizer_->save(file, model_.segments());
  schedule_.save(file);
  best_.save(file, "validation");
  if (asks_trigger(options_)) trigger_.save(file);
  if (options_.averaging != Averaging::never) average_.save(file, model_.segments());
  objective_.save(file);
  file.add("step", step_);
  file.add("epoch", epoch_);
  file.add("validated_step", validated_step_);
  file.add("log_position", log_position);
  file.add("seconds", seconds_);
  if (const std::string name = file.first_not_finite(); !name.empty())
    throw Diverged(fmt::format("step {}: what would be saved is not finite: {}", step_, name));
  file.write(path);
}

int64_t Trainer::load(const std::filesystem::path& path) {
  if (gpu_) gpu_->reset();
  is_staged_ = false;
  pending_ = {};
  pending_steps_.clear();
  const StateFile file(path);
  file.check_values_or_warn();
  file.read_segments("values", model_.values(), model_.segments());
  for (const Buffer* buffer : model_.buffers())
    file.read("buffer." + buffer->name(), buffer->tensor(), buffer->least());
  optimizer_->load(file, model_.segments());
  schedule_.load(file);
  best_.load(file, "validation");
  if (asks_trigger(options_)) trigger_.load(file);
  if (options_.averaging != Averaging::never) average_.load(file, model_.segments());
  int64_t log_position = 0;
  file.read("step", step_);
  file.read("epoch", epoch_, 1);
  file.read("validated_step", validated_step_, -1);
  file.read("log_position", log_position);
  file.read("seconds", seconds_, 0);
  objective_.begin_epoch(epoch_);
  objective_.load(file);
  return log_position;
}

}  // namespace rondo
