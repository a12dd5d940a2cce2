// Options of an encoder-decoder.
#include "nn/models/encoder_decoder.h"

namespace rondo {

Keys keys_of(EncoderDecoderOptions& it) {
  const Keys of_model = {
      {"encoder_layers", &it.encoder_layers, between(1, 1000), "layers", "of the encoder"},
      {"decoder_layers", &it.decoder_layers, between(1, 1000), "layers", "of the decoder"},
      {"bidirectional", &it.bidirectional, "the encoder reads the source in both directions"},
      {"attention", choice(it.attention),
       "the score by which the decoder attends to the source's states; none: it reads the last one, the "
       "fixed context, at every step"},
      {"input_feeding", &it.input_feeding, "the decoder reads its last readout as well"},
      {"bridge", choice(it.bridge),
       "the decoder's first state: zeros, the encoder's last one, or a trained layer of it"},
      {"readout", &it.readout, between(0, 1'000'000), "units",
       "width of the layer between decoder and output; 0: model.hidden"},
      {"tied", choice(it.tied),
       "tables that are one: the target's embedding and the output's weights; all: the source's embedding, "
       "too"},
  };
  return sentence_keys(it, of_model);
}

void check_options(const EncoderDecoderOptions& options) {
  check_limits_of(options);
  check_sentence_options(options);
  check_input(!options.input_feeding || options.attention != Score::none,
              "model.input_feeding feeds back what attention has read: set model.attention, or leave it out");
  check_input(options.tied == TiedTables::none || options.readout_width() == options.embedding,
              "model.tied needs a readout as wide as the embedding: --set model.readout={}, or --set "
              "model.tied=none",
              options.embedding);
}

}  // namespace rondo
