// `lm bleu`: translations compared with references, by BLEU (lm/evaluation/bleu.h) and chrF
// (lm/evaluation/chrf.h).
#pragma once

#include <string>
#include <vector>

#include "lm/evaluation/bleu.h"

namespace rondo {

struct BleuCommandOptions {
  std::vector<std::string> references;  // files, at least one
  BleuTokenization tokenization = BleuTokenization::mteval_13a;
  bool lower_case = false;
  bool json = false;
};

/// Reads translations, one per line, from stdin; prints their figures on stdout. InputError for a file that
/// cannot be read, is empty or not UTF-8, and for different numbers of lines. Returns 0.
int print_bleu(const BleuCommandOptions& options);

}  // namespace rondo
