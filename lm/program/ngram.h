// `lm ngram`: an n-gram model as a baseline, estimated (data/kneser_ney.h) or read (data/arpa.h).
#pragma once

#include <string>

#include "data/symbols.h"

namespace rondo {

struct NgramOptions {
  std::string data;  // a corpus; empty: none, with `arpa` and `text`
  std::string text;  // a file to measure in place of the validation and the test text; "-": standard input
  Tokenization tokenization{};
  int order = 5;            // of the estimate, from 1
  std::string arpa;         // a model to read instead of estimating one
  std::string out;          // an ARPA file to write; empty: none
  bool per_symbol = false;  // print a row for each symbol of `text` alone
  bool json = false;
};

/// Prints how well the model predicts the validation and the test text, or the other text, or each symbol of
/// that, on stdout. Returns 0.
int ngram(const NgramOptions& options);

}  // namespace rondo
