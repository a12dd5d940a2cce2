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
      {"context_integration", choice(it.context_integration),
       "how the decoder reads the fixed context, or its last readout, beside the previous symbol: in one "
       "sum; or "
       "as a third flow, multiplied with the others, in a cell of multiplicative integration"},
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

namespace {

/// The third flow needs something to read, and a cell that has one.
void check_context(const EncoderDecoderOptions& options) {
  constexpr const char* where = "model.context_integration = \"multiplicative\"";
  check_input(options.attention == SourceAttention::none || options.input_feeding,
              "{}: this decoder reads nothing beside the previous symbol: set model.input_feeding = true, or "
              "model.attention = \"none\"",
              where);
  CellOptions cell = pytorch_cell(2, 1);
  cell.settings = options.cell_settings;
  cell.context = 1;
  Module root;
  try {
    make_cell(options.cell, root, "", cell);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace

void check_options(const EncoderDecoderOptions& options) {
  check_limits_of(options);
  check_sentence_options(options);
  check_input(!options.input_feeding || options.attention != SourceAttention::none,
              "model.input_feeding feeds back what attention has read: set model.attention, or leave it out");
  if (options.context_integration == ContextIntegration::multiplicative) check_context(options);
  check_input(options.tied == TiedTables::none || options.readout_width() == options.embedding,
              "model.tied needs a readout as wide as the embedding: --set model.readout={}, or --set "
              "model.tied=none",
              options.embedding);
}

}  // namespace rondo
