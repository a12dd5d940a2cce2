// Clocks, the machine's peak, and the printer of tables.
#include "bench/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "tensor/threads.h"

namespace rondo {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string cpu_model() {
  const std::string key = "model name";
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (const size_t colon = line.find(": "); line.starts_with(key) && colon != std::string::npos)
      return line.substr(colon + 2);
  return "CPU of unknown model";
}

double measured_peak(const TileKernels& kernels, int threads) {
  constexpr int64_t rounds = 2'000'000;
  const int64_t operations = 2 * rounds * kernels.rows * kernels.width * kernels.terms_of_word();
  const std::vector<real> zeros(static_cast<size_t>(kernels.width));
  volatile real result = 0;
  double best = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::vector<real> any(static_cast<size_t>(threads));
    const auto start = Clock::now();
    parallel_for(threads, true, [&](int64_t i) {
      any[static_cast<size_t>(i)] = kernels.multiply_in_registers(rounds, zeros.data(), zeros.data());
    });
    best = std::max(best, threads * static_cast<double>(operations) / seconds_since(start) / 1e9);
    result = any[0];
  }
  (void)result;
  return best;
}

Table::Table(const std::vector<std::string>& heads, size_t first) {
  constexpr size_t least = 8;
  for (const std::string& head : heads) widths_.push_back(std::max(least, head.size()));
  widths_.front() = first;
  add(heads);
}

void Table::add(const std::vector<std::string>& row) const {
  fmt::print("  {:<{}}", row.front(), widths_.front());
  for (size_t i = 1; i + 1 < row.size(); ++i) fmt::print("  {:>{}}", row[i], widths_[i]);
  fmt::print("  {}\n", row.back());
  std::fflush(stdout);
}

std::string digits(double value, int after_the_point) {
  return fmt::format("{:.{}f}", value, after_the_point);
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(a[i] / b[i]);
  return result;
}

std::string times_of_rounds(const std::vector<double>& all) {
  return fmt::format("{:.2f}x ({:.2f})", median(all), fmt::join(all, " "));
}

}  // namespace rondo
