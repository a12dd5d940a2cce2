// A language model of 11 types that is not trained, with initial values so large that its losses differ.
#pragma once

#include "nn/models/language_model.h"

namespace rondo {

inline LanguageModelOptions small_model_options() {
  LanguageModelOptions it;
  it.embedding = 6;
  it.hidden = {6, 5};
  it.embedding_init.range = 1;
  it.recurrent_init = {InitialValues::Kind::uniform, 1};
  return it;
}

}  // namespace rondo
