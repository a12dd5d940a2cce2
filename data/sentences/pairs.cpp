// Pairs of sentences; see data/sentences/pairs.h.
#include "data/sentences/pairs.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

namespace rondo {

namespace fs = std::filesystem;

// --- Parallel text ---

Keys keys_of(ParallelOptions& options) {
  return {
      {"source_language", &options.source_language, "the end of the names of the source's files: de"},
      {"target_language", &options.target_language, "the end of the names of the target's files: en"},
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

namespace {

fs::path side_path(const fs::path& prefix, const std::string& language) {
  return plain_or_packed(prefix.string() + "." + language);
}

void end_last_line(Text& text) {
  if (!text.content.ends_with('\n')) text.content += '\n';
}
std::int64_t lines_of(const Text& text) { return std::ranges::count(text.content, '\n'); }

ParallelText generated_text(std::int64_t pairs) {
  const std::int64_t evaluated = std::max<std::int64_t>(1, pairs / 10);
  ParallelText all{.train = reversal_task(1, pairs),
                   .valid = reversal_task(2, evaluated),
                   .test = reversal_task(3, evaluated)};
  for (const TextPair* split : {&all.train, &all.valid, &*all.test})
    for (const Text* side : {&split->source, &split->target}) all.files.push_back({side->name, side->sha256});
  return all;
}

}  // namespace

TextPair::TextPair(Text source_text, Text target_text)
    : source(std::move(source_text)), target(std::move(target_text)) {
  end_last_line(source);
  end_last_line(target);
  lines = lines_of(source);
  check_input(lines == lines_of(target),
              "{} has {} lines and {} has {}: each line needs its translation on the line of the same number",
              source.name, lines, target.name, lines_of(target));
}

ParallelText open_parallel_text(const fs::path& folder, const ParallelOptions& options, Unit unit) {
  check_options(options);
  if (options.generated_pairs > 0) return generated_text(options.generated_pairs);
  check_is_folder(folder,
                  fmt::format(": parallel text is a folder of pairs of files, such as {0}.{1} and {0}.{2}",
                              options.train, options.source_language, options.target_language));
  ParallelText all;
  for (const auto& [split, name] :
       {std::pair(Split::train, options.train), {Split::valid, options.valid}, {Split::test, options.test}}) {
    const fs::path source = side_path(folder / name, options.source_language),
                   target = side_path(folder / name, options.target_language);
    if (split == Split::test && name.empty()) continue;
    if (split == Split::test && !file_is_there(source) && !file_is_there(target)) {
      all.notes.push_back(note_of_missing_test(source, "data.test_files"));
      continue;
    }
    Text text = all.record(open_side(folder / name, options.source_language, unit));
    all[split] = {std::move(text), all.record(open_side(folder / name, options.target_language, unit))};
  }
  return all;
}

Text open_side(const fs::path& prefix, const std::string& language, Unit unit) {
  const fs::path file = side_path(prefix, language);
  check_is_there(file,
                 fmt::format(": a side of a text of pairs, which is named without .{}", printable(language)));
  return read_sentences(file, unit);
}

// --- A generated task ---

TextPair reversal_task(std::uint64_t seed, std::int64_t count, const ReversalOptions& options) {
  check_input(count >= 1 && options.letters >= 1 && options.letters <= 26 && options.min_length >= 0 &&
                  options.min_length <= options.max_length,
              "{} pairs of {} to {} of {} letters: expected 1 or more, of 1 to 26 letters", count,
              options.min_length, options.max_length, options.letters);
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t bound) {  // not a standard distribution: these differ between libraries
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  std::string source, target;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = options.min_length + below(options.max_length - options.min_length + 1);
    std::string line;
    for (std::int64_t letter = 0; letter < length; ++letter) {
      if (letter > 0) line += ' ';
      line += static_cast<char>('a' + below(options.letters));
    }
    source += line + '\n';
    target += std::string(line.rbegin(), line.rend()) + '\n';
  }
  const auto text_of = [](const char* name, std::string content) {
    return Text{.name = name, .content = content, .sha256 = sha256_hex(content)};
  };
  return {text_of("letters", source), text_of("letters in reverse", target)};
}

// --- Pairs of lines of one language ---

TextPair pairs_of_text(const Text& text, PairsOf pairs) {
  if (pairs == PairsOf::lines) return {text, text};
  Text source = text, target = text;
  source.content.clear(), target.content.clear();
  const std::vector<std::string_view> lines = split_lines(text.content);
  bool has_pair = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view read = lines[i], written;
    if (pairs == PairsOf::next_lines) {
      const bool goes_on = i + 1 < lines.size() && !stripped(read).empty();
      if (goes_on && !stripped(lines[i + 1]).empty()) written = lines[i + 1];
    } else if (const auto words = split_words(read); words.size() > 1) {
      const std::string_view middle = words[(words.size() - 1) / 2], after = words[(words.size() + 1) / 2];
      written = read.substr(static_cast<std::size_t>(after.data() - read.data()));
      read = read.substr(0, static_cast<std::size_t>(middle.data() + middle.size() - read.data()));
    }
    has_pair |= !written.empty();
    ((source.content += read) += '\n');
    ((target.content += written) += '\n');
  }
  check_input(has_pair, "{}: {}", text.name,
              pairs == PairsOf::halves ? "no line has two words, and so none has halves"
                                       : "no line is followed by another one that is not empty");
  TextPair result(std::move(source), std::move(target));
  result.has_gaps = true;
  return result;
}

// --- Ids ---

Keys keys_of(PairOptions& options) {
  return {
      {"shared_vocabulary", &options.shared_vocabulary, "one vocabulary, made from both languages"},
      {"max_length", &options.max_length, at_least(0), "symbols",
       "leave out training pairs in which a side has more symbols, not counting its end; 0: keep all", true},
  };
}

PairVocabularies vocabularies_of(const TextPair& train, Tokenization tokenization,
                                 const VocabularyLimits& limits, bool shared) {
  if (!shared)
    return {Vocabulary(train.source, tokenization, limits), Vocabulary(train.target, tokenization, limits)};
  // One text, not the list of texts that Vocabulary accepts: the second of these would not be training text.
  const Text both{.name = fmt::format("{} and {}", train.source.name, train.target.name),
                  .content = train.source.content + train.target.content,
                  .sha256 = {},
                  .notes = {}};
  const Vocabulary vocabulary(both, tokenization, limits);
  return {vocabulary, vocabulary};
}

Pairs encode_pairs(const TextPair& texts, const Vocabulary& source, const Vocabulary& target,
                   std::int64_t max_length, bool without_empty) {
  without_empty |= texts.has_gaps;
  Pairs pairs{.source = encode_sentences(texts.source.content, texts.source.name, source),
              .target = encode_sentences(texts.target.content, texts.target.name, target)};
  if (max_length == 0 && !without_empty) return pairs;

  Pairs kept;
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    const auto [shorter, longer] = std::minmax({pairs.source.length(i), pairs.target.length(i)});
    if (max_length > 0 && longer - 1 > max_length) {
      ++kept.left_out;
    } else if (without_empty && shorter == 1) {
      ++kept.empty;
    } else {
      kept.source.add(pairs.source[i]);
      kept.target.add(pairs.target[i]);
    }
  }
  check_input(
      kept.size() > 0,
      "{} and {}: no pair is left: {} have more symbols than max_length = {} (0: no limit), {} an empty side",
      texts.source.name, texts.target.name, kept.left_out, max_length, kept.empty);
  return kept;
}

// --- Batches ---

Keys keys_of(PairBatchOptions& options) {
  return joined(
      {batch_keys(options.order, "pairs of sentences; or symbols of the target"),
       {{"reverse_source", &options.reverse_source, "read the source from its end to its beginning"}}});
}

void fill_batch(PairBatch& batch, const Pairs& pairs, const PairBatchOptions& options,
                std::span<const std::int64_t> whole, const BatchOrder& /*order*/) {
  for (const std::int64_t pair : whole) batch.scored += pairs.target.length(pair);
  const std::span<const std::int64_t> chosen = batch.share.of(whole);
  batch.pairs.assign(chosen.begin(), chosen.end());
  batch.source = padded(pairs.source.at(chosen), options.reverse_source);
  batch.target = shifted(pairs.target.at(chosen));
}

}  // namespace rondo
