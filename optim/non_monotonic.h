// The non-monotonic criterion of Merity et al. 2018, algorithm 1: the validation loss has stopped
// falling, by a test that noise does not trigger. The caller then starts to average (NT-ASGD) or stops. Next:
// optim/averaging.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>

#include "tensor/state.h"

namespace rondo {

/// Fires when more than n losses are known and the next is above the lowest of all but the last n. (This is
/// the authors' code; according to them, the index in the printed algorithm is a misprint.)
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
