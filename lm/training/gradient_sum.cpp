// Sums of gradients, piece by piece.
#include "lm/training/gradient_sum.h"

namespace rondo {

GradientSum::GradientSum(const Module& model, Ranks& ranks, int64_t least)
    : gradients_(model.gradients()), ranks_(ranks) {
  int64_t end = gradients_.size();
  for (auto segment = model.segments().rbegin(); segment != model.segments().rend(); ++segment)
    if (segment->offset == 0 || end - segment->offset >= least) begins_.push_back(end = segment->offset);
}

void GradientSum::begin_pieces_from(int64_t place) {
  for (; begun_ < begins_.size() && begins_[begun_] >= place; ++begun_) {
    const int64_t end = begun_ == 0 ? gradients_.size() : begins_[begun_ - 1];
    ranks_.begin_add_up(gradients_.slice(begins_[begun_], end));
  }
}

void GradientSum::completed(const Tensor& gradient) {
  begin_pieces_from(gradient.data() - gradients_.data());
}

void GradientSum::finish() {
  begin_pieces_from(0);
  begun_ = 0;
  ranks_.end_add_up(gradients_.device());
}

}  // namespace rondo
