// The file of --attention.
#include "lm/program/attention_file.h"

#include <unistd.h>

#include <filesystem>

#include "lm/program/run_folder.h"

namespace rondo {

AttentionFile::AttentionFile(const std::string& name) : name_(name), is_picture_(name.ends_with(".svg")) {
  namespace fs = std::filesystem;
  if (name.empty() || (fs::exists(name) && !fs::is_regular_file(name) && !fs::is_directory(name)))
    return;  // no file, or a pipe
  const fs::path file = fs::weakly_canonical(fs::absolute(name)), folder = file.parent_path();
  check_input(fs::is_directory(folder), "--attention {}: there is no folder {}", name, folder.string());
  check_input(!is_file_of_run(file), "--attention {}: is a file of the run {}; give another name", name,
              folder.string());
  check_input(!fs::is_directory(file) && access((fs::exists(file) ? file : folder).c_str(), W_OK) == 0,
              "--attention {}: cannot be written", name);
}

void AttentionFile::add(Alignment alignment) {
  if (!file_) {
    file_.reset(std::fopen(name_.c_str(), "w"));
    check(file_ != nullptr, "--attention {}: cannot be written", name_);
  }
  if (!is_picture_)
    fmt::print(file_.get(), "{}\n", json_of(alignment).dump());
  else if (!alignment.source.empty())
    alignments_.push_back(std::move(alignment));
}

void AttentionFile::finish() {
  if (!file_) return;
  if (is_picture_) fmt::print(file_.get(), "{}", svg_of(alignments_));
  check(std::fflush(file_.get()) == 0 && !std::ferror(file_.get()),
        "--attention {}: not written: the disk is full?", name_);
}

}  // namespace rondo
