// What is printed about measured numbers: scores, the search of adaptive settings, and warnings of numbers
// that mislead.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lm/evaluation/adaptive_evaluation.h"
#include "lm/evaluation/evaluation.h"
#include "lm/evaluation/scores.h"
#include "lm/tasks/task.h"

namespace rondo {

// --- Warnings ---
// Warnings about misleading figures: what a reader of the number alone would not see. Printed by `lm
// train`, `lm eval`, `lm score`.

/// "3.20 % of the 1234 symbols of TEXT are unknown to the vocabulary, or <unk> in the text".
std::string share_text(const UnknownShare& it);
/// A warning if the share of a text that is predicted is large, for then a low perplexity is that of `<unk>`;
/// or, if `<unk>` is not trained, if the share is large enough to change the figures; else empty.
std::string warning_of_unknowns(const UnknownShare& it, bool unknown_is_trained = true);

/// A warning if a language model costs more than equal probabilities; else empty.
std::string warning_of_cost(double nats, std::int64_t vocabulary_size);
// --- Evaluation report ---
// The output of `lm eval`: text or JSON on stdout. The measurement: lm/commands/eval.cpp.

/// Prints scores: what was scored, the metrics, the details, a line each.
void print_scores(const std::string& text, const Scores& scores);
/// "cache.theta=0.3" of each setting.
std::vector<std::string> assignments_of(const std::vector<Detail>& settings);
/// The options that give another evaluation these settings, as far as a search varies them.
std::string options_text(const Adaptation& how);
/// A trial of a search, in a line, and the whole search.
std::string text_of(const Trial& trial);
nlohmann::ordered_json json_of(const Tuned& tuned, std::int64_t budget);

}  // namespace rondo
