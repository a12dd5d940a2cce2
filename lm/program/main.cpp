// The program `lm`. What runs a command: lm/program/cli.cpp.
#include "lm/program/cli.h"

namespace rondo {

// Each is in a file of lm/commands: its options, their checks, and what it prints.
AddCommand add_train, add_sweep, add_finetune, add_eval, add_score, add_generate, add_translate, add_classify,
    add_answer, add_embed, add_transcribe, add_import, add_export, add_ngram, add_bleu, add_info, add_recipes,
    add_probe, add_table, add_plot;

}  // namespace rondo

int main(int argc, char** argv) {
  using namespace rondo;
  return run_program(argc, argv, {add_train,      add_sweep,     add_finetune, add_eval,   add_score,
                                  add_generate,   add_translate, add_classify, add_answer, add_embed,
                                  add_transcribe, add_import,    add_export,   add_ngram,  add_bleu,
                                  add_info,       add_recipes,   add_probe,    add_table,  add_plot});
}
