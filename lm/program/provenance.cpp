// The keys of section [made_by].
#include "lm/program/provenance.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "data/text.h"
#include "lm/program/paths.h"
#include "tensor/error.h"

namespace rondo {

Keys keys_of(Provenance& made_by) {
  return {
      {"version", &made_by.version, {}, "", "of the program"},
      {"command", &made_by.command, any_text(), "", "what was typed"},
      {"device", choice(made_by.device), {}, "", "where it was computed"},
      {"precision", choice(made_by.precision), {}, "", "in which matrices were multiplied"},
      {"threads", &made_by.threads, at_least(0), "threads", "that computed"},
      {"ranks", &made_by.ranks, any_count(), "processes",
       "that computed, each with so many threads or a GPU"},
      {"data", &made_by.data, any_text(), "", "where the text is; a resumed run reads it again"},
      {"sha256", &made_by.sha256, any_text(), "", "of each file of the text, as sha256sum prints"},
      {"ngram", &made_by.ngram, {}, "", "SHA-256 of decoding.ngram"},
      {"embedding_file", &made_by.embedding_file, {}, "", "SHA-256 of model.embedding_file"},
      {"vocabulary", &made_by.vocabulary, {}, "", "SHA-256 of its vocabularies"},
      {"finetuned_from", &made_by.finetuned_from, any_text(), "",
       "the run whose best model this one began with; empty: none"},
      {"initialized_from", &made_by.initialized_from, any_text(), "",
       "the run whose vocabulary this one has, and whose best model it began with unless it is finetuned; "
       "empty: none"},
      {"imported_from", &made_by.imported_from, any_text(), "",
       "the file of another program from which it has its vocabulary and its first weights; empty: none"},
      {"unknown_is_trained",
       &made_by.unknown_is_trained,
       {},
       "",
       "whether the model has learnt <unk> although its vocabulary, another one's, was made without it"},
  };
}

std::string name_of_text(const std::string& data) {
  return data.empty() ? "generated text" : printable(data);
}

void check_text_is_there(const Provenance& made_by) {
  check_input(made_by.data.empty() || std::filesystem::exists(made_by.data),
              "{}: no such file or folder any more, and it has this run's text: --data says where it is now",
              name_of_text(made_by.data));
}

std::vector<std::string> digests_of(const std::vector<std::string>& sha256_lines) {
  std::vector<std::string> digests;
  for (const std::string& line : sha256_lines) digests.push_back(line.substr(0, line.find(' ')));
  return digests;
}

std::string short_name_of_text(const Provenance& made_by) {
  if (made_by.sha256.empty()) return "";
  const std::string name = name_of_text(made_by.data.empty() ? "" : last_name(made_by.data)),
                    digests = fmt::format("{}", fmt::join(digests_of(made_by.sha256), "\n"));
  constexpr std::size_t digits = 8;
  return name + ' ' + sha256_hex(digests).substr(0, digits);
}

bool is_same_data(const std::vector<std::string>& recorded, const std::vector<std::string>& present) {
  const std::vector<std::string> before = digests_of(recorded), now = digests_of(present);
  return before.size() <= now.size() && std::equal(before.begin(), before.end(), now.begin());
}

std::string not_the_text(const std::string& data) {
  return fmt::format(
      "--data {}: not the text of this run, by its SHA-256; --data says where that text lies now",
      printable(data));
}

std::vector<std::string> sha256_lines(const std::vector<FileDigest>& files) {
  std::vector<std::string> lines;
  for (const FileDigest& file : files) lines.push_back(file.sha256 + "  " + file.path);
  return lines;
}

}  // namespace rondo
