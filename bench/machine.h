// The machine of the benchmark: what it is, its peak speed, and whether other processes use it.
#pragma once

#include <string>
#include <vector>

#include "tensor/products/tile_kernels.h"

namespace rondo {

/// Seconds of a monotonic clock.
double now();
double median(std::vector<double> values);

/// The name in /proc/cpuinfo.
std::string cpu_model();

/// What the instructions of these kernels reach with all operands in registers, by `threads` threads at once:
/// GFLOP/s.
double measured_peak(const TileKernels& kernels, int threads);

/// CPU seconds used since the start: by all processes of the machine, and by process `pid` (0: this one).
double machine_cpu_seconds();
double cpu_seconds(int pid = 0);
/// Peak resident memory of process `pid`, in bytes (VmHWM, which unlike ru_maxrss does not start with the
/// parent's).
double peak_resident_bytes(int pid);

/// Waits, at most a minute, until other processes use less than `busy_share` of one CPU; returns whether they
/// do.
bool wait_for_idle_machine();
constexpr double busy_share = 0.06;

}  // namespace rondo
