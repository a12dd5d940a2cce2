// An encoder-decoder trained on random pairs.
#include "bench/translation.h"

#include <algorithm>
#include <random>

#include "bench/worker.h"
#include "lm/program/recipe.h"
#include "lm/tasks/translation.h"
#include "lm/training/trainer.h"

namespace rondo {
namespace {

constexpr int32_t source_vocabulary = 7857, target_vocabulary = 5919;  // of words that occur twice or more
constexpr int64_t count = 3200;                                        // 50 batches of 64

Recipe recipe() { return resolve_recipe("attention-multi30k", {}); }

/// Sources of 4 to 22 symbols and an end symbol, 14 on average, and targets that are about as long.
Pairs random_pairs() {
  std::mt19937 random(1);
  const auto below = [&](int32_t limit) {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(limit));
  };
  const auto sentence = [&](int32_t length, int32_t vocabulary) {
    std::vector<int32_t> ids(static_cast<size_t>(length));
    for (int32_t& id : ids) id = 1 + below(vocabulary - 1);
    ids.push_back(0);
    return ids;
  };
  Pairs pairs;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t length = 4 + below(7) + below(7) + below(7);
    pairs.source.add(sentence(length, source_vocabulary));
    pairs.target.add(sentence(std::max(1, length - 3 + below(7)), target_vocabulary));
  }
  return pairs;
}

}  // namespace

Peer::Json translation_shape() {
  const Recipe it = recipe();
  const TranslationSettings& settings = dynamic_cast<TranslationTask&>(*it.task).settings;
  const EncoderDecoderOptions& model = settings.model;
  Peer::Json shape{{"source_vocabulary", source_vocabulary},
                   {"target_vocabulary", target_vocabulary},
                   {"embedding", model.embedding},
                   {"hidden", model.hidden},
                   {"readout", model.readout_width()},
                   {"attention", name_of(model.attention)},
                   {"tied", name_of(model.tied)},
                   {"dropout", model.dropout},
                   {"label_smoothing", settings.train.label_smoothing},
                   {"optimizer", name_of(it.trainer.optimizer.kind)},
                   {"learning_rate", it.trainer.optimizer.learning_rate.value_or(0)},
                   {"clip", it.trainer.clip}};
  const Pairs pairs = random_pairs();
  PairBatches batches(settings.train.batches, pairs, 1);
  for (PairBatch batch; batches.next(batch);)
    shape["batches"].push_back({batch.source_lengths, batch.target_lengths});
  shape["warm_up_updates"] =
      shape["batches"].size();  // an epoch, because most batches have shapes of their own
  return shape;
}

void translation_on_request(Device device) {
  const Recipe it = recipe();
  const TranslationSettings& settings = dynamic_cast<TranslationTask&>(*it.task).settings;
  const Pairs pairs = random_pairs();
  const TranslationText none;
  EncoderDecoder model(settings.model, source_vocabulary, target_vocabulary, 1, device);
  Translation task(model, settings.train, pairs, none);
  Trainer trainer(task, it.trainer);
  const Peer::Json shape = translation_shape();
  const auto update = [&] {
    if (!trainer.next_batch()) {
      trainer.begin_next_epoch();
      trainer.next_batch();
    }
    trainer.step();
    if (device == Device::cpu) trainer.metrics();  // as a training reads its loss; a GPU would be waited for
    return task.staged().scored;
  };
  answer_requests({{"parameters", model.parameter_count()}, {"model", shape}}, update, device,
                  shape["warm_up_updates"]);
}

}  // namespace rondo
