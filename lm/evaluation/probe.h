// Probes of a model: what its recurrent layers do with sequences of a text, and how the loss of the last step
// of each sequence, alone, reaches back to its first one. If a loss has no such step, the whole loss is
// used. Wu et al. 2016, section 3.1; what is looked at: lm/evaluation/recurrent_probe.h.
#pragma once

#include <span>
#include <string>

#include "data/labelled_sentences.h"
#include "data/pairs.h"
#include "data/questions.h"
#include "data/sentence_triples.h"
#include "data/utterances.h"
#include "lm/evaluation/recurrent_probe.h"
#include "nn/models/attentive_reader.h"
#include "nn/models/ctc_model.h"
#include "nn/models/encoder_decoder.h"
#include "nn/models/language_model.h"
#include "nn/models/sentence_classifier.h"
#include "nn/models/skip_thought.h"

namespace rondo {

struct ProbeOptions {
  int64_t steps = 50;       // symbols that a language model reads of each sequence
  int64_t sequences = 100;  // sequences, sentences, ... at equal distances in the text; at most as it has
};

struct Probed {
  std::string loss{};                // what is differentiated, in words
  int64_t sequences = 0, steps = 0;  // that there were; the steps of the longest one
  double nats = 0;                   // the mean over the sequences of that loss
  std::vector<ProbedLayer> layers{};
};

/// Sequences of `steps` symbols, each from the initial state, which do not overlap. InputError if the text is
/// shorter than one. `progress` gets the number of sequences done.
Probed probe(LanguageModel& model, std::span<const int32_t> ids, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is that of the label.
Probed probe(SentenceClassifier& model, const LabelledSentences& sentences, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is that of the target's last symbol, its end.
Probed probe(EncoderDecoder& model, const Pairs& pairs, bool reverse_source, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is that of the answer. InputError if the model knows the answer of no question.
Probed probe(AttentiveReader& model, const Questions& questions, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is the sum of those of the last symbols, the ends, of the sentences before and after; of a
/// combination that of both models.
Probed probe(SkipThought& model, const Triples& triples, const ProbeOptions& options,
             const std::function<void(int64_t)>& progress = {});
/// The loss is that of the whole transcript. Utterances that are too short for theirs are left out;
/// InputError if all are.
Probed probe(CtcModel& model, const Utterances& utterances, const FrameOptions& frames,
             const ProbeOptions& options, const std::function<void(int64_t)>& progress = {});

}  // namespace rondo
