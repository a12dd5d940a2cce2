// How well a model predicts ids: the one function behind training's evaluations, `lm eval` and the final
// report. It deliberately reads no files and prints nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "nn/language_model.h"

namespace rondo {

/// Sums over scored symbols, in nats, and what follows from them.
struct Evaluation {
  double nats_sum = 0;
  int64_t symbols = 0;
  double unknown_nats_sum = 0;  // the part of it that unknown symbols cost
  int64_t unknowns = 0;
  double seconds = 0;

  double nats() const { return nats_sum / static_cast<double>(symbols); }
  double bits() const;
  double perplexity() const;
  /// Over the symbols that are not unknown.
  double perplexity_without_unknowns() const;
};

/// How a text is read: in so many streams side by side, the state carried along and every symbol but the
/// first scored once; or, if `line_end` is given, line by line, each from a zero state with the line end
/// before it as context, every symbol scored once.
struct Reading {
  int64_t streams = 1;
  std::optional<int32_t> line_end{};
};

/// Dropout is off. `progress` is told the symbols done, now and then. InputError if there are more streams
/// than symbols to score.
Evaluation evaluate_ids(
    LanguageModel& model, std::span<const int32_t> ids, const Reading& reading,
    std::optional<int32_t> unknown_id = {}, const std::function<void(int64_t)>& progress = [](int64_t) {});

}  // namespace rondo
