// One thread and several beside busy processes. The model is bench/char-lstm.toml.
#include "bench/busy_machine.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <vector>

#include "bench/machine.h"
#include "bench/report.h"
#include "tensor/error.h"

namespace rondo {
namespace {

/// While it exists, a process that keeps a processor busy.
class BusyProcess {
 public:
  BusyProcess() : process_(fork()) {
    check(process_ >= 0, "no further process can be started");
    if (process_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned i = 0;;) i = i + 1;
  }
  ~BusyProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  const pid_t process_;
};

std::unique_ptr<Contestant> start(int threads) {
  auto it = std::make_unique<Contestant>(
      std::vector<std::string>{"/proc/self/exe", "--train", RONDO_SOURCE_DIR "/bench/char-lstm.toml",
                               "--threads", std::to_string(threads)},
      Peer::Environment{});
  it->introduction = it->process.read();
  return it;
}

double rate(Contestant& it, double seconds) {
  const Peer::Json answer = it.process.ask(fmt::format("{}", seconds));
  return answer.at("symbols").get<double>() / answer.at("seconds").get<double>();
}

}  // namespace

void print_busy_machine(int threads, int rounds, double seconds) {
  fmt::print("\nbeside busy processes: char-lstm, symbols/s, medians\n  {:>14} {:>10} {:>10}\n",
             "busy processes", "1 thread", fmt::format("{} threads", threads));
  const auto one = start(1), all = start(threads);
  std::vector<std::unique_ptr<BusyProcess>> busy;
  for (int count = 0; count <= 2; ++count) {
    if (count > 0) busy.push_back(std::make_unique<BusyProcess>());
    std::vector<double> with_one, with_all, ratios;
    for (int round = 0; round < rounds; ++round) {
      with_one.push_back(rate(*one, seconds));
      with_all.push_back(rate(*all, seconds));
      ratios.push_back(with_all.back() / with_one.back());
    }
    fmt::print("  {:>14} {:>10.0f} {:>10.0f}  {:.2f}x\n", count, median(with_one), median(with_all),
               median(ratios));
    std::fflush(stdout);
  }
}

}  // namespace rondo
