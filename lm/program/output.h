// Standard output: JSON, and a check that it was written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace rondo {

/// The object of --json, indented; what is not UTF-8 is U+FFFD.
void print_json(const nlohmann::ordered_json& json);

/// A row of --per-symbol: where the symbol is, its text as in vocab.txt, its natural-log probability.
void print_symbol(std::string_view id, std::string_view symbol, double nats);

/// Flushes standard output. Throws Stopped, as for SIGPIPE, if it is a closed pipe and the signal is ignored;
/// Error if it cannot be written.
void flush_output();

}  // namespace rondo
