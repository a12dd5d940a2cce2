// A training in a process of its own: lm's or PyTorch's. All use one protocol: the first line that a process
// prints is a JSON object that describes it; then it answers each line that it reads with a JSON object. It
// ends with its input. See bench/worker.h and bench/peers.py.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rondo {

class Peer {
 public:
  using Json = nlohmann::ordered_json;
  using Environment = std::map<std::string, std::string>;

  /// Starts a program, with these environment variables in addition to our own. Throws Error if it does not
  /// start.
  Peer(const std::vector<std::string>& command, const Environment& environment);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// The next object; throws Error if the process ends instead. The first one describes the process.
  Json read();
  Json ask(const std::string& line);
  pid_t pid() const { return pid_; }

 private:
  std::string program_;
  pid_t pid_ = 0;
  FILE *to_ = nullptr, *from_ = nullptr;
};

}  // namespace rondo
