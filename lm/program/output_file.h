// The files that options name for output: `lm embed --output`, `lm table --plot` and the like. They are
// checked before the work begins, so that nothing is computed in vain.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/corpus.h"

namespace rondo {

/// The file that `option` names, absolute and with links resolved; empty if `name` is. Creates nothing.
/// `read` are files that the command reads. With Pipes::accepted the file is to be written in place, and a
/// pipe or a device is returned as it was named; else it is to be replaced (write_atomically(),
/// data/files.h). InputError, naming the option, for what is not a file or cannot be written, for a folder
/// that does not exist, for a file of a run, and for one of `read`.
std::filesystem::path file_to_write(const std::string& option, const std::string& name,
                                    Pipes pipes = Pipes::refused, const std::vector<std::string>& read = {});

/// InputError, naming the option, unless `folder` is one that can be written to, or can be made. Creates
/// nothing.
void check_folder_to_write(const std::string& option, const std::string& folder);

/// Writes files of these names and contents into a folder, which is made if need be. InputErrors of
/// file_to_write(); Error if it cannot be made.
void write_files(const std::string& option, const std::string& folder,
                 const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace rondo
