// A program beside Rondo that trains a translator by its Task, the class that `lm` uses as well: data,
// vocabularies, model, training, BLEU, and the translation of a line. Exit status 0: it translates.
#include <cstdio>

#include "lm/tasks/translation.h"
#include "lm/training/trainer.h"

using namespace rondo;

int main() {
  TranslationTask task;
  task.settings.data.files.generated_pairs = 2000;  // lines of letters, and the same in reverse
  task.settings.model.attention = Score::general;
  task.settings.model.embedding = 32;
  task.settings.model.hidden = 64;
  task.settings.decoding.max_length = 20;
  task.settings.train.batches.order.batch = 32;
  task.check("translator");

  task.open({});
  task.make_vocabularies();
  task.prepare();
  const std::unique_ptr<Module> model = task.make_model(task.sizes(), 1, Device::cpu);
  const std::unique_ptr<Objective> objective = task.make_objective(*model, 1);
  Trainer trainer(*objective, {.epochs = 6,
                               .clip = 1,
                               .optimizer = {.kind = OptimizerKind::adam, .learning_rate = 0.003},
                               .schedule = {.kind = ScheduleKind::step, .decay = 0.8}});
  while (!trainer.done()) {
    while (trainer.next_batch()) trainer.step();
    std::printf("epoch %d: %.4f nats\n", static_cast<int>(trainer.epoch()), objective->evaluate({}).value());
    trainer.begin_next_epoch();
  }
  const double bleu = task.measure(*model, "test", show_nothing).at("bleu");
  const std::string translation = task.answer(*model, {{"a b c d e"}}).front().text;
  std::printf("BLEU %.2f; a b c d e -> %s\n", bleu, translation.c_str());
  return bleu > 50 && translation == "e d c b a" ? 0 : 1;
}
