// Evaluation of a model that adapts: see adaptive_evaluation.h.
#include "lm/evaluation/adaptive_evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/allocator.h"
#include "tensor/profile.h"

namespace rondo {

// --- Adaptive evaluation ---

std::vector<Detail> settings_of(const Adaptation& how) {
  std::vector<Detail> settings;
  if (const auto& it = how.dynamic)
    settings = {{"dynamic.learning_rate", it->learning_rate},
                {"dynamic.decay", it->decay},
                {"dynamic.epsilon", it->epsilon},
                {"dynamic.length", it->length},
                {"dynamic.style", name_of(it->style)},
                {"dynamic.statistics_streams", it->statistics_streams}};
  if (const auto& it = how.cache)
    settings.insert(settings.end(),
                    {{"cache.window", it->window}, {"cache.theta", it->theta}, {"cache.lambda", it->lambda}});
  return settings;
}

std::vector<Detail> searched_settings_of(const Adaptation& how) {
  std::vector<Detail> settings = settings_of(how);
  std::erase_if(settings, [](const Detail& it) {
    return it.name.starts_with("dynamic.") && it.name != "dynamic.learning_rate" &&
           it.name != "dynamic.decay";
  });
  return settings;
}

namespace {

/// Passes each chunk to `use`, and then learns from it. The cache of `how` is left to `use`.
void read_one_stream(LanguageModel& model, std::span<const int32_t> ids, const Adaptation& how,
                     const std::function<void(const ChunkResult&)>& use) {
  const std::optional<DynamicOptions>& dynamic = how.dynamic;
  std::optional<DynamicWeights> weights;
  std::optional<NoGradient> guard;
  if (dynamic) {
    check(how.statistics != nullptr, "[dynamic evaluation] needs statistics of the training text");
    weights.emplace(model, *how.statistics, *dynamic);
  } else {
    guard.emplace();
  }
  const int64_t steps = dynamic ? dynamic->length : rows_at_once;
  int64_t symbols = 0;
  read_chunks(
      model,
      [&, stream = Streams::for_evaluation(ids, 1)](Chunk& chunk) mutable {
        return stream.next(steps, chunk);
      },
      [&](const ChunkResult& read) {
        if (!std::isfinite(read.loss.total.value().item()))
          throw Diverged(fmt::format(
              "after {} symbols the probabilities are not finite{}", symbols,
              dynamic ? fmt::format("; try a dynamic.learning_rate below {}", dynamic->learning_rate) : ""));
        use(read);
        symbols += read.chunk.scored;
        if (weights) weights->learn(read.loss.total, read.chunk.scored);
      });
}

}  // namespace

Evaluation evaluate_adaptively(LanguageModel& model, std::span<const int32_t> ids, const Adaptation& how,
                               std::optional<int32_t> unknown_id, const ReportDone& progress) {
  const Clock::time_point start = Clock::now();
  std::optional<NeuralCache> cache;
  if (how.cache)
    cache.emplace(std::vector{std::min(how.cache->window, std::ssize(ids))}, std::vector{how.cache->theta},
                  model.options().hidden.back());
  Evaluation result;
  read_one_stream(model, ids, how, [&](const ChunkResult& read) {
    std::vector<double> nats = read.nats();
    if (cache) {
      const std::vector<double> cached = cache->read(read.output.hidden.value(), read.chunk.targets);
      for (size_t i = 0; i < nats.size(); ++i) nats[i] = mixed_nats(nats[i], cached[i], how.cache->lambda);
    }
    result.add(read.chunk.targets, nats, unknown_id);
    progress(result.symbols);
  });
  result.seconds = seconds_since(start);
  return result;
}

// --- Tuning ---

namespace {

constexpr double rate_factors[] = {1, 0.6, 0.8, 1.2, 1.4, 2};
constexpr double decay_factors[] = {0.5, 1.5, 2.5};  // 1 is tried with the rates
constexpr double theta_factors[] = {1, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.4, 2};
constexpr double window_factors[] = {1, 0.25, 0.5, 2};
/// They are tried with each window and theta, in addition to the initial one.
constexpr double tuned_lambdas[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5};

/// Rounded to four digits: 3e-05, not 3.0000000000000004e-05.
double rounded(double x) { return std::stod(fmt::format("{:.4g}", x)); }

double times(double value, double factor) { return factor == 1 ? value : rounded(value * factor); }

int64_t readings_of(const Adaptation& start) {
  const int64_t of_dynamic = std::ssize(rate_factors) + std::ssize(decay_factors);
  return (start.dynamic ? of_dynamic : 0) + (start.cache ? 1 : 0);
}

class Search {
 public:
  Search(LanguageModel& model, std::span<const int32_t> ids, const Adaptation& start, int64_t budget,
         const std::function<void(const Trial&)>& report,
         const std::function<void(int64_t, int64_t)>& progress)
      : model_(model), report_(report), progress_(progress) {
    tuned_.best = start;
    check_budget(start, budget);
    readings_ = readings_of(start);
    tuned_.prefix = std::min(budget / readings_, std::ssize(ids) - 1);
    ids_ = ids.first(static_cast<size_t>(tuned_.prefix) + 1);
  }

