// Every kind of text that comes from outside is opened alike: data/text/text.h.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "data/ngram/arpa.h"
#include "data/sentences/labelled_sentences.h"
#include "data/sentences/tables.h"
#include "data/text/corpus.h"
#include "lm/tasks/task.h"
#include "tests/data/files.h"
#include "tests/data/files/packed.h"

namespace rondo {
namespace {

struct Kind {
  std::string name, content, expected;
  std::function<std::string(const std::filesystem::path&)> read;
};

std::string labelled(const std::filesystem::path& path, Encoding encoding) {
  const LabelledText text = labelled_text(read_labelled_file(path, encoding, Unit::words));
  return text.labels.front() + "|" + text.sentences.content;
}

const std::vector<Kind> kinds{
    {"text", "a b\nc\n", "a b\nc\n",
     [](const auto& path) { return open_text_file(path, Unit::words, Pipes::refused, {}).content; }},
    {"rules", "a = b\n", "a = b\n", [](const auto& path) { return read_text(path).content; }},
    {"pairs", "ein hund\nzwei\n", "ein hund\nzwei\n",
     [](const auto& path) { return read_sentences(path, Unit::words).content; }},
    {"vocabulary", "cat\n<eos>\n", "cat\n<eos>\n",
     [](const auto& path) { return read_vocabulary(path, {}).to_text(); }},
    {"vectors", "cat 1 2\ndog 3 4\n", "cat dog ",
     [](const auto& path) {
       std::string words;
       read_word_vectors(path, [&](std::string_view word, const auto&) { words += std::string(word) + ' '; });
       return words;
     }},
    {"arpa", "\\data\\\nngram 1=2\n\n\\1-grams:\n-0.3\t</s>\n-0.3\t<unk>\n\n\\end\\\n", "<eos>\n<unk>\n",
     [](const auto& path) { return read_arpa(path, {}).vocabulary.to_text(); }},
    {"labelled", "1 caf\xc3\xa9 au lait\n0 a\n", "1|caf\xc3\xa9 au lait\na\n",
     [](const auto& path) { return labelled(path, Encoding::utf8); }},
    {"latin", "1 caf\xe9 au lait\n0 a\n", "1|caf\xc3\xa9 au lait\na\n",
     [](const auto& path) { return labelled(path, Encoding::windows_1252); }},
    {"judged", "Quality\t#1 String\t#2 String\n1\ta b\tc\n", "c",
     [](const auto& path) { return read_judged_pairs(path, paraphrase_columns, 0, 1).second.front(); }},
};

TEST(EveryText, IsTheSameWithAMarkWithCrlfAndPacked) {
  const TemporaryFolder folder;
  for (const Kind& kind : kinds) {
    std::string windows = "\xef\xbb\xbf";
    for (const std::string_view line : split_lines(kind.content)) windows.append(line).append("\r\n");
    std::map<std::string, std::string> forms{
        {".txt", kind.content}, {".marked", "\xef\xbb\xbf" + kind.content}, {".windows", windows}};
    if (can_unpack(".gz")) forms[".gz"] = gzip_of(windows);
    if (can_unpack(".zst")) forms[".zst"] = zstd_of(windows);
    for (const auto& [suffix, bytes] : forms)
      EXPECT_EQ(kind.read(folder.write(kind.name + suffix, bytes)), kind.expected) << kind.name << suffix;
  }
}

TEST(EveryText, OfAnotherKindIsRefusedWithTheCommand) {
  const TemporaryFolder folder;
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> others{
      {"\x1f\x8b\x08", "its format is gzip; take the text out of it: gzip -dc FILE > NEW"},
      {"\x28\xb5\x2f\xfd", "zstd -dc FILE > NEW"},
      {"BZh91AY", "bzip2 -dc FILE > NEW"},
      {"\xfd\x37zXZ\0"s, "xz -dc FILE > NEW"},
      {"\x04\x22\x4d\x18", "lz4 -dc FILE > NEW"},
      {"7z\xbc\xaf\x27\x1c", "7z x -so FILE > NEW"},
      {"PK\x03\x04", "unzip -p FILE > NEW"},
      {"%PDF-1.4", "pdftotext FILE - > NEW"},
      {"\x10\0\0\0\0\0\0\0{\"a"s, "a safetensors file"}};
  for (const Kind& kind : kinds)
    for (const auto& other : others)
      expect_input_error([&] { kind.read(folder.write(kind.name, other.first + "\n")); }, kind.name + ": ",
                         other.second);
}

TEST(EveryText, OfLinesHasNoneOfManyMegabytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("long", std::string(longest_line + 1, 'a'));
  for (const Kind& kind : kinds)
    if (kind.name != "text")
      expect_input_error([&] { kind.read(path); }, "long: a line of more than 16777216 bytes");
}

}  // namespace
}  // namespace rondo
