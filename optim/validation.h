// What validation losses decide: the learning rate of each epoch, which model is the best, when to stop, and
// when to start averaging. The training loop asks. Next: optim/averaging.h.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "tensor/error.h"
#include "tensor/keys.h"
#include "tensor/state.h"

namespace rondo {

/// The lowest loss so far, and how many evaluations ago: by the latter the trainer stops early, after N
/// evaluations in a row without a new lowest loss (Prechelt 1998, criterion UP without its strips). Plain
/// numbers, to be saved and restored.
struct BestLoss {
  double loss = std::numeric_limits<double>::max();  // finite, so that every format can hold it
  int64_t evaluations_since = 0;

  /// Takes the next loss; returns whether it is lower than all before. NaN never is.
  bool take(double next) {
    const bool better = next < loss;
    if (better) loss = next;
    evaluations_since = better ? 0 : evaluations_since + 1;
    return better;
  }
  bool is_known() const { return loss < BestLoss().loss; }

  void save(StateWriter& to, const std::string& name) const {
    to.add(name + ".best", loss);
    to.add(name + ".evaluations_since", evaluations_since);
  }
  void load(const StateReader& from, const std::string& name) {
    from.read(name + ".best", loss);
    from.read(name + ".evaluations_since", evaluations_since);
  }
};

enum class ScheduleKind { constant, step, decay_after, milestones, plateau };
inline std::vector<std::string> names_of(ScheduleKind) {
  return {"constant", "step", "decay_after", "milestones", "plateau"};
}

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::constant;
  double decay = 0.5;               // factor of the rate, [0, 1]
  int64_t decay_every = 1;          // step: epochs between decays
  int64_t decay_after = 0;          // decay_after: epochs before the first decay
  std::vector<int64_t> decay_at{};  // milestones: the epochs after which it decays
  int64_t patience = 0;             // plateau: evaluations without improvement that are tolerated
};
Keys keys_of(ScheduleOptions& options);
/// Throws InputError for settings out of range, and milestones without epochs or epochs without milestones.
void check_options(const ScheduleOptions& options);

/// constant     rate(e) = rate
/// step         rate(e) = rate * decay^floor((e - 1) / decay_every)         PyTorch's StepLR
/// decay_after  rate(e) = rate * decay^max(0, e - decay_after)              Zaremba et al. 2014, section 4.1
/// milestones   rate(e) = rate * decay^(how many of decay_at are below e)   PyTorch's MultiStepLR
/// plateau      rate(e) = rate * decay^n      PyTorch's ReduceLROnPlateau, threshold 0: n grows by one, and
///              the count starts again, when more than `patience` evaluations in a row had no new lowest loss
class Schedule {
 public:
  /// InputErrors of check_options(), and for a rate that is negative or not finite.
  Schedule(const ScheduleOptions& options, double learning_rate);

  /// The rate in an epoch, from 1 on. Throws Error for an epoch before the first.
  double rate(int64_t epoch) const;
  /// Takes the loss of an evaluation, which only a plateau uses.
  void evaluated(double validation_loss);

  void save(StateWriter& to) const;
  void load(const StateReader& from);

 private:
  ScheduleOptions options_;
  double learning_rate_;
  BestLoss best_;
  int64_t decays_ = 0;
};

/// The non-monotonic criterion of Merity et al. 2018, algorithm 1: the validation loss has stopped falling,
/// by a test that noise does not trigger. The caller then starts to average (NT-ASGD) or stops. It fires when
/// more than n losses are known and the next is above the lowest of all but the last n. (This is the authors'
/// code; according to them, the index in the printed algorithm is a misprint.)
class NonMonotonicTrigger {
 public:
  /// Throws InputError unless n is 1 or more.
  explicit NonMonotonicTrigger(int64_t n) : n_(n) {
    check_input(n >= 1, "a non-monotonic trigger over {} evaluations: give 1 or more", n);
  }

  /// Takes the loss of an evaluation; returns whether it fires now. NaN never does.
  bool take(double loss) {
    const bool fires = loss > lowest_;
    fired_ |= fires;
    last_.push_back(loss);
    while (static_cast<int64_t>(last_.size()) > n_) {
      lowest_ = std::min(lowest_, last_.front());
      last_.pop_front();
    }
    return fires;
  }
  /// Whether it has ever fired.
  bool fired() const { return fired_; }

  void save(StateWriter& to) const {
    to.add("trigger.fired", int64_t{fired_});
    to.add("trigger.lowest", lowest_);
    to.add("trigger.last", static_cast<int64_t>(last_.size()));
    for (size_t i = 0; i < last_.size(); ++i) to.add(fmt::format("trigger.last.{}", i), last_[i]);
  }
  void load(const StateReader& from) {
    int64_t fired = 0, count = 0;
    from.read("trigger.fired", fired, 0, 1);
    from.read("trigger.lowest", lowest_);
    from.read("trigger.last", count);
    last_.clear();
    for (int64_t i = 0; i < count; ++i) from.read(fmt::format("trigger.last.{}", i), last_.emplace_back());
    fired_ = fired == 1;
  }

 private:
  int64_t n_;
  double lowest_ = std::numeric_limits<double>::max();  // of all but the last n; finite, as in BestLoss
  std::deque<double> last_{};                           // at most n losses, the newest at the end
  bool fired_ = false;
};

}  // namespace rondo
