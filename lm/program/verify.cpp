// Checks of the files of a run.
#include "lm/program/verify.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/command_line.h"
#include "lm/program/json_lines.h"
#include "lm/program/model.h"
#include "lm/program/output.h"
#include "lm/program/run.h"
#include "lm/program/speech_measurement.h"
#include "lm/program/text_files.h"
#include "lm/training/checkpoint.h"

namespace rondo {
namespace {

struct Finding {
  const char* condition;
  std::string file, details;
};
constexpr const char *good = "good", *unverified = "unverified", *absent = "absent", *missing = "missing",
                     *broken = "broken";

/// Of the exception that is being handled.
Finding broken_by_failure() {
  constexpr std::size_t prefix = 4;  // "lm: "
  return {broken, "", current_failure().line.substr(prefix)};
}

class Verification {
 public:
  explicit Verification(const RunFolder& run) : run_(run) {}
  std::vector<Finding> findings();

 private:
  /// Records the finding of `judge` for a file under a name, or its error; for a missing file the reason
  /// `needed`, unless that is empty.
  void look(const std::string& name, const std::filesystem::path& file, const std::string& needed,
            const std::function<Finding()>& judge);
  void look(const std::filesystem::path& file, const std::string& needed,
            const std::function<Finding()>& judge) {
    look(file.filename(), file, needed, judge);
  }
  /// Whether the run has written lines to its log.
  bool has_logged() const;
  /// Whether its state says that there is a best model; not where the state is broken.
  bool has_best_model() const;

  Finding config();
  /// One finding of each; or one of all together if they are not what the run was made with, as they have one
  /// SHA-256. None without the configuration, which says which there are.
  void vocabularies(const std::string& needed);
  Finding model() const;
  Finding state() const;
  Finding lines(const std::filesystem::path& file, const char* writer) const;
  Finding text() const;
  /// The file of the n-gram model that decodes; empty: none.
  const std::string& ngram() const { return config_->recipe.speech.decoding.ngram; }
  Finding of_ngram() const;
  /// None where the files that say which it is are broken.
  std::unique_ptr<Module> layout() const;

