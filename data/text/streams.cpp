// Streams and sequences; see data/text/streams.h.
#include "data/text/streams.h"

#include <algorithm>
#include <map>

#include "tensor/error.h"

namespace rondo {

// --- Chunks ---

namespace {

/// Makes a chunk of streams that have `lengths` steps, without more; the target of step t of stream b is
/// id(b, t), and its input id(b, t - 1).
template <class Id>
void fill(Chunk& chunk, std::int64_t steps, std::vector<std::int64_t> lengths, bool from_zero_state, Id id) {
  const std::int64_t B = std::ssize(lengths);
  chunk = {.steps = steps, .streams = B, .lengths = std::move(lengths), .from_zero_state = from_zero_state};
  chunk.inputs.assign(static_cast<std::size_t>(steps * B), 0);
  chunk.targets.assign(chunk.inputs.size(), Chunk::ignore_index);
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t length = chunk.lengths[static_cast<std::size_t>(b)];
    for (std::int64_t t = 0; t < length; ++t) {
      const auto place = static_cast<std::size_t>(t * B + b);
      chunk.inputs[place] = id(b, t - 1);
      chunk.targets[place] = id(b, t);
    }
    chunk.scored += length;
  }
}

}  // namespace

Chunk part_of(const Chunk& chunk, std::int64_t begin, std::int64_t end, std::int64_t first,
              std::int64_t count) {
  Chunk part;
  part.steps = end - begin;
  part.streams = count;
  part.from_zero_state = chunk.from_zero_state && begin == 0;
  for (std::int64_t t = begin; t < end; ++t) {
    const std::int64_t row = t * chunk.streams + first;
    part.inputs.insert(part.inputs.end(), chunk.inputs.begin() + row, chunk.inputs.begin() + row + count);
    part.targets.insert(part.targets.end(), chunk.targets.begin() + row, chunk.targets.begin() + row + count);
  }
  for (std::int64_t b = first; b < first + count; ++b) {
    part.lengths.push_back(
        std::clamp<std::int64_t>(chunk.lengths[static_cast<std::size_t>(b)] - begin, 0, part.steps));
    part.scored += part.lengths.back();
  }
  return part;
}

// --- Streams ---

Streams::Streams(std::span<const std::int32_t> ids, std::int64_t streams, std::int64_t warm_up,
                 bool drop_tail)
    : ids_(ids), streams_(streams), warm_up_(warm_up) {
  check_input(streams >= 1, "{} streams: 1 or more are needed", streams);
  check_input(ids.size() >= 2, "a text of {} symbols: 2 or more are needed, the first being context",
              ids.size());
  const std::int64_t targets = static_cast<std::int64_t>(ids.size()) - 1 + (streams - 1) * warm_up;
  base_ = targets / streams;
  longer_ = drop_tail ? 0 : targets % streams;
}

Streams Streams::for_training(std::span<const std::int32_t> ids, std::int64_t streams) {
  Streams made(ids, streams, 0, true);
  check_input(made.length() >= 1,
              "a batch of {} streams needs {} symbols or more, and the training text has {}", streams,
              streams + 1, ids.size());
  return made;
}

Streams Streams::for_evaluation(std::span<const std::int32_t> ids, std::int64_t streams,
                                std::int64_t warm_up) {
  check(warm_up == 0 || std::ssize(ids) > streams + warm_up,
        "[streams] {} streams after {} symbols each are too many for {} symbols", streams, warm_up,
        ids.size());
  return Streams(ids, streams, warm_up, false);
}

bool Streams::next(std::int64_t steps, Chunk& chunk) {
  check(steps >= 1, "[streams] a chunk of 1 step or more was expected: {}", steps);
  steps = std::min(steps, length() - position_);
  if (steps == 0) return false;

  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < streams_; ++b)
    lengths.push_back(std::min(steps, base_ + (b < longer_) - position_));
  fill(chunk, steps, std::move(lengths), false, [&](std::int64_t b, std::int64_t t) {
    return ids_[static_cast<std::size_t>(b * (base_ - warm_up_) + std::min(b, longer_) + position_ + t + 1)];
  });
  for (std::int64_t t = 0; t < steps && position_ + t < warm_up_; ++t)
    for (std::int64_t b = 1; b < streams_; ++b) {
      chunk.targets[static_cast<std::size_t>(t * streams_ + b)] = Chunk::ignore_index;
      --chunk.scored;
    }
  position_ += steps;
  return true;
}

