// Word vectors in an embedding; see lm/training/word_vectors.h.
#include "lm/training/word_vectors.h"

#include <algorithm>
#include <vector>

#include "data/text.h"
#include "data/word_vectors.h"

namespace rondo {

std::int64_t set_word_vectors(const Tensor& table, const Vocabulary& vocabulary,
                              const std::filesystem::path& file) {
  const std::string name = printable(file.string());
  const auto E = static_cast<std::size_t>(table.shape().columns());
  std::vector<real> rows = table.to_vector();
  std::vector<bool> is_set(static_cast<std::size_t>(vocabulary.size()));
  read_word_vectors(file, [&](std::string_view word, std::span<const double> vector) {
    check_input(vector.size() == E, "{}: vectors of {} numbers, and the embedding has {}", name,
                vector.size(), E);
    const auto id = vocabulary.id(word);
    if (!id || is_set[static_cast<std::size_t>(*id)]) return;
    is_set[static_cast<std::size_t>(*id)] = true;
    std::transform(vector.begin(), vector.end(), rows.begin() + static_cast<std::ptrdiff_t>(*id * E),
                   [](double it) { return static_cast<real>(it); });
  });
  const auto found = std::count(is_set.begin(), is_set.end(), true);
  check_input(found > 0, "{}: none of its words is in the vocabulary", name);
  table.set(rows.data());
  return found;
}

}  // namespace rondo
