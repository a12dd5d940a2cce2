// The formulas of the schedules.
#include "optim/schedule.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tensor/error.h"

namespace rondo {

std::vector<std::string> schedule_names() {
  return {"constant", "step", "decay_after", "milestones", "plateau"};  // in the order of Schedule::Kind
}

Schedule::Kind Schedule::kind_of(const std::string& name) {
  const std::vector<std::string> names = schedule_names();
  const auto found = std::find(names.begin(), names.end(), name);
  check_input(found != names.end(), "unknown schedule '{}': choose one of {}", name, fmt::join(names, ", "));
  return static_cast<Kind>(found - names.begin());
}

Schedule::Schedule(const ScheduleOptions& options, double learning_rate)
    : options_(options), kind_(kind_of(options.name)), learning_rate_(learning_rate) {
  check_input(std::isfinite(learning_rate) && learning_rate >= 0,
              "a learning rate of {} is none: give a finite number from 0 on", learning_rate);
  check_input(options.decay >= 0 && options.decay <= 1,
              "decay = {} of schedule '{}' must lie between 0 and 1", options.decay, options.name);
  check_input(options.decay_every >= 1, "decay_every = {} of schedule '{}' must be at least 1 epoch",
              options.decay_every, options.name);
  check_input(options.decay_after >= 0, "decay_after = {} of schedule '{}' must not be negative",
              options.decay_after, options.name);
  for (const int64_t epoch : options.decay_at)
    check_input(epoch >= 1, "decay_at = {} of schedule '{}' must be an epoch, 1 or more", epoch,
                options.name);
  check_input(options.patience >= 0, "patience = {} of schedule '{}' must not be negative", options.patience,
              options.name);
}

double Schedule::rate(int64_t epoch) const {
  check(epoch >= 1, "[schedule] epochs are counted from 1, got {}", epoch);
  int64_t decays = 0;
  switch (kind_) {
    case Kind::constant:
      break;
    case Kind::step:
      decays = (epoch - 1) / options_.decay_every;
      break;
    case Kind::decay_after:
      decays = std::max<int64_t>(0, epoch - options_.decay_after);
      break;
    case Kind::milestones:
      decays = std::count_if(options_.decay_at.begin(), options_.decay_at.end(),
                             [&](int64_t over) { return over < epoch; });
      break;
    case Kind::plateau:
      decays = decays_;
      break;
  }
  return learning_rate_ * std::pow(options_.decay, static_cast<double>(decays));
}

void Schedule::evaluated(double validation_loss) {
  if (kind_ != Kind::plateau || best_.take(validation_loss)) return;
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
