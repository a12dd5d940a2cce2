// `new` and `delete` that count. Those of the address sanitizer stay, since it sees by them what is freed in
// another way than it was allocated; it calls hooks that count.
#include "tests/fuzz/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "tests/address_sanitizer.h"

namespace {

thread_local ptrdiff_t held = 0, max_held = 0;

void add(std::size_t bytes) {
  held += static_cast<ptrdiff_t>(bytes);
  max_held = std::max(max_held, held);
}
void remove(std::size_t bytes) { held -= static_cast<ptrdiff_t>(bytes); }

}  // namespace

#ifdef RONDO_ADDRESS_SANITIZER
// As sanitizer/allocator_interface.h declares them, which not every g++ brings.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);

namespace {
[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t bytes) { add(bytes); },
    [](const volatile void* block) { remove(__sanitizer_get_allocated_size(block)); });
}  // namespace
#else
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  void* block = std::malloc(std::max<std::size_t>(bytes, 1));
  add(malloc_usable_size(block));  // 0 of a null pointer
  return block;
}
void* operator new(std::size_t bytes) {
  void* block = operator new(bytes, std::nothrow);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  remove(malloc_usable_size(block));
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
#endif

namespace rondo::fuzz {

Allocations::Allocations() : before_(held) { max_held = held; }
size_t Allocations::peak() const { return static_cast<size_t>(max_held - before_); }

}  // namespace rondo::fuzz
