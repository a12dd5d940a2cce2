// Sums over the GPUs of several processes, by NCCL. It uses no type of NCCL, so that g++ can compile what
// includes it. Next: cuda/all_reduce.cu; lm/program/compute.cpp, which uses it.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace rondo::cuda {

/// Why this program cannot add up numbers of several GPUs, in one line; empty if it can.
std::string why_no_all_reduce();

/// NCCL's identifier of processes that add up together: one of them makes it, and all are given it.
using UniqueId = std::array<std::byte, 128>;
UniqueId make_unique_id();

class AllReduce {
 public:
  /// For process `own` (from 0) of `count`, one GPU each (use_gpu() of cuda/runtime.h). Waits
  /// for the others. Throws Error with NCCL's message, as all functions here do.
  AllReduce(const UniqueId& id, int count, int own);
  ~AllReduce();
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;

  /// Replaces numbers in the GPU's memory by their sums over all processes, which get the same bits. It is
  /// queued behind all work so far, on a stream of its own: work that is queued later runs at the same time,
  /// until end(). All processes begin the same sums in the same order. Not for a Graph: NCCL needs that all
  /// processes record a sum or none does, and they may begin to replay their graphs at different steps.
  void begin(float* numbers, std::size_t count) const;
  void begin(double* numbers, std::size_t count) const;
  /// All work that is queued later runs behind the sums that were begun.
  void end() const;

 private:
  void *communicator_, *stream_;
  void *numbers_are_ready_, *sums_are_ready_;  // events
};

}  // namespace rondo::cuda
