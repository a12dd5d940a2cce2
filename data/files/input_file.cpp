// Regular files of known size. POSIX calls: the standard library can neither open a pipe without waiting nor
// tell the type of an open file.
#include "data/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "data/text/text.h"
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

std::unique_ptr<Unpacker> unpacker_for(const std::filesystem::path& path) {
  if (path.extension() == ".gz") {
#ifdef RONDO_ZLIB
    return std::make_unique<Gzip>();
#else
    throw_built_without("zlib", printable(path.string()), "zlib1g-dev");
#endif
  }
  if (path.extension() == ".zst") {
#ifdef RONDO_ZSTD
    return std::make_unique<Zstandard>();
#else
    throw_built_without("libzstd", printable(path.string()), "libzstd-dev");
#endif
  }
  return nullptr;
}

}  // namespace

bool has_zlib() {
#ifdef RONDO_ZLIB
  return true;
#else
  return false;
#endif
}
bool has_zstd() {
#ifdef RONDO_ZSTD
  return true;
#else
  return false;
#endif
}

bool is_packed(const std::filesystem::path& path) {
  return std::find(std::begin(packed_suffixes), std::end(packed_suffixes), path.extension().string()) !=
         std::end(packed_suffixes);
}

std::string unpacked_name(const std::filesystem::path& path) {
  return (is_packed(path) ? path.stem() : path.filename()).string();
}

UnpackedFile::UnpackedFile(const std::filesystem::path& path) : file_(path), unpacker_(unpacker_for(path)) {}
UnpackedFile::~UnpackedFile() = default;

std::string UnpackedFile::read() {
  constexpr std::size_t least = 1 << 20, at_once = 1 << 16;
  std::string bytes, raw;
  while (bytes.size() < least && position_ < file_.size()) {
    raw.resize(static_cast<std::size_t>(std::min<std::uint64_t>(at_once, file_.size() - position_)));
    file_.read(position_, raw);
    position_ += raw.size();
    digest_.update(raw);
    if (!unpacker_)
      bytes += raw;
    else
      check_input(unpacker_->unpack(raw, bytes), "{}: damaged: it cannot be unpacked",
                  printable(file_.name()));
  }
  check_input(!unpacker_ || position_ < file_.size() || unpacker_->is_whole(),
              "{}: incomplete: it ends before what is packed in it does; get it again",
              printable(file_.name()));
  return bytes;
}

std::string read_file_unpacked(const std::filesystem::path& path) {
  if (!is_packed(path)) return read_file(path);
  return read_unpacked(path, std::numeric_limits<std::uint64_t>::max())->bytes;
}

std::optional<WholeFile> read_unpacked(const std::filesystem::path& path, std::uint64_t most) {
  UnpackedFile file(path);
  if (!is_packed(path) && file.size() > most) return std::nullopt;
  WholeFile whole;
  for (std::string part = file.read(); !part.empty(); part = file.read()) {
    if (part.size() > most - whole.bytes.size()) return std::nullopt;
    whole.bytes += part;
  }
  whole.sha256 = file.sha256();
  return whole;
}

}  // namespace rondo
