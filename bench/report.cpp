// The results of one recipe's benchmark: see report.h.
#include "bench/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "bench/machine.h"
#include "lm/program/compute.h"
#include "tensor/keys.h"

namespace rondo {
namespace {

/// a / b, round by round.
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(a[i] / b[i]);
  return result;
}

}  // namespace

void Idleness::wait() {
  if (!wait_for_idle_machine()) ++started_busy_;
}

double Idleness::used_by_others(int pid) const {
  return machine_cpu_seconds() - cpu_seconds(pid) - cpu_seconds();
}

void Idleness::begin_turn(int pid) {
  used_ = used_by_others(pid);
  start_ = now();
}

void Idleness::end_turn(int pid) {
  const double share = (used_by_others(pid) - used_) / (now() - start_);
  ++turns_;
  disturbed_ += share > busy_share;
  max_share_ = std::max(max_share_, share);
}

void Idleness::report() const {
  if (started_busy_ + disturbed_ == 0) return;
  fmt::print(
      "  The machine was not idle: {} of {} turns began while others used it, {} were disturbed, at most by "
      "{:.0f}% of a CPU.\n",
      started_busy_, turns_, disturbed_, 100 * max_share_);
}

void report_speeds(const std::vector<std::unique_ptr<Contestant>>& all) {
  const Contestant& lm = *all.front();
  const auto parameters = lm.introduction.at("parameters").get<int64_t>();
  fmt::print("  {:<42} {:>9}  {:>7}  lm to it in its precision: median, memory, round by round\n",
             fmt::format("{:.2f}M parameters", 1e-6 * static_cast<double>(parameters)), "symbols/s",
             "peak MB");
  for (const auto& it : all) {
    fmt::print("  {:<42} {:>9.0f}  {:>7.0f}", it->name, median(it->rates), it->peak_bytes / 1e6);
    if (it == all.front()) {
      fmt::print("  {:.0f} symbols/s round by round\n", fmt::join(it->rates, " "));
      continue;
    }
    if (it->is_lm) {
      const std::vector<double> faster = ratios(it->rates, lm.rates);
      fmt::print("  {:.2f}x lm in fp32  {:.2f}\n", median(faster), fmt::join(faster, " "));
      continue;
    }
    const Contestant& same = **std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return other->is_lm && other->precision == it->precision;
    });
    const std::vector<double> faster = ratios(same.rates, it->rates);
    fmt::print("  {:.2f}x  {:.2f}x  {:.2f}\n", median(faster),
               it->peak_bytes > 0 ? same.peak_bytes / it->peak_bytes : 0, fmt::join(faster, " "));
    const auto its_parameters = it->introduction.at("parameters").get<int64_t>();
    if (its_parameters != parameters)
      fmt::print("    not the same model: it has {} parameters, lm {}\n", its_parameters, parameters);
  }
  for (const auto& it : all)
    if (it->system_allocations > 0)
      fmt::print("  {} asked the system for memory {} times after warming up\n", it->name,
                 it->system_allocations);
}

Peer::Json records_of(const std::vector<std::unique_ptr<Contestant>>& all) {
  Peer::Json records;
  for (const auto& it : all) {
    records.push_back({{"name", it->name},
                       {"is_lm", it->is_lm},
                       {"precision", name_of(it->precision)},
                       {"rates", it->rates},
                       {"peak_bytes", it->peak_bytes}});
    if (!it->is_lm) continue;
    records.back()["peaks"] = it->peaks;
    records.back()["operations_a_symbol"] = it->operations_a_symbol;
  }
  return records;
}

void report_profile(Contestant& lm, const Peer::Json& answer) {
  const double seconds = answer.at("seconds"), symbols = answer.at("symbols");
  std::map<std::string, double> share;
  double other = 1;
  for (const auto& entry : answer.at("entries")) {
    const double part = entry.at("seconds").get<double>() / seconds;
    share[entry.at("kind")] += part;
    other -= part;
    lm.operations_a_symbol += entry.at("operations").get<double>() / symbols;
  }
  const double operations = lm.operations_a_symbol;
  const double speed = operations * median(lm.rates) / 1e9;
  std::vector<double> of_peak;
  for (const double ratio : ratios(lm.rates, lm.peaks)) of_peak.push_back(operations * ratio / 1e7);
  fmt::print(
      "  {}'s products: {:.3g} GFLOP a symbol, {:.0f} GFLOP/s of the whole step, {:.0f}% of the peak "
      "({:.0f}%)\n",
      lm.name, operations / 1e9, speed, median(of_peak), fmt::join(of_peak, " "));
  fmt::print("  {}'s time:", lm.name);
  for (const auto& [kind, part] : share) fmt::print(" {} {:.1f}%,", kind, 100 * part);
  fmt::print(" other {:.1f}%\n", 100 * other);
  const auto print = [&](const Peer::Json& entry) {
    const double its_seconds = entry.at("seconds"), its_operations = entry.at("operations");
    fmt::print("    {:<9} {:<28} {:5.1f}%  {:8.1f} us a call", entry.at("kind").get<std::string>(),
               entry.at("name").get<std::string>(), 100 * its_seconds / seconds,
               1e6 * its_seconds / entry.at("calls").get<double>());
    if (its_operations > 0) fmt::print("  {:6.1f} GFLOP/s", its_operations / its_seconds / 1e9);
    fmt::print("\n");
  };
  for (const bool products : {true, false})
    for (const auto& entry : answer.at("entries"))
      if ((entry.at("operations").get<double>() > 0) == products) print(entry);
}

}  // namespace rondo
