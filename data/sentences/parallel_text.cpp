// Parallel text; see data/sentences/parallel_text.h.
#include "data/sentences/parallel_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/files/file_kind.h"
#include "data/files/input_file.h"
#include "data/sentences/reversal_task.h"
#include "data/text/text.h"
#include "tensor/error.h"

namespace rondo {

namespace {

namespace fs = std::filesystem;

void end_last_line(Text& text) {
  if (!text.content.ends_with('\n')) text.content += '\n';
}
std::int64_t lines_of(const Text& text) { return std::count(text.content.begin(), text.content.end(), '\n'); }

const std::string& name_of_split(const ParallelOptions& options, Split split) {
  return split == Split::train ? options.train : split == Split::valid ? options.valid : options.test;
}

/// The files of its folder that begin or end like a missing file, those that do both first.
std::vector<std::string> similar_files(const fs::path& missing, const std::string& language) {
  const std::string name = missing.filename().string();
  const std::string end = "." + language, begin = name.substr(0, name.size() - end.size());
  std::vector<std::pair<int, std::string>> found;  // differences, name
  std::error_code failure;
  const fs::path folder = missing.has_parent_path() ? missing.parent_path() : ".";
  for (auto it = fs::directory_iterator(folder, failure); !failure && it != fs::directory_iterator();
       it.increment(failure)) {
    const std::string other = it->path().filename().string();
    const int differences = (other.starts_with(begin) ? 0 : 1) + (other.ends_with(end) ? 0 : 1);
    std::error_code ignored;
    if (differences < 2 && it->is_regular_file(ignored)) found.emplace_back(differences, printable(other));
  }
  std::sort(found.begin(), found.end());
  constexpr std::size_t most = 5;  // for a message of one line
  const bool too_many = found.size() > most;
  found.resize(std::min(found.size(), most));
  std::vector<std::string> names;
  for (auto& [differences, other] : found) names.push_back(std::move(other));
  if (too_many) names.emplace_back("...");
  return names;
}

/// "its folder has A, B": files that could be meant.
std::string similar_files_text(const fs::path& missing, const std::string& language) {
  const std::vector<std::string> similar = similar_files(missing, language);
  return similar.empty() ? "its folder has no file with such a beginning or end"
                         : fmt::format("its folder has {}", fmt::join(similar, ", "));
}

[[noreturn]] void throw_missing(const fs::path& file, const ParallelOptions& options, Split split,
                                bool is_source) {
  const std::string& language = is_source ? options.source_language : options.target_language;
  const std::string elsewhere = elsewhere_text(file);
  throw InputError(fmt::format(
      "{}: missing (data.{}_files = \"{}\", data.{}_language = \"{}\"){}", printable(file.string()),
      to_string(split), printable(name_of_split(options, split)), is_source ? "source" : "target",
      printable(language), elsewhere.empty() ? "; " + similar_files_text(file, language) : elsewhere));
}

Text read_side(const fs::path& file, Unit unit) {
  std::string raw = read_regular_file(file, std::numeric_limits<std::uint64_t>::max());
  const std::string name = file.string();
  if (unit != Unit::bytes) check_is_text(raw, name, conversion_to_utf8(raw));
  return clean_text(std::move(raw), name, unit);
}

/// Reads one side of a split, and adds its digest and notes to `all`.
Text read_side(ParallelText& all, const fs::path& file, Unit unit) {
  Text text = read_side(file, unit);
  all.files.push_back({text.name, text.sha256});
  all.notes.insert(all.notes.end(), text.notes.begin(), text.notes.end());
  return text;
}

ParallelText generated_text(std::int64_t pairs) {
  const std::int64_t evaluated = std::max<std::int64_t>(1, pairs / 10);
  ParallelText all{.train = reversal_task(1, pairs),
                   .valid = reversal_task(2, evaluated),
                   .test = reversal_task(3, evaluated),
                   .files = {},
                   .notes = {}};
  for (const TextPair* split : {&all.train, &all.valid, &*all.test})
    for (const Text* side : {&split->source, &split->target}) all.files.push_back({side->name, side->sha256});
  return all;
}

}  // namespace

Keys keys_of(ParallelOptions& options) {
  return {
      {"source_language", &options.source_language, {}, "", "the end of the names of the source's files: de"},
      {"target_language", &options.target_language, {}, "", "the end of the names of the target's files: en"},
      {"train_files", &options.train, any_text(), "", "the names of the training files without the language"},
      {"valid_files", &options.valid, any_text(), "",
       "the names of the validation files without the language"},
      {"test_files", &options.test, any_text(), "",
       "the names of the test files without the language; empty, or no such files: no test text"},
      {"generated_pairs", &options.generated_pairs, between(0, 10'000'000), "pairs",
       "to train on, of lines of random letters and the same in reverse, in place of files; a tenth as many "
       "for validation and test; 0: read the files"},
  };
}

void check_options(const ParallelOptions& options) {
  if (options.generated_pairs > 0) return;
  check_input(!options.source_language.empty() && !options.target_language.empty(),
              "from which language to which? set data.source_language and data.target_language, the ends of "
              "the files' names");
  check_input(options.source_language != options.target_language,
              "data.source_language and data.target_language are both \"{}\": each text would be its own "
              "translation",
              printable(options.source_language));
  check_input(!options.train.empty() && !options.valid.empty(),
              "data.train_files and data.valid_files are the names of files: neither may be empty");
}

void check_generated_has_no_folder(const ParallelOptions& options, const std::string& folder) {
  check_input(folder.empty() || options.generated_pairs == 0,
              "--data {}: data.generated_pairs = {} generates the text: leave --data out", folder,
              options.generated_pairs);
}

TextPair::TextPair(Text source_text, Text target_text)
    : source(std::move(source_text)), target(std::move(target_text)) {
  end_last_line(source);
  end_last_line(target);
  lines = lines_of(source);
  check_input(lines == lines_of(target),
              "{} has {} lines and {} has {}: each line needs its translation on the line of the same number",
              source.name, lines, target.name, lines_of(target));
}

const TextPair& ParallelText::at(Split split) const {
  check_input(split != Split::test || test.has_value(),
              "there is no test text (data.test_files): choose train or valid");
  return split == Split::train ? train : split == Split::valid ? valid : *test;
}

ParallelText open_parallel_text(const fs::path& folder, const ParallelOptions& options, Unit unit) {
  check_options(options);
  if (options.generated_pairs > 0) return generated_text(options.generated_pairs);
  check_input(file_is_there(folder), "{}: no such folder", printable(folder.string()));
  std::error_code ignored;
  check_input(fs::is_directory(folder, ignored),
              "{}: parallel text is a folder of pairs of files, such as {}.{} and {}.{}",
              printable(folder.string()), options.train, options.source_language, options.train,
              options.target_language);

  const auto files_of = [&](Split split) {
    const std::string& name = name_of_split(options, split);
    return std::pair(folder / (name + "." + options.source_language),
                     folder / (name + "." + options.target_language));
  };
  std::vector<Split> splits{Split::train, Split::valid};
  const auto [test_source, test_target] = files_of(Split::test);
  const bool has_test = file_is_there(test_source) || file_is_there(test_target);
  if (!options.test.empty() && has_test) splits.push_back(Split::test);
  for (const Split split : splits) {
    const auto [source, target] = files_of(split);
    if (!file_is_there(source)) throw_missing(source, options, split, true);
    if (!file_is_there(target)) throw_missing(target, options, split, false);
  }

  ParallelText all;
  if (!options.test.empty() && !has_test)
    all.notes.push_back(note_of_missing_test(test_source, "data.test_files"));
  for (const Split split : splits) {
    const auto [source, target] = files_of(split);
    Text source_text = read_side(all, source, unit);
    TextPair texts(std::move(source_text), read_side(all, target, unit));
    if (split == Split::test)
      all.test = std::move(texts);
    else
      (split == Split::train ? all.train : all.valid) = std::move(texts);
  }
  return all;
}

Text open_side(const fs::path& prefix, const std::string& language, Unit unit) {
  const fs::path file = prefix.string() + "." + language;
  if (!file_is_there(file))
    throw InputError(fmt::format("{}: missing; the text is given by its name without .{}; {}",
                                 printable(file.string()), printable(language),
                                 similar_files_text(file, language)));
  return read_side(file, unit);
}

}  // namespace rondo
