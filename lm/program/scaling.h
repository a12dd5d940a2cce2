// How long a training step with several ranks would take: `lm info --ranks`. Nothing is run; it is an
// estimate from the time of one process's step and from what it costs to sum n bytes of gradients over N
// ranks in a ring: N - 1 times each rank passes a part of n / N bytes on to be added, N - 1 times to be
// copied. A message of m bytes takes alpha + m / beta, so that
//
//   t_sum  = 2 (N - 1) alpha + 2 (N - 1) / N  n / beta
//   t_step = t_one + t_sum
//   efficiency = t_one / t_step,   speed-up = N efficiency
//
// Thakur, Rabenseifner & Gropp 2005, "Optimization of Collective Communication Operations in MPICH", has the
// terms of both halves (reduce-scatter and allgather); Patarasuk & Yuan 2009, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", shows that no sum moves fewer bytes. t_one is the time of a step
// of one process that computes the share of one rank. The additions are not counted, and nothing overlaps,
// which is so on CPUs; on GPUs a part of the sum does (lm/training/gradient_sum.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rondo {

struct Network {
  double bandwidth = 1.25e9;  // beta: bytes per second, in each direction; the default is 10-gigabit Ethernet
  double latency = 50e-6;     // alpha: seconds
};

struct ProjectedStep {
  std::int64_t ranks;
  double sum, step;   // seconds: t_sum and t_step
  double efficiency;  // 1: nothing is lost
  double speedup() const { return static_cast<double>(ranks) * efficiency; }
};

/// Of `ranks`, 1 or more, that sum `bytes`; `one` is t_one in seconds.
ProjectedStep projected(std::int64_t ranks, std::int64_t bytes, double one, const Network& network);

/// As the options of `lm info` give them.
struct ScalingOptions {
  std::vector<std::int64_t> ranks;               // none: the command is not about ranks
  double gigabytes = Network{}.bandwidth / 1e9;  // per second
  double microseconds = Network{}.latency * 1e6;
  std::optional<double> step_time;  // in seconds
};

/// What is projected.
struct Scaled {
  std::string name;
  std::int64_t parameters, bytes;  // bytes of the gradients that each rank has
  double one;                      // seconds of a step
  bool is_measured;                // by a run, not given
};

/// Prints a line for each number of ranks on stdout.
void print_scaling(const Scaled& of, const ScalingOptions& options, bool as_json, bool as_markdown);

}  // namespace rondo
