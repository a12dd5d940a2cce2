// Ranks as processes with shared memory, which a test forks.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "lm/training/trainer.h"
#include "tensor/threads.h"

namespace rondo {

/// What the processes have in common.
struct SharedByRanks {
  static constexpr size_t most_ranks = 4, most_numbers = 1 << 14;

  pthread_barrier_t barrier;
  std::array<std::array<double, most_numbers>, most_ranks> numbers;
  std::array<std::byte, 64> sent;
  std::array<bool, most_ranks> same_weights;
};

/// This process and others like it, which it forks.
class ForkedRanks : public Ranks {
 public:
  ForkedRanks(SharedByRanks& shared, int64_t count, int64_t own) : Ranks(count, own), shared_(shared) {}
  void add_up(std::span<float> numbers) override { add(numbers); }
  void add_up(std::span<double> numbers) override { add(numbers); }
  void send(std::span<std::byte> bytes) override {
    if (leads()) std::memcpy(shared_.sent.data(), bytes.data(), bytes.size());
    wait();
    std::memcpy(bytes.data(), shared_.sent.data(), bytes.size());
    wait();
  }

 private:
  template <class Number>
  void add(std::span<Number> numbers) {
    if (numbers.size() > SharedByRanks::most_numbers) std::abort();
    std::ranges::copy(numbers, shared_.numbers[static_cast<size_t>(own())].begin());
    wait();
    for (size_t i = 0; i < numbers.size(); ++i) {
      double sum = 0;
      for (size_t rank = 0; rank < static_cast<size_t>(count()); ++rank) sum += shared_.numbers[rank][i];
      numbers[i] = static_cast<Number>(sum);
    }
    wait();
  }
  void wait() { pthread_barrier_wait(&shared_.barrier); }

  SharedByRanks& shared_;
};

/// All ranks make() a training, a pointer to something with a `trainer`. Calls lead(training) on rank 0 of
/// `count`, while the others follow; checks that all end with its weights.
template <class Make, class Lead>
void with_ranks(int64_t count, Make make, Lead lead) {
  const int threads_before = threads();
  set_threads(1);  // a forked process has no other threads
  void* const memory =
      mmap(nullptr, sizeof(SharedByRanks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  SharedByRanks& shared = *static_cast<SharedByRanks*>(memory);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared.barrier, &attributes, static_cast<unsigned>(count));
  std::vector<pid_t> processes;
  int64_t own = 0;
  while (own == 0 && std::ssize(processes) + 1 < count) {
    const pid_t process = fork();
    ASSERT_GE(process, 0);
    if (process == 0)
      own = std::ssize(processes) + 1;
    else
      processes.push_back(process);
  }
  ForkedRanks ranks(shared, count, own);
  std::vector<real> weights;
  {
    const auto training = make();
    training->trainer.join(ranks);
    if (own == 0)
      lead(*training);
    else
      training->trainer.follow();
    weights = training->trainer.objective().model().values().to_vector();
  }
  std::vector<real> of_leader = weights;
  if (own != 0) std::ranges::fill(of_leader, real(0));
  ranks.add_up(std::span(of_leader));
  shared.same_weights[static_cast<size_t>(own)] = weights == of_leader;
  std::array<double, 1> all_have_written{};
  ranks.add_up(all_have_written);
  if (own != 0) _exit(0);
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (int64_t rank = 0; rank < count; ++rank)
    EXPECT_TRUE(shared.same_weights[static_cast<size_t>(rank)]) << rank;
  munmap(memory, sizeof(SharedByRanks));
  set_threads(threads_before);
}

}  // namespace rondo