  RunFolder run_;
  std::optional<RunConfig> config_;
  std::vector<SymbolTable> tables_;  // empty if one is broken
  std::vector<Finding> findings_;
};

void Verification::look(const std::string& name, const std::filesystem::path& file, const std::string& needed,
                        const std::function<Finding()>& judge) {
  Finding finding{needed.empty() ? absent : missing, "", needed};
  try {
    if (file_is_there(file)) finding = judge();
  } catch (...) {
    finding = broken_by_failure();
  }
  finding.file = name;
  findings_.push_back(std::move(finding));
}

bool Verification::has_logged() const {
  std::error_code error;
  const auto size = std::filesystem::file_size(run_.log(), error);
  return !error && size > 0;
}

bool Verification::has_best_model() const {
  try {
    return file_is_there(run_.state()) && has_best(run_.state());
  } catch (const InputError&) {
    return false;
  }
}

std::vector<Finding> Verification::findings() {
  look(run_.config(), "", [&] { return config(); });
  const bool logged = has_logged(), has_model = file_is_there(run_.model()), best = has_best_model(),
             began_trained = config_ && (!config_->made_by.finetuned_from.empty() ||
                                         !config_->made_by.initialized_from.empty()),
             is_imported = config_ && !config_->made_by.imported_from.empty();
  const auto unless_new = [](bool begun) { return begun ? "this run has begun its training" : ""; };
  const char* const of_best = best ? "the state says that there is a best model" : "";
  vocabularies(unless_new(logged || has_model || file_is_there(run_.state())));
  look(run_.model(), of_best, [&] { return model(); });
  look(run_.state(), unless_new(logged || (has_model && config_ && !began_trained && !is_imported)),
       [&] { return state(); });
  look(run_.log(), of_best, [&] { return lines(run_.log(), "`lm train` writes into its log"); });
  look(run_.evaluations(), "", [&] { return lines(run_.evaluations(), "`lm eval` keeps"); });
  if (config_) {
    const std::string& data = config_->made_by.data;
    const bool is_generated = data.empty();  // and so always there
    const bool has_text = !is_imported || !config_->made_by.sha256.empty();
    if (has_text)
      look(name_of_text(data), is_generated ? run_.path : std::filesystem::path(data),
           "the text of this run is no longer there; where it lies now, --data tells other commands",
           [&] { return text(); });
    if (const std::string& file = ngram(); !file.empty())
      look(printable(file), file, "the n-gram model that this run decodes with is no longer there",
           [&] { return of_ngram(); });
  }
  return findings_;
}

Finding Verification::config() {
  config_ = read_config(run_);
  return {good, "", fmt::format("of version {}", config_->made_by.version)};
}

void Verification::vocabularies(const std::string& needed) {
  if (!config_) return;
  const std::vector<std::filesystem::path> paths = vocabulary_paths(run_, config_->recipe);
  std::vector<std::string> names;
  for (const std::filesystem::path& path : paths) names.push_back(path.filename());
  if (!std::all_of(paths.begin(), paths.end(), file_is_there)) {
    for (const std::filesystem::path& path : paths)
      look(path, needed, []() -> Finding {
        return {unverified, "", "its SHA-256 is one with that of the missing ones"};
      });
    return;
  }
  try {
    tables_ = symbol_tables(run_, *config_);
  } catch (...) {
    findings_.push_back(broken_by_failure());
    findings_.back().file = fmt::format("{}", fmt::join(names, " and "));
    return;
  }
  const bool noted = !config_->made_by.vocabulary.empty();
  for (std::size_t i = 0; i < paths.size(); ++i) {  // not all are tables: one has statistics of frames
    const std::string what = i < tables_.size() ? fmt::format("{} symbols", tables_[i].size) : "numbers";
    findings_.push_back(
        {noted ? good : unverified, names[i], what + (noted ? "" : ", without a recorded SHA-256")});
  }
}

std::unique_ptr<Module> Verification::layout() const {
  if (!config_ || tables_.empty()) return nullptr;
  return make_layout(config_->recipe, sizes_of(tables_));
}

Finding of_safetensors(const std::filesystem::path& path) {
  const Safetensors file(path);
  file.check_values();
  return {file.has_digests() ? good : unverified, "",
          fmt::format("{} tensors{}", file.tensors().size(),
                      file.has_digests() ? "" : ", written without SHA-256")};
}

Finding Verification::model() const {
  if (const auto it = layout()) check_model(run_.model(), *it);
  return of_safetensors(run_.model());
}

Finding Verification::state() const {
  if (const auto it = layout()) check_state_layout(run_.state(), *it);
  return of_safetensors(run_.state());
}

Finding Verification::lines(const std::filesystem::path& file, const char* writer) const {
  std::int64_t count = 0;
  read_json_lines(file, writer, [&](const auto& entry) {
    ++count;
    return entry.is_object();
  });
  return {good, "", fmt::format("{} lines", count)};
}

Finding Verification::text() const {
  const Provenance& made_by = config_->made_by;
  const std::vector<FileDigest> files = files_of_text(config_->recipe, made_by.data);
  check_input(is_same_data(made_by.sha256, sha256_lines(files)),
              "{}: the text has changed since this run was made", name_of_text(made_by.data));
  return {good, "", fmt::format("{} files of text", files.size())};
}

Finding Verification::of_ngram() const {
  check_input(!has_changed(ngram(), config_->made_by),
              "{}: the n-gram model has changed since this run was made", printable(ngram()));
  return config_->made_by.ngram.empty() ? Finding{unverified, "", "n-gram model, without a recorded SHA-256"}
                                        : Finding{good, "", "n-gram model"};
}

}  // namespace

int verify(const std::string& run, bool json) {
  const std::vector<Finding> findings = Verification(open_run_folder(run)).findings();
  auto files = nlohmann::ordered_json::array();
  for (const auto& [condition, file, details] : findings) {
    files.push_back({{"file", file}, {"condition", condition}, {"details", details}});
    if (json) continue;
    const bool names_file = condition == broken;  // as errors do
    fmt::print("{:<10}  {}{}{}\n", condition, names_file ? "" : file,
               names_file || details.empty() ? "" : ": ", details);
  }
  if (json) print_json(nlohmann::ordered_json{{"run", run}, {"files", files}});
  const bool any = std::any_of(findings.begin(), findings.end(), [](const Finding& it) {
    return it.condition == broken || it.condition == missing;
  });
  return any ? 2 : 0;
}

}  // namespace rondo
