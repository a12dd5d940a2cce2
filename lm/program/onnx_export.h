// Models as graphs of ONNX's operators, which `lm export` writes (lm/commands/exchange.cpp). The programs
// that run them: lm/program/exported.
#pragma once

#include <string>

#include "data/files/onnx.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"

namespace rondo {

/// Throws InputError, whose text begins with `where`, for a cell that no operator of ONNX computes. The other
/// functions expect that it was called.
void check_onnx_has(const std::string& cell, const std::string& where);

/// Whether the cell is an rnn with relu in place of tanh.
bool has_relu(const RecurrentOptions& options);

/// Inputs: ids [T, B]; of each layer i the state h_li and, of an LSTM, c_li [1, B, H]. Outputs:
/// log_probabilities [T, B, V] of the symbol after each; the states next_h_li, next_c_li.
OnnxGraph graph_of(const LanguageModel& model);

/// Input: ids [S, B] of the source, the end among them. Outputs: the decoder's first states, unless the
/// bridge makes zeros of them; and `context` [1, B, H], if it is fixed, or else `states` [S, B, H] and, for
/// additive scores, `keys` [S, B, H].
OnnxGraph encoder_graph(const EncoderDecoder& model);
/// Computes one step. Inputs: ids [1, B]; h_li, c_li [1, B, H]; with input feeding `readout` [1, B, R]; and
/// what the encoder returns of the source. Outputs: log_probabilities [1, B, V] of the next symbol;
/// next_h_li, next_c_li, next_readout.
OnnxGraph decoder_graph(const EncoderDecoder& model);

}  // namespace rondo
