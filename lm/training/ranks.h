// The processes that train one model together (data parallelism). Each computes the gradients of its share of
// every batch; all of them apply the sum, so that their weights stay the same, bit for bit. Rank 0 leads, the
// others repeat the calls of its trainer. How they communicate: lm/program/compute.h. Next:
// lm/training/trainer.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/module.h"

namespace rondo {

/// All ranks must call the same functions in the same order.
class Ranks {
 public:
  virtual ~Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  int64_t count() const { return count_; }
  int64_t own() const { return own_; }  // from 0
  bool leads() const { return own_ == 0; }

  /// Replaces numbers by their sums over all ranks, which get the same bits. Each passes as many numbers.
  virtual void add_up(std::span<float> numbers) = 0;
  virtual void add_up(std::span<double> numbers) = 0;
  /// The same for a tensor that is no view of columns, on its device: on a GPU after use_gpus(), and without
  /// waiting.
  void add_up_tensor(const Tensor& tensor) {
    begin_add_up(tensor);
    end_add_up(tensor.device());
  }
  /// The same in two steps: on a GPU, work that is queued between them runs at the same time. Any number of
  /// sums can begin before the end; all ranks begin the same ones in the same order.
  void begin_add_up(const Tensor& tensor) {
    // With the pads between rows, which are zero on all ranks, or on none.
    const auto count =
        static_cast<size_t>(tensor.contiguous() ? tensor.size() : tensor.rows() * tensor.row_stride());
    real* const numbers = tensor.mutable_data();
    if (tensor.device() == Device::cpu)
      add_up(std::span(numbers, count));
    else
      begin_on_gpu(numbers, count);
  }
  void end_add_up(Device device) {
    if (device == Device::cuda) end_on_gpu();
  }
  /// Lets them add up tensors of GPUs, of which each rank has its own. If it throws on one rank, the others
  /// may wait for it for ever. InputError unless these ranks can.
  virtual void use_gpus() { refuse_gpus(); }
  /// Copies the bytes of rank 0 to all others. Each passes as many bytes.
  virtual void send(std::span<std::byte> bytes) = 0;

 protected:
  Ranks(int64_t count, int64_t own) : count_(count), own_(own) {}
  virtual void begin_on_gpu(real* /*numbers*/, size_t /*count*/) { refuse_gpus(); }
  virtual void end_on_gpu() { refuse_gpus(); }

 private:
  [[noreturn]] static void refuse_gpus() {
    throw InputError("these ranks add up on CPUs only; use --device cpu");
  }

  int64_t count_, own_;
};

/// The sum of a model's gradients over ranks of GPUs, in a few pieces: a piece is added up while backward
/// still computes gradients of others. Backward comes to the layers of a model in the opposite order of their
/// place in the buffer, so the pieces begin at its end. Li et al. 2020, "PyTorch Distributed: Experiences on
/// Accelerating Data Parallel Training", call pieces buckets. Used by lm/training/trainer.cpp.
class GradientSum {
 public:
  /// Pieces of whole parameters, with `least` elements or more, except perhaps the last one to begin. They
  /// depend on the model alone, and so are the same on all ranks. The model and the ranks outlive this.
  GradientSum(const Module& model, Ranks& ranks, int64_t least);
  /// There are at most four pieces: each costs a message's latency 2 (N - 1) times (docs/scale.md). None has
  /// fewer than 4 million numbers: the sum of a small model is short.
  GradientSum(const Module& model, Ranks& ranks);

  /// Called before backward: no gradient is complete.
  void begin();
  /// Called by backward, once with the gradient of each parameter, which is complete: begins the sums
  /// of complete pieces, each after those behind it in the buffer.
  void completed(const Tensor& gradient);
  /// Called when all gradients are complete: begins the sums of the other pieces. What is queued later finds
  /// the sums.
  void finish();

 private:
  struct Piece {
    int64_t begin, end;   // in elements
    int64_t parameters;   // that lie in it
    int64_t missing = 0;  // those that are not complete
  };
  void begin_next_piece();

  Tensor gradients_;
  Ranks& ranks_;
  std::vector<Piece> pieces_;  // the last in the buffer first
  size_t begun_ = 0;           // pieces whose sums have begun
};

}  // namespace rondo
