// Probes of a model: what its recurrent layers do with sequences of a text, and how the loss of the last step
// of each sequence, alone, reaches back to its first one. Wu et al. 2016, section 3.1; what is looked at:
// lm/evaluation/recurrent_probe.h.
#pragma once

#include <span>

#include "data/labelled_sentences.h"
#include "data/pairs.h"
#include "lm/evaluation/recurrent_probe.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"
#include "nn/models/sentence_classifier.h"

namespace rondo {

struct ProbeOptions {
  int64_t steps = 50;       // symbols that a language model reads of each sequence
  int64_t sequences = 100;  // sequences, or sentences, at equal distances in the text; at most as it has
};

struct Probed {
  int64_t sequences = 0, steps = 0;  // that there were; the steps of the longest one
  double nats = 0;                   // the mean loss of a sequence's last step: what is differentiated
  std::vector<ProbedLayer> layers{};
};

/// Sequences of `steps` symbols, each from a zero state, which do not overlap. InputError if the text is
/// shorter than one. `progress` gets the number of sequences done.
Probed probe(LanguageModel& model, std::span<const int32_t> ids, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is that of the label.
Probed probe(SentenceClassifier& model, const LabelledSentences& sentences, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is that of the target's last symbol, its end.
Probed probe(EncoderDecoder& model, const Pairs& pairs, bool reverse_source, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});

}  // namespace rondo
