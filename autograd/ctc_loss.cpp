// The CTC loss: what its kernels need of the targets, and their launches.
#include "autograd/ctc_loss.h"

#include <algorithm>
#include <numeric>

#include "tensor/kernels/kernels.h"

namespace rondo {

bool fits_into(const std::vector<int32_t>& labels, int64_t frames) {
  int64_t needed = std::ssize(labels);
  for (size_t j = 1; j < labels.size(); ++j) needed += labels[j] == labels[j - 1];
  return needed <= frames;
}

CtcTargets::CtcTargets(const std::vector<std::vector<int32_t>>& of_each, const Lengths& frames_of_each) {
  check(of_each.size() == frames_of_each.size(),
        "[ctc_loss] {} sequences of labels need as many lengths, got {}", of_each.size(),
        frames_of_each.size());
  std::vector<int32_t> frame_counts, label_counts;
  for (size_t b = 0; b < of_each.size(); ++b) {
    const std::vector<int32_t>& mine = of_each[b];
    check(frames_of_each[b] >= 0, "[ctc_loss] sequence {} has {} frames", b, frames_of_each[b]);
    for (const int32_t label : mine)
      check(label > ctc_blank, "[ctc_loss] label {} of sequence {} is not above {}, the blank", label, b,
            ctc_blank);
    const bool fits = fits_into(mine, frames_of_each[b]);
    skips_.push_back(!fits);
    skipped_ += !fits;
    frame_counts.push_back(fits ? static_cast<int32_t>(frames_of_each[b]) : 0);
    label_counts.push_back(fits ? static_cast<int32_t>(mine.size()) : 0);
    most = std::max<int64_t>(most, label_counts.back());
    most_frames = std::max(most_frames, frames_of_each[b]);
    for (const int32_t label : mine) largest_label = std::max(largest_label, label);
  }

  const int64_t B = std::ssize(of_each), width = ctc_room(most) + 1;
  std::vector<int32_t> padded(static_cast<size_t>(B * most)), sorted(padded.size());
  skip.assign(static_cast<size_t>(B * width), 0);
  for (int64_t b = 0; b < B; ++b) {
    const std::vector<int32_t>& mine = of_each[static_cast<size_t>(b)];
    if (skips(b)) continue;
    std::ranges::copy(mine, padded.begin() + b * most);
    const auto first = sorted.begin() + b * most, last = first + std::ssize(mine);
    std::iota(first, last, 0);
    std::stable_sort(first, last, [&](int32_t i, int32_t j) {
      return mine[static_cast<size_t>(i)] < mine[static_cast<size_t>(j)];
    });
    for (size_t j = 1; j < mine.size(); ++j)
      if (mine[j] == mine[j - 1]) skip[static_cast<size_t>(b * width) + j] = ctc_log_zero;
  }
  frames = tokens(std::move(frame_counts));
  counts = tokens(std::move(label_counts));
  labels = tokens(std::move(padded));
  order = tokens(std::move(sorted));
}

Variable ctc_loss(const Variable& scores, const CtcTargets& targets) {
  constexpr auto name = "ctc_loss";
  const int64_t B = targets.sequences();
  check(scores.shape().dimensions() == 3 && scores.shape()[1] == B,
        "[{}] scores [T, B, V] are needed for {} sequences, got {}", name, B, scores.shape());
  const int64_t T = scores.shape()[0], V = scores.shape()[2];
  check(targets.most_frames <= T, "[{}] a sequence has {} frames, of which scores {} have {}", name,
        targets.most_frames, scores.shape(), T);
  check(targets.largest_label < V, "[{}] label {} is not in [1, {}), as scores {} require", name,
        targets.largest_label, V, scores.shape());

  const Tensor& x = scores.value();
  const Device device = x.device();
  const bool both = recording() && scores.needs_gradient();
  const auto labels = [frames = targets.frames, counts = targets.counts, ids = targets.labels,
                       order = targets.order, most = targets.most, B](Device on) {
    return CtcLabels{frames->on(on), counts->on(on), ids->on(on), order->on(on), B, most};
  };
  const int64_t room = ctc_room(targets.most), width = CtcStates::width(room);
  const Tensor log_sum_exp({T * B}, device), loss({B}, device);
  const Tensor emissions({T * B, room + 1}, device), states({T * B, width}, device);
  const Tensor skip = Tensor::from(targets.skip, {B * (room + 1)}, device), scratch({2 * B * width}, device);
  launch(
      device, x.extent(),
      CtcEmissions{x.read_operand(), labels(device), log_sum_exp.mutable_data(), emissions.write_operand()});
  launch(device, {B, T * width},
         CtcForwardBackward{emissions.read_operand(), skip.data(), labels(device), both,
                            states.write_operand(), scratch.mutable_data(), loss.mutable_data()});

  const auto gradient = [labels, x = Saved(x), log_sum_exp, states, loss](const Tensor& dy) {
    const Tensor& from = x.get(name);
    const Tensor dx(from.shape(), from.device()), dloss = contiguous(dy);
    launch(dx.device(), dx.extent(),
           CtcGradient{from.read_operand(), log_sum_exp.data(), labels(dx.device()), states.write_operand(),
                       loss.data(), dloss.data(), dx.write_operand()});
    return dx;
  };
  return record_unary(name, loss, scores, gradient);
}

}  // namespace rondo
