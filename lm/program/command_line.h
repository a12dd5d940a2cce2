// The command line of `lm`: from words to the options of one command, and from an exception to an exit
// status. The commands: train.h, sweep.h, evaluate.h, score.h, generate.h, translate.h, classify.h,
// transcribe.h, embed.h, answer.h, import.h, export.h, ngram.h, bleu.h, info.h, recipes.h, probe.h, table.h,
// plot.h.
#pragma once

#include <string>
#include <variant>

#include "lm/program/answer.h"
#include "lm/program/bleu.h"
#include "lm/program/classify.h"
#include "lm/program/embed.h"
#include "lm/program/evaluate.h"
#include "lm/program/export.h"
#include "lm/program/generate.h"
#include "lm/program/import.h"
#include "lm/program/info.h"
#include "lm/program/ngram.h"
#include "lm/program/plot.h"
#include "lm/program/probe.h"
#include "lm/program/recipes.h"
#include "lm/program/score.h"
#include "lm/program/sweep.h"
#include "lm/program/table.h"
#include "lm/program/train.h"
#include "lm/program/transcribe.h"
#include "lm/program/translate.h"

namespace rondo {

/// `--help` and `--version` print only a text, on stdout. Without any word, the help goes to stderr.
struct Help {
  std::string text;
  int exit_status = 0;
};

using Command = std::variant<Help, TrainOptions, SweepOptions, EvaluateOptions, ScoreOptions, GenerateOptions,
                             TranslateOptions, ClassifyOptions, TranscribeOptions, EmbedOptions,
                             AnswerOptions, ImportOptions, ExportOptions, NgramOptions, BleuCommandOptions,
                             InfoOptions, RecipesOptions, ProbeCommandOptions, TableOptions, PlotOptions>;

/// InputError for an unknown, misplaced or missing word; the text names the nearest command or flag.
Command parse_command_line(int argc, const char* const* argv);

/// The error text of the exception being handled, on one line without control characters, and the exit
/// status: 2 for InputError, 1 for everything else.
struct Failure {
  std::string line;
  int exit_status;
};
Failure current_failure();

}  // namespace rondo
