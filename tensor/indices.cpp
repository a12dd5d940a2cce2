// Indices on their devices: see indices.h.
#include "tensor/indices.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "cuda/runtime.h"
#include "tensor/allocator.h"

namespace rondo {

namespace {
/// order = the positions 0, 1, ... of values in ascending order of values, equal ones in order of position.
/// By digits of 11 bits, because a comparing sort of a batch's tokens costs the host a millisecond a step.
void sort_positions(const std::vector<int32_t>& values, std::span<int32_t> order) {
  constexpr uint32_t digit = 1 << 11;
  const auto key = [&](int32_t i) { return static_cast<uint32_t>(values[i]) ^ 0x80000000u; };  // -1 before 0
  std::iota(order.begin(), order.end(), 0);
  std::vector<int32_t> before(order.size());
  for (int shift = 0; shift < 32; shift += 11) {
    const auto digit_of = [&](int32_t i) { return key(i) >> shift & (digit - 1); };
    std::array<int32_t, digit + 1> begins{};
    for (const int32_t i : order) ++begins[digit_of(i) + 1];
    if (std::find(begins.begin(), begins.end(), std::ssize(order)) != begins.end()) continue;  // all the same
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::copy(order.begin(), order.end(), before.begin());
    for (const int32_t i : before) order[static_cast<size_t>(begins[digit_of(i)]++)] = i;
  }
}
}  // namespace

void Indices::to_device_layout(const std::vector<int32_t>& values, int32_t* to) {
  const auto count = static_cast<int32_t>(values.size());
  int32_t *order = std::copy(values.begin(), values.end(), to), *starts = order + count;
  sort_positions(values, {order, starts});
  int32_t segment = 0;
  for (int32_t i = 0; i < count; ++i)
    if (i == 0 || values[order[i]] != values[order[i - 1]]) starts[segment++] = i;
  std::fill(starts + segment, starts + count + 1, count);
}

const int32_t* Indices::layout(Device device) const {
  if (device == Device::cuda && placed_) return placed_;
  if (device == Device::cuda && on_gpu_) return on_gpu_.get();
  if (on_cpu_.empty()) {
    on_cpu_.resize(layout_size(size()));
    to_device_layout(values_, on_cpu_.data());
  }
  if (device == Device::cpu) return on_cpu_.data();
  const std::size_t bytes = on_cpu_.size() * sizeof(int32_t);
  on_gpu_ = {static_cast<int32_t*>(allocate(device, bytes)),
             [device, bytes](int32_t* block) { release(device, block, bytes); }};
  cuda::upload(on_gpu_.get(), on_cpu_.data(), bytes);
  return on_gpu_.get();
}

const int32_t* Indices::on(Device device) const {
  return device == Device::cpu ? values_.data() : layout(device);
}

SortedRows Indices::sorted(Device device) const {
  const int32_t* rows = layout(device);
  return {rows, rows + size(), rows + 2 * size()};
}

}  // namespace rondo
