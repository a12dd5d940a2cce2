// Atomic writing and appending; see data/files/files.h. POSIX calls, because the standard library has no
// fsync and follows links.
#include "data/files/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "tensor/error.h"

namespace rondo {
namespace {

constexpr std::size_t block_size = 1 << 16;  // bytes read at once

/// True if everything was written; otherwise errno says why.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Opens a file of lines. InputError for anything but a file, a link as well; it does not wait for the writer
/// of a pipe.
OpenFile open_lines(const std::filesystem::path& path, int flags) {
  OpenFile file(path, flags | O_NONBLOCK | O_NOFOLLOW);
  const int reason = errno;
  struct stat status {};
  const bool exists = (file.is_open() ? fstat(file, &status) : lstat(path.c_str(), &status)) == 0;
  check_input(!exists || S_ISREG(status.st_mode), "{}: a {}, but a file of lines is expected; move it away",
              path.string(),
              S_ISLNK(status.st_mode)    ? "symbolic link"
              : S_ISDIR(status.st_mode)  ? "folder"
              : S_ISFIFO(status.st_mode) ? "pipe"
                                         : "device");
  errno = reason;
  check_system(file.is_open(), "{}: cannot be opened", path.native());
  return file;
}

std::int64_t size_of(const OpenFile& file, const std::filesystem::path& path) {
  struct stat status {};
  check_system(fstat(file, &status) == 0, "cannot read {}", path.native());
  return status.st_size;
}

void check_has_lines(bool ok, const std::filesystem::path& path) {
  check_input(ok, "{}: a line of more than {} bytes, which lm does not write; move the file away",
              path.string(), longest_line);
}

/// The bytes from `begin` to `end`, which must exist.
std::string part_of(const OpenFile& file, const std::filesystem::path& path, std::int64_t begin,
                    std::int64_t end) {
  std::string bytes(static_cast<std::size_t>(end - begin), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        pread(file, bytes.data() + done, bytes.size() - done, begin + static_cast<std::int64_t>(done));
    check_system(count > 0, "cannot read {}", path.native());
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

/// The position after the last newline before `limit`; 0 if there is none.
std::int64_t end_of_lines(const OpenFile& file, const std::filesystem::path& path, std::int64_t limit) {
  const std::int64_t least = std::max<std::int64_t>(0, limit - std::int64_t{longest_line});
  for (std::int64_t end = limit, begin; end > least; end = begin) {
    begin = std::max(least, end - std::int64_t{block_size});
    const std::size_t last = part_of(file, path, begin, end).rfind('\n');
    if (last != std::string::npos) return begin + static_cast<std::int64_t>(last) + 1;
  }
  check_has_lines(least == 0, path);
  return 0;
}

/// Where a file of lines continues.
struct Place {
  std::int64_t position;       // after the last byte that is kept
  bool lacks_newline = false;  // the line that ends there
};

/// After the last whole line; a killed process may have left a part of a line after it.
Place behind_whole_lines(const OpenFile& file, const std::filesystem::path& path, const IsWhole& is_whole) {
  const std::int64_t size = size_of(file, path), end = end_of_lines(file, path, size);
  if (end < size && is_whole(part_of(file, path, end, size))) return {size, true};
  return {end};
}

/// Where a LineFile continues. InputError if no line as this program writes it ends there.
Place place_of(const OpenFile& file, const std::filesystem::path& path, std::int64_t position,
               const IsWhole& is_whole) {
  const Place place =
      size_of(file, path) < position ? behind_whole_lines(file, path, is_whole) : Place{position};
  if (place.position == 0 || place.lacks_newline) return place;
  const std::string last = part_of(file, path, place.position - 1, place.position);
  const bool good = last == "\n" && is_whole(part_of(file, path, end_of_lines(file, path, place.position - 1),
                                                     place.position));
  check_input(
      good,
      "{}: was changed since the state of this run was saved: no line of it ends at byte {}; restore it, or "
      "move it away, and the run continues without it",
      path.string(), place.position);
  return place;
}

/// Opens FILE.partial, which is to become `path`; FILE.2.partial and so on while another process writes that,
/// or if something else has the name. Its lock says that it is being written. What a killed process left is
/// not locked, and is written over: so each writer has a file of its own, and none pile up.
OpenFile open_partial(const std::filesystem::path& path, const char* intact, std::filesystem::path& name) {
  for (int number = 1;; ++number) {
    name = path.string() + (number == 1 ? "" : "." + std::to_string(number)) + ".partial";
    OpenFile file(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    const bool locked = file.is_open() && flock(file, LOCK_EX | LOCK_NB) == 0;
    const int reason = errno;
    struct stat named {};
    const bool is_there = lstat(name.c_str(), &named) == 0;  // its writer may have renamed it meanwhile
    errno = reason;
    check_system(locked || (file.is_open() ? reason == EWOULDBLOCK : is_there),
                 "cannot write {}{}: cannot make {}", path.native(), intact, name.native());
    struct stat opened {};
    if (locked && is_there && fstat(file, &opened) == 0 && opened.st_ino == named.st_ino &&
        S_ISREG(opened.st_mode) && opened.st_nlink == 1)
      return file;
  }
}

}  // namespace

void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  const OpenFile folder(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
  check_system(folder.is_open() && fsync(folder) == 0, "cannot sync the folder of {}", path.native());
}

void write_atomically(const std::filesystem::path& path,
                      const std::function<void(const WritePiece&)>& write_to) {
  const char* const intact = file_is_there(path) ? " (what it held before is intact)" : "";
  const auto check_written = [&](bool ok) { check_system(ok, "cannot write {}{}", path.native(), intact); };
  std::filesystem::path partial;
  OpenFile file = open_partial(path, intact, partial);
  try {
    check_written(ftruncate(file, 0) == 0);
    write_to([&](std::string_view piece) { check_written(write_all(file, piece)); });
    check_written(fsync(file) == 0);
    check_written(rename(partial.c_str(), path.c_str()) == 0);
  } catch (...) {
    unlink(partial.c_str());
    throw;
  }
  check_system(file.close(), "cannot write {}", path.native());  // which ends the lock: not before the rename
  sync_folder_of(path);
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  write_atomically(path, [&](const WritePiece& write_piece) { write_piece(bytes); });
}

void append_line(const std::filesystem::path& path, std::string_view line, const IsWhole& is_whole) {
  check_has_lines(line.size() <= longest_line, path);
  const OpenFile file = open_lines(path, O_RDWR | O_APPEND | O_CREAT);
  const auto check_written = [&](bool ok) { check_system(ok, "cannot write {}", path.native()); };
  check_written(flock(file, LOCK_EX) == 0);  // until the file is closed
  const std::int64_t size = size_of(file, path);
  const auto [end, lacks_newline] = behind_whole_lines(file, path, is_whole);
  if (end < size) check_written(ftruncate(file, end) == 0);
  const std::string text = (lacks_newline ? "\n" : "") + std::string(line) + "\n";
  const bool written = write_all(file, text) && fsync(file) == 0;
  if (!written) {
    const int reason = errno;
    if (ftruncate(file, end) == 0) errno = reason;
  }
  check_written(written);
  if (size == 0) sync_folder_of(path);
}

FolderLock::FolderLock(const std::filesystem::path& folder, const std::string& holder)
    : file_(folder, O_RDONLY | O_DIRECTORY) {
  check_system(file_.is_open(), "cannot open {}", folder.native());
  const bool locked = flock(file_, LOCK_EX | LOCK_NB) == 0, taken = !locked && errno == EWOULDBLOCK;
  check_input(!taken, "{}: another process {}; wait for it, or stop it", folder.native(), holder);
  check_system(locked, "cannot lock {}", folder.native());
}
FolderLock FolderLock::wait_for(const std::filesystem::path& folder) {
  OpenFile file(folder, O_RDONLY | O_DIRECTORY);
  check_system(file.is_open(), "cannot open {}", folder.native());
  while (flock(file, LOCK_EX) != 0) check_system(errno == EINTR, "cannot lock {}", folder.native());
  return FolderLock(std::move(file));
}

void LineFile::check_goes_on(const std::filesystem::path& path, std::int64_t position,
                             const IsWhole& is_whole) {
  std::error_code ignored;
  if (std::filesystem::symlink_status(path, ignored).type() != std::filesystem::file_type::not_found)
    place_of(open_lines(path, O_RDONLY), path, position, is_whole);
}

LineFile::LineFile(const std::filesystem::path& path, std::int64_t position, const IsWhole& is_whole)
    : path_(path), file_(open_lines(path, O_RDWR | O_APPEND | O_CREAT)) {
  const auto [end, lacks_newline] = place_of(file_, path, position, is_whole);
  check_system(ftruncate(file_, end) == 0, "cannot cut {} to {} bytes", path.native(), end);
  if (lacks_newline) check_system(write_all(file_, "\n"), "cannot write {}", path.native());
  position_ = end + (lacks_newline ? 1 : 0);
}

void LineFile::append(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  check_system(write_all(file_, text), "cannot write {}", path_.native());
  position_ += static_cast<std::int64_t>(text.size());
}

std::int64_t LineFile::sync() {
  check_system(fsync(file_) == 0, "cannot write {}", path_.native());
  return position_;
}

}  // namespace rondo
