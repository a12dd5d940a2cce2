// What a training shows and logs.
#include "lm/program/report.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "tensor/allocator.h"

namespace rondo {

using Json = nlohmann::ordered_json;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string figure_text(const Recipe& recipe, double nats) {
  return recipe.data.unit == "words" ? fmt::format("perplexity {:.2f}", std::exp(nats))
                                     : fmt::format("{:.4f} bits", nats / std::numbers::ln2);
}

bool Report::is_due(const Training& training) const {
  return progress_.due() || training.step() % recipe_.train.log_every == 0;
}

void Report::update(const Training& training, const Training::Update& update) {
  if (update.symbols == 0) return;
  nats_ += update.nats;
  symbols_ += update.symbols;
  if (progress_.due()) show(training);
  if (training.step() % recipe_.train.log_every != 0) return;
  const double seconds = seconds_since(window_start_);
  log_.append(Json{{"step", training.step()},
                   {"epoch", training.epoch()},
                   {"nats", nats_ / static_cast<double>(symbols_)},
                   {"learning_rate", training.learning_rate()},
                   {"gradient_norm", update.gradient_norm},
                   {"symbols_per_second", static_cast<double>(symbols_) / seconds}}
                  .dump());
  begin_window();
}

void Report::validation(const Training& training, const Evaluation& it, const Reading& reading, bool best) {
  const bool within_epochs = recipe_.train.eval_every > 0;
  evaluation(fmt::format("epoch {:<4}", training.epoch()) +
                 (within_epochs ? fmt::format(" step {:<7}", training.step()) : ""),
             Moment{training.step(), training.epoch(), training.seconds()}, "valid", it, reading, best);
}
void Report::base_model(const Evaluation& it, const Reading& reading) {
  evaluation("base model", Moment{}, "valid", it, reading, true);
}
void Report::best_model(const std::string& split, const Evaluation& it, const Reading& reading) {
  evaluation("best model", {}, split, it, reading, true);
}

std::function<void(int64_t)> Report::progress_of(const std::string& what, size_t symbols) {
  return [this, what, symbols](int64_t done) {
    progress_.status(fmt::format("{}  {:.0f}%", what, 100.0 * done / symbols));
  };
}

void Report::show(const Training& training) {
  const double rate = static_cast<double>(symbols_) / seconds_since(window_start_);
  const double nats = nats_ / static_cast<double>(symbols_), share = training.share_of_epoch();
  const double epochs_left = static_cast<double>(recipe_.train.epochs - training.epoch() + 1) - share;
  progress_.status(fmt::format("epoch {}/{}  {:.0f}%  loss {:.4f} nats  {}  {} symbols/s  {} left",
                               training.epoch(), recipe_.train.epochs, 100 * share, nats,
                               figure_text(recipe_, nats), short_number(rate),
                               duration_text(epochs_left * training.symbols_per_epoch() / rate)));
}

void Report::evaluation(const std::string& model, const std::optional<Moment>& when, const std::string& split,
                        const Evaluation& it, const Reading& reading, bool best) {
  line(fmt::format("{} {:<5} {:.4f} nats  {:.4f} bits  perplexity {:.2f}  {} symbols in {}  {}{}", model,
                   split, it.nats(), it.bits(), it.perplexity(), it.symbols, reading.text(),
                   duration_text(it.seconds), best && when ? "  best" : ""));
  Json entry;
  if (when) entry = {{"step", when->step}, {"epoch", when->epoch}, {"training_seconds", when->seconds}};
  entry.update({{"split", split},
                {"nats", it.nats()},
                {"bits", it.bits()},
                {"perplexity", it.perplexity()},
                {"symbols", it.symbols},
                {"read", reading.text()},
                {"best", best},
                {"seconds", it.seconds},
                {"peak_bytes", memory_statistics(device_).peak_bytes}});
  log_.append(entry.dump());
  begin_window();
}

void Report::begin_window() {
  nats_ = 0;
  symbols_ = 0;
  window_start_ = Clock::now();
}

}  // namespace rondo
