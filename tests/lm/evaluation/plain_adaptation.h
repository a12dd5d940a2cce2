// Dynamic evaluation and the neural cache as plain loops, written from the papers; the gradient is one
// imaginary step for each weight. It shares nothing with lm/. Next: plain_language_model.h.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/nn/models/plain_language_model.h"

namespace rondo {

class PlainAdaptation {
 public:
  using Ids = std::vector<int32_t>;
  struct Settings {
    double learning_rate, decay, epsilon;
    size_t length;
    bool sums = false;  // the old style
  };
  /// Of one position: what the model gave the symbol after it, and the last layer's output.
  struct Position {
    double probability;
    std::vector<double> h;
  };

  PlainAdaptation(const LanguageModel& model)
      : options_(model.options()), weights_(parameters_of(model)), trained_(weights_) {}

  /// The sums of squared gradients over the batches of a training text.
  void read_training_text(const Ids& ids, size_t streams, size_t length) {
    const size_t run = (ids.size() - 1) / streams;
    std::vector<States> states(streams, start());
    batches_ = 0;
    for (const auto& [name, values] : weights_) squares_[name].assign(values.size(), 0);
    for (size_t begin = 0; begin < run; begin += length) {
      std::vector<Ids> pieces;  // of each stream, with one symbol of context
      for (size_t b = 0; b < streams; ++b)
        pieces.emplace_back(ids.begin() + static_cast<int64_t>(b * run + begin),
                            ids.begin() + static_cast<int64_t>(b * run + std::min(begin + length, run) + 1));
      const Parameters gradient = gradient_of(pieces, states);
      for (const auto& [name, g] : gradient)
        for (size_t i = 0; i < g.size(); ++i) squares_[name][i] += g[i].real() * g[i].real();
      mean_loss(weights_, pieces, states);
      ++batches_;
    }
  }
  /// sqrt(sum of squares / batches), by name.
  double rms(const std::string& name, size_t i) const {
    return std::sqrt(squares_.at(name)[i] / static_cast<double>(batches_));
  }
  double mean_rms() const { return of_tensors(false) / static_cast<double>(squares_.size()); }
  /// Weights whose decay was cut at 1 / lambda.
  size_t clamped() const { return clamped_; }

  /// Reads a text from a zero state; without settings the weights stay.
  std::vector<Position> read(const Ids& ids, const Settings* settings = nullptr) {
    std::vector<Position> positions;
    std::vector<States> state{start()};
    const size_t length = settings ? settings->length : ids.size();
    for (size_t begin = 0; begin + 1 < ids.size(); begin += length) {
      const size_t end = std::min(begin + length, ids.size() - 1);
      const std::vector<Ids> piece{
          Ids(ids.begin() + static_cast<int64_t>(begin), ids.begin() + static_cast<int64_t>(end) + 1)};
      Parameters gradient;
      if (settings) gradient = gradient_of(piece, state);
      mean_loss(weights_, piece, state, &positions);
      if (settings) update(gradient, *settings);
    }
    weights_ = trained_;
    return positions;
  }

  /// -ln p of each symbol, with the cache's share of p.
  static std::vector<double> nats_with_cache(const std::vector<Position>& positions, const Ids& ids,
                                             size_t window, double theta, double lambda) {
    std::vector<double> nats;
    for (size_t t = 0; t < positions.size(); ++t) {
      const double cached = cache_probability(positions, ids, t, window, theta);
      const double p = positions[t].probability;
      nats.push_back(-std::log(t == 0 ? p : (1 - lambda) * p + lambda * cached));
    }
    return nats;
  }
  static double cache_probability(const std::vector<Position>& positions, const Ids& ids, size_t t,
                                  size_t window, double theta) {
    double of_symbol = 0, of_all = 0, largest = -1e300;
    std::vector<double> scores(t);
    const size_t first = t > window ? t - window : 0;
    for (size_t i = first; i < t; ++i) {
      for (size_t j = 0; j < positions[t].h.size(); ++j)
        scores[i] += theta * positions[t].h[j] * positions[i].h[j];
      largest = std::max(largest, scores[i]);
    }
    for (size_t i = first; i < t; ++i) {
      const double weight = std::exp(scores[i] - largest);
      of_all += weight;
      if (ids[i + 1] == ids[t + 1]) of_symbol += weight;
    }
    return of_symbol / of_all;
  }

 private:
  using States = std::vector<PlainState>;  // of one stream

  States start() const { return PlainLanguageModel(options_, weights_).start(); }

  /// Of streams that begin with a symbol of context, from states that go on.
  Number mean_loss(const Parameters& weights, const std::vector<Ids>& pieces, std::vector<States>& states,
                   std::vector<Position>* positions = nullptr) const {
    const PlainLanguageModel model(options_, weights);
    Number nats = 0;
    double symbols = 0;
    for (size_t b = 0; b < pieces.size(); ++b)
      for (size_t t = 0; t + 1 < pieces[b].size(); ++t) {
        const Vector h = model.read(model.embedding_of(pieces[b][t]), states[b]);
        const Number p = model.probability(h, pieces[b][t + 1]);
        nats -= std::log(p);
        ++symbols;
        if (!positions) continue;
        positions->push_back({p.real(), {}});
        for (const Number& it : h) positions->back().h.push_back(it.real());
      }
    return nats / symbols;
  }

  Parameters gradient_of(const std::vector<Ids>& pieces, const std::vector<States>& states) const {
    constexpr double step = 1e-30;
    Parameters gradient = weights_, moved = weights_;
    for (auto& [name, values] : moved)
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] += Number(0, step);
        std::vector<States> scratch = states;
        gradient[name][i] = mean_loss(moved, pieces, scratch).imag() / step;
        values[i] = values[i].real();
      }
    return gradient;
  }

  double of_tensors(bool sums) const {
    double total = 0;
    for (const auto& [name, squares] : squares_)
      for (const double it : squares)
        total +=
            std::sqrt(sums ? it : it / static_cast<double>(batches_)) / static_cast<double>(squares.size());
    return total;
  }

  void update(const Parameters& gradient, const Settings& it) {
    const double scale =
        it.sums ? of_tensors(true) : of_tensors(false) / static_cast<double>(squares_.size());
    for (auto& [name, values] : weights_)
      for (size_t i = 0; i < values.size(); ++i) {
        const double root = it.sums ? std::sqrt(squares_[name][i]) : rms(name, i);
        const double rate = std::min(root / scale, 1 / it.decay);
        if (rate < root / scale) ++clamped_;
        values[i] += it.decay * rate * (trained_.at(name)[i] - values[i]) -
                     it.learning_rate * gradient.at(name)[i] / (root + it.epsilon);
      }
  }

  LanguageModelOptions options_;
  Parameters weights_, trained_;
  std::map<std::string, std::vector<double>> squares_;
  size_t batches_ = 0, clamped_ = 0;
};

}  // namespace rondo
