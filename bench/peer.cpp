// A child process and two pipes.
#include "bench/peer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "tensor/error.h"

namespace rondo {
namespace {

/// Starts a program from PATH with these files as its input and output. Throws Error if it does not exist.
pid_t start(std::vector<std::string> command, std::vector<std::string> environment, int input, int output) {
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, command[0].c_str(), &files, nullptr, pointers(command).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  check(failed == 0, "{} does not start: {}", command[0], std::strerror(failed));
  return pid;
}

std::vector<std::string> our_environment_and(const Peer::Environment& more) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!more.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : more) result.push_back(name + "=" + value);
  return result;
}

std::array<int, 2> new_pipe() {
  std::array<int, 2> ends{};
  check_system(pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe");
  return ends;
}

}  // namespace

Peer::Peer(const std::vector<std::string>& command, const Environment& environment) : program_(command[0]) {
  std::signal(SIGPIPE, SIG_IGN);  // writing to an ended process is an error, which is reported
  const auto [its_input, our_output] = new_pipe();
  const auto [our_input, its_output] = new_pipe();
  to_ = fdopen(our_output, "w");
  from_ = fdopen(our_input, "r");
  pid_ = start(command, our_environment_and(environment), its_input, its_output);
  close(its_input);
  close(its_output);
}

Peer::~Peer() {
  std::fclose(to_);
  std::fclose(from_);
  waitpid(pid_, nullptr, 0);
}

Peer::Json Peer::ask(const std::string& line) {
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);
  return read();
}

Peer::Json Peer::read() {
  char* line = nullptr;
  size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, from_);
  const std::string text(line ? line : "", length > 0 ? static_cast<size_t>(length) : 0);
  std::free(line);
  check(length > 0, "{} ended without an answer", program_);
  return Json::parse(text);
}

}  // namespace rondo
