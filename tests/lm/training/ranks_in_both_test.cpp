// Several ranks, here processes with shared memory, against one process that computes the whole batch.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "lm/tasks/language_modelling.h"
#include "lm/training/trainer.h"
#include "tensor/threads.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

constexpr double tolerance = sizeof(real) == 8 ? 1e-10 : 1e-4;
constexpr size_t most_ranks = 4, most_numbers = 1 << 14;

struct Shared {
  pthread_barrier_t barrier;
  std::array<std::array<double, most_numbers>, most_ranks> numbers;
  std::array<std::byte, 64> sent;
  std::array<bool, most_ranks> same_weights;
};

/// This process and others like it, which it forks.
class ForkedRanks : public Ranks {
 public:
  ForkedRanks(Shared& shared, int64_t count, int64_t own) : Ranks(count, own), shared_(shared) {}
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
    if (numbers.size() > most_numbers) std::abort();
    std::copy(numbers.begin(), numbers.end(), shared_.numbers[static_cast<size_t>(own())].begin());
    wait();
    for (size_t i = 0; i < numbers.size(); ++i) {
      double sum = 0;
      for (size_t rank = 0; rank < static_cast<size_t>(count()); ++rank) sum += shared_.numbers[rank][i];
      numbers[i] = static_cast<Number>(sum);
    }
    wait();
  }
  void wait() { pthread_barrier_wait(&shared_.barrier); }

  Shared& shared_;
};

/// A model, a task and a trainer, with all that depends on the update or on the rows of a batch.
struct SmallTraining {
  std::vector<int32_t> ids;
  LanguageModel model;
  LanguageModelling task;
  Trainer trainer;

  explicit SmallTraining(int64_t micro_batch = 0)
      : ids(some_ids()),
        model(model_options(), 11, 1),
        task(model, task_options(micro_batch), ids, ids),
        trainer(task, trainer_options()) {}

  static std::vector<int32_t> some_ids() {
    std::vector<int32_t> ids(900);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int32_t>((i * i + i / 3) % 11);
    return ids;
  }
  static LanguageModelOptions model_options() {
    LanguageModelOptions options;
    options.cell = "lstm";
    options.layers = 2;
    options.embedding = 6;
    options.hidden = {7};
    options.dropout = 0.3;
    options.regularization.weight_drop = 0.2;
    options.embedding_dropout = 0.1;
    return options;
  }
  static LanguageModellingOptions task_options(int64_t micro_batch) {
    LanguageModellingOptions options;
    options.batches.batch = 8;
    options.batches.chunks.length = 7;
    options.batches.chunks.deviation = 2;
    options.micro_batch = micro_batch;
    options.activation_regularization = 0.5;
    options.temporal_regularization = 0.3;
    return options;
  }
  static TrainerOptions trainer_options() {
    TrainerOptions options;
    options.optimizer.kind = OptimizerKind::adam;
    options.clip = 0.2;
    options.averaging = Averaging::always;
    options.schedule.kind = ScheduleKind::plateau;
    return options;
  }

  /// The losses of `steps` updates, and of the evaluations between them.
  std::vector<double> trained(int steps) {
    std::vector<double> losses;
    for (int i = 0; i < steps; ++i) {
      if (!trainer.next_batch()) {
        const auto evaluated = trainer.evaluated_weights();
        const Figure figure = task.evaluate();
        trainer.validated(figure);
        losses.push_back(figure.value);
        trainer.begin_next_epoch();
        EXPECT_TRUE(trainer.next_batch());
      }
      trainer.step();
      const StepMetrics metrics = trainer.metrics();
      losses.push_back(metrics.loss / static_cast<double>(metrics.scored));
      losses.push_back(metrics.gradient_norm);
    }
    return losses;
  }
};

/// Calls lead(training) on rank 0 of `count`, while the others follow; checks that all end with its weights.
template <class Lead>
void with_ranks(int64_t count, int64_t micro_batch, Lead lead) {
  const int threads_before = threads();
  set_threads(1);  // a forked process has no other threads
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *static_cast<Shared*>(memory);
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
    SmallTraining training(micro_batch);
    training.trainer.join(ranks);
    if (own == 0)
      lead(training);
    else
      training.trainer.follow();
    weights = training.model.values().to_vector();
  }
  std::vector<real> of_leader = weights;
  if (own != 0) std::fill(of_leader.begin(), of_leader.end(), real(0));
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
  munmap(memory, sizeof(Shared));
  set_threads(threads_before);
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
}

TEST(Ranks, TrainAsOneProcessDoes) {
  SmallTraining alone;
  const std::vector<double> expected = alone.trained(30);
  for (const int64_t count : {2, 4})
    for (const int64_t micro_batch : {0, 1, 4}) {
      SCOPED_TRACE(testing::Message() << count << " ranks, micro-batches of " << micro_batch);
      with_ranks(count, micro_batch,
                 [&](SmallTraining& training) { expect_near(training.trained(30), expected); });
    }
}

TEST(Ranks, AnyNumberOfThemResumesWhatAnotherHasSaved) {
  const TemporaryFolder folder;
  SmallTraining alone;
  const std::vector<double> before = alone.trained(10), after = alone.trained(10);
  with_ranks(4, 0, [&](SmallTraining& training) {
    expect_near(training.trained(10), before);
    training.trainer.save(folder / "state");
    expect_near(training.trained(10), after);
  });
  SmallTraining resumed;
  resumed.trainer.load(folder / "state");
  expect_near(resumed.trained(10), after);
}

TEST(Ranks, DivideTheBatchOrSaySo) {
  SmallTraining training;
  EXPECT_THROW(training.task.divide(3, 0), InputError);
  LanguageModelOptions options = SmallTraining::model_options();
  options.cell = "bn_lstm";
  LanguageModel normalises(options, 11, 1);
  LanguageModelling task(normalises, SmallTraining::task_options(0), training.ids);
  EXPECT_THROW(task.divide(2, 0), InputError);
}

}  // namespace
}  // namespace rondo
