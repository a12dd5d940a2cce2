// This program once more, as another process.
#include "lm/program/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "tensor/check_system.h"

namespace rondo {

ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  check_system(pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe");
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {  // only calls that are safe between fork() and exec()
    setpgid(0, 0);      // its own group, or Ctrl-C would reach it twice
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(ends[1], 1) < 0 || dup2(ends[1], 2) < 0) _exit(127);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
  check_system(process_ > 0, "cannot start another process");
  fcntl(output_, F_SETFL, O_NONBLOCK);
}

ChildProcess::~ChildProcess() {
  close(output_);  // first, or it might wait for somebody to read
  if (process_ <= 0) return;
  stop(SIGINT);
  wait();
}

bool ChildProcess::read() {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(output_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    unfinished_.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = unfinished_.find('\n'); end != std::string::npos; end = unfinished_.find('\n')) {
      if (end > 0) {
        last_line_ = unfinished_.substr(0, end);
        if (last_line_.starts_with("lm: warning: ")) warnings_.push_back(last_line_);
      }
      unfinished_.erase(0, end + 1);
    }
  }
}

void ChildProcess::stop(int signal) { kill(process_, signal); }

int ChildProcess::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace rondo
