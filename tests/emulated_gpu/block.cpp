// Threads of a block, run in turns from one __syncthreads() to the next; and blocks that wait for each other.
#include "tests/emulated_gpu/block.h"

#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/address_sanitizer.h"
#include "tests/emulated_gpu/cooperative_groups.h"
#include "tests/emulated_gpu/mma.h"
#include "tests/emulated_gpu/perturb.h"
#include "tests/emulated_gpu/queue.h"

#ifdef RONDO_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace rondo {

/// What cuda/launch.h declares.
namespace cuda {
__shared__ __align__(128) uint4 launched_with[emulated_gpu::most_shared_bytes / sizeof(uint4)];
}

namespace emulated_gpu {
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

enum class Barrier { none, of_block, of_grid };

/// A stack on which threads run one after another until one waits; what comes then gets the next stack.
struct Worker {
  static constexpr std::size_t stack_bytes = 64 * 1024;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  Place place;
  bool started = false;
  Barrier waits = Barrier::none;
  dim3 thread;  // the one that waits
};

struct Block {
  const Work* thread_body = nullptr;
  unsigned next = 0, size = 0;
  std::vector<unsigned> order;  // of the threads; empty: that of their numbers, or the reverse
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> waiting;
  Worker* running = nullptr;
  Place scheduler;
  std::vector<char> shared;  // while other blocks run
};
Block single;              // for kernels whose blocks do not wait for each other
std::deque<Block> blocks;  // for the others
Block* block = &single;
bool reversed = false;

/// Back to the scheduler, until it says to go on.
void give_way(Worker& worker) {
  leave(worker.place, block->scheduler);
  jump(worker.place, block->scheduler);
  arrive(worker.place, &block->scheduler);
}

/// Runs threads of the block that have not begun; then waits for another block. Never returns.
void run_threads() {
  Worker& worker = *block->running;
  arrive(worker.place, &block->scheduler);
  for (;; give_way(worker))
    while (block->next < block->size) {
      const unsigned i = block->next++;
      threadIdx = {!block->order.empty() ? block->order[i] : reversed ? block->size - 1 - i : i, 0, 0};
      (*block->thread_body)();
    }
}

/// Lets a worker go on until its thread waits, or all that it had to do is done.
Barrier resume(Worker& worker) {
  block->running = &worker;
  if (worker.waits != Barrier::none) threadIdx = worker.thread;
  worker.waits = Barrier::none;
  leave(block->scheduler, worker.place);
  if (worker.started) {
    jump(block->scheduler, worker.place);
  } else {
    worker.started = true;
    ucontext_t start;
    getcontext(&start);
    start.uc_stack = {worker.stack.get(), 0, Worker::stack_bytes};
    start.uc_link = nullptr;
    makecontext(&start, run_threads, 0);
    jump(block->scheduler, start);
  }
  arrive(block->scheduler, nullptr);
  return worker.waits;
}

void wait_at(Barrier barrier) {
  Worker& worker = *block->running;
  worker.thread = threadIdx;
  worker.waits = barrier;
  give_way(worker);
}

/// Begins the threads of the current block, and runs each to its first barrier or its end.
void begin_block(const Work& thread, unsigned size) {
  block->thread_body = &thread;
  block->next = 0;
  block->size = size;
  block->waiting.clear();
  for (std::size_t i = 0; block->next < size; ++i) {
    if (i == block->workers.size()) {
      block->workers.push_back(std::make_unique<Worker>());
      Place& place = block->workers[i]->place;
      place.bottom = block->workers[i]->stack.get();
      place.size = Worker::stack_bytes;
    }
    if (resume(*block->workers[i]) != Barrier::none) block->waiting.push_back(block->workers[i].get());
  }
}
/// Runs the threads of the current block, which wait, to the next barrier or their end, in this order.
void resume_block() {
  const std::vector<Worker*> before = std::exchange(block->waiting, {});
  for (Worker* worker : before)
    if (resume(*worker) != Barrier::none) block->waiting.push_back(worker);
}
/// Where all threads of the current block are: every one must come to every barrier.
Barrier barrier_of_block() {
  const std::vector<Worker*>& waiting = block->waiting;
  if (waiting.empty()) return Barrier::none;
  const auto same = [&](const Worker* it) { return it->waits == waiting[0]->waits; };
  if (waiting.size() != block->size || !std::all_of(waiting.begin(), waiting.end(), same))
    misuse("some threads of a block end, or wait elsewhere, while others wait for them");
  return waiting[0]->waits;
}

}  // namespace

void run_grid(dim3 grid, dim3 block_size, const Work& thread) {
  reversed = !reversed;
  gridDim = grid;
  blockDim = block_size;
  block = &single;
  for (unsigned i = 0; i < grid.x; ++i) {
    blockIdx = {reversed ? grid.x - 1 - i : i, 0, 0};
    begin_block(thread, block_size.x);
    while (barrier_of_block() != Barrier::none) {
      if (barrier_of_block() == Barrier::of_grid)
        misuse("blocks wait for each other without a cooperative launch");
      if (reversed) std::reverse(block->waiting.begin(), block->waiting.end());
      resume_block();
      if (reversed) std::reverse(block->waiting.begin(), block->waiting.end());
    }
  }
}

void run_grid_together(dim3 grid, dim3 block_size, std::size_t shared_bytes, const Work& thread) {
  static std::mt19937_64 random(perturbation());
  gridDim = grid;
  blockDim = block_size;
  while (blocks.size() < grid.x) blocks.emplace_back();
  std::vector<unsigned> runnable(grid.x);  // blocks that do not wait for others
  std::iota(runnable.begin(), runnable.end(), 0u);
  for (Block& it : blocks) {
    it.shared.assign(shared_bytes, static_cast<char>(0xff));  // NaN, as all that was never written
    it.order.resize(block_size.x);
    std::iota(it.order.begin(), it.order.end(), 0u);
    it.size = 0;
  }
  std::vector<unsigned> waiting;
  bool ended = false;
  while (!runnable.empty()) {
    std::swap(runnable[random() % runnable.size()], runnable.back());
    const unsigned number = runnable.back();
    block = &blocks[number];
    blockIdx = {number, 0, 0};
    std::memcpy(cuda::launched_with, block->shared.data(), shared_bytes);
    if (block->size == 0) {
      std::shuffle(block->order.begin(), block->order.end(), random);
      begin_block(thread, block_size.x);
    } else {
      std::shuffle(block->waiting.begin(), block->waiting.end(), random);
      resume_block();
    }
    std::memcpy(block->shared.data(), cuda::launched_with, shared_bytes);
    const Barrier barrier = barrier_of_block();
    if (barrier == Barrier::of_block) continue;
    runnable.pop_back();
    if (barrier == Barrier::of_grid) waiting.push_back(number);
    ended = ended || barrier == Barrier::none;
    if (!runnable.empty() || waiting.empty()) continue;
    if (ended) misuse("some blocks end while others wait for them");
    std::swap(runnable, waiting);
  }
}

void check_tile(const void* address, unsigned long row_bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % 32 != 0 || row_bytes % 16 != 0)
    misuse("a tile of tensor cores begins at no multiple of 32 bytes, or its rows at none of 16");
}

}  // namespace emulated_gpu
}  // namespace rondo

void __syncthreads() { rondo::emulated_gpu::wait_at(rondo::emulated_gpu::Barrier::of_block); }
void cooperative_groups::grid_group::sync() const {
  rondo::emulated_gpu::wait_at(rondo::emulated_gpu::Barrier::of_grid);
}
