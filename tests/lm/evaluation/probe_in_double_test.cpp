// Probes of models that read whole sentences: the loss that is differentiated, written out, and central
// differences of it. The first text of each is as long as no other, so that the rest is padded beside it.
#include "lm/evaluation/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lm/tasks/question_answering.h"
#include "lm/tasks/skip_thought.h"
#include "lm/tasks/speech.h"
#include "tests/lm/evaluation/shift.h"
#include "tests/nn/settings.h"

namespace rondo::probe_test {
namespace {

using Ids = std::vector<int32_t>;

/// Sequences at equal distances: what a probe of `one` sequence, or of all, sees.
struct Case {
  std::function<Probed(int64_t sequences)> probed;
  std::function<Variable(size_t sequence)> loss;
};

/// The layers of a probe of one sequence are those of `cells`, by the names of their layers and their steps.
struct Layer {
  std::string name;
  const Cell* cell;
  int64_t steps;
};

/// All sequences together are as each alone: padding is nowhere among what is counted.
void expect_sums_of_each(Module& model, const Case& of, size_t sequences,
                         const std::vector<ProbedLayer>& all) {
  std::vector<std::vector<ProbedLayer>> each;
  for (size_t i = 0; i < sequences; ++i) {
    RecurrentProbe probe(model);
    probe.run(1, {}, [&] { return of.loss(i); });
    each.push_back(probe.result("").layers);
  }
  for (size_t l = 0; l < all.size(); ++l) {
    const auto expect_norms = [&](const std::string& name, const NormsByStep& found, auto norms_of) {
      for (size_t t = 0; t < found.steps.size(); ++t) {
        NormsByStep::Sums sums;
        for (const auto& layers : each) {
          const auto steps = norms_of(layers[l]).at(name).steps;
          if (t < steps.size()) sums.count += steps[t].count, sums.norms += steps[t].norms;
        }
        EXPECT_EQ(found.steps[t].count, sums.count) << all[l].name << " " << name << ", step " << t;
        EXPECT_NEAR(found.steps[t].norms, sums.norms, 1e-10) << all[l].name << " " << name << ", step " << t;
      }
    };
    for (const auto& [name, norms] : all[l].gradients)
      expect_norms(name, norms, [](const ProbedLayer& it) { return it.gradients; });
    for (const auto& [name, norms] : all[l].products)
      expect_norms(name, norms, [](const ProbedLayer& it) { return it.products; });
    const auto expect_distribution = [&](const std::string& name, const Distribution& found, auto values_of) {
      int64_t count = 0;
      double total = 0;
      for (const auto& layers : each) {
        const Distribution values = values_of(layers[l]).at(name);
        count += values.count(), total += values.mean() * static_cast<double>(values.count());
      }
      EXPECT_EQ(found.count(), count) << all[l].name << " " << name;
      EXPECT_NEAR(found.mean() * static_cast<double>(count), total, 1e-10) << all[l].name << " " << name;
    };
    for (const auto& [name, values] : all[l].activations)
      expect_distribution(name, values, [](const ProbedLayer& it) { return it.activations; });
    for (const auto& [name, values] : all[l].gates)
      expect_distribution(name, values, [](const ProbedLayer& it) { return it.gates; });
  }
}

void expect_probed(Module& model, const Case& of, size_t sequences, const std::vector<Layer>& layers) {
  const std::vector<real> before = model.values().to_vector();
  const Probed one = of.probed(1), all = of.probed(100);
  EXPECT_EQ(model.values().to_vector(), before);
  EXPECT_EQ(sum_of_squares(model.gradients()), 0);
  expect_sums_of_each(model, of, sequences, all.layers);
  const EvaluationMode mode(model);
  const NoGradient no_history;
  const auto loss = [&](size_t sequence) -> double { return of.loss(sequence).value().item(); };
  double sum = 0;
  for (size_t i = 0; i < sequences; ++i) sum += loss(i);
  EXPECT_EQ(all.sequences, static_cast<int64_t>(sequences));
  EXPECT_NEAR(all.nats, sum / static_cast<double>(sequences), 1e-12);
  EXPECT_EQ(one.sequences, 1);
  EXPECT_NEAR(one.nats, loss(0), 1e-12);
  ASSERT_EQ(one.layers.size(), layers.size());
  for (const Layer& layer : layers) {
    const auto seen = std::ranges::find(one.layers, layer.name, &ProbedLayer::name);
    ASSERT_NE(seen, one.layers.end()) << layer.name;
    expect_gradients_of_differences(*seen, *layer.cell, layer.steps, [&] { return loss(0); });
  }
}

TEST(ProbeOfAReader, DifferentiatesTheLossOfTheAnswer) {
  AttentiveReaderOptions options;
  set(options, "cell=gru embedding=3 hidden=4 init_all=0.8 trained_initial_states=true");
  AttentiveReader model(options, 7, 3);
  const std::vector<Ids> documents = {{1, 0, 5, 2, 6}, {3, 4}, {2, 5, 1}, {6, 0, 0}},
                         asked = {{4, 0, 3}, {1}, {2, 6}, {5}};
  Questions questions{{}, {}, {2, 0, -1, 1}, {0, 1, 2}, {0, 1, 2, -1, -1, -1, -1}};  // one answer is unknown
  for (size_t i = 0; i < documents.size(); ++i) {
    questions.documents.add(documents[i]);
    questions.questions.add(asked[i]);
  }
  const std::vector<size_t> known = {0, 1, 3};
  const Case of{
      [&](int64_t sequences) { return probe(model, questions, {.sequences = sequences}); },
      [&](size_t sequence) {
        const Ids &document = documents[known[sequence]], &question = asked[known[sequence]];
        const auto output =
            model({tokens(document), std::ssize(document), 1}, {tokens(question), std::ssize(question), 1});
        return model.cross_entropy(output.joint, tokens({questions.answers[known[sequence]]})).total;
      }};
  const std::vector<Cell*> cells = model.cells();
  expect_probed(model, of, known.size(),
                {{"document.l0", cells[0], 5},
                 {"document.l0_reverse", cells[1], 5},
                 {"question.l0", cells[2], 3},
                 {"question.l0_reverse", cells[3], 3}});
  questions.answers = {-1, -1, -1, -1};
  EXPECT_THROW(probe(model, questions, {}), InputError);
}

TEST(ProbeOfSkipThought, DifferentiatesTheLossesOfTheEndsOfBothNeighbours) {
  SkipThoughtOptions options;
  set(options, "encoder=combine embedding=3 hidden=4 init_all=0.8");
  SkipThought model(options, 6);
  const std::vector<Ids> sentences = {{1, 2, 0}, {3, 4, 5, 0}, {2, 0}, {5, 5, 1, 2, 0}, {4, 0}};
  Triples triples;
  for (const Ids& it : sentences) triples.sentences.add(it);
  triples.middles = {1, 2, 3};
  const Case of{[&](int64_t sequences) { return probe(model, triples, {.sequences = sequences}); },
                [&](size_t sequence) {
                  Variable sum;
                  for (const auto& part : model.parts()) {
                    const Ids& middle = sentences[sequence + 1];
                    const Variable vector = part->encode({tokens(middle), std::ssize(middle), 1});
                    const auto add = [&](RecurrentStack& decoder, Ids written) {
                      const auto T = std::ssize(written);
                      Ids targets(written.size(), -1);
                      targets.back() = written.back();
                      written.insert(written.begin(), 0);  // after the end of a sentence before it
                      written.pop_back();
                      const Variable states = part->decode(decoder, {tokens(written), T, 1}, vector);
                      const Variable nats = part->cross_entropy(states, tokens(targets)).total;
                      sum = sum.defined() ? sum + nats : nats;
                    };
                    add(part->previous, sentences[sequence]);
                    add(part->next, sentences[sequence + 2]);
                  }
                  return sum;
                }};
  std::vector<Layer> layers;
  const std::string names[] = {"uni", "bi"};
  for (size_t i = 0; i < 2; ++i) {
    const SkipModel& part = *model.parts()[i];
    layers.push_back({names[i] + ".encoder.l0", part.encoder.cells()[0], 4});
    if (i == 1) layers.push_back({"bi.encoder.l0_reverse", part.encoder.cells()[1], 4});
    layers.push_back({names[i] + ".previous.l0", part.previous.cells()[0], 3});
    layers.push_back({names[i] + ".next.l0", part.next.cells()[0], 2});
  }
  expect_probed(model, of, 3, layers);
}

TEST(ProbeOfARecogniser, DifferentiatesTheLossOfTheTranscript) {
  const FrameOptions frames{.filterbank = {.filters = 3}, .deltas = 0};
  CtcModelOptions options;
  set(options, "layers=1 hidden=4 init_all=0.8");
  CtcModel model(options, width_of(frames), 4);
  Utterances utterances{.options = frames};
  utterances.labels = {{1, 3}, {2, 2, 2}, {2}};  // the second one is too short for its labels
  const int64_t lengths[] = {5, 4, 3};
  for (size_t i = 0; i < 3; ++i) {
    Frames it{3, {}};
    for (int64_t n = 0; n < 3 * lengths[i]; ++n)
      it.numbers.push_back(static_cast<float>(std::sin(static_cast<double>(3 * n) + static_cast<double>(i))));
    utterances.frames.push_back(it);
    utterances.transcripts.emplace_back();
  }
  const Case of{[&](int64_t sequences) { return probe(model, utterances, {.sequences = sequences}); },
                [&](size_t sequence) {
                  const size_t i = 2 * sequence;
                  const std::vector<real> numbers(utterances.frames[i].numbers.begin(),
                                                  utterances.frames[i].numbers.end());
                  const int64_t T = lengths[i];
                  const Variable scores = model.scores(Tensor::from(numbers, {T, 1, 3}), {T});
                  return sum(ctc_loss(scores, CtcTargets({utterances.labels[i]}, {T})));
                }};
  const std::vector<Cell*> cells = model.cells();
  expect_probed(model, of, 2, {{"recurrent.l0", cells[0], 5}, {"recurrent.l0_reverse", cells[1], 5}});
  utterances.labels = {{1, 1, 1, 1}, {2, 2, 2}, {2, 2, 2}};
  EXPECT_THROW(probe(model, utterances, {}), InputError);
}

}  // namespace
}  // namespace rondo::probe_test
