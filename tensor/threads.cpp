// A team of threads: see threads.h. OpenMP's would do, except for how they wait: GNU's threads spin for
// milliseconds, and on a busy machine this takes time from the thread that they wait for (measured beside one
// busy process: two threads had a thirtieth of the speed of one). Only the environment can change that.
#include "tensor/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <vector>

#include "tensor/error.h"

namespace rondo {
namespace {

/// How long a waiting thread spins before it sleeps. Measured, symbols/s of the demo with two threads, alone
/// and beside a busy process: 20 us 71k and 36k, 50 us 71k and 40k, 200 us 61k and 34k, 1000 us 69k and 18k;
/// with one thread 39k.
constexpr std::chrono::microseconds patience(50);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns once `word` is not `value`.
void wait_while(const std::atomic<uint32_t>& word, uint32_t value) {
  const auto end = std::chrono::steady_clock::now() + patience;
  do
    for (int i = 0; i < 32; ++i) {
      if (word.load() != value) return;
      relax();
    }
  while (std::chrono::steady_clock::now() < end);
  word.wait(value);
}

/// While it exists, the thread and those that it starts receive no signals except those of their own faults:
/// signals are for the threads of the program that uses the library.
class NoSignals {
 public:
  NoSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

class Team {
 public:
  using Run = void (*)(const void* task, int part, int parts);

  /// Has fewer threads if the system allows no more.
  explicit Team(int size) : parts_(static_cast<size_t>(size)) {
    const NoSignals in_workers;
    try {
      for (int i = 1; i < size; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {  // the others take the parts of the missing threads
    }
  }
  ~Team() {
    start(nullptr, nullptr);
    for (std::thread& worker : workers_) worker.join();
  }

  void share_out(Run run, const void* task) {
    unfinished_ = static_cast<uint32_t>(parts_.size());
    take_parts(0, start(run, task));
    while (const uint32_t left = unfinished_) wait_while(unfinished_, left);
  }

 private:
  /// Starts a round and returns its number.
  uint32_t start(Run run, const void* task) {
    run_.store(run, std::memory_order_relaxed);
    task_.store(task, std::memory_order_relaxed);
    const uint32_t round = ++round_;
    round_.notify_all();
    return round;
  }

  /// Takes the remaining parts, the thread's own part first, so that it finds the same data in its cache. A
  /// late thread, even one that arrives after the next round has started, finds no part of its round left and
  /// touches nothing.
  void take_parts(size_t own, uint32_t round) {
    const Run run = run_.load(std::memory_order_relaxed);
    const void* task = task_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < parts_.size(); ++i) {
      const size_t part = (own + i) % parts_.size();
      uint32_t before = round - 1;
      if (!parts_[part].taken_in.compare_exchange_strong(before, round)) continue;
      run(task, static_cast<int>(part), static_cast<int>(parts_.size()));
      if (--unfinished_ == 0) unfinished_.notify_one();
    }
  }

  void work(int own) {
    for (uint32_t round = 0;;) {
      wait_while(round_, round);
      round = round_;
      if (!run_.load(std::memory_order_relaxed)) return;
      take_parts(static_cast<size_t>(own), round);
    }
  }

  struct alignas(64) Part {
    std::atomic<uint32_t> taken_in = 0;  // the round
  };
  std::vector<Part> parts_;
  alignas(64) std::atomic<uint32_t> round_ = 0;
  std::atomic<Run> run_ = nullptr;  // nullptr: the end
  std::atomic<const void*> task_ = nullptr;
  alignas(64) std::atomic<uint32_t> unfinished_ = 0;  // parts of this round
  std::vector<std::thread> workers_;
};

int default_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const long count = wanted ? std::strtol(wanted, nullptr, 10) : 0;
  return count > 0 ? static_cast<int>(std::min<long>(count, max_threads)) : processors();
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count = default_threads();
  return count;
}

/// The team, made when first needed; never destroyed, because threads may be running when a program ends. The
/// holder of `busy` may use or replace it.
Team* team = nullptr;
std::atomic_flag busy;

struct Release {
  ~Release() { busy.clear(); }
};

/// A forked process has the memory of the team but not its threads.
const int forget_team_in_child = pthread_atfork(nullptr, nullptr, [] {
  team = nullptr;
  busy.clear();
});

}  // namespace

int processors() {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof usable, &usable) == 0
             ? CPU_COUNT(&usable)
             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void set_threads(int count) {
  check(count >= 1 && count <= max_threads, "[threads] from 1 to {}, not {}", max_threads, count);
  while (busy.test_and_set()) std::this_thread::yield();
  const Release release;
  delete team;
  team = nullptr;
  thread_count() = count;
}

int threads() { return thread_count(); }

void detail::run_on_team(void (*run)(const void* task, int part, int parts), const void* task) {
  if (threads() == 1 || busy.test_and_set()) return run(task, 0, 1);
  const Release release;
  if (!team) team = new Team(threads());
  team->share_out(run, task);
}

}  // namespace rondo
