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

#include "nn/cells/gates.h"
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

  explicit Mogrifier(Cell& cell) {
    const int64_t I = cell.options.input_size, H = cell.hidden();
    for (int64_t i = 1; i <= cell.settings<MogrifierSettings>().mogrifier_rounds; ++i) {
      const bool scales_input = i % 2 == 1;
      rounds_.push_back(scales_input ? std::make_unique<Map>(cell, fmt::format("weight_q_{}", i), I, H)
                                     : std::make_unique<Map>(cell, fmt::format("weight_r_{}", i), H, I));
    }
  }

  static int64_t width(const CellOptions& options) { return options.hidden_size; }
  /// Returns the last h; replaces the step's input by the last x.
  Variable operator()(StepInputs& x, const State& previous) const {
    Variable input = x.input(), h = previous.h;
    bool scales_input = true;
    for (const auto& map : rounds_) {
      Variable& scaled = scales_input ? input : h;
      scaled = pointwise(Mogrify{}, (*map)(scales_input ? h : input), scaled);
      scales_input = !scales_input;
    }
    x.set_input(input);
    return h;
  }

 private:
  /// Q_i or R_i: one matrix, or two factors.
  struct Map {
    Map(Cell& cell, const std::string& name, int64_t to, int64_t from) {
      const int64_t rank = cell.settings<MogrifierSettings>().mogrifier_rank;
      if (rank == 0) {
        factors.push_back(std::make_unique<Recurrent>(cell, name, GateRows{to}, from));
      } else {
        factors.push_back(std::make_unique<Recurrent>(cell, name + "_right", GateRows{rank}, from));
        factors.push_back(std::make_unique<Recurrent>(cell, name + "_left", GateRows{to}, rank));
      }
    }
    Variable operator()(const Variable& x) const {
      Variable result = x;
      for (const auto& factor : factors) result = linear(result, *factor);
      return result;
    }

    std::vector<std::unique_ptr<Recurrent>> factors;  // the right one first
  };
  std::vector<std::unique_ptr<Map>> rounds_;
};

}  // namespace rondo
