// Row numbers and token ids: on the host, where they are checked, and on each device whose kernels have asked
// for them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tensor/backend.h"

namespace rondo {

class Indices {
 public:
  Indices() = default;
  Indices(std::vector<int32_t> values) : values_(std::move(values)) {}  // not explicit: these are the values
  Indices(std::initializer_list<int32_t> values) : values_(values) {}

  /// On the host.
  const std::vector<int32_t>& values() const { return values_; }
  std::size_t size() const { return values_.size(); }
  int32_t operator[](std::size_t i) const { return values_[i]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// For a kernel of that device; copied there by the first call.
  const int32_t* on(Device device) const;

 private:
  std::vector<int32_t> values_;
  mutable std::shared_ptr<int32_t> on_gpu_;
};

}  // namespace rondo
