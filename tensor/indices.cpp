// Indices on their devices: see indices.h.
#include "tensor/indices.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "cuda/runtime.h"
#include "tensor/allocator.h"
#include "tensor/error.h"

namespace rondo {

namespace {
/// order = the positions 0, 1, ... of values in ascending order of values, equal ones in order of position.
/// A radix sort by digits of 11 bits: a comparing sort of a batch's tokens costs the host a millisecond a
/// step.
void sort_positions(const std::vector<int32_t>& values, std::span<int32_t> order) {
  constexpr uint32_t digit = 1 << 11;
  const auto key = [&](int32_t i) { return static_cast<uint32_t>(values[i]) ^ 0x80000000u; };  // -1 before 0
  std::iota(order.begin(), order.end(), 0);
  std::vector<int32_t> before(order.size());
  for (int shift = 0; shift < 32; shift += 11) {
    const auto digit_of = [&](int32_t i) { return key(i) >> shift & (digit - 1); };
    std::array<int32_t, digit + 1> begins{};
    for (const int32_t i : order) ++begins[digit_of(i) + 1];
    if (std::ranges::find(begins, std::ssize(order)) != begins.end()) continue;  // all the same
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::ranges::copy(order, before.begin());
    for (const int32_t i : before) order[static_cast<size_t>(begins[digit_of(i)]++)] = i;
  }
}
}  // namespace

void Indices::to_device_layout(const std::vector<int32_t>& values, int32_t* to) {
  const auto count = static_cast<int32_t>(values.size());
  int32_t *order = std::ranges::copy(values, to).out, *starts = order + count;
  sort_positions(values, {order, starts});
  int32_t segment = 0;
  for (int32_t i = 0; i < count; ++i)
    if (i == 0 || values[order[i]] != values[order[i - 1]]) starts[segment++] = i;
  std::fill(starts + segment, starts + count + 1, count);
}

namespace {
std::shared_ptr<int32_t> copy_on(Device gpu, const std::vector<int32_t>& numbers) {
  const std::size_t bytes = numbers.size() * sizeof(int32_t);
  std::shared_ptr<int32_t> copy(static_cast<int32_t*>(allocate(gpu, bytes)),
                                [gpu, bytes](int32_t* block) { release(gpu, block, bytes); });
  if (has_memory(gpu)) cuda::upload(copy.get(), numbers.data(), bytes);
  return copy;
}
}  // namespace

void check_indices(const char* name, const char* what, const Indices& indices, int64_t least, int64_t end) {
  for (size_t i = 0; i < indices.size(); ++i)
    check(least <= indices[i] && indices[i] < end, "[{}] {} {} at {} is not in [{}, {})", name, what,
          indices[i], i, least, end);
}

const Indices& Tokens::throw_none() {
  throw Error("[tokens] there are none: give ids, as by tokens({3, 1})");
}

const int32_t* Indices::on(Device device) const {
  if (!is_gpu(device)) return values_.data();
  if (placed_) return placed_;
  if (!on_gpu_) on_gpu_ = copy_on(device, values_);
  return on_gpu_.get();
}

SortedRows Indices::sorted_on(Device gpu) const {
  if (placed_) return sorted(placed_, size());
  if (!sorted_on_gpu_) {
    std::vector<int32_t> layout(layout_size(size()));
    to_device_layout(values_, layout.data());
    sorted_on_gpu_ = copy_on(gpu, layout);
  }
  return sorted(sorted_on_gpu_.get(), size());
}

}  // namespace rondo
