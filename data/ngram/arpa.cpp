// ARPA files; see data/ngram/arpa.h.
#include "data/ngram/arpa.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rondo {
namespace {

constexpr std::string_view line_start_name = "<s>", line_end_name = "</s>", blank_name = "<space>",
                           capital_unknown = "<UNK>";
constexpr double log10_of_zero = -99, zero = -std::numeric_limits<double>::infinity();

/// The name of a symbol in a file.
std::string name_of(const std::string& symbol, Unit unit) {
  if (symbol == line_end_symbol(unit)) return std::string(line_end_name);
  if (unit == Unit::words) {
    check_input(
        symbol != line_start_name && symbol != line_end_name,
        "the text has the word '{}', which marks the beginning or end of a line in an ARPA file: rename it",
        symbol);
    return symbol;
  }
  if (symbol == " ") return std::string(blank_name);
  return symbol == "\\" ? symbol : escape_symbol(symbol);
}

class Reader {
 public:
  Reader(const std::filesystem::path& path, Tokenization tokenization)
      : text_(read_text(path, Pipes::accepted)), rest_(text_.content), vocabulary_(tokenization) {}

  Arpa read() {
    do check_here(next_line(), "no \\data\\: is it an ARPA file?");
    while (line_ != "\\data\\");
    read_counts();
    read_header(1);
    NgramModel model = read_unigrams();
    for (int order = 2; order <= std::ssize(counts_); ++order) {
      read_header(order);
      add_ngrams(model, order);
    }
    check_here(line_ == "\\end\\", "expected \\end\\ after the {}-grams: '{}'", counts_.size(), line_);
    return {std::move(vocabulary_), std::move(model), is_closed_};
  }

 private:
  /// A line of a section.
  struct Entry {
    double log_probability, log_backoff;
    std::vector<std::string_view> words;
  };

  template <class... Arguments>
  void check_here(bool ok, fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    if (!ok)
      throw InputError(fmt::format("{}:{}: {}", text_.name, number_,
                                   fmt::vformat(text, fmt::make_format_args(arguments...))));
  }

