// Reading files. POSIX calls: the standard library can neither open a pipe without waiting nor tell the type
// of an open file.
#include "data/files/input_file.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "tensor/error.h"

#ifdef RONDO_ZLIB
#include <zlib.h>
#endif
#ifdef RONDO_ZSTD
#include <zstd.h>
#endif

namespace rondo {

bool file_is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() != std::filesystem::file_type::not_found;
}

void check_is_there(const std::filesystem::path& path, const std::string& why) {
  if (file_is_there(path)) return;
  const std::string name = path.filename().string(), stem = path.stem().string();
  const auto is_similar = [&](const std::string& other) {
    return other.starts_with(stem.substr(0, 3)) || other.ends_with(path.extension().string());
  };
  std::set<std::string> found;
  std::error_code failure;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (auto it = std::filesystem::directory_iterator(folder, failure);
       !failure && it != std::filesystem::directory_iterator(); it.increment(failure))
    if (is_similar(it->path().filename().string())) found.insert(printable(it->path().filename().string()));
  constexpr std::size_t most = 5;  // for a message of one line
  while (found.size() > most) found.erase(std::prev(found.end()));
  throw InputError(fmt::format("{}: missing{}{}{}", printable(path.string()), why,
                               found.empty() ? "" : "; its folder has ", fmt::join(found, ", ")));
}

void check_is_folder(const std::filesystem::path& path, const std::string& why) {
  std::error_code ignored;
  check_input(std::filesystem::is_directory(path, ignored), "{}: no such folder{}", printable(path.string()),
              why);
}

OpenFile::OpenFile(const std::filesystem::path& path, int flags)
    : file_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
OpenFile::~OpenFile() {
  if (is_open()) close();
}
bool OpenFile::close() { return ::close(std::exchange(file_, -1)) == 0; }

InputFile::InputFile(const std::filesystem::path& path, Pipes pipes)
    : path_(path), file_(path, O_RDONLY | (pipes == Pipes::accepted ? 0 : O_NONBLOCK)) {
  check_system<InputError>(file_.is_open(), "{}: cannot be opened", path_.native());
  struct stat status {};
  check_system<InputError>(fstat(file_, &status) == 0, "{}: cannot be read", path_.native());
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  const char* what = S_ISDIR(status.st_mode) ? "folder" : is_pipe ? "pipe" : "device";
  check_input(S_ISREG(status.st_mode) || (is_pipe && pipes == Pipes::accepted),
              "{}: a {}, where a file is expected", name(), what);
}

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

std::size_t InputFile::read_next(std::span<char> to) {
  ssize_t count;
  do count = ::read(file_, to.data(), to.size());
  while (count < 0 && errno == EINTR);
  check_system<InputError>(count >= 0, "{}: cannot be read", path_.native());
  return static_cast<std::size_t>(count);
}

std::string read_file(const std::filesystem::path& path, Pipes pipes, std::uint64_t most) {
  UnpackedFile file(path, pipes);
  const auto check_size = [&](std::uint64_t size) {
    check_input(size <= most, "{}: more than {} bytes: another file?", printable(path.string()), most);
  };
  check_size(file.size());
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(file.size()));
  for (std::string part = file.read(); !part.empty(); part = file.read()) {
    check_size(bytes.size() + part.size());
    bytes += part;
  }
  return bytes;
}

std::string sha256_hex(const InputFile& file, std::uint64_t begin, std::uint64_t end, std::string_view last) {
  Sha256 digest;
  end = std::min(end, file.size());
  std::string part(std::size_t{1} << 18, '\0');  // fits into the cache
  while (begin < end) {
    part.resize(std::min<std::uint64_t>(part.size(), end - begin));
    file.read(begin, part);
    digest.update(part);
    begin += part.size();
  }
  digest.update(last);
  return digest.hex();
}

/// Unpacks a stream of bytes.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  /// Appends to `to` what `from` gives. False if it is damaged.
  virtual bool unpack(std::string_view from, std::string& to) = 0;
  /// Whether what has come so far is a whole file.
  virtual bool is_whole() const = 0;
};

namespace {

#ifdef RONDO_ZLIB
class Gzip : public Unpacker {
 public:
  Gzip() {
    constexpr int largest_window = 15, gzip = 16;
    check(inflateInit2(&stream_, largest_window + gzip) == Z_OK, "[gzip] zlib has no memory");
  }
  ~Gzip() override { inflateEnd(&stream_); }