void Streams::seek(std::int64_t position) {
  check(position >= 0 && position <= length(), "[streams] a position from 0 to {} was expected: {}", length(),
        position);
  position_ = position;
}

// --- Sequences ---

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

void Sequences::order_by_length() { std::ranges::stable_sort(sequences_, longer); }

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
    std::ranges::sort(sequences_, {}, &Sequence::begin);
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
  std::ranges::stable_sort(rows, longer);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch_));
  std::ranges::transform(rows, lengths.begin(), [](const Sequence& it) { return it.length; });
  fill(chunk, rows.front().length, std::move(lengths), true, [&](std::int64_t b, std::int64_t t) {
    const std::int64_t source = rows[static_cast<std::size_t>(b)].begin + t;
    return source < 0 ? first_context_ : ids_[static_cast<std::size_t>(source)];
  });
  ++position_;
  return true;
}

std::vector<Chunk> pieces_without_padding(const Chunk& chunk, std::int64_t steps) {
  std::vector<Chunk> pieces;
  for (std::int64_t begin = 0; begin < chunk.steps; begin += steps) {
    const std::int64_t alive =
        std::ranges::count_if(chunk.lengths, [&](std::int64_t length) { return length > begin; });
    if (alive == 0) break;
    const std::int64_t end = std::min(begin + steps, chunk.lengths.front());
    pieces.push_back(part_of(chunk, begin, end, 0, alive));
  }
  return pieces;
}

// --- Shared prefixes ---

SharedPrefixes::SharedPrefixes(std::vector<std::span<const std::int32_t>> sequences, std::int64_t rows)
    : sequences_(std::move(sequences)), rows_(rows), alive_(sequences_.size()), streams_(sequences_.size()) {
  check(std::ranges::is_sorted(sequences_, [](const auto& a, const auto& b) { return a.size() > b.size(); }),
        "[shared prefixes] sequences from the longest to the shortest were expected");
}

/// Divides the sequences into the streams of the next piece; returns the longest sequence of each.
std::vector<std::size_t> SharedPrefixes::group(Piece& piece) {
  const auto at = static_cast<std::size_t>(begin_);
  std::map<std::pair<std::int64_t, std::pair<std::int32_t, std::int32_t>>, std::int64_t> found;
  std::vector<std::size_t> longest;
  piece.continues.clear();
  for (std::size_t i = 0; i < alive_; ++i) {
    const std::span<const std::int32_t> ids = sequences_[i];
    const auto [entry, is_new] =
        found.try_emplace({streams_[i], {ids[at], ids[at + 1]}}, std::ssize(longest));
    if (is_new) {
      longest.push_back(i);
      piece.continues.push_back(static_cast<std::int32_t>(streams_[i]));
    }
    streams_[i] = entry->second;
  }
  return longest;
}

bool SharedPrefixes::next(Piece& piece) {
  begin_ += std::exchange(steps_, 0);
  while (alive_ > 0 && targets(alive_ - 1) <= begin_) --alive_;
  if (alive_ == 0) return false;
  const std::vector<std::size_t> longest = group(piece);
  const std::int64_t streams = std::ssize(longest);
  steps_ = std::min(std::max<std::int64_t>(1, rows_ / streams), targets(0) - begin_);
  const auto id = [&](std::size_t sequence, std::int64_t t) {
    return sequences_[sequence][static_cast<std::size_t>(begin_ + t)];
  };
  for (std::size_t i = 0; i < alive_; ++i) {  // up to where sequences of a stream begin to differ
    const std::size_t other = longest[static_cast<std::size_t>(streams_[i])];
    for (std::int64_t t = 1; t < steps(i); ++t)
      if (id(i, t + 1) != id(other, t + 1)) steps_ = t;
  }

  std::vector<std::int64_t> lengths;
  for (const std::size_t sequence : longest) lengths.push_back(steps(sequence));
  fill(piece.chunk, steps_, std::move(lengths), begin_ == 0,
       [&](std::int64_t b, std::int64_t t) { return id(longest[static_cast<std::size_t>(b)], t + 1); });
  return true;
}

std::int64_t SharedPrefixes::steps(std::size_t sequence) const {
  return std::clamp<std::int64_t>(targets(sequence) - begin_, 0, steps_);
}

}  // namespace rondo
