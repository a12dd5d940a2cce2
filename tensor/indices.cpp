// Indices on their devices: see indices.h.
#include "tensor/indices.h"

#include <algorithm>
#include <numeric>

#include "cuda/runtime.h"
#include "tensor/allocator.h"

namespace rondo {

void Indices::to_device_layout(const std::vector<int32_t>& values, int32_t* to) {
  const auto count = static_cast<int32_t>(values.size());
  int32_t *order = std::copy(values.begin(), values.end(), to), *starts = order + count;
  std::iota(order, starts, 0);
  std::stable_sort(order, starts, [&](int32_t a, int32_t b) { return values[a] < values[b]; });
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