  bool unpack(std::string_view from, std::string& to) override {
    std::array<char, 1 << 16> part;
    // zlib reads through this pointer only.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
    stream_.avail_in = static_cast<uInt>(from.size());
    while (stream_.avail_in > 0 || has_more_) {
      if (std::exchange(is_whole_, false)) inflateReset(&stream_);  // files may be joined
      stream_.next_out = reinterpret_cast<Bytef*>(part.data());
      stream_.avail_out = static_cast<uInt>(part.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return false;
      to.append(part.data(), part.size() - stream_.avail_out);
      is_whole_ = result == Z_STREAM_END;
      has_more_ = !is_whole_ && stream_.avail_out == 0;
    }
    return true;
  }
  bool is_whole() const override { return is_whole_; }

 private:
  z_stream stream_{};
  bool is_whole_ = false, has_more_ = false;
};
#endif

#ifdef RONDO_ZSTD
class Zstandard : public Unpacker {
 public:
  Zstandard() : stream_(ZSTD_createDStream()) { check(stream_ != nullptr, "[zstd] libzstd has no memory"); }
  ~Zstandard() override { ZSTD_freeDStream(stream_); }

  bool unpack(std::string_view from, std::string& to) override {
    std::array<char, 1 << 16> part;
    ZSTD_inBuffer in{from.data(), from.size(), 0};
    for (bool has_more = false; in.pos < in.size || has_more;) {
      ZSTD_outBuffer out{part.data(), part.size(), 0};
      const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(result)) return false;
      to.append(part.data(), out.pos);
      is_whole_ = result == 0;
      has_more = !is_whole_ && out.pos == out.size;
    }
    return true;
  }
  bool is_whole() const override { return is_whole_; }

 private:
  ZSTD_DStream* stream_;
  bool is_whole_ = false;
};
#endif

/// Null for another suffix, and without the library.
std::unique_ptr<Unpacker> unpacker_for([[maybe_unused]] std::string_view suffix) {
#ifdef RONDO_ZLIB
  if (suffix == ".gz") return std::make_unique<Gzip>();
#endif
#ifdef RONDO_ZSTD
  if (suffix == ".zst") return std::make_unique<Zstandard>();
#endif
  return nullptr;
}

}  // namespace

bool can_unpack(std::string_view suffix) { return unpacker_for(suffix) != nullptr; }

bool is_packed(const std::filesystem::path& path) {
  return std::find(std::begin(packed_suffixes), std::end(packed_suffixes), path.extension().string()) !=
         std::end(packed_suffixes);
}

std::filesystem::path plain_or_packed(const std::filesystem::path& file) {
  std::filesystem::path found = file;
  for (const std::string_view suffix : packed_suffixes) {
    const std::filesystem::path packed = file.string() + std::string(suffix);
    if (!file_is_there(packed)) continue;
    check_input(!file_is_there(found), "{} and {}: is it one text? keep one of them",
                printable(found.string()), printable(packed.string()));
    found = packed;
  }
  return found;
}

UnpackedFile::UnpackedFile(const std::filesystem::path& path, Pipes pipes)
    : file_(path, pipes), unpacker_(unpacker_for(path.extension().string())) {
  if (unpacker_ || !is_packed(path)) return;
  const bool is_gzip = path.extension() == ".gz";
  throw_built_without(is_gzip ? "zlib" : "libzstd", printable(path.string()),
                      is_gzip ? "zlib1g-dev" : "libzstd-dev");
}
UnpackedFile::~UnpackedFile() = default;

std::string UnpackedFile::read() {
  constexpr std::size_t least = 1 << 20, at_once = 1 << 16;
  std::string bytes, raw;
  while (bytes.size() < least) {
    raw.resize(at_once);
    raw.resize(file_.read_next(raw));
    position_ += raw.size();
    digest_.update(raw);
    if (!unpacker_)
      bytes += raw;
    else
      check_input(unpacker_->unpack(raw, bytes), "{}: damaged: it cannot be unpacked",
                  printable(file_.name()));
    if (!raw.empty()) continue;
    check_input(!unpacker_ || unpacker_->is_whole(),
                "{}: incomplete: it ends before what is packed in it does; get it again",
                printable(file_.name()));
    break;
  }
  return bytes;
}

}  // namespace rondo
