// A run whose task is translation: its vocabularies and texts, and the run opened for use. Next:
// lm/commands/translate.cpp, lm/program/translation_job.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lm/evaluation/translation_evaluation.h"
#include "lm/program/compute.h"
#include "lm/program/run_folder.h"

namespace rondo {

/// A split of the text as pairs of ids; `max_length` as in encode_pairs(). Without it the targets are
/// references as well; InputError, with the line, if they are not UTF-8. The vocabularies must outlive it.
TranslationText translation_text(const TextPair& text, const PairVocabularies& vocabularies,
                                 bool reverse_source, std::int64_t max_length = 0);

/// What a user should know of the pairs that a training leaves out; `max_length` is the recipe's.
std::vector<std::string> notes_of(const Pairs& train, std::int64_t max_length);

struct OpenTranslator {
  RunFolder folder;
  RunConfig config;
  PairVocabularies vocabularies;
  std::shared_ptr<EncoderDecoder> model;   // with the best weights; dropout off
  std::optional<MixedTaskOptions> task{};  // of a multi-task run
};
/// `task` is a name of a multi-task run's tasks; empty: the first one, which decided. Its languages are then
/// those of the opened run; a language model reads empty sentences of its target language. InputError naming
/// the file for anything missing, broken or contradicting the rest of the run, and for a run that has no such
/// task.
OpenTranslator open_translator(const std::string& path, Device device = Device::cpu,
                               const std::string& task = "");

}  // namespace rondo
