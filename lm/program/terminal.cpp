// The terminal as an observer of a training.
#include "lm/program/terminal.h"

#include <fmt/ranges.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace rondo {

std::string figure_text(const Recipe& recipe, double nats) {
  return recipe.task->tokenization().unit == Unit::words
             ? fmt::format("perplexity {:.2f}", std::exp(nats))
             : fmt::format("{:.4f} bits", nats / std::numbers::ln2);
}

std::string values_text(const Scores& scores) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : scores.metrics)
    texts.push_back(name == "nats" || name == "bits" ? fmt::format("{:.4f} {}", value, name)
                                                     : fmt::format("{} {:.2f}", name, value));
  return fmt::format("{}", fmt::join(texts, "  "));
}

std::string scored_text(const Scores& scores) {
  const std::string scored = counted_text(scores.count, scores.unit);
  return scores.preposition.empty() ? scored
                                    : fmt::format("{} {} {}", scored, scores.preposition, scores.read);
}

void warn(Terminal& terminal, const std::string& text) {
  terminal.erase();
  fmt::print(stderr, "lm: warning: {}\n", text);
}

std::vector<std::string> Terminal::status_of(const Trainer& trainer) const {
  const double share = trainer.objective().epoch_fraction(), rate = window_.symbols_per_second(),
               per_epoch = static_cast<double>(trainer.objective().scored_per_epoch());
  std::vector<std::string> parts;
  double left = 0;  // items to be scored
  if (trainer.steps() > 0) {
    const auto done = static_cast<double>(trainer.step_count());
    const double epochs_done = static_cast<double>(trainer.epoch() - 1) + share;
    left = epochs_done * per_epoch / done * (static_cast<double>(trainer.steps()) - done);
    parts.push_back(fmt::format("step {}/{}  {:.0f}%", trainer.step_count(), trainer.steps(),
                                100 * done / static_cast<double>(trainer.steps())));
  } else {
    left = (static_cast<double>(trainer.epochs() - trainer.epoch() + 1) - share) * per_epoch;
    parts.push_back(fmt::format("epoch {}/{}  {:.0f}%", trainer.epoch(), trainer.epochs(), 100 * share));
  }
  parts.push_back(
      left_text(left / rate, limit_ ? std::optional(*limit_ - seconds_since(begin_)) : std::nullopt));
  parts.push_back(fmt::format("loss {:.4f} nats", window_.loss()));
  if (recipe_.task->predicts_text()) parts.push_back(figure_text(recipe_, window_.loss()));
  parts.push_back(fmt::format("{} {}/s", short_number(rate), trainer.objective().scored_items()));
  parts.push_back(fmt::format("learning rate {:.3g}", trainer.learning_rate()));
  return parts;
}

void Terminal::updated(const Trainer& trainer, const StepMetrics& metrics) {
  if (metrics.scored == 0) return;
  window_.add(metrics);
  since_evaluation_.add(metrics);
  if (is_due(trainer)) progress_.status(status_of(trainer));
  if (trainer.step_count() % recipe_.run.log_every == 0) window_ = {};
}

void Terminal::validated(const Trainer& trainer, const Scores& scores, bool best) {
  const bool within_epochs = recipe_.run.eval_every > 0;
  const std::string trained =
      since_evaluation_.is_empty()
          ? ""
          : fmt::format(" train {:.4f} nats{} ", since_evaluation_.loss(),
                        resumed_at_ > 0 ? fmt::format(" since step {}", resumed_at_) : "");
  const double share = trainer.objective().epoch_fraction();
  const std::string epoch =
      within_epochs || share >= 1
          ? fmt::format("{}", trainer.epoch())
          : fmt::format("{:.2f}", static_cast<double>(trainer.epoch() - 1) + share);  // ended by its time
  evaluation(fmt::format("epoch {:<4}{}{} valid", epoch,
                         within_epochs ? fmt::format(" step {:<7}", trainer.step_count()) : "", trained),
             scores, best);
  since_evaluation_ = {};
  resumed_at_ = 0;
}
void Terminal::began_with(const Scores& scores) { evaluation("base model valid", scores, true); }
void Terminal::measured(const std::string& split, const Scores& scores) {
  evaluation(split + " (best checkpoint)", scores, false);
}

void Terminal::evaluation(const std::string& what, const Scores& scores, bool best) {
  line(fmt::format("{} {}  {}  evaluated in {}{}", what, values_text(scores), scored_text(scores),
                   duration_text(scores.seconds), best ? "  best" : ""));
  window_ = {};
}

std::function<void(int64_t)> Terminal::progress_of(const std::string& what, size_t symbols) {
  if (quiet_) return [](int64_t) {};
  return rondo::progress_of(progress_, what, static_cast<int64_t>(symbols));
}

}  // namespace rondo
