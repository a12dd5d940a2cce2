// Standard output, with a check that it was written.
#include "lm/program/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "lm/program/signals.h"
#include "tensor/error.h"

namespace rondo {

void print_json(const nlohmann::ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_symbol(std::string_view id, std::string_view symbol, double nats) {
  fmt::print("{}\t{}\t{:.6f}\n", id, symbol, 0 - nats);  // 0 - 0 is not -0
}

void flush_output() {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  pollfd state{STDOUT_FILENO, POLLOUT, 0};  // errno may be from an earlier write
  if (poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0) throw Stopped{128 + SIGPIPE};
  throw Error("cannot write to standard output: is the disk full?");
}

}  // namespace rondo
