// The recogniser of speech.
#include "nn/models/ctc_model.h"

namespace rondo {

Keys keys_of(CtcModelOptions& it) {
  Keys keys =
      sentence_keys(it, {{"layers", &it.layers, between(1, 1000), "layers", "of the network"},
                         {"bidirectional", &it.bidirectional, "read each utterance in both directions"}});
  std::erase_if(keys, [](const Key& key) { return key.name.starts_with("embedding"); });
  return keys;
}

CtcModel::CtcModel(const CtcModelOptions& options, int64_t width, int64_t symbols, uint64_t seed,
                   Device device)
    : options_(checked(options)),
      recurrent_(*this, "recurrent", stack_options(options, options.layers, width, options.bidirectional)),
      states_dropout_(*this, "states_dropout", options.dropout, options.variational),
      output_(*this, "output", options.hidden, symbols) {
  check(symbols >= 2, "[recogniser] {} symbols: the blank and another one are needed", symbols);
  finalize(seed, options.init_all, device);
}

Variable CtcModel::scores(const Variable& frames, const Lengths& lengths) {
  const int64_t T = frames.shape()[0], B = frames.shape()[1];
  const Variable h = read_sequences(recurrent_, frames, lengths).output;
  return reshape(output_(states_dropout_(h)), {T, B, symbols()});
}

}  // namespace rondo
