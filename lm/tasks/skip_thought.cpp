// Skip-thought vectors as a task.
#include "lm/tasks/skip_thought.h"

#include "autograd/operators/arithmetic.h"

namespace rondo {

Keys keys_of(SkipThoughtTaskOptions& options) {
  return batch_keys(options.batches, "triples of sentences; or symbols of the longer one that is written");
}

SkipThoughtTask::SkipThoughtTask(SkipThought& model, const SkipThoughtTaskOptions& options,
                                 const Triples& train, const Triples& valid, uint64_t seed)
    : SentenceTask(TripleBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

bool SkipThoughtTask::next_batch(Batch& batch) {
  if (!batches_.next(batch_)) return false;
  batch.indices = {batch_.middle.ids, batch_.previous.inputs, batch_.previous.targets, batch_.next.inputs,
                   batch_.next.targets};
  batch.parts = parts();
  batch.scored = batch_.scored() * parts();
  return true;
}

Loss SkipThoughtTask::loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) {
  const int64_t B = batch_.middle.sentences;
  random.slice = {B, 0, B};
  model_.begin_update(random);
  SkipModel& model = *model_.parts()[static_cast<size_t>(part)];
  const Variable vectors = model.encode(sentences_of(batch_.middle, indices[0]));
  const auto nats_of = [&](RecurrentStack& decoder, const ShiftedSentences& written, size_t inputs) {
    const Variable states = model.decode(decoder, sentences_of(written, indices[inputs]), vectors);
    return model.cross_entropy(states, indices[inputs + 1]);
  };
  const CrossEntropy previous = nats_of(model.previous, batch_.previous, 1),
                     next = nats_of(model.next, batch_.next, 3);
  // Each part is trained as if it were alone: its mean, not that over the symbols of all parts.
  return {(previous.total + next.total) / static_cast<real>(batch_.scored()), {previous.each, next.each}};
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
