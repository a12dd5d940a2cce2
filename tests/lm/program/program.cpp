// Processes, and what they leave behind: program.h.
#include "tests/lm/program/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

namespace rondo {
namespace {

constexpr const char* text_of_recipe = R"(
[recipe]
name = "small"
[data]
unit = "words"
[model]
cell = "lstm"
layers = 2
embedding = 24
hidden = 32
dropout = 0.2
[train]
epochs = 12
batch = 8
micro_batch = 4
length = 10
optimizer = "adam"
learning_rate = 0.01
clip = 1.0
schedule = "plateau"
patience = 3
eval_every = 5
save_every = 0.0002
log_every = 1
)";

}  // namespace

Words with_set(const Words& words) {
  static const std::regex setting("[a-z_]+\\.[a-z0-9_.]+=[^]*");
  Words all;
  for (const std::string& word : words) {
    if (std::regex_match(word, setting) && (all.empty() || all.back() != "--set")) all.push_back("--set");
    all.push_back(word);
  }
  return all;
}

Program::Program(const Words& words, const Surroundings& around) {
  write_bytes(folder_ / "in", around.input);
  const std::string in = around.stdin_file.empty() ? std::string(folder_ / "in") : around.stdin_file;
  const std::string err = folder_ / "err";
  const std::string out = around.stdout_file.empty() ? std::string(folder_ / "out") : around.stdout_file;
  const std::string program = fs::absolute(RONDO_PROGRAM);
  std::vector<const char*> arguments{program.c_str()};
  const Words all = with_set(words);
  for (const std::string& word : all) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  process_ = fork();
  if (process_ != 0) return;
  for (const int signal : {SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);  // whatever the tests run under
  if (around.input_is_closed)
    close(0);
  else
    dup2(open(in.c_str(), O_RDONLY), 0);
  dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0666), 1);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0666), 2);
  if (around.max_file_bytes) std::signal(SIGXFSZ, SIG_IGN);  // so that write() fails
  const auto limit = [](auto resource, std::optional<rlim_t> most) {
    if (!most) return;
    const rlimit limits{*most, *most};
    setrlimit(resource, &limits);
  };
  if (around.max_open_files) limit(RLIMIT_NOFILE, dup(0) + *around.max_open_files);
  if (around.ignores_broken_pipes) std::signal(SIGPIPE, SIG_IGN);
  limit(RLIMIT_FSIZE, around.max_file_bytes);
  alarm(around.max_seconds);  // kills it
  if (around.folder.empty() || chdir(around.folder.c_str()) == 0)
    execv(program.c_str(), const_cast<char**>(arguments.data()));
  _exit(127);
}

Program::~Program() {
  if (process_ > 0) end(SIGKILL);
}

bool Program::runs() {
  siginfo_t state{};
  waitid(P_PID, static_cast<id_t>(process_), &state, WEXITED | WNOHANG | WNOWAIT);
  return state.si_pid == 0;
}

Result Program::end(int signal) {
  if (signal != 0) kill(process_, signal);
  int state = 0;
  waitpid(process_, &state, 0);
  process_ = -1;
  return {WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state), bytes_of_file(folder_ / "out"),
          bytes_of_file(folder_ / "err")};
}

Result run_lm(const Words& words, const Program::Surroundings& around) {
  return Program(words, around).end();
}

Result run_lm_well(const Words& words, const Program::Surroundings& around) {
  const Result result = run_lm(words, around);
  EXPECT_EQ(result.status, 0) << result.err;
  return result;
}

std::string output_of_lm(const Words& words, const std::string& input) {
  return run_lm_well(words, {.input = input}).out;
}

Json json_of_lm(const Words& words) { return Json::parse(output_of_lm(words + Words{"--json"})); }

Json rows_of_table(const Words& runs) { return json_of_lm(Words{"table"} + runs).at("rows"); }

void expect_refused(const Result& result, const std::string& part, int status) {
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_TRUE(result.err.starts_with("lm: ") && result.err.find('\n') == result.err.size() - 1) << result.err;
  EXPECT_EQ(result.out, "");
  expect_contains(result.err, part);
}

void expect_refused(const Words& words, const std::string& part, int status) {
  expect_refused(run_lm(words), part, status);
}

std::size_t lines_of(const fs::path& path) {
  const std::string text = bytes_of_file(path);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

Words lines_in(const std::string& text) {
  const std::vector<std::string_view> lines = split_lines(text);
  return {lines.begin(), lines.end()};
}

Words words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<Json> objects_in(const fs::path& path) {
  std::vector<Json> objects;
  for (const std::string& line : lines_in(bytes_of_file(path))) objects.push_back(Json::parse(line));
  return objects;
}

std::vector<Words> cells_of(const std::string& table, char between) {
  const auto without_blanks = [](const std::string& cell) {
    const std::size_t begin = std::min(cell.find_first_not_of(' '), cell.size());
    return cell.substr(begin, cell.find_last_not_of(' ') + 1 - begin);
  };
  std::vector<Words> rows;
  for (const std::string& line : lines_in(table)) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, between);) rows.back().push_back(without_blanks(cell));
  }
  return rows;
}

std::vector<Json> log_of(const fs::path& run) {
  std::vector<Json> entries = objects_in(run / "log.jsonl");
  for (Json& entry : entries)
    for (const char* measured :
         {"symbols_per_second", "sentences_per_second", "questions_per_second", "characters_per_second",
          "seconds", "training_seconds", "peak_bytes", "time"})
      entry.erase(measured);
  return entries;
}

ToyTraining::ToyTraining(const std::string& recipe, const std::string& file) : recipe_file_(file) {
  fs::create_directory(folder_ / "data");
  write(file, recipe);
}

