// Sequences; see data/text/sequences.h.
#include "data/text/sequences.h"

#include <algorithm>
#include <random>

#include "data/text/shuffle.h"
#include "tensor/error.h"

namespace rondo {

Sequences::Sequences(std::span<const std::int32_t> ids, std::int32_t first_context, std::int64_t batch)
    : ids_(ids), first_context_(first_context), batch_(batch) {
  check_input(batch >= 1, "a batch of {}: 1 or more are needed", batch);
  check_input(!ids.empty(), "the text has no symbol");
}

Sequences Sequences::lines(std::span<const std::int32_t> ids, std::int32_t line_end, std::int64_t batch) {
  Sequences made(ids, line_end, batch);
  for (std::int64_t begin = 0; begin < std::ssize(ids);) {
    const auto end = std::find(ids.begin() + begin, ids.end(), line_end);
    const std::int64_t length = end - ids.begin() - begin + (end != ids.end());
    made.sequences_.push_back({begin, length});
    begin += length;
  }
  return made;
}

Sequences Sequences::crops(std::span<const std::int32_t> ids, std::int64_t length, std::int64_t batch) {
  Sequences made(ids, 0, batch);
  made.crop_ = length;
  check_input(length >= 1 && std::ssize(ids) > 2 * length,
              "crops of {} symbols need a text of more than {}, and it has {}", length, 2 * length,
              ids.size());
  made.seek(0, 0, 0);
  return made;
}

Sequences Sequences::fixed(std::span<const std::int32_t> ids, std::int64_t length, std::int64_t batch) {
  Sequences made(ids, 0, batch);
  check_input(length >= 1 && std::ssize(ids) >= 2,
              "sequences of {} symbols of a text of {}: 1 or more of 2 or more are needed", length,
              ids.size());
  for (std::int64_t begin = 1; begin < std::ssize(ids); begin += length)
    made.sequences_.push_back({begin, std::min(length, std::ssize(ids) - begin)});
  return made;
}

void Sequences::order_by_length() { std::stable_sort(sequences_.begin(), sequences_.end(), longer); }

std::int64_t Sequences::length() const { return (std::ssize(sequences_) + batch_ - 1) / batch_; }

std::int64_t Sequences::scored() const {
  std::int64_t sum = 0;
  for (const Sequence& sequence : sequences_) sum += sequence.length;
  return sum;
}

void Sequences::seek(std::uint64_t seed, std::int64_t epoch, std::int64_t position) {
  std::mt19937_64 random = epoch_generator(seed, epoch);
  if (crop_ > 0) {
    const std::int64_t offset =
        epoch > 0 ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(crop_)) : 0;
    sequences_.clear();  // one less than fit from offset 0, so that every epoch has the same number
    for (std::int64_t i = 0; i < (std::ssize(ids_) - 1) / crop_ - 1; ++i)
      sequences_.push_back({1 + offset + i * crop_, crop_});
  } else {
    std::sort(sequences_.begin(), sequences_.end(),
              [](const Sequence& a, const Sequence& b) { return a.begin < b.begin; });
  }
  if (epoch > 0) shuffle(sequences_, random);
  check(position >= 0 && position <= length(), "[sequences] a position from 0 to {} was expected: {}",
        length(), position);
  position_ = position;
}

void Sequences::seek_extreme(Extreme extreme, bool with_padding) {
  std::vector<std::int64_t> symbols;  // of each chunk
  for (std::int64_t begin = 0; begin < std::ssize(sequences_); begin += batch_) {
    std::int64_t longest = 0, sum = 0;
    for (std::int64_t i = begin; i < std::min(begin + batch_, std::ssize(sequences_)); ++i) {
      longest = std::max(longest, sequences_[static_cast<std::size_t>(i)].length);
      sum += sequences_[static_cast<std::size_t>(i)].length;
    }
    symbols.push_back(with_padding ? longest : sum);
  }
  const auto [least, most] = std::minmax_element(symbols.begin(), symbols.end());
  position_ = (extreme == Extreme::largest ? most : least) - symbols.begin();
}

bool Sequences::next(Chunk& chunk) {
  if (position_ == length()) return false;
  const std::int64_t first = position_ * batch_, count = std::min(batch_, std::ssize(sequences_) - first);
  std::vector<Sequence> rows(sequences_.begin() + first, sequences_.begin() + first + count);
  std::stable_sort(rows.begin(), rows.end(), longer);
  chunk.steps = rows.front().length;
  chunk.streams = batch_;
  chunk.scored = 0;
  chunk.from_zero_state = true;
  chunk.inputs.assign(static_cast<std::size_t>(chunk.steps * batch_), 0);
  chunk.targets.assign(chunk.inputs.size(), Chunk::ignore_index);
  chunk.lengths.assign(static_cast<std::size_t>(batch_), 0);
  for (std::int64_t b = 0; b < count; ++b) {
    const auto [begin, length] = rows[static_cast<std::size_t>(b)];
    for (std::int64_t t = 0; t < length; ++t) {
      const auto place = static_cast<std::size_t>(t * batch_ + b);
      const std::int64_t source = begin + t;
      chunk.inputs[place] = source > 0 ? ids_[static_cast<std::size_t>(source - 1)] : first_context_;
      chunk.targets[place] = ids_[static_cast<std::size_t>(source)];
    }
    chunk.lengths[static_cast<std::size_t>(b)] = length;
    chunk.scored += length;
  }
  ++position_;
  return true;
}

std::vector<Chunk> pieces_without_padding(const Chunk& chunk, std::int64_t steps) {
  std::vector<Chunk> pieces;
  for (std::int64_t begin = 0; begin < chunk.steps; begin += steps) {
    const std::int64_t alive = std::count_if(chunk.lengths.begin(), chunk.lengths.end(),
                                             [&](std::int64_t length) { return length > begin; });
    if (alive == 0) break;
    const std::int64_t end = std::min(begin + steps, chunk.lengths.front());
    pieces.push_back(part_of(chunk, begin, end, 0, alive));
  }
  return pieces;
}

}  // namespace rondo
