// Threads of a block, run in turns: those of a warp from one exchange of values to the next, the warps from
// one __syncthreads() to the next.
#include <ucontext.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/address_sanitizer.h"
#include "tests/emulated_gpu/queue.h"

#ifdef RONDO_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace rondo::emulated_gpu {
namespace {

/// Where a stack is left and entered again. By the compiler's jumps: the address sanitizer takes each
/// longjmp() for the end of functions, and clears the whole stack for them, system calls included.
struct Place {
  void* registers[5];
  const void* bottom = nullptr;  // of the stack, for the sanitizer
  std::size_t size = 0;
  void* kept = nullptr;
};

#ifdef RONDO_ADDRESS_SANITIZER
void leave(Place& from, const Place& to) { __sanitizer_start_switch_fiber(&from.kept, to.bottom, to.size); }
void arrive(Place& at, Place* from) {
  __sanitizer_finish_switch_fiber(at.kept, from ? &from->bottom : nullptr, from ? &from->size : nullptr);
}
#else
void leave(Place&, const Place&) {}
void arrive(Place&, Place*) {}
#endif

// The compiler may conclude nothing from what these functions themselves do: much happens before they return.
// And a place must not be set where another is entered.
#ifdef __clang__
#define ON_TWO_STACKS [[gnu::noinline, clang::optnone, gnu::no_sanitize_address]]
#else
#define ON_TWO_STACKS [[gnu::noipa, gnu::no_sanitize_address]]
#endif

ON_TWO_STACKS void enter(const Place& to) { __builtin_longjmp(const_cast<void**>(to.registers), 1); }
ON_TWO_STACKS void enter(const ucontext_t& to) { setcontext(&to); }
/// Leaves one stack for the other, and comes back when that does the same.
template <class To>
ON_TWO_STACKS void jump(Place& from, const To& to) {
  if (__builtin_setjmp(from.registers) == 0) enter(to);
}

enum class Barrier { none, warp, block };

/// A stack on which threads run one after another until one waits; what comes then gets the next stack.
struct Worker {
  static constexpr std::size_t stack_bytes = 64 * 1024;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  Place place;
  bool started = false;
  Barrier waits = Barrier::none;
  dim3 thread;  // the one that waits
};
/// Those with the threads of a warp, which wait; empty if the threads have ended.
using Warp = std::vector<Worker*>;

struct Block {
  const Work* thread_body = nullptr;
  unsigned next = 0, end = 0, size = 0;  // the threads of the warp that begins, and all
  bool reversed = false;
  std::vector<std::unique_ptr<Worker>> workers;
  Worker* running = nullptr;
  Place scheduler;
};
Block block;

/// Back to the scheduler, until it says to go on.
void give_way(Worker& worker) {
  leave(worker.place, block.scheduler);
  jump(worker.place, block.scheduler);
  arrive(worker.place, &block.scheduler);
}
void wait_at(Barrier barrier) {
  Worker& worker = *block.running;
  worker.thread = threadIdx;
  worker.waits = barrier;
  give_way(worker);
}

/// Runs threads of the warp that have not begun; then waits for another warp. Never returns.
void run_threads() {
  Worker& worker = *block.running;
  arrive(worker.place, &block.scheduler);
  for (;; give_way(worker))
    while (block.next < block.end) {
      const unsigned i = block.next++;
      threadIdx = {block.reversed ? block.size - 1 - i : i, 0, 0};
      (*block.thread_body)();
    }
}

/// Lets a worker go on until its thread waits, or all that it had to do is done.
void resume(Worker& worker) {
  block.running = &worker;
  if (worker.waits != Barrier::none) threadIdx = worker.thread;
  worker.waits = Barrier::none;
  leave(block.scheduler, worker.place);
  if (worker.started) {
    jump(block.scheduler, worker.place);
  } else {
    worker.started = true;
    ucontext_t start;
    getcontext(&start);
    start.uc_stack = {worker.stack.get(), 0, Worker::stack_bytes};
    start.uc_link = nullptr;
    makecontext(&start, run_threads, 0);
    jump(block.scheduler, start);
  }
  arrive(block.scheduler, nullptr);
}

/// After its threads have run: they must have come to one barrier, or all to the end. Lets them go on from
/// one exchange of values to the next.
void finish_turn(Warp& warp, std::size_t size) {
  for (;;) {
    const bool none = warp.empty() || warp[0]->waits == Barrier::none;
    for (const Worker* worker : warp)
      if (worker->waits != warp[0]->waits || warp.size() != size)
        misuse("threads of a warp wait for others that end or wait elsewhere");
    if (none) return warp.clear();
    if (warp[0]->waits == Barrier::block) return;
    for (Worker* worker : warp) resume(*worker);
  }
}

/// Runs the threads of a warp that has not begun. The first `busy` workers hold waiting threads.
Warp begin_warp(unsigned size, std::size_t& busy) {
  Warp warp;
  block.end = block.next + size;
  while (block.next < block.end) {
    if (busy == block.workers.size()) {
      block.workers.push_back(std::make_unique<Worker>());
      Place& place = block.workers.back()->place;
      place.bottom = block.workers.back()->stack.get();
      place.size = Worker::stack_bytes;
    }
    Worker& worker = *block.workers[busy];
    resume(worker);
    if (worker.waits == Barrier::none) continue;
    warp.push_back(&worker);
    ++busy;
  }
  finish_turn(warp, size);
  return warp;
}

void run_block(const Work& thread, unsigned size) {
  block.thread_body = &thread;
  block.next = 0;
  block.size = size;
  std::vector<Warp> warps;
  for (std::size_t busy = 0; block.next < size;)
    warps.push_back(begin_warp(std::min(size - block.next, warp_threads), busy));
  // Every thread must come to every barrier, so each round all warps go on or all are done.
  if (block.reversed) {
    std::reverse(warps.begin(), warps.end());
    for (Warp& warp : warps) std::reverse(warp.begin(), warp.end());
  }
  const auto ended = [](const Warp& warp) { return warp.empty(); };
  while (!std::all_of(warps.begin(), warps.end(), ended)) {
    if (std::any_of(warps.begin(), warps.end(), ended))
      misuse("some threads of a block end while others wait for them");
    for (Warp& warp : warps) {
      for (Worker* worker : warp) resume(*worker);
      finish_turn(warp, warp.size());
    }
  }
}

}  // namespace

void run_grid(dim3 grid, dim3 block_size, const Work& thread) {
  block.reversed = !block.reversed;
  gridDim = grid;
  blockDim = block_size;
  for (unsigned i = 0; i < grid.x; ++i) {
    blockIdx = {block.reversed ? grid.x - 1 - i : i, 0, 0};
    run_block(thread, block_size.x);
  }
}

}  // namespace rondo::emulated_gpu

void __syncthreads() { rondo::emulated_gpu::wait_at(rondo::emulated_gpu::Barrier::block); }
void rondo::emulated_gpu::wait_for_warp() { wait_at(Barrier::warp); }
