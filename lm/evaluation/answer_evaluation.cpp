// What a reader answers, and how well.
#include "lm/evaluation/answer_evaluation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "autograd/functions.h"
#include "data/index.h"
#include "lm/evaluation/evaluation.h"
#include "tensor/clock.h"

namespace rondo {

using detail::index_of;

namespace {

/// All questions in batches of about rows_at_once words of documents.
QuestionBatches batches_of(const Questions& questions) {
  std::int64_t longest = 1;
  for (std::int64_t i = 0; i < questions.size(); ++i)
    longest = std::max(longest, questions.documents.length(i));
  QuestionBatches batches({.batch = std::max<std::int64_t>(1, rows_at_once / longest)}, questions, 1);
  batches.seek(0, 0);
  return batches;
}

AttentiveReader::Output read(AttentiveReader& model, const QuestionBatch& batch) {
  return model({tokens(batch.documents.ids), batch.documents.steps, batch.documents.sentences,
                batch.documents.lengths},
               {tokens(batch.questions.ids), batch.questions.steps, batch.questions.sentences,
                batch.questions.lengths});
}

/// The entity that occurs most often and is none of `excluded`; of equals the one that occurs first; -1:
/// none.
std::int32_t most_frequent(std::span<const std::int32_t> entities, const std::set<std::int32_t>& excluded) {
  std::map<std::int32_t, std::int64_t> counts;
  std::int64_t highest = 0;
  for (const std::int32_t it : entities)
    if (!excluded.contains(it)) highest = std::max(highest, ++counts[it]);
  for (const std::int32_t it : entities)
    if (const auto found = counts.find(it); found != counts.end() && found->second == highest) return it;
  return -1;
}

}  // namespace

Scores evaluate_reader(AttentiveReader& model, const Questions& questions,
                       const std::function<void(std::int64_t)>& progress) {
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  const auto begin = Clock::now();
  QuestionBatches batches = batches_of(questions);
  std::int64_t done = 0, correct = 0, unknown = 0;
  double nats = 0;
  for (QuestionBatch batch; batches.next(batch);) {
    const Variable joint = read(model, batch).joint;
    const std::vector<real> logits = model.logits(joint).value().to_vector();
    auto of_question = logits.begin();
    for (const std::int32_t answer : batch.answers) {
      const auto end = of_question + model.entities();
      correct += std::max_element(of_question, end) - of_question == answer;
      unknown += answer < 0;
      of_question = end;
    }
    for (const real it : model.cross_entropy(joint, tokens(batch.answers)).each.to_vector())
      nats += static_cast<double>(it);
    done += std::ssize(batch.answers);
    if (progress) progress(done);
  }
  const double known = static_cast<double>(std::max<std::int64_t>(1, done - unknown));
  const FrequencyBaselines baselines = frequency_baselines(questions);
  return {.metrics = {{"accuracy", 100 * static_cast<double>(correct) / static_cast<double>(done)},
                      {"nats", nats / known}},
          .higher_is_better = true,
          .count = done,
          .unit = "questions",
          .read = "one pass",
          .preposition = "",
          .seconds = seconds_since(begin),
          .details = {{"correct", correct},
                      {"unknown_answers", unknown},
                      {"most_frequent_entity", baselines.most_frequent},
                      {"most_frequent_entity_not_in_question", baselines.not_in_question},
                      {"classes", model.entities()}}};
}

namespace {

/// The most probable entity of those that the document names; of all, if what was read of it names none.
std::int32_t best_answer(std::span<const real> log_p, std::span<const std::int32_t> document,
                         const std::vector<std::int32_t>& entity_of) {
  std::int32_t best = -1;
  for (const std::int32_t id : document)
    if (const std::int32_t entity = entity_of[index_of(id)];
        entity >= 0 && (best < 0 || log_p[index_of(entity)] > log_p[index_of(best)]))
      best = entity;
  return best >= 0 ? best
                   : static_cast<std::int32_t>(std::max_element(log_p.begin(), log_p.end()) - log_p.begin());
}

}  // namespace

std::vector<Answer> most_probable_answers(AttentiveReader& model, const Questions& questions) {
  if (questions.size() == 0) return {};
  const EvaluationMode no_dropout(model);
  const NoGradient no_history;
  QuestionBatches batches = batches_of(questions);
  std::vector<Answer> answers(static_cast<std::size_t>(questions.size()));
  for (QuestionBatch batch; batches.next(batch);) {
    const auto [joint, attention] = read(model, batch);
    const std::vector<real> log_p = log_softmax(model.logits(joint)).value().to_vector();
    const std::vector<real> weights = attention.value().to_vector();
    for (std::size_t b = 0; b < batch.indices.size(); ++b) {
      const std::span<const real> of_question =
          std::span(log_p).subspan(b * index_of(model.entities()), index_of(model.entities()));
      const std::int32_t best =
          best_answer(of_question, questions.documents[batch.indices[b]], questions.entity_of);
      const auto row = weights.begin() + static_cast<std::ptrdiff_t>(b) * batch.documents.steps;
      answers[static_cast<std::size_t>(batch.indices[b])] = {
          best, std::exp(static_cast<double>(of_question[index_of(best)])),
          std::vector<float>(row, row + batch.documents.lengths[b])};
    }
  }
  return answers;
}

FrequencyBaselines frequency_baselines(const Questions& questions) {
  const auto entities_of = [&](std::span<const std::int32_t> ids) {
    std::vector<std::int32_t> entities;
    for (const std::int32_t id : ids)
      if (const std::int32_t entity = questions.entity_of[static_cast<std::size_t>(id)]; entity >= 0)
        entities.push_back(entity);
    return entities;
  };
  double first = 0, second = 0;
  for (std::int64_t i = 0; i < questions.size(); ++i) {
    const std::vector<std::int32_t> named = entities_of(questions.questions[i]);
    const std::vector<std::int32_t> of_document = entities_of(questions.documents[i]);
    const std::int32_t answer = questions.answers[static_cast<std::size_t>(i)];
    if (answer < 0) continue;
    first += most_frequent(of_document, {}) == answer;
    second += most_frequent(of_document, {named.begin(), named.end()}) == answer;
  }
  const auto all = static_cast<double>(questions.size());
  return {100 * first / all, 100 * second / all};
}

}  // namespace rondo
