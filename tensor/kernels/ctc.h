// Kernels of the CTC loss (Graves, Fernandez, Gomez & Schmidhuber 2006, whose equations are meant below), in
// the order in which autograd/ctc_loss.cpp launches them. What is computed: autograd/ctc_loss.h.
//
// A path through the frames of a sequence visits its n labels in order, with an optional blank before,
// between and after them: the 2 n + 1 states of l' (section 4.1). Here blanks and labels lie side by side,
// blank j before label j. So an update is a loop over consecutive numbers, and a blank, which cannot be
// reached by skipping a state, is spared the third term of (6). There is room for whole registers of states;
// those behind a sequence's last one have probability 0 by the same updates.
#pragma once

#include "tensor/kernels/softmax.h"

namespace rondo {

/// The logarithm of 0: below all that occurs, but finite, so that no difference of two is NaN.
constexpr real ctc_log_zero = real(-1e30);

/// The room for `count` labels, and for the blanks around them, of which there is one more.
HD constexpr int64_t ctc_room(int64_t count) { return count / 16 * 16 + 16; }

/// The states of a frame, in a row of 2 room + 2 numbers, or the first `used` of them. labels[-1],
/// labels[used] and blanks[used] may be read: no path comes there.
struct CtcStates {
  HD static constexpr int64_t width(int64_t room) { return 2 * room + 2; }
  HD CtcStates(real* row, int64_t room) : blanks(row), labels(row + room + 1) {}
  HD void set_ends(auto used) const {
    if (used.first()) labels[-1] = labels[used.columns] = blanks[used.columns] = ctc_log_zero;
  }
  /// The state in which all paths begin or end: blank j.
  HD void set_only(auto used, int64_t j) const {
    fill_row(used, blanks, ctc_log_zero);
    fill_row(used, labels, ctc_log_zero);
    if (used.owns(j)) blanks[j] = 0;
    set_ends(used);
  }
  /// Divides probabilities by the largest of them, and returns its logarithm.
  HD real rescale(auto used) const {
    const real of_blanks = used.maximum(blanks), of_labels = used.maximum(labels);
    const real largest = of_blanks >= of_labels ? of_blanks : of_labels;
    const auto shift = used.repeated(largest);
    const auto shifted = [=](auto v) { return v - shift; };
    used.map(blanks, shifted, blanks);
    used.map(labels, shifted, labels);
    return largest;
  }

  real *blanks, *labels;
};

namespace detail {

/// log(exp(a) + exp(b)); also for three.
template <class Lanes>
HD Lanes log_sum(Lanes a, Lanes b) {
  return max(a, b) + log(Lanes(1) + exp(-abs(a - b)));
}
template <class Lanes>
HD Lanes log_sum(Lanes a, Lanes b, Lanes c) {
  const Lanes upper = max(a, b), largest = max(upper, c);
  return largest + log(Lanes(1) + exp(min(upper, c) - largest) + exp(min(a, b) - largest));
}

}  // namespace detail

/// The labels of a batch of sequences, of which none has more than `most`: labels[b * most + j], from 1 on.
struct CtcLabels {
  const int32_t *frames, *counts;  // of each sequence
  const int32_t* labels;
  const int32_t* order;  // the positions j of each sequence, sorted by label
  int64_t batch, most;

  HD int64_t room() const { return ctc_room(most); }
  HD int64_t states_width() const { return CtcStates::width(room()); }
  /// Frame t of sequence b is row t * batch + b.
  HD bool has_frame(int64_t r) const { return r / batch < frames[r % batch]; }

  /// Calls f(label, sum of values[j] over the positions j with that label), for each label of sequence b.
  HD void for_label_sums(auto row, int64_t b, const real* values, auto f) const {
    const int32_t *label = labels + b * most, *by_label = order + b * most;
    const int64_t count = counts[b];
    row.with_columns(count).for_each([=](int64_t i) {
      const int32_t mine = label[by_label[i]];
      if (i > 0 && label[by_label[i - 1]] == mine) return;  // only for the first position of a label
      real sum = 0;
      for (int64_t k = i; k < count && label[by_label[k]] == mine; ++k) sum += values[by_label[k]];
      f(mine, sum);
    });
  }
};

/// log y of each frame, from the scores x: a column for each label of its sequence, then log 0; column `room`
/// is the blank. Also computes log_sum_exp[r], which the softmax of the gradient needs.
struct CtcEmissions {
  static constexpr auto visit = Visit::rows;
  Operand x;
  CtcLabels of;
  real* log_sum_exp;
  Operand emissions;
  HD void operator()(auto row, int64_t r) const {
    if (!of.has_frame(r)) return;
    const int64_t b = r % of.batch, count = of.counts[b], room = of.room();
    const int32_t* label = of.labels + b * of.most;
    const real *scores = row_of(x, r), total = detail::log_sum_exp_of(row, row.keep(scores)).value();
    const auto log_y = [=](int32_t k) {
      const real value = scores[k] - total;
      return value < ctc_log_zero ? ctc_log_zero : value;  // and NaN stays NaN
    };
    real* to = row_of(emissions, r);
    row.with_columns(room).for_each([=](int64_t j) { to[j] = j < count ? log_y(label[j]) : ctc_log_zero; });
    if (!row.first()) return;
    to[room] = log_y(0);
    log_sum_exp[r] = total;
  }
};

/// The loss of each sequence by the forward variables alpha, (6) to (8); if `both`, the backward variables
/// beta, (10) and (11), as well: states[t] becomes log alpha_t(s) beta_t(s) / y_t(s), up to a number that all
/// states of a frame share and that (16) cancels. A row of work is a sequence.
struct CtcForwardBackward {
  static constexpr auto visit = Visit::rows;
  /// The paper divides by C_t in each frame, against underflow. Logarithms do not underflow, but far from 0
  /// they have few digits; dividing now and then keeps the digits.
  static constexpr int64_t rescaled_every = 8;

