// The tables of the benchmark share these clocks, the machine's peak, and the one printer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tensor/products/tile_kernels.h"
#include "tensor/profile.h"

namespace rondo {

double median(std::vector<double> values);

/// The time of a call, of as many as need at least `seconds`.
template <class Work>
double seconds_a_call(const Work& work, double seconds) {
  int64_t calls = 0;
  double needed = 0;
  for (const auto start = Clock::now(); needed < seconds; needed = seconds_since(start), ++calls) work();
  return needed / static_cast<double>(calls);
}

/// The name in /proc/cpuinfo.
std::string cpu_model();

/// What the instructions of these kernels reach with all operands in registers, by `threads` threads at once:
/// GFLOP/s.
double measured_peak(const TileKernels& kernels, int threads);

/// A table that is printed row by row, as it is measured: the first column to the left, the others to the
/// right below their heads, but for the last one, which may be of any length.
class Table {
 public:
  /// Prints the heads; `first` is the width of the first column.
  Table(const std::vector<std::string>& heads, size_t first);
  void add(const std::vector<std::string>& row) const;

 private:
  std::vector<size_t> widths_;
};

/// A number with so many digits after the point.
std::string digits(double value, int after_the_point = 0);
/// a / b, round by round.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);
/// The median of ratios and each of them: "1.23x (1.20 1.25 1.23)".
std::string times_of_rounds(const std::vector<double>& ratios);

}  // namespace rondo