  /// Goes to the next line that is not blank, and removes the white space around it. False at the end.
  bool next_line() {
    do {
      if (rest_.empty()) return false;
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = stripped(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
    } while (line_.empty());
    return true;
  }
  void need_line(std::string_view expected) {
    check_here(next_line(), "the file ends here, where {} is expected: is it cut short?", expected);
  }

  /// Reads "ngram 1=10" and so on, up to the line of the first section.
  void read_counts() {
    for (need_line("ngram 1=..."); !line_.starts_with('\\'); need_line("\\1-grams:")) {
      const auto expected = std::ssize(counts_) + 1;
      const std::size_t equals = std::min(line_.find('='), line_.size());
      const std::vector<std::string_view> before = split_words(line_.substr(0, equals));
      const bool is_good = before == std::vector<std::string_view>{"ngram", std::to_string(expected)};
      const std::string_view number = stripped(line_.substr(std::min(equals + 1, line_.size())));
      const std::int64_t count = parse_integer(number).value_or(-1);
      check_here(is_good && count >= (expected == 1), "expected 'ngram {}=' and a number: '{}'", expected,
                 line_);
      counts_.push_back(count);
    }
    check_here(!counts_.empty(), "expected 'ngram 1=' and a number: '{}'", line_);
  }

  std::int64_t count(int order) const { return counts_[static_cast<std::size_t>(order) - 1]; }

  void read_header(int order) {
    const std::string header = fmt::format("\\{}-grams:", order);
    check_here(line_ == header, "expected {}: '{}'", header, line_);
  }

  /// Reads the lines of a section and the line after it; passes each n-gram to `use`.
  template <class Use>
  void read_section(int order, const Use& use) {
    Entry entry;
    const std::string expected = fmt::format("a {}-gram", order);
    for (std::int64_t i = 0; i < count(order); ++i) {
      need_line(expected);
      check_here(!line_.starts_with('\\'), "only {} {}-grams, where \\data\\ has {}", i, order, count(order));
      parse_entry(order, entry);
      use(entry);
    }
    need_line("\\end\\");
    check_here(line_.starts_with('\\'), "more {}-grams than the {} of \\data\\: '{}'", order, count(order),
               line_);
  }

  void parse_entry(int order, Entry& entry) const {
    entry.words = split_at(line_, [](char c) { return c == ' ' || c == '\t'; });
    const auto words = static_cast<std::size_t>(order);
    const bool has_weight = entry.words.size() == words + 2;
    check_here(has_weight || entry.words.size() == words + 1,
               "expected log10 p, {} words and perhaps a weight: '{}'", order, line_);
    entry.log_probability = logarithm(entry.words.front());
    check_here(entry.log_probability <= 0, "log10 of a probability is above 0: '{}'", entry.words.front());
    entry.log_backoff = has_weight ? logarithm(entry.words.back()) : 0;
    if (has_weight) entry.words.pop_back();
    entry.words.erase(entry.words.begin());
  }

  /// The natural logarithm, from the text of the decimal one.
  double logarithm(std::string_view text) const {
    if (text == "-inf") return zero;
    const std::optional<double> value = parse_number(text);
    check_here(value.has_value(), "'{}' is not a number", text);
    return *value <= log10_of_zero ? zero : *value * std::numbers::ln10;
  }

  NgramModel read_unigrams() {
    const Unit unit = vocabulary_.tokenization().unit;
    constexpr NgramModel::State empty = 0;
    std::vector<NgramModel::Ngram> unigrams;
    double weight_of_start = 0;
    bool has_start = false;
    has_unknown_ = has_word(rest_.substr(0, rest_.find("\n\\")), unknown_symbol);  // in this section
    read_section(1, [&](const Entry& entry) {
      const std::string_view name = entry.words[0];
      const double weight = counts_.size() > 1 ? entry.log_backoff : 0;
      if (name == line_start_name) {
        check_here(!std::exchange(has_start, true), "'{}' appears twice", name);
        weight_of_start = weight;
        return;
      }
      // A text without line ends has no such symbol, but other toolkits require the name.
      if (name == line_end_name && unit != Unit::words && entry.log_probability == zero) return;
      const auto symbol = symbol_of(name);
      check_here(symbol.has_value(), "'{}' cannot occur in a text of {}: this is a model of another unit",
                 name, name_of(unit));
      check_here(vocabulary_.add(*symbol), "'{}' appears twice", name);
      unigrams.push_back({empty, static_cast<std::int32_t>(unigrams.size()), entry.log_probability, weight});
    });
    check_here(unit != Unit::words || vocabulary_.line_end_id().has_value(),
               "{} is not among the unigrams: the end of each line is scored", line_end_name);
    check_here(!unigrams.empty(), "no unigram but {}", line_start_name);
    is_closed_ = vocabulary_.add(std::string(unknown_symbol));
    if (is_closed_) unigrams.push_back({empty, static_cast<std::int32_t>(unigrams.size()), zero, 0});
    const auto V = static_cast<std::int32_t>(unigrams.size());
    unigrams.push_back({empty, V, zero, weight_of_start});  // if the file has none, no n-gram begins with it
    NgramModel model(V);
    model.add_order(unigrams);
    return model;
  }

  /// The symbol that a name in the file stands for; nothing if a text of the unit cannot contain it. Not for
  /// `<s>`.
  std::optional<std::string> symbol_of(std::string_view name) const {
    const Unit unit = vocabulary_.tokenization().unit;
    if (name == line_end_name) return std::string(line_end_symbol(unit));
    if (name == capital_unknown && !has_unknown_) return std::string(unknown_symbol);
    if (unit == Unit::words) return std::string(name);
    if (name == blank_name) return " ";
    const auto symbol = name == "\\" ? std::string(name) : unescape_symbol(name);
    return symbol && is_of_unit(*symbol, unit) ? symbol : std::nullopt;
  }

  void add_ngrams(NgramModel& model, int order) {
    std::vector<std::pair<NgramModel::Ngram, std::int64_t>> found;  // with its line number
    const std::int64_t bytes = 2 * (order + 1);  // the minimum of a line; the count in \data\ may be wrong
    found.reserve(static_cast<std::size_t>(std::min(count(order), std::ssize(rest_) / bytes)));
    const bool highest = order == std::ssize(counts_);
    read_section(order, [&](const Entry& entry) {
      NgramModel::State context = model.empty_context();
      for (std::size_t i = 0; i + 1 < entry.words.size(); ++i) {
        const auto next = model.find(context, id_of(entry.words[i], i == 0, model));
        check_here(next.has_value(), "the first {} words are not among the {}-grams: '{}'", i + 1, i + 1,
                   line_);
        context = *next;
      }
      const double weight = highest ? 0 : entry.log_backoff;
      found.push_back(
          {{context, id_of(entry.words.back(), false, model), entry.log_probability, weight}, number_});
    });
    const auto key = [](const auto& it) { return std::pair(it.first.context, it.first.symbol); };
    std::ranges::stable_sort(found, [&](const auto& a, const auto& b) { return key(a) < key(b); });
    std::vector<NgramModel::Ngram> ngrams;
    ngrams.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool is_new = i == 0 || key(found[i]) != key(found[i - 1]);
      check_input(is_new, "{}:{}: this {}-gram is already on line {}", text_.name, found[i].second, order,
                  is_new ? 0 : found[i - 1].second);
      ngrams.push_back(found[i].first);
    }
    model.add_order(ngrams);
  }

