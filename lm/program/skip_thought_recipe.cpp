// The sections of a recipe whose task is skip-thought.
#include "lm/program/skip_thought_recipe.h"

#include "lm/program/check_section.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(PassageOptions& it) {
  return joined({keys_of(it.triples), keys_of(it.tokenization), keys_of(it.limits)});
}

void validate(const SkipThoughtRecipe& recipe, const std::string& where) {
  check_section(where, "data", recipe.data.tokenization);
  check_section(where, "data", recipe.data.limits);
  check_section(where, "", recipe.model);
  for (const std::string& cell : {recipe.model.cell, recipe.model.decoder_cell})
    check_rows_at_once(where, traits_of(cell).looks_across_rows, "train.batch", recipe.task.batches.batch);
  check_input(recipe.task.sentences_every == 0 || !recipe.task.sentence_sets.empty(),
              "{}: train.sentences_every = {}: on which sets? Name folders in train.sentence_sets", where,
              recipe.task.sentences_every);
  check_input(
      recipe.data.triples.sentences == SentenceEnds::lines || recipe.data.tokenization.unit != Unit::bytes,
      "{}: data.sentences = \"marks\" finds words, and data.unit = \"bytes\" reads a text as it is: give one "
      "sentence a line, and leave out data.sentences",
      where);
}

CorpusText open_passages(const std::string& path, const PassageOptions& options, Pipes pipes) {
  CorpusText corpus = open_corpus(path, options.tokenization.unit, pipes);
  const auto by_line = [&](Text& text) {
    text = one_sentence_a_line(std::move(text), options.triples.sentences);
  };
  by_line(corpus.train), by_line(corpus.valid);
  if (corpus.test) by_line(*corpus.test);
  return corpus;
}

}  // namespace rondo
