// Work on the parts of a long text, several at a time, in separate threads; the results come in order.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <utility>

namespace rondo {

template <class Result>
class InOrder {
 public:
  /// At most `threads` computations at once. `use` gets their results, in the order of add(), on the caller's
  /// thread.
  InOrder(int threads, std::function<void(Result)> use) : threads_(threads), use_(std::move(use)) {}

  /// Starts a computation, after the first of those that run has ended if they are `threads`. Throws what a
  /// computation or `use` has thrown.
  void add(std::function<Result()> compute) {
    if (running_.size() == static_cast<std::size_t>(threads_)) use_next();
    running_.push_back(
        std::async(threads_ > 1 ? std::launch::async : std::launch::deferred, std::move(compute)));
  }
  /// Waits for all of them.
  void finish() {
    while (!running_.empty()) use_next();
  }

 private:
  void use_next() {
    std::future<Result> first = std::move(running_.front());
    running_.pop_front();
    use_(first.get());
  }

  int threads_;
  std::function<void(Result)> use_;
  std::deque<std::future<Result>> running_;
};

}  // namespace rondo
