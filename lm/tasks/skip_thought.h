// Skip-thought vectors as a task: triples of sentences, their vocabulary, the model, and the loss of each
// word of the sentences before and after the middle one. Next: data/sentences/sentence_triples.h,
// nn/models/skip_thought.h, lm/evaluation/skip_thought_evaluation.h.
#pragma once

#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "autograd/operators/arithmetic.h"
#include "lm/evaluation/skip_thought_evaluation.h"
#include "lm/tasks/sentence_task.h"
#include "nn/cells/catalogue.h"

namespace rondo {

struct SkipThoughtTaskOptions {
  SentenceBatchOptions batches{};
  // While training, the vectors are measured on the sets of these folders every so many updates; 0: never.
  int64_t sentences_every = 0;
  std::vector<std::string> sentence_sets{};
};
inline Keys keys_of(SkipThoughtTaskOptions& options) {
  return joined(
      {batch_keys(options.batches, "triples of sentences; or symbols of the longer one that is written"),
       {{"sentences_every", &options.sentences_every, at_least(0), "updates",
         "between measurements of the vectors on train.sentence_sets; 0: never"},
        {"sentence_sets", &options.sentence_sets, any_text(), "",
         "folders of the sets, as those of `lm eval --sentences`"}}});
}

inline const SentenceBatchOptions& order_of(const SkipThoughtTaskOptions& options) { return options.batches; }

/// What the objective and evaluations read of a batch: the ids of the middle sentences, and the inputs and
/// the targets of those before and after them.
inline std::vector<std::vector<int32_t>> indices_of(const TripleBatch& it) {
  return {it.middle.ids, it.previous.inputs, it.previous.targets, it.next.inputs, it.next.targets};
}

/// The losses of the sentences before and after; `ids` are indices_of(), on the model's device.
inline std::array<CrossEntropy, 2> neighbours_nats(SkipModel& model, const TripleBatch& batch,
                                                   const std::vector<Tokens>& ids) {
  const Variable vectors = model.encode(sentences_of(batch.middle, ids[0]));
  const auto nats_of = [&](RecurrentStack& decoder, const ShiftedSentences& written, size_t inputs) {
    const Variable states = model.decode(decoder, sentences_of(written, ids[inputs]), vectors);
    return model.cross_entropy(states, ids[inputs + 1]);
  };
  return {nats_of(model.previous, batch.previous, 1), nats_of(model.next, batch.next, 3)};
}

/// The sum of these losses over the parts of a model.
inline CrossEntropy nats_of(SkipThought& model, const TripleBatch& batch, const std::vector<Tokens>& ids) {
  CrossEntropy sum;
  for (const auto& part : model.parts())
    for (const CrossEntropy& it : neighbours_nats(*part, batch, ids))
      sum.total = sum.total.defined() ? sum.total + it.total : it.total;
  return sum;
}

/// Measures nats of all symbols of the previous and the next sentence of each triple; of a combination of two
/// models the symbols count twice, once for each. Dropout is off. `progress` gets the number of triples done.
inline Scores evaluate_on(SkipThought& model, const Triples& triples, const ReportDone& progress = {},
                          std::optional<std::int32_t> unknown_id = {}) {
  Evaluation sums;
  sums.seconds = read_batches(
      model, TripleBatches({.batch = rows_at_once, .by = BatchBy::symbols, .both_sides = true}, triples, 1),
      progress, [&](const TripleBatch& batch) {
        const std::vector<Tokens> ids = tokens_of(indices_of(batch));
        for (const auto& part : model.parts()) {
          const auto [previous, next] = neighbours_nats(*part, batch, ids);
          sums.add(batch.previous.targets, numbers_of(previous), unknown_id);
          sums.add(batch.next.targets, numbers_of(next), unknown_id);
        }
      });
  return scores_of(sums, "triples of sentences");
}

/// Probes with the sum of the losses of the last symbols, the ends, of the sentences before and after; of a
/// combination that of both models.
inline Probed probe(SkipThought& model, const Triples& triples, const ProbeOptions& options,
                    const ReportDone& progress = {}) {
  return probe_batches(model, "the losses of the last words of both neighbours",
                       TripleBatches({.batch = probed_at_once}, triples, 1),
                       evenly(triples.size(), options.sequences), progress, [&](const TripleBatch& it) {
                         std::vector<Tokens> ids = tokens_of(indices_of(it));
                         ids[2] = last_alone(it.previous.targets, it.previous.lengths);
                         ids[4] = last_alone(it.next.targets, it.next.lengths);
                         return nats_of(model, it, ids).total;
                       });
}

class SkipThoughtObjective : public SentenceObjective<SkipThought, TripleBatches> {
 public:
  SkipThoughtObjective(SkipThought& model, const SkipThoughtTaskOptions& options, const Triples& train,
                       const Triples& valid, uint64_t seed = 1)
      : SentenceObjective(model, options.batches, train, valid, seed) {}

  /// The mean over the symbols of both written sentences is minimised.
  Loss loss(int64_t part, const std::vector<Tokens>& indices, RandomContext random) override {
    begin_update(random);
    const auto [previous, next] =
        neighbours_nats(*model_.parts()[static_cast<size_t>(part)], staged_, indices);
    // Each part is trained as if it were alone: its mean, not that over the symbols of all parts.
    return {(previous.total + next.total) / static_cast<real>(staged_.scored), {previous.each, next.each}};
  }

