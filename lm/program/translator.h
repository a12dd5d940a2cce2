// A run whose task is translation: its vocabularies and texts, and the run opened for use. Next:
// lm/program/translate.h, lm/program/translation_job.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lm/evaluation/translation_evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/run_folder.h"

namespace rondo {

/// A split of the text as pairs of ids; `max_length` as in encode_pairs(). The vocabularies must outlive it.
TranslationText translation_text(const TextPair& text, const PairVocabularies& vocabularies,
                                 bool reverse_source, std::int64_t max_length = 0);

struct OpenTranslator {
  RunFolder folder;
  RunConfig config;
  PairVocabularies vocabularies;
  std::unique_ptr<EncoderDecoder> model;  // with the best weights; dropout off
};
/// InputError naming the file for anything missing, broken or contradicting the rest of the run, and for a
/// run of another task.
OpenTranslator open_translator(const std::string& path, Device device = Device::cpu);

}  // namespace rondo
