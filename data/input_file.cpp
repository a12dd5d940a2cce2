// Regular files of known size. POSIX calls: the standard library can neither open a pipe without waiting nor
// tell the type of an open file.
#include "data/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "data/text.h"
#include "tensor/check_system.h"

namespace rondo {

bool file_is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() != std::filesystem::file_type::not_found;
}

std::string elsewhere_text(const std::filesystem::path& missing) {
  const std::filesystem::path folder = missing.has_parent_path() ? missing.parent_path() : ".";
  std::error_code failure, ignored;
  std::vector<std::filesystem::path> found;
  for (auto it = std::filesystem::directory_iterator(folder, failure);
       !failure && it != std::filesystem::directory_iterator(); it.increment(failure))
    if (std::filesystem::is_regular_file(it->path() / missing.filename(), ignored))
      found.push_back(it->path());
  if (found.empty()) return "";
  return fmt::format("; {} has one: give that folder",
                     printable(std::min_element(found.begin(), found.end())->string()));
}

InputFile::InputFile(const std::filesystem::path& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  check_system<InputError>(file_ >= 0, "{}: cannot be opened", path_.native());
  struct stat status {};
  if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    return;
  }
  close(file_);
  const char* what = S_ISDIR(status.st_mode) ? "folder" : S_ISFIFO(status.st_mode) ? "pipe" : "device";
  throw InputError(fmt::format("{}: a {}, where a file is expected", name(), what));
}

InputFile::~InputFile() { close(file_); }

void InputFile::read(std::uint64_t begin, std::span<char> to) const {
  while (!to.empty()) {
    const ssize_t count = pread(file_, to.data(), to.size(), static_cast<off_t>(begin));
    if (count < 0 && errno == EINTR) continue;
    check_system<InputError>(count >= 0, "{}: cannot be read", path_.native());
    check_input(count > 0, "{}: ends at byte {}, before it should", name(), begin);
    begin += static_cast<std::uint64_t>(count);
    to = to.subspan(static_cast<std::size_t>(count));
  }
}

std::string read_regular_file(const std::filesystem::path& path, std::uint64_t most) {
  const InputFile file(path);
  check_input(file.size() <= most, "{}: has {} bytes, and no file of its kind has more than {}", file.name(),
              file.size(), most);
  std::string bytes(file.size(), '\0');
  file.read(0, bytes);
  return bytes;
}

std::string sha256_hex(const InputFile& file, std::uint64_t begin) {
  Sha256 digest;
  std::string part(std::size_t{1} << 18, '\0');  // fits into the cache
  while (begin < file.size()) {
    part.resize(std::min<std::uint64_t>(part.size(), file.size() - begin));
    file.read(begin, part);
    digest.update(part);
    begin += part.size();
  }
  return digest.hex();
}

}  // namespace rondo
