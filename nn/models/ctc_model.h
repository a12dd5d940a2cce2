// The speech recogniser: a deep recurrent network reads frames in both directions, and predicts a symbol
// or none, the blank, at each step (Graves & Jaitly 2014; Miao, Gowayyed & Metze 2015, "EESEN"). Wu et al.
// 2016, "On Multiplicative Integration with Recurrent Neural Networks", section 3.3, have four layers of 320
// MI-LSTM units in each direction.
//
//   states    h_t^0 = x_t;  h_t^l = [f(h_t^(l-1), forward h_(t-1)^l) ; f(h_t^(l-1), reverse h_(t+1)^l)],
//             l = 1 .. L
//   output    y_t = softmax(W h_t^L + b),  of the blank, which is symbol 0, and of V - 1 others
//   loss      -ln p(z | x) = -ln sum over all paths of symbols and blanks that are read as z of
//             y_1(path_1) y_2(path_2) .. y_T(path_T): autograd/ctc_loss.h (Graves et al. 2006)
//
// Each utterance has a T of its own; what pads it has no effect. Data: data/speech/utterances.h. Next:
// lm/tasks/speech.h.
#pragma once

#include <vector>

#include "autograd/ctc_loss.h"
#include "nn/layers/linear.h"
#include "nn/models/sequence_model.h"

namespace rondo {

/// Its `embedding` has no use: frames are numbers.
struct CtcModelOptions : SentenceOptions {
  int64_t layers = 4;
};
Keys keys_of(CtcModelOptions& options);

class CtcModel : public Module {
 public:
  /// Lays the parameters out and draws their initial values (Module::finalize()). `width` numbers are a step;
  /// `symbols` counts the blank, too. InputErrors of check_options(); Error for fewer than two symbols.
  CtcModel(const CtcModelOptions& options, int64_t width, int64_t symbols, uint64_t seed = 1,
           Device device = Device::cpu);

  /// W h_t^L + b of all steps, [T, B, V], for frames [T, B, F]. Of the padding they have no meaning.
  Variable scores(const Variable& frames, const Lengths& lengths);

  const CtcModelOptions& options() const { return options_; }
  int64_t symbols() const { return output_.weight.shape()[0]; }
  /// The cells of all layers, in the order of RecurrentStack::cells().
  std::vector<Cell*> cells() const { return recurrent_.cells(); }

 private:
  CtcModelOptions options_;
  RecurrentStack recurrent_;
  Dropout states_dropout_;
  Linear output_;
};

}  // namespace rondo
