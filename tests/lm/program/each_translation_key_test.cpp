// Each key of a recipe whose task is translation reaches what it configures; see each_key_test.cpp.
#include "tests/lm/program/each_key.h"

namespace rondo {
namespace {

EachKey::Cases translation_cases() {
  const EachKey::Probe trained = &EachKey::translator, translated = &EachKey::translated;
  const Words wide = {"decoding.beam=60", "decoding.n_best=60"};
  const auto refused = [&](const std::string& value, const std::string& text) {
    return EachKey::Case{value, {}, trained, text};
  };
  EachKey::Cases known = {
      {"data.source_language", refused("cc", "train.cc")},
      {"data.target_language", refused("cc", "train.cc")},
      {"data.generated_pairs", refused("50", "leave --data out")},
      {"data.train_files", {"valid"}},
      {"data.valid_files", {"test"}},
      {"data.test_files", {"valid"}},
      {"data.unit", {"characters"}},
      {"data.strip_lines", {"true", {"data.unit=characters"}}},
      {"data.min_count", {"2"}},
      {"data.max_size", {"3"}},
      {"data.unknown", refused("false", "no <unk>")},
      {"data.shared_vocabulary", {"true"}},
      {"data.max_length", {"4"}},
      {"data.pairs_share", {"0.5"}},
      {"data.pieces_model", {"bpe", {"data.unit=pieces", "data.pieces=246"}}},
      {"data.pieces", {"244", {"data.unit=pieces", "data.pieces=246"}}},

      {"model.cell", {"gru"}},
      {"model.embedding", {"5"}},
      {"model.embedding_init", {"normal"}},
      {"model.embedding_range", {"0.5"}},
      {"model.hidden", {"8"}},
      {"model.encoder_layers", {"2"}},
      {"model.decoder_layers", {"2"}},
      {"model.bidirectional", {"false"}},
      {"model.attention", {"additive"}},
      {"model.input_feeding", {"true"}},
      {"model.bridge", {"copy"}},
      {"model.readout", {"3"}},
      {"model.tied", {"output", {"model.readout=4"}}},
      {"model.dropout", {"0.5"}},
      {"model.variational", {"true", {"model.dropout=0.3"}}},
      {"model.init_all", {"0.05"}},
      {"model.trained_initial_states", {"true"}},
      {"model.weight_drop", {"0.5"}},
      {"model.recurrent_dropout", {"0.5"}},
      {"model.zoneout", {"0.5"}},
      {"model.zoneout_memory", {"0.5"}},
      {"model.biases", {"1"}},
      {"model.forget_bias", {"1"}},

      {"train.batch", {"5"}},
      {"train.batch_by", {"symbols"}},
      {"train.reverse_source", {"true"}},
      {"train.label_smoothing", {"0.1"}},
      {"train.decides", {"bleu"}},
      {"train.eval_beam", {"2"}},
      {"train.bleu_tokenization", {"none", {"train.epochs=20"}}},
  };
  for (auto& [key, it] : known) it.shown_by = trained;
  known.merge(EachKey::Cases{
      {"decoding.beam", {"20", {"decoding.n_best=5"}, translated}},
      {"decoding.n_best", {"2", {}, translated}},
      {"decoding.length_penalty", {"0.5", wide, translated}},
      {"decoding.max_length", {"2", wide, translated}},
      {"decoding.allow_unknown", {"true", wide, translated}},
  });
  known.merge(EachKey::cases_of_cells(trained));
  return known;
}

TEST_F(EachKey, OfTranslationShowsInWhatACommandDoes) {
  // Those of trainers and runs are read by the same code as in language modelling.
  TrainerOptions trainer;
  RunOptions run;
  expect_each_shows("translation", translation_cases(),
                    section("train", joined({keys_of(trainer), keys_of(run)})));
}

TEST_F(EachKey, OfATaskAmongSeveralShowsInWhatACommandDoes) {
  const Probe trained = &EachKey::of_two_tasks;
  const std::string decides = "it has to translate from one language to another";
  const Cases cases = {
      {"tasks.first.source", {"bb", {}, trained, decides}},
      {"tasks.first.target", {"aa", {}, trained, decides}},
      {"tasks.first.pairs", {"halves", {}, trained, "within the text of one language"}},
      {"tasks.first.ratio", {"2", {}, trained, "whose ratio is 1"}},
      {"tasks.second.source", {"aa", {}, trained}},
      {"tasks.second.target", {"aa", {}, trained}},
      {"tasks.second.pairs", {"halves", {}, trained}},
      {"tasks.second.ratio", {"2", {}, trained}},
  };
  // The others are those of translation, above.
  Recipe translation;
  translation.set_task("translation");
  expect_each_shows("multi_task", cases, keys_of(translation), {"first", "second"});
}

}  // namespace
}  // namespace rondo
