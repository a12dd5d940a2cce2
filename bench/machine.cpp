// The machine, according to Linux's /proc.
#include "bench/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "tensor/threads.h"

namespace rondo {
namespace {

/// The value of `key` in the lines "KEY : VALUE" of a file; empty if there is none.
std::string line_of(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

double ticks_per_second() { return static_cast<double>(sysconf(_SC_CLK_TCK)); }

}  // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string cpu_model() {
  const std::string name = line_of("/proc/cpuinfo", "model name");
  return name.empty() ? "CPU of unknown model" : name;
}

double measured_peak(const TileKernels& kernels, int threads) {
  constexpr int64_t rounds = 2'000'000;
  const int64_t operations = 2 * rounds * kernels.rows * kernels.width * kernels.terms_of_word();
  const std::vector<real> zeros(static_cast<size_t>(kernels.width));
  volatile real result = 0;
  double best = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::vector<real> any(static_cast<size_t>(threads));
    const double start = now();
    parallel_for(threads, true, [&](int64_t i) {
      any[static_cast<size_t>(i)] = kernels.multiply_in_registers(rounds, zeros.data(), zeros.data());
    });
    best = std::max(best, threads * static_cast<double>(operations) / (now() - start) / 1e9);
    result = any[0];
  }
  (void)result;
  return best;
}

double machine_cpu_seconds() {
  std::ifstream in("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, stolen = 0;
  in >> cpu >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> stolen;
  return (user + nice + system + irq + softirq + stolen) / ticks_per_second();
}

double cpu_seconds(int pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid > 0 ? std::to_string(pid) : "self"));
  std::string line;
  std::getline(in, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / ticks_per_second();
}

double peak_resident_bytes(int pid) {
  double kilobytes = 0;
  std::istringstream(line_of(fmt::format("/proc/{}/status", pid), "VmHWM")) >> kilobytes;
  return 1024 * kilobytes;
}

bool wait_for_idle_machine() {
  constexpr double look = 0.4, silent = 5;
  static double at_most = 60;
  bool said = false;
  const auto used_by_others = [] { return machine_cpu_seconds() - cpu_seconds(); };
  for (const double begin = now();;) {
    const double used = used_by_others(), start = now();
    std::this_thread::sleep_for(std::chrono::duration<double>(look));
    if ((used_by_others() - used) / (now() - start) < busy_share) return true;
    if (now() - begin > at_most) {
      at_most = look;  // it will not become idle later
      return false;
    }
    if (now() - begin > silent && !said) {
      fmt::print(stderr, "waiting, for {:.0f} s at most, until no other process uses this machine\n",
                 at_most);
      said = true;
    }
  }
}

}  // namespace rondo
