// The program `lm`: its commands, in the order of the help. What runs one of them: lm/program/cli.cpp.
#include "lm/commands/commands.h"
#include "lm/program/cli.h"

int main(int argc, char** argv) {
  using namespace rondo;
  return run_program(argc, argv, {add_train,      add_sweep,     add_finetune, add_eval,   add_score,
                                  add_generate,   add_translate, add_classify, add_answer, add_embed,
                                  add_transcribe, add_import,    add_export,   add_ngram,  add_bleu,
                                  add_info,       add_recipes,   add_probe,    add_table,  add_plot});
}
