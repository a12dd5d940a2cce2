#include "data/files/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "data/text/text.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using namespace std::string_view_literals;

/// While it lives no file may grow beyond `bytes`: writes fail as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit{bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

/// A line that was written whole ends like this one.
bool is_whole(std::string_view line) { return line.substr(0, line.find('\n')).ends_with('.'); }

TEST(Files, WritesAndReplaces) {
  const TemporaryFolder folder;
  const auto path = folder / "a";
  write_atomically(path, "first");
  EXPECT_EQ(bytes_of_file(path), "first");
  write_atomically(path, [](const WritePiece& write) {
    for (const std::string_view piece : {"sec"sv, ""sv, "\0nd"sv}) write(piece);
  });
  EXPECT_EQ(bytes_of_file(path), std::string("sec\0nd", 6));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.partial"));
}

TEST(Files, FullDiskLeavesTheOldFileIntact) {
  const TemporaryFolder folder;
  const auto path = folder / "a";
  write_atomically(path, "old");
  {
    const FullDisk full(1000);
    const std::string text = error_of<Error>([&] { write_atomically(path, std::string(100'000, 'x')); });
    expect_contains(text, path.string());
    expect_contains(text, "intact");
    expect_contains(text, "File too large");
    LineFile log(folder / "log", 0, is_whole);
    const std::string of_line = error_of<Error>([&] { log.append(std::string(2000, 'x')); });
    expect_contains(of_line, (folder / "log").string());
    expect_contains(of_line, "File too large");
  }
  EXPECT_EQ(bytes_of_file(path), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.partial"));
}

TEST(LineFile, AppendsAndGoesOnFromAPosition) {
  const TemporaryFolder folder;
  const auto path = folder / "log";
  std::int64_t position = 0;
  {
    LineFile log(path, 0, is_whole);
    log.append("one.");
    position = log.sync();
    EXPECT_EQ(position, 5);
    log.append("lost.");
  }
  EXPECT_EQ(bytes_of_file(path), "one.\nlost.\n");
  {
    LineFile log(path, position, is_whole);
    EXPECT_EQ(bytes_of_file(path), "one.\n");
    log.append("two.");
    EXPECT_EQ(log.sync(), 10);
  }
  EXPECT_EQ(bytes_of_file(path), "one.\ntwo.\n");
  LineFile(path, 0, is_whole).append("new.");
  EXPECT_EQ(bytes_of_file(path), "new.\n");
}

TEST(LineFile, GoesOnBehindTheLastWholeLineOfAFileThatLostItsEnd) {
  const TemporaryFolder folder;
  const std::string begin = "one.\n" + std::string(100'000, '2') + ".\n";  // more than is read at once
  for (const std::string& cut : {std::string(), std::string("cut sho"), std::string(100'000, '3')}) {
    write_bytes(folder / "log", begin + cut);
    LineFile log(folder / "log", 1'000'000, is_whole);
    EXPECT_EQ(log.sync(), std::ssize(begin));
    log.append("new.");
    EXPECT_EQ(bytes_of_file(folder / "log"), begin + "new.\n");
  }
  EXPECT_EQ(LineFile(folder / "none", 5, is_whole).sync(), 0);
  EXPECT_EQ(bytes_of_file(folder / "none"), "");
}

TEST(LineFile, GivesALastLineTheNewlineThatItLacks) {
  const TemporaryFolder folder;
  for (const std::string begin : {"", "one.\n"}) {
    write_bytes(folder / "log", begin + "two.");
    LineFile log(folder / "log", std::ssize(begin) + 5, is_whole);
    EXPECT_EQ(log.sync(), std::ssize(begin) + 5);
    log.append("three.");
    EXPECT_EQ(bytes_of_file(folder / "log"), begin + "two.\nthree.\n");
  }
}

// What somebody has changed is not cut where a line no longer ends.
TEST(LineFile, RefusesAFileThatWasChanged) {
  const TemporaryFolder folder;
  const auto path = folder / "log";
  const std::string nothing(100, '\0');
  for (const std::string& content :
       {std::string("# mine\none.\ntwo.\n"), std::string("one.\nwo.\n12\n"), std::string("no lin\nof ours\n"),
        nothing, nothing.substr(0, 9) + "\n"}) {
    write_bytes(path, content);
    for (const auto& goes_on : std::initializer_list<void (*)(const std::filesystem::path&)>{
             [](const auto& it) { LineFile::check_goes_on(it, 10, is_whole); },
             [](const auto& it) { LineFile(it, 10, is_whole); }})
      expect_contains(error_of([&] { goes_on(path); }),
                      "log: was changed since the state of this run was saved");
    EXPECT_EQ(bytes_of_file(path), content);
  }
  write_bytes(path, "no line\nof ours");
  expect_contains(error_of([&] { LineFile(path, 100, is_whole); }), "log: was changed");
  EXPECT_EQ(bytes_of_file(path), "no line\nof ours");
}

TEST(AppendLine, EachOnALineOfItsOwn) {
  const TemporaryFolder folder;
  const auto path = folder / "lines";
  append_line(path, "one", is_whole);
  append_line(path, "two", is_whole);
  EXPECT_EQ(bytes_of_file(path), "one\ntwo\n");
  write_bytes(path, "cut sho");
  append_line(path, "three", is_whole);
  EXPECT_EQ(bytes_of_file(path), "three\n") << "what a killed process left is no line";
  const FullDisk full(20);
  expect_contains(error_of<Error>([&] { append_line(path, std::string(100, 'x'), is_whole); }),
                  path.string());
  EXPECT_EQ(bytes_of_file(path), "three\n") << "as it was";
  write_bytes(path, "whole.");
  expect_contains(error_of<Error>([&] { append_line(path, std::string(100, 'x'), is_whole); }),
                  path.string());
  EXPECT_EQ(bytes_of_file(path), "whole.");
  append_line(path, "five", is_whole);
  EXPECT_EQ(bytes_of_file(path), "whole.\nfive\n");
}

TEST(Files, WithoutTheirFolder) {
  const TemporaryFolder folder;
  expect_contains(error_of<Error>([&] { write_atomically(folder / "none" / "a", "x"); }), "No such file");
  expect_contains(error_of<Error>([&] { LineFile(folder / "none" / "log", 0, is_whole); }), "No such file");
}

// What a link in the place of a file points to is nobody's business here.
TEST(Files, WritesThroughNoLink) {
  const TemporaryFolder folder;
  const auto precious = folder / "precious", path = folder / "a";
  write_bytes(precious, "precious\n");
  std::filesystem::create_symlink(precious, folder / "a.partial");
  write_atomically(path, "new");
  EXPECT_EQ(bytes_of_file(path), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(precious, path);
  write_atomically(path, "newer");
  EXPECT_EQ(bytes_of_file(path), "newer");
  EXPECT_FALSE(std::filesystem::is_symlink(path)) << "the link itself is replaced";
  std::filesystem::create_symlink(precious, folder / "link");
  for (const std::int64_t position : {0, 2, 100})
    expect_contains(error_of([&] { LineFile(folder / "link", position, is_whole); }),
                    "link: a symbolic link");
  expect_contains(error_of([&] { append_line(folder / "link", "x", is_whole); }), "link: a symbolic link");
  EXPECT_EQ(bytes_of_file(precious), "precious\n");
}

TEST(Files, APartialFileThatIsInTheWay) {
  const TemporaryFolder folder;
  write_bytes(folder / "a.partial", "left by a killed process");
  write_atomically(folder / "a", "new");
  EXPECT_EQ(bytes_of_file(folder / "a"), "new");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.partial")) << "it was taken over";
  write_bytes(folder / "precious", "precious");
  std::filesystem::create_hard_link(folder / "precious", folder / "a.partial");
  std::filesystem::create_directory(folder / "a.2.partial");
  ASSERT_EQ(mkfifo((folder / "a.3.partial").c_str(), 0600), 0);
  write_atomically(folder / "a", "newer");
  EXPECT_EQ(bytes_of_file(folder / "a"), "newer");
  EXPECT_EQ(bytes_of_file(folder / "precious"), "precious");
}

// Writers of one file, of which each begins while those before it are in the middle.
TEST(Files, OfSeveralWritersTheLastCompleteOneStays) {
  const TemporaryFolder folder;
  const auto path = folder / "a";
  const auto write_beside_others = [&](const auto& self, int others) -> void {
    const std::string text = std::to_string(others) + " others";
    write_atomically(path, [&](const WritePiece& write) {
      write(text);
      if (others > 0) self(self, others - 1);
      write(text);
    });
    EXPECT_EQ(bytes_of_file(path), text + text);
  };
  write_beside_others(write_beside_others, 3);
  EXPECT_THROW(write_atomically(path, [](const WritePiece&) { throw Error("stopped"); }), Error);
  EXPECT_EQ(bytes_of_file(path), "3 others3 others");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "nothing is left";
}

// A pipe would be waited for, or filled.
TEST(Files, OnlyFilesGrow) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto expect_no_file = [&](const std::string& name, const std::string& what) {
    expect_contains(error_of([&] { LineFile(folder / name, 0, is_whole); }), name + ": a " + what);
    expect_contains(error_of([&] { append_line(folder / name, "x", is_whole); }), name + ": a " + what);
    EXPECT_THROW(read_lines(folder / name, [](std::string_view, bool) {}), InputError) << name;
  };
  expect_no_file("folder", "folder");
  expect_no_file("pipe", "pipe");
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  expect_no_file("pipe", "pipe");
  char byte = 0;
  EXPECT_EQ(read(reader, &byte, 1), 0) << "nothing was written into it";
  close(reader);
}

TEST(Files, ReadsLines) {
  const TemporaryFolder folder;
  const std::string longer(200'000, 'x');  // than is read at once
  write_bytes(folder / "lines", "one\n\n" + longer + "\nlast\ncut sho");
  std::filesystem::create_symlink("lines", folder / "link");
  for (const char* name : {"lines", "link"}) {
    std::vector<std::string> lines;
    read_lines(folder / name, [&](std::string_view line, bool ended) {
      lines.emplace_back(line);
      EXPECT_EQ(ended, line != "cut sho");
    });
    EXPECT_TRUE(lines == (std::vector<std::string>{"one", "", longer, "last", "cut sho"})) << lines.size();
  }
  write_bytes(folder / "marked", "\xef\xbb\xbfone\r\ntwo\r\n");
  std::string all;
  read_lines(folder / "marked", [&](std::string_view line, bool) { all += std::string(line) + "|"; });
  EXPECT_EQ(all, "one|two|");
}

// Three gigabytes of nothing are neither read nor held.
TEST(Files, AFileWithoutLines) {
  const TemporaryFolder folder;
  const auto path = folder / "sparse";
  write_bytes(path, "one.\n");
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);
  const auto refused = [&](const auto& use) {
    expect_contains(error_of(use), "sparse: a line of more than 16777216 bytes");
  };
  refused([&] { read_lines(path, [](std::string_view line, bool) { EXPECT_EQ(line, "one."); }); });
  refused([&] { append_line(path, "x", is_whole); });
  refused([&] { LineFile(path, std::int64_t{4} << 30, is_whole); });
  EXPECT_EQ(std::filesystem::file_size(path), std::uintmax_t{3} << 30);
  EXPECT_EQ(LineFile(path, 5, is_whole).sync(), 5);
  refused([&] { append_line(path, std::string(longest_line + 1, 'x'), is_whole); });
  EXPECT_EQ(bytes_of_file(path), "one.\n");
}

}  // namespace
}  // namespace rondo
