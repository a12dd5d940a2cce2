// The terminal as an observer of a training.
#include "lm/program/terminal.h"

#include <cmath>
#include <numbers>

namespace rondo {

std::string figure_text(const Recipe& recipe, double nats) {
  return tokenization_of(recipe).unit == Unit::words ? fmt::format("perplexity {:.2f}", std::exp(nats))
                                                     : fmt::format("{:.4f} bits", nats / std::numbers::ln2);
}

std::string values_text(TaskKind kind, const Figure& figure) {
  const auto value_text = [&](const std::string& name, double value) {
    if (name != "nats") return fmt::format("{} {:.2f}", name, value);
    const std::string nats = fmt::format("{:.4f} nats", value);
    return has_perplexity(kind) ? fmt::format("{}  {:.4f} bits  perplexity {:.2f}", nats,
                                              value / std::numbers::ln2, std::exp(value))
                                : nats;
  };
  std::string text = value_text(figure.name, figure.value);
  for (const auto& [name, value] : figure.beside) text += "  " + value_text(name, value);
  return text;
}

std::string scored_text(const Figure& figure) {
  const std::string scored = counted_text(figure.count, figure.counted);
  return figure.preposition.empty() ? scored
                                    : fmt::format("{} {} {}", scored, figure.preposition, figure.read);
}

std::string counted_text(std::int64_t count, const std::string& of_many) {
  const std::string of_one = of_many.ends_with('s') ? of_many.substr(0, of_many.size() - 1) : of_many;
  return fmt::format("{} {}", count, count == 1 ? of_one : of_many);
}

std::string vocabulary_text(std::int64_t size) { return "a vocabulary of " + counted_text(size, "symbols"); }

void warn(Terminal& terminal, const std::string& text) {
  terminal.erase();
  fmt::print(stderr, "lm: warning: {}\n", text);
}

std::vector<std::string> Terminal::status_of(const Trainer& trainer) const {
  const double share = trainer.task().share_of_epoch(), rate = window_.symbols_per_second(),
               per_epoch = static_cast<double>(trainer.task().scored_per_epoch());
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
  if (has_perplexity(recipe_.kind)) parts.push_back(figure_text(recipe_, window_.loss()));
  parts.push_back(fmt::format("{} {}/s", short_number(rate), trainer.task().scored_items()));
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

void Terminal::validated(const Trainer& trainer, const Figure& figure, bool best) {
  const bool within_epochs = recipe_.run.eval_every > 0;
  const std::string trained =
      since_evaluation_.is_empty()
          ? ""
          : fmt::format(" train {:.4f} nats{} ", since_evaluation_.loss(),
                        resumed_at_ > 0 ? fmt::format(" since step {}", resumed_at_) : "");
  const double share = trainer.task().share_of_epoch();
  const std::string epoch =
      within_epochs || share >= 1
          ? fmt::format("{}", trainer.epoch())
          : fmt::format("{:.2f}", static_cast<double>(trainer.epoch() - 1) + share);  // ended by its time
  evaluation(fmt::format("epoch {:<4}{}{} valid", epoch,
                         within_epochs ? fmt::format(" step {:<7}", trainer.step_count()) : "", trained),
             figure, best);
  since_evaluation_ = {};
  resumed_at_ = 0;
}
void Terminal::began_with(const Figure& figure) { evaluation("base model valid", figure, true); }
void Terminal::measured(const std::string& split, const Figure& figure) {
  evaluation(split + " (best checkpoint)", figure, false);
}

void Terminal::evaluation(const std::string& what, const Figure& figure, bool best) {
  line(fmt::format("{} {}  {}  evaluated in {}{}", what, values_text(recipe_.kind, figure),
                   scored_text(figure), duration_text(figure.seconds), best ? "  best" : ""));
  window_ = {};
}

std::function<void(int64_t)> Terminal::progress_of(const std::string& what, size_t symbols) {
  if (quiet_) return [](int64_t) {};
  return rondo::progress_of(progress_, what, static_cast<int64_t>(symbols));
}

}  // namespace rondo
