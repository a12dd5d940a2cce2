// The machine under the benchmark: what it is, what it could do at most, and whether it is ours alone.
#pragma once

#include <string>
#include <vector>

namespace rondo {

/// Seconds of a clock that only runs forward.
double now();
double median(std::vector<double> values);

/// As /proc/cpuinfo names it.
std::string cpu_model();

/// Fused multiply-adds of float in registers, by all threads at once or by one: GFLOP/s.
double measured_peak(int threads);

/// CPU seconds used since the start: by all processes of the machine, and by process `pid` (0: this one).
double machine_cpu_seconds();
double cpu_seconds(int pid = 0);
/// The most memory that process `pid` has had resident at once, in bytes (VmHWM, which unlike ru_maxrss does
/// not begin with the parent's).
double peak_resident_bytes(int pid);

/// Waits, at most a minute, until other processes use less than `busy_share` of one CPU. Whether they do.
bool wait_for_idle_machine();
constexpr double busy_share = 0.06;

}  // namespace rondo
