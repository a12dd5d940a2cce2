// A test of the model before it is trained: does every tensor get a gradient? Whether the gradients are
// correct is checked by the tests of the cells.
#pragma once

#include "nn/models/attentive_reader.h"
#include "nn/models/ctc_model.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"
#include "nn/models/sentence_classifier.h"
#include "nn/models/shared_encoder_decoders.h"
#include "nn/models/skip_thought.h"

namespace rondo {

/// Reads a few symbols without dropout, a language model from a nonzero state; with weight drop, once more as
/// in training. Throws Error naming the tensors (in the second reading only recurrent weights) whose gradient
/// is zero in every element: they would not be trained, without any other sign (as happened to recurrent
/// weights in ports of weight-dropped LSTMs). Afterwards gradients are zero, and statistics and modes are as
/// before; random numbers depend only on the next begin_update(). Takes a small part of the time of an
/// update.
void check_gradients_reach_all(LanguageModel& model);
void check_gradients_reach_all(EncoderDecoder& model);
/// By all tasks together.
void check_gradients_reach_all(SharedEncoderDecoders& model);
void check_gradients_reach_all(SentenceClassifier& model);
void check_gradients_reach_all(AttentiveReader& model);
void check_gradients_reach_all(SkipThought& model);
void check_gradients_reach_all(CtcModel& model);

}  // namespace rondo
