// Requests of other programs: `lm generate --json-lines`, `lm score --json-lines`. A request is a line of
// standard input, a JSON object whose members have the names of keys, and has one line as its answer: an
// object with what was asked for or, where the request is refused, with its "error".
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tensor/keys.h"

namespace CLI {
class App;
}

namespace rondo {

/// --json-lines, which excludes the options that requests do not use; `example` is a request.
void add_json_lines(CLI::App& to, bool& into, const std::string& example,
                    const std::vector<std::string>& excluded);

/// Sets the keys that a request has; the others keep their values. InputErrors of apply_setting(), and for
/// what is no JSON object.
void read_request(const std::string& line, const Keys& keys);

/// Prints the answer to each line at once. Returns 0.
int answer_requests(const std::function<nlohmann::ordered_json(const std::string& line)>& answer);

}  // namespace rondo
