// `new` and `delete` that count.
#include "tests/fuzz/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {
thread_local ptrdiff_t held = 0, most_held = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  void* block = std::malloc(std::max<std::size_t>(bytes, 1));
  if (block == nullptr) throw std::bad_alloc();
  held += static_cast<ptrdiff_t>(malloc_usable_size(block));
  most_held = std::max(most_held, held);
  return block;
}
void operator delete(void* block) noexcept {
  held -= static_cast<ptrdiff_t>(malloc_usable_size(block));  // 0 of a null pointer
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

namespace rondo::fuzz {

Allocations::Allocations() : before_(held) { most_held = held; }
size_t Allocations::peak() const { return static_cast<size_t>(most_held - before_); }

}  // namespace rondo::fuzz
