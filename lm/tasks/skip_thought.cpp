// Skip-thought vectors as a task.
#include "lm/tasks/skip_thought.h"

#include "autograd/operators/arithmetic.h"
#include "lm/tasks/task.h"
#include "nn/cells/catalogue.h"

namespace rondo {

Keys keys_of(SkipThoughtTaskOptions& options) {
  return joined(
      {batch_keys(options.batches, "triples of sentences; or symbols of the longer one that is written"),
       {{"sentences_every", &options.sentences_every, at_least(0), "updates",
         "between measurements of the vectors on train.sentence_sets; 0: never"},
        {"sentence_sets", &options.sentence_sets, any_text(), "",
         "folders of the sets, as those of `lm eval --sentences`"}}});
}

SkipThoughtObjective::SkipThoughtObjective(SkipThought& model, const SkipThoughtTaskOptions& options,
                                           const Triples& train, const Triples& valid, uint64_t seed)
    : SentenceObjective(TripleBatches(options.batches, train, seed)), model_(model), valid_(valid) {}

void SkipThoughtObjective::stage(Batch& batch) const {
  batch.indices = {staged_.middle.ids, staged_.previous.inputs, staged_.previous.targets, staged_.next.inputs,
                   staged_.next.targets};
  batch.parts = parts();
  batch.scored = staged_.scored * parts();
}

Loss SkipThoughtObjective::loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) {
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

std::string SkipThoughtObjective::remedy_for_memory() const {
  return fmt::format(
      "make train.batch, model.hidden or data.max_length smaller; the largest batch has {} triples of {}, {} "
      "and {} symbols",
      staged_.middle.sentences, staged_.previous.steps, staged_.middle.steps, staged_.next.steps);
}

Scores SkipThoughtObjective::evaluate(const std::function<void(int64_t)>& progress) {
  return scores_of(evaluate_triples(model_, valid_, {}, progress), "triples of sentences");
}

// --- The task ---

Sections SkipThoughtTask::sections() {
  return {
      .data = joined({keys_of(settings.triples), keys_of(settings.tokenization), keys_of(settings.limits)}),
      .model = keys_of(settings.model),
      .train = keys_of(settings.train)};
}

void SkipThoughtTask::check(const std::string& where) const {
  check_section(where, "data", settings.tokenization);
  check_section(where, "data", settings.limits);
  check_section(where, "", settings.model);
  for (const std::string& cell : {settings.model.cell, settings.model.decoder_cell})
    check_rows_at_once(where, traits_of(cell).looks_across_rows, "train.batch", settings.train.batches.batch);
  check_input(settings.train.sentences_every == 0 || !settings.train.sentence_sets.empty(),
              "{}: train.sentences_every = {}: on which sets? Name folders in train.sentence_sets", where,
              settings.train.sentences_every);
  check_input(
      settings.triples.sentences == SentenceEnds::lines || settings.tokenization.unit != Unit::bytes,
      "{}: data.sentences = \"marks\" finds words, and data.unit = \"bytes\" reads a text as it is: give "
      "one sentence a line, and leave out data.sentences",
      where);
}

std::string SkipThoughtTask::model_text() const {
  const SkipThoughtOptions& it = settings.model;
  return fmt::format("{}-skip {} {}, decoders {} {}", name_of(it.encoder), it.hidden, it.cell, it.hidden,
                     it.decoder_cell);
}

std::vector<NamedFile> SkipThoughtTask::named_files() {
  std::vector<NamedFile> folders;
  for (std::string& folder : settings.train.sentence_sets) folders.push_back({"", &folder});
  return folders;
}

void SkipThoughtTask::open(const DataSource& source) {
  check_input(!source.path.empty(), "which text? give --data a folder with train.txt, or a text file");
  texts_ = open_corpus(source.path, settings.tokenization.unit, source.pipes);
  const auto by_sentence = [&](Text& text) {
    text = one_sentence_a_line(std::move(text), settings.triples.sentences);
  };
  by_sentence(texts_.train), by_sentence(texts_.valid);
  if (texts_.test) by_sentence(*texts_.test);
}

void SkipThoughtTask::make_vocabularies() {
  vocabulary_.emplace(texts_.train, settings.tokenization, settings.limits);
}

Triples SkipThoughtTask::encode(Split split) const {
  return triples_of(texts_.at(split), *vocabulary_, split == Split::train ? settings.triples.max_length : 0);
}

std::vector<std::string> SkipThoughtTask::notes() const {
  std::vector<std::string> notes = texts_.notes;
  const Triples& train = encoded_.at(Split::train);
  if (train.left_out > 0)
    notes.push_back(fmt::format("{}: {} of {} triples are left out: a sentence has more than {} symbols",
                                texts_.train.name, train.left_out, train.left_out + train.size(),
                                settings.triples.max_length));
  return notes;
}

std::vector<UnknownShare> SkipThoughtTask::unknown_shares() const {
  std::vector<UnknownShare> shares;
  for (const auto& [split, it] : encoded_)
    shares.push_back(share_of(texts_.at(split), it.sentences, *vocabulary_));
  return shares;
}

void SkipThoughtTask::assume(const std::vector<std::int64_t>& sizes) {
  const std::int64_t length = length_within(settings.triples.max_length),
                     count = sentences_of(settings.train.batches, length);
  Triples made{.sentences = some_sentences(count + 2, length, sizes.at(0)), .middles = {}};
  for (std::int64_t i = 1; i <= count; ++i) made.middles.push_back(i);
  for (const Split split : {Split::train, Split::valid}) encoded_[split] = made;
}

std::string SkipThoughtTask::size_text() const {
  const Triples& train = encoded_.at(Split::train);
  return fmt::format("{} triples of {} sentences, {} symbols, {}", train.size(), train.sentences.size(),
                     train.sentences.symbols(), vocabulary_text(vocabulary_->size()));
}

std::unique_ptr<Module> SkipThoughtTask::make_model(const std::vector<std::int64_t>& sizes,
                                                    std::uint64_t seed, Device device) const {
  return std::make_unique<SkipThought>(settings.model, sizes.at(0), seed, device);
}

std::unique_ptr<Objective> SkipThoughtTask::make_objective(Module& model, std::uint64_t seed) {
  return std::make_unique<SkipThoughtObjective>(own(model), settings.train, encoded(Split::train),
                                                encoded(Split::valid), seed);
}

Scores SkipThoughtTask::measure(Module& model, const std::string& split, const ProgressOf& progress_of) {
  const Triples& triples = encoded(split_from_string(split));
  Scores scores = scores_of(evaluate_triples(own(model), triples, vocabulary_->unknown_id(),
                                             progress_of("evaluating " + split, triples.size())),
                            "triples of sentences");
  scores.details.insert(scores.details.begin(), {"triples", triples.size()});
  return scores;
}

std::vector<LineAnswer> SkipThoughtTask::answer(Module& model, const std::vector<InputLine>& lines) {
  Sentences sentences;
  for (const auto& [line, name] : lines)
    sentences.add(sentence_ids(text_of_line(line, name, settings.tokenization.unit), name));
  const Vectors vectors = sentence_vectors(own(model), sentences);
  std::vector<LineAnswer> answers(lines.size());
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i].text = fmt::format("{}", fmt::join(vectors[static_cast<std::int64_t>(i)], " "));
  return answers;
}

std::vector<std::int32_t> SkipThoughtTask::sentence_ids(const std::string& text,
                                                        const std::string& name) const {
  std::vector<std::int32_t> ids = encoded_line(*vocabulary_, text, name);
  if (ids.empty()) ids.push_back(vocabulary_->line_end_id().value());
  return ids;
}

}  // namespace rondo