  Operand emissions;
  const real* skip;  // [batch, room + 1]: 0, or log 0 where label j equals label j - 1
  CtcLabels of;
  bool both;
  Operand states;
  real *scratch, *loss;  // [batch, 2 rows of states], [batch]

  HD void operator()(auto row, int64_t b) const {
    const auto used = row.with_columns(ctc_room(of.counts[b]));
    forward(used, b);
    row.wait();
    if (both) backward(used, b);
  }

 private:
  HD CtcStates states_at(int64_t t, int64_t b) const { return {row_of(states, t * of.batch + b), of.room()}; }
  HD CtcStates spare(int64_t i, int64_t b) const {
    return {scratch + (2 * b + i) * of.states_width(), of.room()};
  }

  HD void forward(auto used, int64_t b) const {
    const real* may_skip = skip + b * (of.room() + 1);
    CtcStates before = spare(0, b);
    before.set_only(used, 0);
    real log_scale = 0;
    for (int64_t t = 0; t < of.frames[b]; ++t) {
      used.wait();
      const real* y = row_of(emissions, t * of.batch + b);
      const auto y_blank = used.repeated(y[of.room()]);
      const CtcStates now = states_at(t, b);
      used.map(
          now.blanks, [=](auto stay, auto label) { return y_blank + detail::log_sum(stay, label); },
          before.blanks, before.labels - 1);
      used.map(
          now.labels,
          [](auto y_label, auto stay, auto blank, auto label, auto allowed) {
            return y_label + detail::log_sum(stay, blank, label + allowed);
          },
          y, before.labels, before.blanks, before.labels - 1, may_skip);
      now.set_ends(used);
      if (t % rescaled_every == 0) log_scale += now.rescale(used);
      before = now;
    }
    used.wait();
    const int64_t n = of.counts[b];
    const real end = detail::log_sum(Scalar(before.blanks[n]), Scalar(before.labels[n - 1])).value;
    const real nats = -(log_scale + end);
    if (used.first()) loss[b] = nats >= -ctc_log_zero / 2 ? real(INFINITY) : nats;
  }

  /// `after` and `now` hold log beta_t(s), which contains y_t(s).
  HD void backward(auto used, int64_t b) const {
    const real* may_skip = skip + b * (of.room() + 1) + 1;
    CtcStates after = spare(0, b), now = spare(1, b);
    after.set_only(used, of.counts[b]);
    for (int64_t t = of.frames[b] - 1; t >= 0; --t) {
      used.wait();
      const real* y = row_of(emissions, t * of.batch + b);
      const auto y_blank = used.repeated(y[of.room()]);
      used.map(
          now.blanks, [](auto stay, auto label) { return detail::log_sum(stay, label); }, after.blanks,
          after.labels);
      used.map(
          now.labels,
          [](auto stay, auto blank, auto label, auto allowed) {
            return detail::log_sum(stay, blank, label + allowed);
          },
          after.labels, after.blanks + 1, after.labels + 1, may_skip);
      const CtcStates alpha = states_at(t, b);
      add_row(used, alpha.blanks, now.blanks);
      add_row(used, alpha.labels, now.labels);
      used.map(
          now.blanks, [=](auto v) { return v + y_blank; }, now.blanks);
      add_row(used, now.labels, y);
      now.set_ends(used);
      if (t % rescaled_every == 0) now.rescale(used);
      const CtcStates free = after;
      after = now;
      now = free;
    }
  }
};

/// dx[r] = dloss (softmax(x[r]) - posterior), (16): the posterior of a label is the share of the paths'
/// probability that passes its states. Padding, and a sequence of infinite loss, have the gradient 0.
/// Replaces the labels' states by probabilities.
struct CtcGradient {
  static constexpr auto visit = Visit::rows;
  Operand x;
  const real* log_sum_exp;
  CtcLabels of;
  Operand states;
  const real *loss, *dloss;
  Operand dx;
  HD void operator()(auto row, int64_t r) const {
    const int64_t b = r % of.batch;
    real* to = row_of(dx, r);
    if (!of.has_frame(r) || loss[b] == real(INFINITY)) return fill_row(row, to, 0);
    const CtcStates at(row_of(states, r), of.room());
    const auto used = row.with_columns(ctc_room(of.counts[b]));
    const real of_blanks = used.maximum(at.blanks), of_labels = used.maximum(at.labels);
    const auto shift = used.repeated(of_blanks >= of_labels ? of_blanks : of_labels);
    const auto shifted_exp = [=](auto v) { return exp(v - shift); };
    const real blanks = used.sum(shifted_exp, at.blanks);
    const real all = blanks + used.map_and_sum(at.labels, shifted_exp, at.labels);

    const auto factor = row.repeated(dloss[b]), denominator = row.repeated(log_sum_exp[r]);
    row.map(
        to, [=](auto v) { return factor * exp(v - denominator); }, row_of(x, r));
    row.wait();
    const real share = dloss[b] / all;
    if (row.first()) to[0] -= share * blanks;
    of.for_label_sums(row, b, at.labels, [=](int32_t label, real sum) { to[label] -= share * sum; });
  }
};

using CtcKernels = KernelList<CtcEmissions, CtcForwardBackward, CtcGradient>;

}  // namespace rondo
