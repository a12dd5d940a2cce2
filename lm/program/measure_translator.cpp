// The figures of a trained translator.
#include "lm/program/measure_translator.h"

#include "lm/program/figure_warnings.h"
#include "lm/program/terminal.h"
#include "lm/program/translation_measurement.h"

namespace rondo {

void measure_translator(EncoderDecoder& model, const TranslationRecipe& recipe, const TranslationText& valid,
                        const std::optional<TranslationText>& test, Watch& watch, const Setup& setup,
                        const Compute& compute) {
  const auto measure_on = [&](const std::string& split, const TranslationText& text) {
    TranslationMeasurement it = measure(model, text, recipe.decoding, recipe.task.bleu_tokenization,
                                        watch.progress_of("translating " + split, text.pairs.size()));
    it.split = split;
    watch.observers.measured(
        split, figure_of(recipe.task.decides, it.nats, *it.scores, it.sentences, it.search.beam, it.seconds));
    keep(setup.run, it, model, compute, setup.config.made_by.sha256);
    if (const std::string warning = warning_of_empty(it.empty, it.sentences); !warning.empty())
      warn(watch.terminal, warning);
  };
  measure_on("valid", valid);
  if (test) measure_on("test", *test);
}

}  // namespace rondo
