// Translation as a task.
#include "lm/tasks/translation.h"

#include "autograd/operators/arithmetic.h"
#include "tensor/clock.h"

namespace rondo {

Keys keys_of(TranslationOptions& it) {
  return joined(
      {keys_of(it.batches),
       {{"label_smoothing", &it.label_smoothing, from_to_below(0, 1), "share of probability",
         "that the training loss spreads evenly over all symbols; evaluations do not"},
        {"decides",
         choice(it.decides),
         {},
         "",
         "the metric on the validation text by which the best weights are chosen"},
        {"eval_beam", &it.eval_beam, any_beam(), "hypotheses",
         "of the translations in evaluations during training; 1: greedy"},
        {"bleu_tokenization",
         choice(it.bleu_tokenization),
         {},
         "",
         "what BLEU compares: 13a for written text; none for text whose words are separated already"}}});
}

void check_options(const TranslationOptions& options) { check_limits_of(options); }

Translation::Translation(EncoderDecoder& model, const TranslationOptions& options, const Pairs& train,
                         const TranslationText& valid, uint64_t seed)
    : SentenceTask(PairBatches(options.batches, train, seed)),
      model_(model),
      options_(options),
      valid_(valid) {
  check_options(options);
}

void Translation::stage(Batch& batch) const {
  batch.indices = {staged_.source, staged_.inputs, staged_.targets};
  batch.scored = staged_.scored;
}

Loss Translation::loss(int64_t, const std::vector<Tokens>& indices, RandomContext random) {
  const int64_t B = staged_.sentences;
  begin_update(random);
  const auto source = model_.encode({indices[0], staged_.source_steps, B, staged_.source_lengths});
  const auto output = model_.decode({indices[1], staged_.target_steps, B, staged_.target_lengths}, source);
  const CrossEntropy nats = model_.cross_entropy(output.readout, indices[2], options_.label_smoothing);
  return {nats.total / static_cast<real>(staged_.scored), {nats.each}};
}

std::string Translation::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or data.max_length smaller; the largest batch has {} sentences of {} "
      "and {} symbols",
      staged_.sentences, staged_.source_steps, staged_.target_steps);
}

Figure Translation::evaluate(const std::function<void(int64_t)>& progress) {
  const auto begin = Clock::now();
  const Evaluation nats = evaluate_pairs(model_, valid_);
  if (valid_.references.empty())
    return {.value = nats.nats(), .count = nats.symbols, .read = "sentences", .seconds = nats.seconds};
  BeamOptions options{.beam = options_.eval_beam};
  // There no probability ends a hypothesis, and further steps take the same memory.
  if (!has_memory(model_.device())) options.max_length = 2;
  const TranslationScores scores = scores_of(translations(model_, valid_, options, progress),
                                             valid_.references, options_.bleu_tokenization);
  return figure_of(options_.decides, nats, scores, valid_.pairs.size(), options.beam, seconds_since(begin));
}

Figure figure_of(TranslationFigure decides, const Evaluation& nats, const TranslationScores& scores,
                 int64_t sentences, int64_t beam, double seconds) {
  const std::vector<std::pair<std::string, double>> all = {
      {"nats", nats.nats()}, {"bleu", scores.bleu()}, {"chrf", scores.chrf()}};
  Figure figure;
  for (const auto& [name, value] : all)
    if (name == name_of(decides))
      figure.name = name, figure.value = value;
    else
      figure.beside.emplace_back(name, value);
  figure.higher_is_better = decides != TranslationFigure::nats;
  if (figure.higher_is_better) figure.nats = nats.nats();
  figure.count = sentences;
  figure.counted = "sentences";
  figure.read = search_text(beam);
  figure.preposition = "by";
  figure.seconds = seconds;
  return figure;
}

}  // namespace rondo
