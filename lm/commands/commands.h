// The commands of the program: of each its options, their checks, and what it prints. Related ones share a
// file. lm/program/main.cpp has the list.
#pragma once

namespace rondo {

struct CommandLine;
struct Command;

Command add_train(CommandLine& line);
Command add_sweep(CommandLine& line);
Command add_finetune(CommandLine& line);
Command add_eval(CommandLine& line);
Command add_score(CommandLine& line);
Command add_generate(CommandLine& line);
Command add_translate(CommandLine& line);
Command add_classify(CommandLine& line);
Command add_answer(CommandLine& line);
Command add_embed(CommandLine& line);
Command add_transcribe(CommandLine& line);
Command add_import(CommandLine& line);
Command add_export(CommandLine& line);
Command add_ngram(CommandLine& line);
Command add_bleu(CommandLine& line);
Command add_info(CommandLine& line);
Command add_recipes(CommandLine& line);
Command add_probe(CommandLine& line);
Command add_table(CommandLine& line);
Command add_plot(CommandLine& line);

}  // namespace rondo
