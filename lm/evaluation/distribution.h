// The distribution of numbers that come one by one, as a histogram whose range grows with them. Used by
// lm/evaluation/recurrent_probe.h.
#pragma once

#include <cstdint>
#include <vector>

namespace rondo {

class Distribution {
 public:
  static constexpr int64_t bins = 40;

  /// Bins of equal width over [0, 1], for gates, or else over [-1, 1]; the latter range is doubled until it
  /// contains every number.
  explicit Distribution(bool of_gates = false) : of_gates_(of_gates), counts_(bins, 0) {}

  /// One that was described by what the functions below return. Throws Error if that is impossible.
  Distribution(double from, double to, const std::vector<int64_t>& counts, double mean, double low,
               double high);

  /// Throws Error for what is not finite.
  void add(double value);

  /// The ends of the histogram, and the numbers in each bin, which contains its lower end; the last one also
  /// the upper end.
  double from() const { return of_gates_ ? 0 : -to_; }
  double to() const { return to_; }
  const std::vector<int64_t>& counts() const { return counts_; }

  int64_t count() const { return count_; }
  double mean() const { return sum_ / static_cast<double>(count_); }
  /// The share that is saturated: of gates nearly closed, below 0.1, and nearly open, above 0.9; of
  /// activations below -0.9 and above 0.9.
  double low() const { return static_cast<double>(low_) / static_cast<double>(count_); }
  double high() const { return static_cast<double>(high_) / static_cast<double>(count_); }

 private:
  bool of_gates_;
  std::vector<int64_t> counts_;
  double to_ = 1, sum_ = 0;
  int64_t count_ = 0, low_ = 0, high_ = 0;
};

}  // namespace rondo
