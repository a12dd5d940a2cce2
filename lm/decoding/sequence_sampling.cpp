// Sentences sampled from a model; see lm/decoding/sequence_sampling.h.
#include "lm/decoding/sequence_sampling.h"

#include <cmath>
#include <numeric>

#include "tensor/error.h"
#include "tensor/random.h"

namespace rondo {

std::vector<Hypothesis> sample_sentences(Predictor& predictor, const SearchSymbols& symbols,
                                         const SamplingOptions& options, int64_t max_length,
                                         const std::vector<int64_t>& numbers) {
  check_symbols(symbols, predictor);
  check(std::ssize(numbers) == predictor.sentences() && max_length > 0,
        "[sampling] numbers of {} sentences and a length of 1 or more were expected: {}, {}",
        predictor.sentences(), numbers.size(), max_length);
  const int32_t banned = options.allow_unknown ? -1 : symbols.unknown.value_or(-1);

  std::vector<Hypothesis> results(numbers.size());
  std::vector<size_t> columns(numbers.size());  // the sentence of each row: K = 1
  std::iota(columns.begin(), columns.end(), 0);
  std::vector<int32_t> ids(numbers.size(), symbols.end);
  for (int64_t step = 0; step < max_length && !columns.empty(); ++step) {
    const Tensor log_p = next_on_host(predictor, ids).log_p;
    const RandomKey key{
        .seed = options.seed, .name = hash_of("sentences"), .draw = static_cast<uint32_t>(step)};
    std::vector<int64_t> rows;
    std::vector<size_t> unfinished;
    ids.clear();
    for (size_t row = 0; row < columns.size(); ++row) {
      const auto number = static_cast<uint64_t>(numbers[columns[row]]);
      const std::vector<real> next = log_p[static_cast<int64_t>(row)].to_vector();
      const int32_t id = sample_symbol(next, options, uniform_from(key.bits(number)), banned);
      const double added = next[static_cast<size_t>(id)];
      check(std::isfinite(added), "[sampling] no symbol has a probability");
      Hypothesis& sentence = results[columns[row]];
      sentence.score = sentence.log_p += added;
      sentence.finished = id == symbols.end;
      if (sentence.finished) continue;
      sentence.ids.push_back(id);
      ids.push_back(id);
      rows.push_back(static_cast<int64_t>(row));
      unfinished.push_back(columns[row]);
    }
    if (!rows.empty()) select_rows(predictor, rows, rows, log_p.rows());
    columns = std::move(unfinished);
  }
  return results;
}

}  // namespace rondo
