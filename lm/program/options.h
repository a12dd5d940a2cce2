// The options of every command, and their parser, built on CLI11. Checks of options:
// lm/program/command_line.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lm/program/command_line.h"

namespace rondo {

/// The parser, and the options that it fills in.
struct Options {
  CLI::App app{
      "Trains, evaluates and uses recurrent models of language: language models, translators, classifiers, "
      "readers, sentence encoders, speech recognisers.\n"
      "A text in, a model out: lm train --recipe char-lstm --data FILE, then lm generate RUN.",
      "lm"};
  TrainOptions train;
  SweepOptions sweep;
  EvaluateOptions evaluate;
  ScoreOptions score;
  GenerateOptions generate;
  TranslateOptions translate;
  ClassifyOptions classify;
  AnswerOptions answer;
  EmbedOptions embed;
  TranscribeOptions transcribe;
  ImportOptions imported;
  ExportOptions exported;
  NgramOptions ngram;
  BleuCommandOptions bleu;
  InfoOptions info;
  RecipesOptions recipes;
  ProbeCommandOptions probe;
  TableOptions table;
  PlotOptions plot;
  std::vector<std::string> train_sets, sweep_sets, eval_sets, import_sets, info_sets;
  std::string epochs, steps, seed;  // as text: they are parsed as settings of the recipe
  std::string explained;            // `lm help`: a command; empty: all

  Options();

 private:
  CLI::App& command(const std::string& name, const std::string& what, const std::string& example);
  // The options of a command each.
  void add_train();
  void add_sweep();
  void add_finetune();
  void add_eval();
  void add_score();
  void add_generate();
  void add_translate();
  void add_classify();
  void add_answer();
  void add_embed();
  void add_transcribe();
  void add_import();
  void add_export();
  void add_ngram();
  void add_bleu();
  void add_info();
  void add_recipes();
  void add_probe();
  void add_table();
  void add_plot();
  void add_help();
};

}  // namespace rondo
