// Skip-thought vectors.
#include "lm/evaluation/skip_thought_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "data/sentences/tables.h"
#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

// --- Vectors ---

Vectors of_unit_length(Vectors vectors) {
  for (std::int64_t i = 0; i < vectors.size(); ++i) {
    const std::span<float> row = vectors[i];
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    if (length == 0) continue;
    for (float& x : row) x = static_cast<float>(static_cast<double>(x) / length);
  }
  return vectors;
}

Vectors pair_features(const Vectors& u, const Vectors& v) {
  check(u.width == v.width && u.size() == v.size(), "[pair features] {} vectors of {} and {} of {}", u.size(),
        u.width, v.size(), v.width);
  Vectors pairs{.width = 2 * u.width};
  pairs.numbers.reserve(2 * u.numbers.size());
  for (std::int64_t i = 0; i < u.size(); ++i) {
    const auto a = u[i], b = v[i];
    for (std::size_t j = 0; j < a.size(); ++j) pairs.numbers.push_back(std::abs(a[j] - b[j]));
    for (std::size_t j = 0; j < a.size(); ++j) pairs.numbers.push_back(a[j] * b[j]);
  }
  return pairs;
}

SentenceInput sentences_of(const PaddedSentences& batch, Tokens ids) {
  return {std::move(ids), batch.steps, batch.sentences, batch.lengths};
}

SentenceInput sentences_of(const ShiftedSentences& batch, Tokens inputs) {
  return {std::move(inputs), batch.steps, std::ssize(batch.lengths), batch.lengths};
}

Vectors sentence_vectors(SkipThought& model, const Sentences& sentences,
                         const std::vector<Variable>& tables) {
  Vectors vectors{.width = model.width()};
  vectors.numbers.resize(static_cast<std::size_t>(sentences.size() * vectors.width));
  read_sentences(model, sentences, [&](auto indices, const PaddedSentences& rows) {
    const std::vector<real> found =
        model.encode(sentences_of(rows, tokens(rows.ids)), tables).value().to_vector();
    auto from = found.begin();
    for (const std::int64_t i : indices) {
      std::copy(from, from + vectors.width, vectors.numbers.begin() + i * vectors.width);
      from += vectors.width;
    }
  });
  return vectors;
}

namespace {

std::vector<std::vector<real>> tables_of(const SkipThought& model) {
  std::vector<std::vector<real>> tables;
  for (const auto& part : model.parts())
    tables.push_back(part->embedding.weight.variable().value().to_vector());
  return tables;
}

}  // namespace

Vectors mean_word_vectors(SkipThought& model, const Sentences& sentences,
                          const std::vector<Variable>& tables) {
  std::vector<std::vector<real>> words;  // of each part
  if (tables.empty()) words = tables_of(model);
  for (const Variable& it : tables) words.push_back(it.value().to_vector());
  const std::int64_t E = model.options().embedding;
  Vectors means{.width = E * std::ssize(words)};
  for (std::int64_t i = 0; i < sentences.size(); ++i) {
    const auto ids = sentences[i].first(sentences[i].size() - 1);
    for (const std::vector<real>& table : words)
      for (std::int64_t e = 0; e < E; ++e) {
        double sum = 0;
        for (const std::int32_t id : ids)
          sum += static_cast<double>(table[static_cast<std::size_t>(id * E + e)]);
        means.numbers.push_back(static_cast<float>(ids.empty() ? 0 : sum / static_cast<double>(ids.size())));
      }
  }
  return means;
}

// --- Vocabulary expansion ---

namespace {

/// Adds the product x y^T.
void add_product(std::span<const double> x, std::span<const double> y, std::vector<double>& sums) {
  sums.resize(x.size() * y.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < y.size(); ++j) sums[i * y.size() + j] += x[i] * y[j];
}

}  // namespace

std::vector<double> least_squares(std::vector<double> XtX, std::vector<double> XtY, std::int64_t D,
                                  const std::string& name) {
  const auto n = static_cast<std::size_t>(D), E = XtY.size() / n;
  // X^T X = L L^T, in place; then L Z = X^T Y and L^T W = Z.
  for (std::size_t j = 0; j < n; ++j) {
    const double before = XtX[j * n + j];
    double square = before;
    for (std::size_t k = 0; k < j; ++k) square -= XtX[j * n + k] * XtX[j * n + k];
    check_input(
        square > 1e-12 * before && before > 0,
        "{}: the vectors of the words that it shares with the run depend on each other, so that no map "
        "of all {} numbers can be found",
        name, D);
    const double diagonal = XtX[j * n + j] = std::sqrt(square);
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = XtX[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= XtX[i * n + k] * XtX[j * n + k];
      XtX[i * n + j] = sum / diagonal;
    }
  }
  for (std::size_t e = 0; e < E; ++e) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) XtY[i * E + e] -= XtX[i * n + k] * XtY[k * E + e];
      XtY[i * E + e] /= XtX[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) XtY[i * E + e] -= XtX[k * n + i] * XtY[k * E + e];
      XtY[i * E + e] /= XtX[i * n + i];
    }
  }
  return XtY;
}

VocabularyExpansion expand_vocabulary(const SkipThought& model, const Vocabulary& vocabulary,
                                      const std::filesystem::path& file,
                                      const std::vector<std::string>& words) {
  const std::string name = file.string();
  check_input(vocabulary.tokenization().unit == Unit::words,
              "{}: word vectors are for runs whose data.unit is \"words\"; this one has {}", name,
              name_of(vocabulary.tokenization().unit));
  std::vector<std::vector<real>> tables = tables_of(model);
  const auto E = static_cast<std::size_t>(model.options().embedding);

  std::vector<double> XtX, XtY;
  std::unordered_set<std::int32_t> seen;
  const std::int64_t D = read_word_vectors(file, [&](std::string_view word, std::span<const double> vector) {
    const auto id = vocabulary.id(word);
    if (!id || word == unknown_symbol || word == eos_symbol || !seen.insert(*id).second) return;
    std::vector<double> own;
    for (const std::vector<real>& table : tables)
      for (std::size_t e = 0; e < E; ++e)
        own.push_back(static_cast<double>(table[static_cast<std::size_t>(*id) * E + e]));
    add_product(vector, vector, XtX);
    add_product(vector, own, XtY);
  });
  const auto shared = std::ssize(seen);
  check_input(
      shared >= D,
      "{}: {} of its words are in the run's vocabulary, and a map from {} numbers needs as many or more",
      name, shared, D);
  const std::vector<double> W = least_squares(std::move(XtX), std::move(XtY), D, name);

  VocabularyExpansion result{vocabulary, {}, shared};
  const std::unordered_set<std::string> wanted(words.begin(), words.end());
  const std::size_t columns = E * tables.size();
  read_word_vectors(file, [&](std::string_view word, std::span<const double> vector) {
    if (!wanted.contains(std::string(word)) || !result.vocabulary.add(std::string(word))) return;
    ++result.found;
    std::vector<double> mapped(columns, 0.0);
    for (std::size_t i = 0; i < vector.size(); ++i)
      for (std::size_t e = 0; e < columns; ++e) mapped[e] += vector[i] * W[i * columns + e];
    for (std::size_t e = 0; e < columns; ++e) {
      tables[e / E].push_back(static_cast<real>(mapped[e]));
      check_input(std::isfinite(tables[e / E].back()), "{}: the vector of '{}' is too large", name,
                  excerpt(word));
    }
  });
  for (const std::vector<real>& table : tables)
    result.tables.emplace_back(
        Tensor::from(table, {result.vocabulary.size(), model.options().embedding}, model.device()));
  return result;
}

}  // namespace rondo
