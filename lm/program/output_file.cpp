// The files that options name for output.
#include "lm/program/output_file.h"

#include <unistd.h>

#include <system_error>

#include "data/files.h"
#include "lm/program/paths.h"
#include "lm/program/run_folder.h"
#include "tensor/error.h"

namespace rondo {

namespace fs = std::filesystem;

fs::path file_to_write(const std::string& option, const std::string& name, Pipes pipes,
                       const std::vector<std::string>& read) {
  if (name.empty()) return {};
  const auto check_name = [&](bool ok, const std::string& why) {
    check_input(ok, "{} {}: {}; give another file", option, name, why);
  };
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  check_name(status.type() != fs::file_type::none, error.message());
  const bool exists = fs::exists(status);
  if (pipes == Pipes::accepted && fs::is_other(status)) return name;
  check_name(!exists || fs::is_regular_file(status),
             pipes == Pipes::accepted ? "a folder, not a file" : "a folder, a pipe or a device, not a file");
  const fs::path file = fs::weakly_canonical(fs::absolute(name), error), folder = file.parent_path();
  check_name(!error, error.message());
  check_name(exists || !fs::is_symlink(fs::symlink_status(file, error)),
             "a link to a file that does not exist");
  check_name(fs::is_directory(folder, error), "there is no folder " + folder.string());
  check_name(!is_file_of_run(file), "is a file of the run " + folder.string());
  const bool in_place = exists && pipes == Pipes::accepted;
  check_name(access((in_place ? file : folder).c_str(), W_OK) == 0, "cannot be written");
  for (const std::string& it : read)
    check_name(it.empty() || !exists || !fs::equivalent(file, it, error), "is read by this command");
  return file;
}

void check_folder_to_write(const std::string& option, const std::string& folder) {
  std::error_code error;
  fs::path there = absolute_path(folder);  // the part of it that exists
  while (fs::symlink_status(there, error).type() == fs::file_type::not_found) there = there.parent_path();
  check_input(fs::is_directory(there, error), "{} {}: {} is not a folder; give another one", option, folder,
              there.string());
  check_input(access(there.c_str(), W_OK) == 0, "{} {}: {} cannot be written to; give another folder", option,
              folder, there.string());
}

void write_files(const std::string& option, const std::string& folder,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  check(!error, "{} {}: cannot make the folder: {}", option, folder, error.message());
  for (const auto& [name, content] : files)
    write_atomically(file_to_write(option, folder + "/" + name), content);
}

}  // namespace rondo
