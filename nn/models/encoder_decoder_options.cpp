// Options of an encoder-decoder.
#include "nn/models/encoder_decoder.h"

namespace rondo {

Keys keys_of(EncoderDecoderOptions& it) {
  const Keys of_model = {
      {"cell", &it.cell, one_of(cell_names()), "", "the recurrent cell: `lm info --cells` says what each is"},
      {"embedding", &it.embedding, any_width(), "units", "width of a symbol's vector, on both sides"},
      {"hidden", &it.hidden, any_width(), "units",
       "width of each layer; a bidirectional encoder has half in each direction"},
      {"encoder_layers", &it.encoder_layers, between(1, 1000), "layers", "of the encoder"},
      {"decoder_layers", &it.decoder_layers, between(1, 1000), "layers", "of the decoder"},
      {"bidirectional", &it.bidirectional, {}, "", "the encoder reads the source in both directions"},
      {"attention",
       choice(it.attention),
       {},
       "",
       "the score by which the decoder attends to the source's states; none: it reads the last one, the "
       "fixed context, at every step"},
      {"input_feeding", &it.input_feeding, {}, "", "the decoder reads its last readout as well"},
      {"bridge",
       choice(it.bridge),
       {},
       "",
       "the decoder's first state: zeros, the encoder's last one, or a trained layer of it"},
      {"readout", &it.readout, between(0, 1'000'000), "units",
       "width of the layer between decoder and output; 0: model.hidden"},
      {"tied",
       choice(it.tied),
       {},
       "",
       "tables that are one: the target's embedding and the output's weights; all: the source's embedding, "
       "too"},
      {"dropout", &it.dropout, any_rate(), "share of units",
       "dropped from embeddings, between layers and before the output", true},
      {"variational", &it.variational, {}, "", "whether it drops the same units at all steps", true},
      {"init_all", &it.init_all, at_least(0), "",
       "half width of one uniform distribution for every parameter, biases included; 0: PyTorch's initial "
       "values, embeddings in [-0.1, 0.1]"},
  };
  return joined({of_model, keys_of(it.regularization), keys_of(it.cell_settings)});
}

void check_options(const EncoderDecoderOptions& options) {
  check_limits_of(options);
  check_settings(options.cell, options.cell_settings, "model.");
  check_regularization(options.cell, options.regularization);
  check_input(
      !options.bidirectional || options.hidden % 2 == 0,
      "model.hidden = {}: a bidirectional encoder has half of it in each direction; give an even number",
      options.hidden);
  check_input(!options.input_feeding || options.attention != SourceAttention::none,
              "model.input_feeding feeds back what attention has read: set model.attention, or leave it out");
  check_input(options.tied == TiedTables::none || options.readout_width() == options.embedding,
              "model.tied needs a readout as wide as the embedding: set model.readout = {}, or model.tied = "
              "\"none\"",
              options.embedding);
}

}  // namespace rondo
