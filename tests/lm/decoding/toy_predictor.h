// A toy model for tests of decoding: the next symbol depends on the last two, by a random table for each
// sentence. Attention is a random function of the last symbol.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "lm/decoding/beam_search.h"

namespace rondo {

/// The model of one sentence. The end symbol is 0, also before the first symbol.
struct ToyTable {
  int64_t symbols = 5;
  std::vector<real> log_p;       // [symbols, symbols, symbols]: of c after a, b
  std::vector<float> attention;  // [symbols, positions]: when the next symbol after b is predicted
  int64_t positions = 0;

  static constexpr int32_t end = 0;

  static ToyTable random(uint32_t seed, int64_t symbols = 5, int64_t positions = 0) {
    ToyTable table{symbols, {}, {}, positions};
    std::mt19937 engine(seed);
    const auto distribution = [&](int64_t size, auto&& use) {
      std::vector<double> weights;
      double total = 0;
      for (int64_t i = 0; i < size; ++i) {
        const double uniform = (static_cast<double>(engine()) + 1) / 4294967297.0;
        weights.push_back(uniform * uniform);  // more unequal
        total += weights.back();
      }
      for (const double weight : weights) use(weight / total);
    };
    for (int64_t context = 0; context < symbols * symbols; ++context)
      distribution(symbols, [&](double p) { table.log_p.push_back(static_cast<real>(std::log(p))); });
    for (int64_t last = 0; positions > 0 && last < symbols; ++last)
      distribution(positions, [&](double p) { table.attention.push_back(static_cast<float>(p)); });
    return table;
  }

  real& at(int64_t a, int64_t b, int64_t c) {
    return log_p[static_cast<size_t>((a * symbols + b) * symbols + c)];
  }
  double operator()(int64_t a, int64_t b, int64_t c) const {
    return log_p[static_cast<size_t>((a * symbols + b) * symbols + c)];
  }
  /// ln p of a symbol after those of a sentence.
  double after(const std::vector<int32_t>& sentence, int32_t symbol) const {
    const size_t n = sentence.size();
    return (*this)(n > 1 ? sentence[n - 2] : end, n > 0 ? sentence[n - 1] : end, symbol);
  }
  float weight(int64_t last, int64_t position) const {
    return attention[static_cast<size_t>(last * positions + position)];
  }
  std::vector<float> attention_after(const std::vector<int32_t>& sentence) const {
    const auto row = attention.begin() + (sentence.empty() ? end : sentence.back()) * positions;
    return {row, row + positions};
  }
};
inline const SearchSymbols only_end{.end = ToyTable::end};

class ToyPredictor : public Predictor {
 public:
  explicit ToyPredictor(std::vector<ToyTable> tables) : tables_(std::move(tables)) {
    for (size_t b = 0; b < tables_.size(); ++b) {
      rows_.push_back({ToyTable::end, ToyTable::end, b});
      columns_.push_back(b);
    }
  }

  Prediction next(const std::vector<int32_t>& ids) override {
    EXPECT_EQ(ids.size(), rows_.size());
    calls.push_back(std::ssize(ids));
    int64_t positions = 0;
    for (const ToyTable& table : tables_) positions = std::max(positions, table.positions);
    const int64_t V = tables_.front().symbols;
    const Tensor log_p({std::ssize(ids), V});
    const Tensor attention = positions > 0 ? Tensor::zeros({std::ssize(ids), positions}) : Tensor();
    for (size_t i = 0; i < ids.size(); ++i) {
      Row& row = rows_[i];
      row = {row.last, ids[i], row.sentence};
      const ToyTable& table = tables_[row.sentence];
      const auto r = static_cast<int64_t>(i);
      for (int64_t v = 0; v < V; ++v)
        log_p.mutable_data()[r * log_p.row_stride() + v] =
            static_cast<real>(table(row.before_last, row.last, v));
      for (int64_t s = 0; s < table.positions; ++s)
        attention.mutable_data()[r * attention.row_stride() + s] = table.weight(row.last, s);
    }
    return {log_p, attention};
  }

  void select(const std::vector<int64_t>& rows, const std::vector<int64_t>& sentences) override {
    const size_t old = columns_.size(), kept = sentences.size();
    ASSERT_GT(kept, 0u);
    ASSERT_EQ(rows.size() % kept, 0u);
    std::vector<Row> selected;
    std::vector<size_t> columns;
    for (size_t b = 0; b < kept; ++b) {
      ASSERT_TRUE(b == 0 || sentences[b] > sentences[b - 1]);
      columns.push_back(columns_.at(static_cast<size_t>(sentences[b])));
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i] % static_cast<int64_t>(old), sentences[i % kept]);
      selected.push_back(rows_.at(static_cast<size_t>(rows[i])));
    }
    rows_ = selected;
    columns_ = columns;
  }

  int64_t sentences() const override { return std::ssize(columns_); }
  std::vector<int64_t> source_lengths() const override {
    std::vector<int64_t> lengths;
    for (const size_t column : columns_) lengths.push_back(tables_[column].positions);
    return lengths;
  }

  std::vector<int64_t> calls;  // the number of ids of each next()

 private:
  struct Row {
    int64_t before_last, last;
    size_t sentence;
  };
  std::vector<ToyTable> tables_;
  std::vector<Row> rows_;
  std::vector<size_t> columns_;  // the sentence of each column
};

}  // namespace rondo