  Tuned run() {
    if (tuned_.best.dynamic) {
      const DynamicOptions start = *tuned_.best.dynamic;
      for (const double factor : rate_factors) try_dynamic(times(start.learning_rate, factor), start.decay);
      const double rate = tuned_.best.dynamic->learning_rate;
      for (const double factor : decay_factors) try_dynamic(rate, times(start.decay, factor));
    }
    if (tuned_.best.cache) try_caches();
    return std::move(tuned_);
  }

 private:
  void try_dynamic(double rate, double decay) {
    Trial trial{.how = {.dynamic = tuned_.best.dynamic, .statistics = tuned_.best.statistics}};
    trial.how.dynamic->learning_rate = rate;
    trial.how.dynamic->decay = decay;
    try {
      const Evaluation it = evaluate_adaptively(model_, ids_, trial.how, {}, [&](int64_t done) {
        progress_(tuned_.symbols + done, readings_ * tuned_.prefix);
      });
      trial.nats = it.nats();
    } catch (const Diverged&) {
      trial.nats = std::numeric_limits<double>::infinity();
    }
    tuned_.symbols += tuned_.prefix;
    if (add(trial)) tuned_.best.dynamic = trial.how.dynamic;
  }

  /// One reading for all settings.
  void try_caches() {
    const CacheOptions start = *tuned_.best.cache;
    const int64_t width = model_.options().hidden.back(), most = std::numeric_limits<int64_t>::max();
    std::vector<int64_t> windows, seen;  // seen: of the prefix
    for (const double factor : window_factors) {
      const auto window = static_cast<int64_t>(times(static_cast<double>(start.window), factor));
      const int64_t of_prefix = std::clamp<int64_t>(window, 1, tuned_.prefix);
      if (std::ranges::find(seen, of_prefix) != seen.end()) continue;
      if (factor > 1 && NeuralCache::memory(window, width) > available_memory().value_or(most)) continue;
      windows.push_back(std::max<int64_t>(1, window));
      seen.push_back(of_prefix);
    }
    std::vector<double> thetas{start.theta};
    for (const double factor : theta_factors)
      if (times(start.theta, factor) != start.theta) thetas.push_back(times(start.theta, factor));
    std::vector<double> shares{start.lambda};
    for (const double lambda : tuned_lambdas)
      if (lambda != start.lambda) shares.push_back(lambda);
    NeuralCache cache(seen, thetas, width);
    const size_t settings = windows.size() * thetas.size();
    std::vector<double> sums(settings * shares.size());
    int64_t done = 0;
    read_one_stream(model_, ids_, tuned_.best, [&](const ChunkResult& read) {
      const std::vector<double> nats = read.nats(),
                                cached = cache.read(read.output.hidden.value(), read.chunk.targets);
      for (size_t i = 0; i < cached.size(); ++i)
        for (size_t s = 0; s < shares.size(); ++s)
          sums[i % settings * shares.size() + s] += mixed_nats(nats[i / settings], cached[i], shares[s]);
      progress_(tuned_.symbols + (done += read.chunk.scored), readings_ * tuned_.prefix);
    });
    tuned_.symbols += tuned_.prefix;
    best_ = std::numeric_limits<double>::infinity();  // trials of the cache are compared only with each other
    for (size_t i = 0; i < settings; ++i) {
      const auto from = sums.begin() + static_cast<int64_t>(i * shares.size());
      const auto least = std::min_element(from, from + std::ssize(shares));
      Trial trial{.how = tuned_.best, .nats = *least / static_cast<double>(tuned_.prefix)};
      trial.how.cache = {windows[i / thetas.size()], thetas[i % thetas.size()],
                         shares[static_cast<size_t>(least - from)]};
      if (add(trial)) tuned_.best.cache = trial.how.cache;
    }
  }

  /// Adds a trial; returns whether it is the best of its kind so far.
  bool add(const Trial& trial) {
    tuned_.trials.push_back(trial);
    report_(trial);
    if (!(trial.nats < best_)) return false;
    best_ = trial.nats;
    return true;
  }

  LanguageModel& model_;
  const std::function<void(const Trial&)>& report_;
  const std::function<void(int64_t, int64_t)>& progress_;
  std::span<const int32_t> ids_;
  int64_t readings_ = 0;
  Tuned tuned_;
  double best_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void check_budget(const Adaptation& start, int64_t budget) {
  check_input(
      budget >= readings_of(start),
      "--budget {}: the search reads the text {} times, each time as much as the budget allows; give {} or "
      "more, better 100 times that",
      budget, readings_of(start), readings_of(start));
}

Tuned tune(LanguageModel& model, std::span<const int32_t> ids, const Adaptation& start, int64_t budget,
           const std::function<void(const Trial&)>& report,
           const std::function<void(int64_t, int64_t)>& progress) {
  return Search(model, ids, start, budget, report, progress).run();
}

}  // namespace rondo
