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
  const std::string scored = fmt::format("{} {}", figure.count, figure.counted);
  return figure.preposition.empty() ? scored
                                    : fmt::format("{} {} {}", scored, figure.preposition, figure.read);
}

void Terminal::updated(const Trainer& trainer, const StepMetrics& metrics) {
  if (metrics.scored == 0) return;
  window_.add(metrics);
  if (progress_.due()) {
    const double share = trainer.task().share_of_epoch(), rate = window_.symbols_per_second();
    const double epochs_left = static_cast<double>(trainer.epochs() - trainer.epoch() + 1) - share;
    const double left = epochs_left * static_cast<double>(trainer.task().scored_per_epoch()) / rate;
    const std::string usual_figure =
        has_perplexity(recipe_.kind) ? "  " + figure_text(recipe_, window_.loss()) : "";
    progress_.status(fmt::format("epoch {}/{}  {:.0f}%  loss {:.4f} nats{}  {} {}/s  {} left",
                                 trainer.epoch(), trainer.epochs(), 100 * share, window_.loss(), usual_figure,
                                 short_number(rate), trainer.task().scored_items(), duration_text(left)));
  }
  if (trainer.step_count() % recipe_.run.log_every == 0) window_ = {};
}

void Terminal::validated(const Trainer& trainer, const Figure& figure, bool best) {
  const bool within_epochs = recipe_.run.eval_every > 0;
  evaluation(fmt::format("epoch {:<4}", trainer.epoch()) +
                 (within_epochs ? fmt::format(" step {:<7}", trainer.step_count()) : ""),
             "valid", figure, best);
}
void Terminal::began_with(const Figure& figure) { evaluation("base model", "valid", figure, true); }
void Terminal::measured(const std::string& split, const Figure& figure) {
  evaluation("best model", split, figure, false);
}

void Terminal::evaluation(const std::string& model, const std::string& split, const Figure& figure,
                          bool best) {
  line(fmt::format("{} {:<5} {}  {}  {}{}", model, split, values_text(recipe_.kind, figure),
                   scored_text(figure), duration_text(figure.seconds), best ? "  best" : ""));
  window_ = {};
}

std::function<void(int64_t)> Terminal::progress_of(const std::string& what, size_t symbols) {
  return [this, what, symbols](int64_t done) {
    progress_.status(
        fmt::format("{}  {:.0f}%", what, 100.0 * static_cast<double>(done) / static_cast<double>(symbols)));
  };
}

}  // namespace rondo
