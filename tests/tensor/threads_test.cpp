// Loops that threads share out: each index once, whoever else asks, and nobody busy between loops.
#include "tensor/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include "tensor/products/gemm.h"
#include "tests/address_sanitizer.h"
#include "tests/tensor/errors.h"

namespace rondo {
namespace {

class Threads : public testing::Test {
 protected:
  void TearDown() override { set_threads(before_); }

 private:
  const int before_ = threads();
};
using TimingOfThreads = Threads;

double cpu_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// How often each index came.
std::vector<int> visits(int64_t count, bool worth_it = true) {
  std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
  parallel_for(count, worth_it, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
  return {seen.begin(), seen.end()};
}

std::vector<int> once(int64_t count) { return std::vector<int>(static_cast<size_t>(count), 1); }

TEST_F(Threads, RunEachIndexOnce) {
  for (const int count : {1, 2, 3, 16}) {
    set_threads(count);
    for (const int64_t size : {0, 1, 2, 3, 15, 1000}) EXPECT_EQ(visits(size), once(size)) << count;
  }
}

// So many rounds that a thread that comes late to one meets the next.
TEST_F(Threads, KeepRoundsApart) {
  set_threads(4);
  std::vector<int64_t> sums(7);
  for (int64_t round = 0; round < 20000; ++round)
    parallel_for(7, true, [&](int64_t i) { sums[static_cast<size_t>(i)] += round + i; });
  for (int64_t i = 0; i < 7; ++i) EXPECT_EQ(sums[static_cast<size_t>(i)], 20000 * 19999 / 2 + 20000 * i);
}

TEST_F(Threads, TakePartWhereItIsWorthIt) {
  set_threads(3);
  const auto takers = [](bool worth_it) {
    std::array<std::thread::id, 3> ids;
    std::atomic<int> arrived = 0;
    parallel_for(3, worth_it, [&](int64_t i) {
      ids[static_cast<size_t>(i)] = std::this_thread::get_id();
      for (++arrived; worth_it && arrived < 3;) std::this_thread::yield();  // so that none takes two
    });
    return std::set(ids.begin(), ids.end()).size();
  };
  EXPECT_EQ(takers(true), 3);
  EXPECT_EQ(takers(false), 1);
}

TEST_F(Threads, RunLoopsWithinLoops) {
  set_threads(3);
  std::atomic<int> total = 0;
  parallel_for(5, true, [&](int64_t) { parallel_for(7, true, [&](int64_t) { ++total; }); });
  EXPECT_EQ(total, 35);
}

// In several blocks of terms: who takes a tile of the last one reads what another thread has written before.
TEST_F(Threads, TakeTilesOfEachOther) {
  set_threads(3);
  const Tensor x = Tensor::filled({40, 2500}, 1), weight = Tensor::filled({700, 2500}, 1), sums({40, 700});
  int wrong = 0;
  for (int run = 0; run < 20; ++run) {
    weight_gemm(x, weight, Transpose::yes, {}, sums);
    wrong += sums.to_vector() != std::vector<real>(40 * 700, 2500);
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Threads, ServeSeveralCallers) {
  set_threads(3);
  std::vector<int> wrong(4);
  std::vector<std::thread> callers;
  for (int& it : wrong)
    callers.emplace_back([&it] {
      for (int round = 0; round < 500; ++round) it += visits(10) != once(10);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_F(Threads, AreMadeAnewInAForkedProcess) {
  set_threads(3);
  visits(10);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(visits(10) == once(10) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Another program needs the processor that a thread without work would keep.
TEST_F(TimingOfThreads, SleepWhenThereIsNothingToDo) {
  set_threads(4);
  visits(1000);
  const double before = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - before, 0.03);
}

// The caller, too, when another thread takes long.
TEST_F(TimingOfThreads, SleepWhileTheyWaitForEachOther) {
  set_threads(2);
  std::atomic<bool> started = false;
  const std::thread::id caller = std::this_thread::get_id();
  const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  parallel_for(2, true, [&](int64_t i) {
    if (i == 0)  // stays on the caller's thread until the other has begun
      while (!started) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i == 1) {
      EXPECT_NE(std::this_thread::get_id(), caller);
      started = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  });
  EXPECT_LT(cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before, 0.03);
}

// In a process of its own, which gets no memory for a thread.
TEST_F(Threads, GoOnWithThoseThatTheSystemGives) {
#ifdef RONDO_ADDRESS_SANITIZER
  GTEST_SKIP() << "the sanitizer itself ends a process that gets no memory";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    set_threads(8);
    const rlimit little{1, 1};
    setrlimit(RLIMIT_AS, &little);
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    std::array<int, 100> seen{};
    for (int round = 0; round < 2; ++round)
      parallel_for(100, true, [&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    set_threads(2);
    const bool same_signals = sigismember(&before, SIGTERM) == sigismember(&after, SIGTERM);
    _exit(same_signals && std::ranges::all_of(seen, [](int it) { return it == 2; }) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Threads, NeedOne) {
  EXPECT_EQ(any_error_of([] { set_threads(0); }), "[threads] from 1 to 4096, not 0");
}

}  // namespace
}  // namespace rondo
