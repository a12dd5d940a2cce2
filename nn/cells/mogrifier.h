// Mogrifier: input and state scale each other before the gates read them. Melis, Kocisky & Blunsom 2020,
// "Mogrifier LSTM", (1), (2). From x_(-1) = x and h_0 = h, in rounds i = 1 to r,
//
//   x_i = 2 s(Q_i h_(i-1)) x_(i-2)    for odd i      (1)
//   h_i = 2 s(R_i x_(i-1)) h_(i-2)    for even i     (2)
//
// and the gates read the last x and the last h. weight_q_i is Q_i [I, H], weight_r_i is R_i [H, I]; with a
// rank k above 0 each is a product of two factors, weight_q_i_left [I, k] and weight_q_i_right [k, H]
// (section 2). The paper has it in an LSTM; the GRU is ours, and its update gate keeps h itself. s is the
// sigmoid.
#pragma once

#include <memory>
#include <vector>

#include "nn/cells/join.h"

namespace rondo {

struct MogrifierSettings {
  int64_t mogrifier_rounds = 5, mogrifier_rank = 0;
};
inline Keys keys_of(MogrifierSettings& it) {
  return {{"mogrifier_rounds", &it.mogrifier_rounds, between(0, 100), "rounds",
           "in which input and state scale each other; 0: the plain cell"},
          {"mogrifier_rank", &it.mogrifier_rank, between(0, 1'000'000), "units",
           "between the two factors of each matrix of a round; 0: one matrix of full rank"}};
}

class Mogrifier {
 public:
  using Settings = SettingsOf<MogrifierSettings>;
  static constexpr auto weight_name = "weight_hh";
  static constexpr auto reads = Projection::Reads::step;

  explicit Mogrifier(Cell& cell);
  static int64_t width(const CellOptions& options) { return options.hidden_size; }
  /// Returns the last h; replaces the step's input by the last x.
  Variable operator()(StepInputs& x, const State& previous) const;

 private:
  /// Q_i or R_i: one matrix, or two factors.
  struct Map {
    Map(Cell& cell, const std::string& name, int64_t to, int64_t from);
    Variable operator()(const Variable& x) const;
    std::vector<std::unique_ptr<Recurrent>> factors;  // the right one first
  };
  std::vector<std::unique_ptr<Map>> rounds_;
};

}  // namespace rondo
