// `make bench`: speed, where the time goes, and memory, for the recipes of bench/ on random symbols. It
// trains with the code that `lm train` runs. It reports and judges nothing: machines differ and drift, so
// compare figures of one run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <vector>

#include "lm/recipes.h"
#include "lm/training.h"
#include "tensor/allocator.h"
#include "tensor/gemm.h"
#include "tensor/profile.h"

namespace {

using namespace rondo;

constexpr int rounds = 5, warm_up_updates = 3;
constexpr double seconds_per_round = 1.5;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Updates for at least `seconds`; returns symbols and the time they took.
std::pair<int64_t, double> train_for(Training& training, double seconds) {
  int64_t symbols = 0;
  const double start = now();
  Chunk chunk;
  while (now() - start < seconds) {
    if (!training.next_chunk(chunk)) {
      training.begin_next_epoch();
      continue;
    }
    symbols += training.update(chunk).symbols;
  }
  return {symbols, now() - start};
}

void bench(const std::filesystem::path& file) {
  const Recipe recipe = load_recipe(file.string());
  const int64_t vocabulary_size = recipe.data.unit == "words" ? 10000 : 50;
  std::mt19937 random(1);
  std::uniform_int_distribution<int32_t> any_symbol(0, static_cast<int32_t>(vocabulary_size) - 1);
  std::vector<int32_t> ids(static_cast<size_t>(recipe.train.batch * recipe.train.length * 50 + 1));
  std::generate(ids.begin(), ids.end(), [&] { return any_symbol(random); });

  Training training(recipe, vocabulary_size, ids);
  Chunk chunk;
  for (int i = 0; i < warm_up_updates && training.next_chunk(chunk); ++i) training.update(chunk);
  reset_peak_bytes(Device::cpu);
  const size_t allocations = memory_statistics(Device::cpu).system_allocations;
  std::vector<double> rates;
  for (int round = 0; round < rounds; ++round) {
    const auto [symbols, seconds] = train_for(training, seconds_per_round);
    rates.push_back(static_cast<double>(symbols) / seconds);
  }
  std::sort(rates.begin(), rates.end());
  const MemoryStatistics memory = memory_statistics(Device::cpu);
  fmt::print("\n{}: {} of {} units, {} parameters, V {}, B {}, T {}\n", recipe.name, recipe.model.cell,
             recipe.model.hidden, training.model().parameter_count(), vocabulary_size, recipe.train.batch,
             recipe.train.length);
  fmt::print(
      "  {:.0f} symbols/s (median of {} rounds, {:.0f} to {:.0f}), peak {:.1f} MB, {} system allocations\n",
      rates[rounds / 2], rounds, rates.front(), rates.back(), static_cast<double>(memory.peak_bytes) / 1e6,
      memory.system_allocations - allocations);

  set_profiling(true);
  const auto [symbols, seconds] = train_for(training, seconds_per_round);
  const std::vector<ProfileEntry> entries = profile();
  set_profiling(false);
  std::map<std::string, double> share;
  double rest = 1;
  for (const ProfileEntry& entry : entries) {
    share[entry.kind] += entry.seconds / seconds;
    rest -= entry.seconds / seconds;
  }
  fmt::print("  time:");
  for (const auto& [kind, part] : share) fmt::print(" {} {:.1f}%,", kind, 100 * part);
  fmt::print(" everything else {:.1f}%\n", 100 * rest);
  for (const ProfileEntry& entry : entries) {
    if (entry.operations > 0)
      fmt::print("  {:<5} {:<24} {:5.1f}%  {:7.1f} us a call  {:6.1f} GFLOP/s\n", entry.kind, entry.name,
                 100 * entry.seconds / seconds, 1e6 * entry.seconds / static_cast<double>(entry.calls),
                 entry.operations / entry.seconds / 1e9);
  }
  for (const ProfileEntry& entry : entries) {
    if (entry.operations == 0)
      fmt::print("  {:<9} {:<32} {:5.1f}%  {:7.1f} us a call\n", entry.kind, entry.name,
                 100 * entry.seconds / seconds, 1e6 * entry.seconds / static_cast<double>(entry.calls));
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::filesystem::path> files(argv + 1, argv + argc);
    if (files.empty()) {
      for (const auto& entry : std::filesystem::directory_iterator(RONDO_SOURCE_DIR "/bench"))
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
      std::sort(files.begin(), files.end());
    }
    fmt::print("{} threads, OpenBLAS kernels {}\n", threads(), blas_kernel());
    for (const auto& file : files) bench(file);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
