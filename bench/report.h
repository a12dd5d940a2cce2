// The results of one recipe's benchmark, and how they are printed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/peer.h"
#include "tensor/products/precision.h"

namespace rondo {

/// A program that trains the recipe in a precision, and what was measured of it.
struct Contestant {
  Contestant(const std::vector<std::string>& command, const Peer::Environment& environment,
             Precision in = Precision::fp32)
      : process(command, environment), precision(in) {}

  Peer process;
  Precision precision;
  bool is_lm = false;
  Peer::Json introduction;
  std::string name;
  std::vector<double> rates;  // symbols per second, round by round
  std::vector<double> peaks;  // GFLOP/s of the machine in lm's precision, round by round
  double peak_bytes = 0;
  double operations_a_symbol = 0;  // of lm's products
  int64_t system_allocations = 0;
};

/// Whether the machine was otherwise idle, before and during each turn.
class Idleness {
 public:
  void wait();
  void begin_turn(int pid);
  void end_turn(int pid);
  /// Prints a line if it was not.
  void report() const;
  /// Turns before or during which others used the machine.
  int64_t disturbed() const { return started_busy_ + disturbed_; }

 private:
  double used_by_others(int pid) const;
  double start_ = 0, used_ = 0, max_share_ = 0;
  int64_t turns_ = 0, disturbed_ = 0, started_busy_ = 0;
};

/// Prints symbols per second and peak memory of each, the ratio of lm to the others in the same precision,
/// and of lm in bf16 to lm in fp32, the first one.
void report_speeds(const std::vector<std::unique_ptr<Contestant>>& all);

/// What was measured, for the log.
Peer::Json records_of(const std::vector<std::unique_ptr<Contestant>>& all);

/// Prints lm's time by kind of work and by entry, from its answer to "profile", and its GFLOP/s beside those
/// of the machine in each round. Sets operations_a_symbol.
void report_profile(Contestant& lm, const Peer::Json& profile);

}  // namespace rondo
