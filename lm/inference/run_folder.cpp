// Run folders: see run_folder.h.
#include "lm/inference/run_folder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "data/files/input_file.h"
#include "tensor/error.h"

namespace rondo {

namespace fs = std::filesystem;

bool is_run(const fs::path& folder) { return file_is_there(RunFolder{folder}.config()); }

std::vector<fs::path> runs_in(const fs::path& folder) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (is_run(entry->path())) runs.push_back(entry->path());
  std::ranges::sort(runs);
  return runs;
}

RunFolder open_run_folder(const fs::path& path) {
  std::error_code error;
  if (is_run(path)) return {path};
  const std::vector<fs::path> runs = runs_in(path);
  const std::string why =
      !fs::exists(path, error)         ? "no such folder"
      : !fs::is_directory(path, error) ? "it is a file; give the folder of a run"
      : runs.empty()                   ? "it holds no config.toml"
                     : "it holds runs, as of a sweep; give one of them, as in " + runs.front().string();
  throw InputError(fmt::format("no run at {}: {}", path.string(), why));
}

std::string digest_of(const VocabularyFiles& vocabularies) {
  std::string contents;
  for (const auto& [name, content] : vocabularies) contents += content;
  return sha256_hex(contents);
}

void check_vocabularies(const RunFolder& folder, const std::string& sha256,
                        const VocabularyFiles& vocabularies) {
  std::vector<std::string> files;
  for (const auto& [name, content] : vocabularies) files.push_back((folder.path / name).string());
  check_input(
      sha256.empty() || sha256 == digest_of(vocabularies),
      "{}: not the vocabulary that this run was made with, whose SHA-256 is {}: the model's rows would "
      "stand for other symbols",
      fmt::join(files, " and "), sha256);
}

}  // namespace rondo
