// The formulas of the schedules.
#include "optim/validation.h"

#include <algorithm>
#include <cmath>

namespace rondo {

Keys keys_of(ScheduleOptions& options) {
  return {
      {"schedule", choice(options.kind),
       "when the learning rate is multiplied by decay: never, every decay_every epochs, each epoch after the "
       "decay_after-th, after each epoch of decay_at, or when validation stops improving"},
      {"decay", &options.decay, between(0, 1), "factor of the learning rate"},
      {"decay_after", &options.decay_after, at_least(0), "epochs", "trained before decay_after begins"},
      {"decay_at", &options.decay_at, any_count(), "epochs", "after which milestones decays"},
      {"decay_every", &options.decay_every, at_least(1), "epochs", "between decays of step"},
      {"patience", &options.patience, at_least(0), "evaluations",
       "without improvement that plateau lets pass before it decays"},
  };
}

void check_options(const ScheduleOptions& options) {
  check_limits_of(options);
  check_input((options.kind == ScheduleKind::milestones) == !options.decay_at.empty(),
              "decay_at and schedule = \"milestones\" belong together: set both, or neither");
}

Schedule::Schedule(const ScheduleOptions& options, double learning_rate)
    : options_(options), learning_rate_(learning_rate) {
  check_options(options);
  check_input(std::isfinite(learning_rate) && learning_rate >= 0,
              "a learning rate of {}: give a finite number, 0 or more", learning_rate);
}

double Schedule::rate(int64_t epoch) const {
  check(epoch >= 1, "[schedule] epochs are counted from 1, got {}", epoch);
  int64_t decays = 0;
  switch (options_.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::step:
      decays = (epoch - 1) / options_.decay_every;
      break;
    case ScheduleKind::decay_after:
      decays = std::max<int64_t>(0, epoch - options_.decay_after);
      break;
    case ScheduleKind::milestones:
      decays = std::ranges::count_if(options_.decay_at, [&](int64_t over) { return over < epoch; });
      break;
    case ScheduleKind::plateau:
      decays = decays_;
      break;
  }
  return learning_rate_ * std::pow(options_.decay, static_cast<double>(decays));
}

void Schedule::evaluated(double validation_loss) {
  if (options_.kind != ScheduleKind::plateau || best_.take(validation_loss)) return;
  if (best_.evaluations_since > options_.patience) {
    ++decays_;
    best_.evaluations_since = 0;
  }
}

void Schedule::save(StateWriter& to) const {
  best_.save(to, "schedule");
  to.add("schedule.decays", decays_);
}

void Schedule::load(const StateReader& from) {
  best_.load(from, "schedule");
  from.read("schedule.decays", decays_);
}

}  // namespace rondo
