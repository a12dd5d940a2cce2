// The page of a training that is running.
#include "lm/program/training_page.h"

#include <fmt/format.h>

#include <exception>

#include "data/files.h"
#include "lm/program/plot.h"

namespace rondo {

void TrainingPage::update() {
  constexpr double share = 0.01;
  if (cost_ > share * seconds_since(written_)) return;
  const auto begin = Clock::now();
  write(true);
  cost_ = seconds_since(begin);
  written_ = Clock::now();
}

void TrainingPage::write(bool runs) {
  try {
    write_atomically(run_.page(), training_page(run_, runs));
  } catch (const std::exception& error) {
    if (!has_warned_) fmt::print(stderr, "lm: warning: the page of the training: {}\n", error.what());
    has_warned_ = true;
  }
}

}  // namespace rondo
