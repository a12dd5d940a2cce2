// The commands of `lm`. Each is in a file of this folder: its options, their checks, and what it prints.
#include "lm/commands/all_commands.h"

namespace rondo {

AddCommand add_train, add_sweep, add_finetune, add_eval, add_score, add_generate, add_translate, add_classify,
    add_answer, add_embed, add_transcribe, add_import, add_export, add_quantize, add_ngram, add_bleu,
    add_info, add_recipes, add_probe, add_table, add_plot;

std::vector<AddCommand*> all_commands() {
  return {add_train,    add_sweep,  add_finetune, add_eval,       add_score,  add_generate, add_translate,
          add_classify, add_answer, add_embed,    add_transcribe, add_import, add_export,   add_quantize,
          add_ngram,    add_bleu,   add_info,     add_recipes,    add_probe,  add_table,    add_plot};
}

}  // namespace rondo
