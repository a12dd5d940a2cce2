// What an evaluation measures: the one type of a measured number, from an objective to the terminal, the log,
// the evaluations of a run and their table. Next: lm/training/objective.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/error.h"

namespace rondo {

/// Gets the number of items that are done.
using ReportDone = std::function<void(std::int64_t)>;

/// A measured number. Its name is its key in files: "nats" (per scored item), "bits", "bleu", "accuracy".
struct Metric {
  std::string name;
  double value = 0;
};

/// A further entry of a record: a count, a setting, a name. A dot in its name makes a group:
/// "words.deletions".
struct Detail {
  std::string name;
  std::variant<bool, std::int64_t, double, std::string> value;
};

/// What an evaluation has measured.
struct Scores {
  std::vector<Metric> metrics{};  // the first one decides which weights are best
  bool higher_is_better = false;
  double tie_breaker = 0;        // the smaller one decides between equal values of the first metric
  std::int64_t count = 0;        // of scored items
  std::string unit = "symbols";  // of `count`
  std::string read{};            // how the data was read
  // Joins `count` and `read` in a sentence: "80 symbols in one stream", "12 characters by greedy search";
  // empty: there is only one way to read, which goes without saying.
  std::string preposition = "in";
  double seconds = 0;
  std::vector<Detail> details{};
  std::string warning{};  // why the numbers could mislead; empty: nothing is known

  /// The metric of that name. Error if there is none.
  double at(std::string_view name) const {
    for (const Metric& it : metrics)
      if (it.name == name) return it.value;
    throw Error("[scores] no metric " + std::string(name));
  }

  /// The value of the metric that decides.
  double value() const {
    check(!metrics.empty(), "[scores] no metric: an evaluation sets one or more");
    return metrics[0].value;
  }

  /// The value to be minimised.
  double loss() const {
    constexpr double slight = 1e-9;  // less than values that are not equal differ by
    return (higher_is_better ? -value() : value()) + slight * tie_breaker;
  }
};

/// The loss of predicting a text symbol by symbol, in its three units.
inline std::vector<Metric> text_metrics(double nats) {
  return {{"nats", nats}, {"bits", nats / std::numbers::ln2}, {"perplexity", std::exp(nats)}};
}

}  // namespace rondo
