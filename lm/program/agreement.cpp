// Ranks that begin together.
#include "lm/program/agreement.h"

#include <algorithm>
#include <array>
#include <exception>
#include <vector>

#include "lm/program/signals.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// Of ranks that are silent: mpirun kills the others as soon as one has ended with another, and the line that
/// says why might be lost. It returns that of the rank that says it.
constexpr int exit_status = 0;

}  // namespace

void prepare_together(Ranks& ranks, const std::function<void()>& prepare) {
  std::exception_ptr error;
  try {
    prepare();
  } catch (const InputError& it) {
    error = ranks.leads()
                ? std::current_exception()
                : std::make_exception_ptr(InputError(fmt::format("rank {}: {}", ranks.own(), it.what())));
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<double> failed(static_cast<std::size_t>(ranks.count()));
  failed[static_cast<std::size_t>(ranks.own())] = error ? 1 : 0;
  ranks.add_up(failed);
  const auto first = std::find(failed.begin(), failed.end(), 1.0);
  if (first - failed.begin() == ranks.own()) std::rethrow_exception(error);
  if (first != failed.end()) throw Stopped{exit_status};
}

void check_same_digest(Ranks& ranks, const std::string& digest) {
  std::string of_leader = digest;
  ranks.send(std::as_writable_bytes(std::span(of_leader)));
  std::array<double, 1> others = {digest == of_leader ? 0.0 : 1.0};
  ranks.add_up(others);
  if (others[0] > 0 && !ranks.leads()) throw Stopped{exit_status};
  check_input(
      others[0] == 0,
      "{} of {} ranks have other settings, another text or other weights than rank 0: give all of them "
      "the same command and the same files",
      others[0], ranks.count());
}

}  // namespace rondo
