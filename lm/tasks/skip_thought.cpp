// Skip-thought vectors as a task.
#include "lm/tasks/skip_thought.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {

Keys keys_of(SkipThoughtTaskOptions& options) {
  return joined(
      {batch_keys(options.batches, "triples of sentences; or symbols of the longer one that is written"),
       {{"sentences_every", &options.sentences_every, at_least(0), "updates",
         "between measurements of the vectors on train.sentence_sets; 0: never"},
        {"sentence_sets", &options.sentence_sets, any_text(), "",
         "folders of the sets, as those of `lm eval --sentences`"}}});
}

SkipThoughtTask::SkipThoughtTask(SkipThought& model, const SkipThoughtTaskOptions& options,
                                 const Triples& train, const Triples& valid, uint64_t seed)
    : SentenceTask(TripleBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

void SkipThoughtTask::stage(Batch& batch) const {
  batch.indices = {staged_.middle.ids, staged_.previous.inputs, staged_.previous.targets, staged_.next.inputs,
                   staged_.next.targets};
  batch.parts = parts();
  batch.scored = staged_.scored * parts();
}

Loss SkipThoughtTask::loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) {
  begin_update(random);
  SkipModel& model = *model_.parts()[static_cast<size_t>(part)];
  const Variable vectors = model.encode(sentences_of(staged_.middle, indices[0]));
  const auto nats_of = [&](RecurrentStack& decoder, const ShiftedSentences& written, size_t inputs) {
    const Variable states = model.decode(decoder, sentences_of(written, indices[inputs]), vectors);
    return model.cross_entropy(states, indices[inputs + 1]);
  };
  const CrossEntropy previous = nats_of(model.previous, staged_.previous, 1),
                     next = nats_of(model.next, staged_.next, 3);
  // Each part is trained as if it were alone: its mean, not that over the symbols of all parts.
  return {(previous.total + next.total) / static_cast<real>(staged_.scored), {previous.each, next.each}};
}

std::string SkipThoughtTask::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or data.max_length smaller; the largest batch has {} triples of {}, {} "
      "and {} symbols",
      staged_.middle.sentences, staged_.previous.steps, staged_.middle.steps, staged_.next.steps);
}

Figure SkipThoughtTask::evaluate(const std::function<void(int64_t)>& progress) {
  return figure_of_triples(evaluate_triples(model_, valid_, {}, progress));
}

Figure figure_of_triples(const Evaluation& evaluation) {
  return {.value = evaluation.nats(),
          .count = evaluation.symbols,
          .read = "triples of sentences",
          .seconds = evaluation.seconds};
}

}  // namespace rondo
