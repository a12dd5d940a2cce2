// Sentence vectors: what a model of sentences computes, and what classifiers of sentences read. Next:
// lm/evaluation/skip_thought_evaluation.h, lm/evaluation/logistic_regression.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rondo {

/// Rows of numbers, one after another.
struct Vectors {
  std::int64_t width = 0;
  std::vector<float> numbers{};

  std::int64_t size() const { return width == 0 ? 0 : std::ssize(numbers) / width; }
  std::span<const float> operator[](std::int64_t row) const {
    return std::span(numbers).subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  }
  std::span<float> operator[](std::int64_t row) {
    return std::span(numbers).subspan(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  }
};

/// Each row divided by its Euclidean length; a row of zeros stays.
Vectors of_unit_length(Vectors vectors);
/// |u - v| and u v of two rows side by side: what Tai et al. 2015 and Kiros et al. 2015 read of a pair.
Vectors pair_features(const Vectors& u, const Vectors& v);

}  // namespace rondo
