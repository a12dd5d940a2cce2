// Deep transition: layers between one state and the next. Pascanu et al. 2013.
//
//   u_1 = tanh(W x + U h + b_1)     u_k = tanh(V_k u_(k-1) + b_k)     h' = u_L           DT-RNN
//   u_L = tanh(V_L u_(L-1) + S h + b_L)                                                  DT(S)-RNN
//
// u_1 to u_(L-1) are the inner layers, whose number and sizes are TransitionSettings; u_L has H units. DT(S)
// adds a shortcut from h around them; that S h is added inside the tanh is our reading. Layers between h' and
// the output, instead of or in addition to those between h and h' (DO-RNN; DOT-RNN, DOT(S)-RNN), are the
// model's output layers (LanguageModelOptions::output_layers), and a stacked RNN is several layers of
// nn/cells/rnn.h. Each layer has one b.
//
// With the gates of an LSTM or a GRU the inner layers lie between h and the gates, which read u instead of h;
// x enters as usual, and the c or h that the gates keep bypasses the inner layers: DeepTransition is their
// recurrent input. Ours, after the same paper.
#pragma once

#include "autograd/operators/functions.h"
#include "nn/cells/join.h"

namespace rondo {

struct TransitionSettings {
  std::vector<int64_t> transition{};

  /// Sizes of the inner layers.
  std::vector<int64_t> sizes(const CellOptions& options) const {
    return transition.empty() ? std::vector{options.hidden_size} : transition;
  }
};
inline Keys keys_of(TransitionSettings& it) {
  return {{"transition", &it.transition, any_width(), "units",
           "widths of the inner layers; []: one, as wide as the state"}};
}

/// Layers in sequence, tanh(V_k u + b_k): weight_k is V_k, bias_k is b_k.
class Layers {
 public:
  /// Layers of these sizes over a vector of size `from`; the first has the number `first`.
  Layers(Cell& cell, int64_t from, const std::vector<int64_t>& sizes, int64_t first) {
    for (const int64_t to : sizes) {
      layers_.push_back(std::make_unique<Layer>(cell, first++, from, to));
      from = to;
    }
  }
  /// [B, from] to [B, the last size].
  Variable operator()(Variable u) const {
    for (const auto& layer : layers_) u = tanh(linear(u, layer->V, {layer->b}));
    return u;
  }

 private:
  struct Layer {
    Layer(Cell& cell, int64_t number, int64_t from, int64_t to)
        : V(cell, fmt::format("weight_{}", number), {to}, from),
          b(cell, fmt::format("bias_{}", number), {to}, cell.options.biases) {}
    Recurrent V;
    Parameter b;
  };
  std::vector<std::unique_ptr<Layer>> layers_;
};

/// The inner layers as a recurrent input: u, a function of h.
class DeepTransition {
 public:
  using Settings = SettingsOf<TransitionSettings>;
  static constexpr auto weight_name = "weight_hh";
  static constexpr auto reads = Projection::Reads::input;

  explicit DeepTransition(Cell& cell)
      : layers_(cell, cell.hidden(), cell.settings<TransitionSettings>().sizes(cell.options), 1) {}
  static int64_t width(const CellOptions& options) {
    return options.settings.get<TransitionSettings>().sizes(options).back();
  }
  Variable operator()(StepInputs&, const State& previous) const { return layers_(previous.h); }

 private:
  Layers layers_;
};

/// weight_ih is W, weight_hh is U, bias_1 is b_1; weight_k is V_k, bias_k is b_k.
struct DeepTransitionRnn : Cell {
  using Settings = SettingsOf<GateBiasSettings, TransitionSettings>;

  DeepTransitionRnn(Module& parent, const std::string& suffix, const CellOptions& cell_options)
      : Cell(parent, suffix, cell_options),
        b(*this, "bias_1", {sizes.front()}, options.biases),
        W(*this, "weight_ih", {sizes.front()}, {&b}),
        U(*this, "weight_hh", {sizes.front()}, hidden()),
        inner(*this, sizes.front(), {sizes.begin() + 1, sizes.end()}, 2),
        V(*this, fmt::format("weight_{}", sizes.size() + 1), {hidden()}, sizes.back()),
        b_last(*this, fmt::format("bias_{}", sizes.size() + 1), {hidden()}, options.biases) {
    check_has_one_bias(*this);
  }

  State step(StepInputs& x, const State& previous) override { return {tanh(last(x, previous))}; }

  const std::vector<int64_t> sizes = settings<TransitionSettings>().sizes(options);
  Parameter b;
  Projection W;
  Recurrent U;
  Layers inner;
  Recurrent V;
  Parameter b_last;

 protected:
  /// V_L u_(L-1) + b_L.
  Variable last(StepInputs& x, const State& previous) {
    return linear(inner(tanh(add_linear(x.take(W), previous.h, U))), V, {b_last});
  }
};

/// weight_shortcut is S [H, H].
struct DeepTransitionRnnWithShortcut : DeepTransitionRnn {
  using DeepTransitionRnn::DeepTransitionRnn;

  State step(StepInputs& x, const State& previous) override {
    return {tanh(add_linear(last(x, previous), previous.h, S))};
  }

  Recurrent S{*this, "weight_shortcut", {hidden()}, hidden()};
};

}  // namespace rondo
