// Remedies in error texts.
#include "lm/settings/remedies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "data/files/lines.h"

namespace rondo {

// --- Nearest names ---

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances from the first i letters of `a` to every prefix of `b`.
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  const auto last_part = [](std::string_view of) { return of.substr(of.find_last_of('.') + 1); };
  const auto without_dashes = [](std::string_view of) {
    return of.substr(std::min(of.find_first_not_of('-'), of.size()));
  };
  const std::string_view section = name.substr(0, name.size() - last_part(name).size());
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    // Of names in sections, the last parts are compared: the section alone makes no two names near.
    const bool has_section = candidate.find('.') != std::string::npos;
    const std::string_view typed = without_dashes(has_section ? last_part(name) : name);
    const std::string_view other = without_dashes(has_section ? last_part(candidate) : candidate);
    constexpr std::size_t least_beginning = 3;  // letters: "temp" begins "temperature"
    const bool begins_it = typed.size() >= least_beginning && other.starts_with(typed);
    const std::size_t longer = std::max(typed.size(), other.size());
    const auto is_far = [&](std::size_t edits) { return !begins_it && edits * 5 > longer * 2; };
    // So many edits are needed at least; a typed text of great length is then not compared.
    if (is_far(longer - std::min(typed.size(), other.size()))) continue;
    const std::size_t edits = begins_it ? 1 : edit_distance(typed, other);
    const bool is_elsewhere = has_section && (section.empty() || !candidate.starts_with(section));
    if (is_far(edits) || edits + is_elsewhere >= best_distance) continue;
    best_distance = edits + is_elsewhere;
    best = candidate;
  }
  return best;
}

namespace {

/// What other programs call a setting, an option, a command or a value of this one.
struct OtherName {
  std::string_view other, here;
};
constexpr OtherName other_names[] = {
    {"lr", "train.learning_rate"},
    {"max_length", "decoding.max_length"},
    {"n_best", "decoding.n_best"},
    {"length_penalty", "decoding.length_penalty"},
    {"lr", "dynamic.learning_rate"},
    {"batch_size", "train.batch"},
    {"bptt", "train.length"},
    {"seq_len", "train.length"},
    {"optim", "train.optimizer"},
    {"wdecay", "train.weight_decay"},
    {"clip_norm", "train.clip"},
    {"emsize", "model.embedding"},
    {"embedding_size", "model.embedding"},
    {"nhid", "model.hidden"},
    {"hidden_size", "model.hidden"},
    {"nlayers", "model.layers"},
    {"num_layers", "model.layers"},
    {"tie_weights", "model.tied"},
    {"log_interval", "train.log_every"},
    {"patience", "train.early_stopping"},
    {"lr_scheduler", "train.schedule"},
    {"gpu", "--device cuda"},
    {"cuda", "--device cuda"},
    {"fp16", "--precision bf16"},
    {"save", "--out"},
    {"output", "--out"},
    {"model", "--recipe"},
    {"max_epochs", "--epochs"},
    {"max_steps", "--steps"},
    {"beam_size", "--beam"},
    {"batch_size", "--streams"},
    {"max_tokens", "-n"},
    {"ppl", "--totals"},
    {"evaluate", "eval"},
    {"test", "eval"},
    {"perplexity", "eval"},
    {"resume", "train --out RUN --resume"},
    {"sample", "generate"},
    {"convert", "export"},
    {"list", "table"},
    {"version", "--version"},
    {"ppl", "perplexity"},
    {"chars", "characters"},
};

/// The name here for another program's, such as "--batch-size" or "train.lr", if it is known; else empty.
std::string name_here(std::string_view name, const std::vector<std::string>& known) {
  std::string word(name.substr(name.find_last_of('.') + 1));
  const std::string_view section = name.substr(0, name.size() - word.size());
  word.erase(0, word.find_first_not_of('-'));
  std::ranges::replace(word, '-', '_');
  for (const auto& [other, here] : other_names) {
    const std::string_view first = here.substr(0, here.find(' '));
    if (other == word && here.starts_with(section) && std::ranges::find(known, first) != known.end())
      return std::string(here);
  }
  return "";
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  if (const std::string here = name_here(name, known); !here.empty())
    return fmt::format("; here it is '{}'", here);
  const std::string near = nearest(name, known);
  return near.empty() ? otherwise : fmt::format("; did you mean '{}'?", near);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  return did_you_mean(name, known, fmt::format("; known: {}", fmt::join(known, ", ")));
}

// --- Commands for a shell ---

std::string shell_command(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+";
  const auto is_plain = [&](char letter) { return plain.find(letter) != plain.npos; };
  std::string command;
  for (const std::string& word : words) {
    if (&word != words.data()) command += ' ';
    const bool is_shown = printable(word) == word;  // else as $'\377', which POSIX has since 2024
    const bool is_quoted = word.empty() || !std::ranges::all_of(word, is_plain);
    if (is_quoted) command += is_shown ? "'" : "$'";
    for (const char letter : word)
      if (is_shown ? letter != '\'' : is_plain(letter))
        command += letter;
      else
        command += is_shown ? "'\\''" : fmt::format("\\{:03o}", static_cast<unsigned char>(letter));
    if (is_quoted) command += '\'';
  }
  return command;
}

std::string this_program() { return shell_command({program_invocation_name}); }

std::string command_with(const std::vector<std::string>& words) {
  return this_program() + " " + shell_command(words);
}

std::string resume_command(const std::filesystem::path& folder) {
  return command_with({"train", "--out", folder.string(), "--resume"});
}

}  // namespace rondo
