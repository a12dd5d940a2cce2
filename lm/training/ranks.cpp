// Sums of gradients, piece by piece.
#include "lm/training/ranks.h"

#include <algorithm>

namespace rondo {

GradientSum::GradientSum(const Module& model, Ranks& ranks, int64_t least)
    : gradients_(model.gradients()), ranks_(ranks) {
  int64_t end = gradients_.size(), parameters = 0;
  for (auto it = model.segments().rbegin(); it != model.segments().rend(); ++it) {
    ++parameters;
    if (it->offset > 0 && end - it->offset < least) continue;
    pieces_.push_back({it->offset, end, parameters});
    end = it->offset, parameters = 0;
  }
}

GradientSum::GradientSum(const Module& model, Ranks& ranks)
    : GradientSum(model, ranks, std::max(int64_t{1} << 22, model.values().size() / 4)) {}

void GradientSum::begin() {
  for (Piece& it : pieces_) it.missing = it.parameters;
  begun_ = 0;
}

void GradientSum::begin_next_piece() {
  const Piece& it = pieces_[begun_++];
  ranks_.begin_add_up(gradients_.slice(it.begin, it.end));
}

void GradientSum::completed(const Tensor& gradient) {
  const int64_t place = gradient.data() - gradients_.data();
  const auto piece = std::ranges::find_if(pieces_, [&](const Piece& it) { return it.begin <= place; });
  --piece->missing;
  while (begun_ < pieces_.size() && pieces_[begun_].missing == 0) begin_next_piece();
}

void GradientSum::finish() {
  while (begun_ < pieces_.size()) begin_next_piece();
  ranks_.end_add_up(gradients_.device());
}

}  // namespace rondo