  std::int32_t id_of(std::string_view name, bool is_first, const NgramModel& model) const {
    if (name == line_start_name) {
      check_here(is_first, "{} inside an n-gram: it only begins a line", name);
      return model.symbols();
    }
    const auto symbol = symbol_of(name);
    const auto id = symbol ? vocabulary_.id(*symbol) : std::nullopt;
    check_here(id.has_value(), "'{}' is not among the unigrams", name);
    return *id;
  }

  Text text_;
  std::string_view rest_, line_;  // the unread rest; the current line
  std::int64_t number_ = 0;       // of the line, from 1
  std::vector<std::int64_t> counts_;
  Vocabulary vocabulary_;
  bool has_unknown_ = false;  // `<unk>` is among the unigrams
  bool is_closed_ = false;
};

}  // namespace

Arpa read_arpa(const std::filesystem::path& path, Tokenization tokenization) {
  return Reader(path, tokenization).read();
}

void write_arpa(const NgramModel& model, const Vocabulary& vocabulary,
                const std::function<void(std::string_view)>& write) {
  check(vocabulary.size() == model.symbols(), "[arpa] a vocabulary of {} symbols was expected: {}",
        model.symbols(), vocabulary.size());
  std::vector<std::string> names;
  for (std::int32_t id = 0; id < model.symbols(); ++id)
    names.push_back(name_of(vocabulary.symbol(id), vocabulary.tokenization().unit));
  names.emplace_back(line_start_name);
  const bool lacks_end = !vocabulary.line_end_id().has_value();

  constexpr std::size_t at_once = 1 << 20;
  std::string text = "\\data\\\n";
  for (int order = 1; order <= model.order(); ++order)
    text += fmt::format("ngram {}={}\n", order, model.ngrams(order) + (order == 1 && lacks_end));
  const auto decimal = [](double logarithm) {  // + 0: no negative zero
    return fmt::format("{:.9g}", logarithm == zero ? log10_of_zero : logarithm / std::numbers::ln10 + 0.0);
  };
  for (int order = 1; order <= model.order(); ++order) {
    text += fmt::format("\n\\{}-grams:\n", order);
    if (order == 1 && lacks_end) text += fmt::format("{}\t{}\n", log10_of_zero, line_end_name);
    model.for_each(order, [&](std::span<const std::int32_t> ids, const NgramModel::Ngram& it) {
      text += decimal(it.log_probability);
      char separator = '\t';
      for (const std::int32_t id : ids)
        (text += std::exchange(separator, ' ')) += names[static_cast<std::size_t>(id)];
      if (it.log_backoff != 0) (text += '\t') += decimal(it.log_backoff);
      text += '\n';
      if (text.size() < at_once) return;
      write(text);
      text.clear();
    });
  }
  write(text + "\n\\end\\\n");
}

}  // namespace rondo