 private:
  std::string limit_of_lengths() const override { return "data.max_length"; }
  /// The parts of the model share nothing.
  int64_t parts() const override { return std::ssize(model_.parts()); }
};

// --- The task ---

struct SkipThoughtSettings {
  TripleOptions triples{};  // of section [data], as the next two
  Tokenization tokenization{};
  VocabularyLimits limits{};
  SkipThoughtOptions model{};
  SkipThoughtTaskOptions train{};
};

class SkipThoughtTask : public SentenceTask<SkipThoughtTask, SkipThoughtSettings, SkipThought, CorpusText,
                                            Triples, SkipThoughtObjective> {
 public:
  Sections sections() override {
    return {
        .data = joined({keys_of(settings.triples), keys_of(settings.tokenization), keys_of(settings.limits)}),
        .model = keys_of(settings.model),
        .train = keys_of(settings.train)};
  }
  void check(const std::string& where) const override {
    SentenceTask::check(where);
    check_input((settings.train.sentences_every == 0) == settings.train.sentence_sets.empty(),
                "{}: give both or neither of train.sentences_every, a number of updates, and "
                "train.sentence_sets, the folders of the sets",
                where);
    check_input(
        settings.triples.sentences == SentenceEnds::lines || settings.tokenization.unit != Unit::bytes,
        "{}: data.sentences = \"marks\" finds words, and data.unit = \"bytes\" reads a text as it is: give "
        "one sentence a line, and leave out data.sentences",
        where);
  }
  std::string model_text() const override {
    const SkipThoughtOptions& it = settings.model;
    return fmt::format("{}-skip {} {}, decoders {} {}", name_of(it.encoder), it.hidden, it.cell, it.hidden,
                       it.decoder_cell);
  }
  Usage usage() const override { return {"embed", "the vectors of sentences", "< sentences"}; }

  std::vector<NamedFile> named_files() override {
    std::vector<NamedFile> folders;
    for (std::string& folder : settings.train.sentence_sets) folders.push_back({"", &folder});
    return folders;
  }
  void open(const DataSource& source) override {
    check_input(!source.path.empty(), "which text? give --data a folder with train.txt, or a text file");
    texts_ = open_corpus(source.path, settings.tokenization.unit, source.pipes);
    const auto by_sentence = [&](Text& it) {
      it = one_sentence_a_line(std::move(it), settings.triples.sentences);
    };
    by_sentence(texts_.train), by_sentence(texts_.valid);
    if (texts_.test) by_sentence(*texts_.test);
  }
  void make_vocabularies() override {
    vocabularies_ = {Vocabulary(texts_.train, settings.tokenization, settings.limits)};
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = texts_.notes;
    const Triples& train = encoded("train");
    if (train.left_out > 0)
      notes.push_back(fmt::format("{}: {} of {} triples are left out: a sentence has more than {} symbols",
                                  texts_.train.name, train.left_out, train.left_out + train.size(),
                                  settings.triples.max_length));
    return notes;
  }
  void assume(const Sizes& sizes) override {
    const std::int64_t length = length_within(settings.triples.max_length),
                       count = sentences_of(settings.train.batches, length);
    Triples made{.sentences = some_sentences(count + 2, length, sizes.at(0)), .middles = {}};
    for (std::int64_t i = 1; i <= count; ++i) made.middles.push_back(i);
    set_encoded(made);
  }
  std::string size_text() const override {
    const Triples& train = encoded("train");
    return fmt::format("{} triples of {} sentences, {} symbols, {}", train.size(), train.sentences.size(),
                       train.sentences.symbols(), vocabulary_text(vocabulary().size()));
  }

  std::unique_ptr<Module> make_model(const Sizes& sizes, std::uint64_t seed, Device device) const override {
    return std::make_unique<SkipThought>(settings.model, sizes.at(0), seed, device);
  }
  Scores measure(Module& model, const std::string& split, const ProgressOf& progress_of) override {
    // A training leaves out long sentences; an evaluation none.
    const Triples triples = triples_of(text(split), vocabulary(), 0);
    Scores scores = evaluate_on(own(model), triples, progress_of("evaluating " + split, triples.size()),
                                vocabulary().unknown_id());
    scores.details.insert(scores.details.begin(), {"triples", triples.size()});
    return scores;
  }
  /// The vector of each sentence, numbers separated by spaces; an empty line is an empty sentence, which has
  /// a vector, too.
  std::vector<LineAnswer> answer(Module& model, const std::vector<InputLine>& lines) override {
    const Vectors vectors = this->vectors(model, lines);
    std::vector<LineAnswer> answers(lines.size());
    for (std::size_t i = 0; i < answers.size(); ++i)
      answers[i].text = fmt::format("{}", fmt::join(vectors[static_cast<std::int64_t>(i)], " "));
    return answers;
  }

  /// The same as numbers. `tables`: see sentence_vectors().
  Vectors vectors(Module& model, const std::vector<InputLine>& lines,
                  const std::vector<Variable>& tables = {}) const {
    Sentences sentences;
    for (const auto& [line, name] : lines) {
      const std::string text = text_of_line(line, settings.tokenization.unit);
      std::vector<std::int32_t> ids = encoded_line(vocabulary(), text, name);
      if (ids.empty()) ids.push_back(vocabulary().line_end_id().value());
      sentences.add(ids);
    }
    return sentence_vectors(own(model), sentences, tables);
  }

  /// Takes a vocabulary with further words: lm/evaluation/skip_thought_evaluation.h.
  void set_vocabulary(Vocabulary vocabulary) { vocabularies_ = {std::move(vocabulary)}; }

 private:
  bool has_batch_norm() const override {
    return SentenceTask::has_batch_norm() || traits_of(settings.model.decoder_cell).looks_across_rows;
  }
  std::vector<UnknownShare> shares_of(const std::string& split, const Triples& it) const override {
    return {share_of(text(split), it.sentences, vocabulary())};
  }
  Triples encode(const std::string& split) const override {
    return triples_of(text(split), vocabulary(), split == "train" ? settings.triples.max_length : 0);
  }
};

}  // namespace rondo