Words ToyTraining::train_on(const fs::path& text, const std::string& name, const Words& more) const {
  return Words{"train", "--recipe", path(recipe_file_), "--data", folder_ / text,
               "--out", path(name), "--threads",        "1"} +
         more;
}

Words ToyTraining::resume(const std::string& name, const Words& more) const {
  return Words{"train", "--out", path(name), "--resume", "--threads", "1"} + more;
}

std::string ToyTraining::trained(const std::string& name, const Words& more) const {
  return output_of_lm(train(name, more));
}

std::string ToyTraining::model_bytes(const std::string& name) const {
  return bytes_of_file(folder_ / name / "model.safetensors");
}

std::string ToyTraining::model_digest(const std::string& name) const { return sha256_hex(model_bytes(name)); }

std::string ToyTraining::digest_of_log(const Words& settings) {
  const std::string name = fmt::format("log-{}", ++logs_);
  output_of_lm(train(name, settings));
  std::string told;
  for (Json& entry : log_of(path(name))) {
    entry.erase("learning_rate");  // what a schedule says is not yet what it does
    told += entry.dump() + '\n';
  }
  return sha256_hex(told);
}

void expect_refused_training(const ToyTraining& data, const Words& more, const std::string& part) {
  expect_refused(data.train("new", more), part);
  EXPECT_FALSE(fs::exists(data.path("new")));
}

void expect_each_has_an_effect(ToyTraining& data, const std::string& settings, int epochs) {
  const auto digest_of = [&](std::string joined) {
    std::ranges::replace(joined, '&', ' ');
    return data.digest_of_log(Words{fmt::format("train.epochs={}", epochs)} + words_in(joined));
  };
  std::map<std::string, std::string> digests{{"", digest_of("")}};  // of each base
  for (const std::string& word : words_in(settings)) {
    const std::size_t bar = word.find('|');
    const std::string base = bar == word.npos ? "" : word.substr(0, bar);
    if (!digests.contains(base)) digests[base] = digest_of(base);
    EXPECT_NE(digest_of(base + '&' + word.substr(bar + 1)), digests.at(base)) << word;
  }
  EXPECT_EQ(digest_of(""), digests.at("")) << "else any setting would pass";
}

std::size_t ToyTraining::next(std::size_t below) {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  return (random_ >> 33) % below;
}

void expect_resumes_to_the_same_bytes(const ToyTraining& data, const Words& more,
                                      const std::array<std::size_t, 3>& lines, const Words& files) {
  const std::string whole = data.path("whole"), killed = data.path("killed");
  data.trained("whole", more);
  Words words = data.train("killed", more);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Program program(words);
    ASSERT_TRUE(program.wait_until([&] { return lines_of(killed + "/log.jsonl") >= lines[i]; }))
        << "ended before it could be interrupted";
    // In the middle of an epoch the state is saved by a signal only; a kill goes back to the last epoch.
    const int signal = i == 1 ? SIGTERM : SIGKILL;
    ASSERT_EQ(program.end(signal).status, 128 + signal);
    words = data.resume("killed");
  }
  output_of_lm(words);
  EXPECT_EQ(data.model_digest("killed"), data.model_digest("whole"));
  for (const std::string& file : files)
    EXPECT_EQ(bytes_of_file(killed + "/" + file), bytes_of_file(whole + "/" + file)) << file;
  EXPECT_EQ(log_of(killed), log_of(whole));
}

void expect_probes(const ToyTraining& data, const std::string& layer, const std::string& loss,
                   const Words& more) {
  data.trained("plain", more);
  data.trained("probed", more + Words{"train.probe_every=1"});
  EXPECT_EQ(data.model_digest("probed"), data.model_digest("plain"));
  const std::string probed = data.path("probed");
  const auto has_layer = [&](const Json& probe) {
    for (const Json& it : probe.at("layers"))
      if (it.at("layer") == layer) return true;
    return false;
  };
  std::vector<Json> others;
  int probes = 0;
  for (const Json& line : log_of(probed)) {
    if (!line.contains("probed")) {
      others.push_back(line);
      continue;
    }
    EXPECT_EQ(line.at("epoch"), probes++);  // from before the first one on
    EXPECT_TRUE(has_layer(line)) << layer;
    EXPECT_EQ(line.at("loss"), loss);
  }
  EXPECT_GE(probes, 2);
  EXPECT_EQ(others, log_of(data / "plain"));

  const std::string pictures = probed + "/pictures";
  const auto json = json_of_lm({"probe", probed, "--sequences", "4", "--svg", pictures});
  EXPECT_EQ(json.at("runs").at(0).at("sequences"), 4);
  EXPECT_TRUE(has_layer(json.at("runs").at(0))) << layer;
  expect_contains(bytes_of_file(pictures + "/gradients_by_epoch.svg"), "Gradient of " + loss + ", training");
  EXPECT_NE(output_of_lm({"probe", probed, "--split", "train"}).find(layer), std::string::npos);
  expect_refused({"probe", probed, "--steps", "3"}, "reads whole sentences; leave it out");
}

SmallData::SmallData() : ToyTraining(text_of_recipe, "small.toml") {
  write("data/train.txt", text(150));
  write("data/valid.txt", text(20));
  write("data/test.txt", text(20));
}

std::string SmallData::text(int lines) {
  const Words words{"the", "cat", "sat", "on", "a", "mat", "and", "saw", "one", "dog", "run", "up"};
  std::string written;
  for (int line = 0; line < lines; ++line) {
    for (int i = 0; i < 7; ++i) {
      word_ = (3 * word_ + 1 + next(3)) % words.size();
      written += (i > 0 ? " " : "") + words[word_];
    }
    written += '\n';
  }
  return written;
}

}  // namespace rondo
