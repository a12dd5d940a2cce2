// Atomic writing and appending: see files.h. POSIX calls, since the standard library has no
// fsync.
#include "lm/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tensor/error.h"

namespace rondo {
namespace {

/// An open file that closes itself.
class File {
 public:
  File(const std::filesystem::path& path, int flags) : file_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  operator int() const { return file_; }
  bool is_open() const { return file_ >= 0; }
  int release() { return std::exchange(file_, -1); }
  /// Closes now and says whether that went well: a full disk may show only here.
  bool close_now() { return close(std::exchange(file_, -1)) == 0; }

 private:
  int file_;
};

/// True when everything is written; otherwise errno says why.
bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void write_atomically(const std::filesystem::path& path, const std::function<void(const Pieces&)>& write_to) {
  const std::filesystem::path partial = path.string() + ".partial";
  const bool existed = std::filesystem::exists(path);
  struct Removal {
    const std::filesystem::path& partial;
    ~Removal() { unlink(partial.c_str()); }  // whatever fails; once it is renamed, nothing is there
  } const removal{partial};
  const auto check_written = [&](bool ok) {
    check(ok, "cannot write {}: {}{}", path.string(), std::strerror(errno),
          existed ? "; what it held before is intact" : "");
  };
  {
    File file(partial, O_WRONLY | O_CREAT | O_TRUNC);
    check_written(file.is_open());
    write_to([&](std::string_view piece) { check_written(write_all(file, piece)); });
    check_written(fsync(file) == 0);
    check_written(file.close_now());
  }
  check_written(rename(partial.c_str(), path.c_str()) == 0);
  const std::filesystem::path parent = path.parent_path();
  const File folder(parent.empty() ? "." : parent, O_RDONLY | O_DIRECTORY);
  // The file is complete by now; an unsynced folder could only bring the old one back after a power cut.
  check(folder.is_open() && fsync(folder) == 0, "cannot sync the folder of {}: {}", path.string(),
        std::strerror(errno));
}

void write_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  write_atomically(path, [&](const Pieces& write_piece) {
    for (const std::string_view piece : pieces) write_piece(piece);
  });
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  write_atomically(path, std::span(&bytes, 1));
}

void append_line(const std::filesystem::path& path, std::string_view line) {
  const File file(path, O_RDWR | O_APPEND | O_CREAT);
  const auto check_written = [&](bool ok) {
    check(ok, "cannot write {}: {}", path.string(), std::strerror(errno));
  };
  check_written(file.is_open() && flock(file, LOCK_EX) == 0);  // until the file is closed
  struct stat status {};
  check_written(fstat(file, &status) == 0);
  off_t end = status.st_size;
  for (char last = 0; end > 0; --end) {
    check_written(pread(file, &last, 1, end - 1) == 1);
    if (last == '\n') break;
  }
  if (end < status.st_size) check_written(ftruncate(file, end) == 0);
  const bool written = write_all(file, std::string(line) + "\n") && fsync(file) == 0;
  if (!written) {
    const int reason = errno;
    if (ftruncate(file, end) == 0) errno = reason;
  }
  check_written(written);
}

FolderLock::FolderLock(const std::filesystem::path& folder)
    : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  check(file_ >= 0, "cannot open {}: {}", folder.string(), std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  close(file_);
  throw InputError(
      fmt::format("{}: another process trains this run; wait for it, or stop it", folder.string()));
}
FolderLock::~FolderLock() { close(file_); }

LineFile::LineFile(const std::filesystem::path& path, std::int64_t position)
    : path_(path), file_(-1), position_(position) {
  File file(path, O_WRONLY | O_APPEND | (position == 0 ? O_CREAT : 0));
  check_input(file.is_open(), "cannot write {}: {}", path.string(), std::strerror(errno));
  struct stat status {};
  check(fstat(file, &status) == 0, "cannot write {}: {}", path.string(), std::strerror(errno));
  check_input(status.st_size >= position,
              "{} has {} bytes, but {} had been written when the state was saved: bring the file back",
              path.string(), status.st_size, position);
  check(ftruncate(file, position) == 0, "cannot cut {} to {} bytes: {}", path.string(), position,
        std::strerror(errno));
  file_ = file.release();
}

LineFile::~LineFile() { close(file_); }

void LineFile::append(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  check(write_all(file_, text), "cannot write {}: {}", path_.string(), std::strerror(errno));
  position_ += static_cast<std::int64_t>(text.size());
}

std::int64_t LineFile::sync() {
  check(fsync(file_) == 0, "cannot write {}: {}", path_.string(), std::strerror(errno));
  return position_;
}

}  // namespace rondo
