// The non-monotonic criterion of Merity et al. 2018, algorithm 1: validation has stopped falling, by a test
// that noise does not set off. It deliberately does nothing about it: who asks starts to average (NT-ASGD) or
// stops. Next: optim/averaging.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>

#include "tensor/error.h"

namespace rondo {

/// Fires when more than n losses are known and the next is above the lowest of all but the last n. (The code
/// of the paper's authors; the index in its printed algorithm is a misprint, they say.)
class NonMonotonicTrigger {
 public:
  /// All that changes, to be saved and put back.
  struct State {
    double lowest = std::numeric_limits<double>::max();  // of all but the last n: finite, as BestLoss
    std::deque<double> last{};                           // at most n losses, the newest at the end
    bool fired = false;
  };

  /// Throws InputError unless n is 1 or more.
  explicit NonMonotonicTrigger(int64_t n) : n_(n) {
    check_input(n >= 1, "a non-monotonic trigger over {} evaluations: give 1 or more", n);
  }

  /// Takes the loss of an evaluation; whether it fires now. NaN never does.
  bool take(double loss) {
    const bool fires = loss > state_.lowest;
    state_.fired |= fires;
    state_.last.push_back(loss);
    while (static_cast<int64_t>(state_.last.size()) > n_) {
      state_.lowest = std::min(state_.lowest, state_.last.front());
      state_.last.pop_front();
    }
    return fires;
  }
  /// Whether it ever has.
  bool fired() const { return state_.fired; }

  const State& state() const { return state_; }
  void restore(State state) { state_ = std::move(state); }

 private:
  int64_t n_;
  State state_;
};

}  // namespace rondo
