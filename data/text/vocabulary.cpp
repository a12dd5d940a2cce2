// The vocabulary; see data/text/vocabulary.h.
#include "data/text/vocabulary.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "data/text/unicode.h"
#include "tensor/threads.h"

namespace rondo {

namespace {

struct Type {
  std::string symbol;
  std::int64_t count = 0, count_in_train = 0;
  bool kept = true;
};

/// Marks the types that the limits drop; types are in order of first occurrence, and `unknown` is whether
/// `<unk>` needs a row. Returns whether anything was dropped.
bool apply_limits(std::vector<Type>& types, const VocabularyLimits& limits, std::string_view line_end,
                  bool unknown) {
  std::vector<Type*> kept;
  for (Type& type : types) {
    type.kept = type.count >= limits.min_count || type.symbol == line_end;
    if (type.kept) kept.push_back(&type);
  }
  const bool rare = kept.size() < types.size();

  const auto most = static_cast<std::size_t>(limits.max_size);
  if (most == 0 || kept.size() + (unknown || rare ? 1 : 0) <= most) return rare;
  std::ranges::stable_sort(kept, [&](const Type* a, const Type* b) {
    const bool a_ends = a->symbol == line_end, b_ends = b->symbol == line_end;
    return a_ends != b_ends ? a_ends : a->count > b->count;
  });
  for (std::size_t i = most - 1; i < kept.size(); ++i) kept[i]->kept = false;
  return true;
}

/// Calls use(symbol, count) for the symbols of each block of a text, in the order of their first occurrence
/// in it.
void count_symbols(const Text& text, const Tokenization& tokenization,
                   const std::function<void(const std::string&, std::int64_t)>& use) {
  struct Counts {
    SymbolNumbers table;
    std::vector<std::int64_t> counts;
  };
  InOrder<Counts> blocks(threads(), [&](const Counts& of_block) {
    for (std::size_t i = 0; i < of_block.counts.size(); ++i)
      use(of_block.table.symbols()[i], of_block.counts[i]);
  });
  read_blocks(text, tokenization, "counting the symbols", [&](Block block) {
    blocks.add([block = std::move(block), &tokenization, &text] {
      Counts of_block;
      SymbolReader reader(block.text, tokenization, text.name, block.last);
      while (const auto symbol = reader.next()) {
        const auto [number, is_new] = of_block.table.add(*symbol);
        if (is_new) of_block.counts.push_back(0);
        ++of_block.counts[static_cast<std::size_t>(number)];
      }
      return of_block;
    });
  });
  blocks.finish();
}

/// With its content in memory, of a long one, too.
Text held(const Text& text) {
  Text it = text;
  if (text.source) text.source->read_pieces("reading", [&](std::string_view piece) { it.content += piece; });
  it.source = nullptr;
  return it;
}

}  // namespace

Keys keys_of(VocabularyLimits& limits) {
  return {
      {"min_count", &limits.min_count, at_least(1), "occurrences",
       "rarer symbols of the texts of data.vocabulary become <unk>"},
      {"max_size", &limits.max_size, at_least(0), "symbols", "keep the most frequent only; 0: keep all"},
      {"unknown", &limits.reserve_unknown,
       "a row for symbols that train.txt lacks, even if it has none itself; false: such a symbol is refused"},
  };
}

void check_options(const VocabularyLimits& limits) {
  check_limits_of(limits);
  check_input(limits.max_size != 1, "max_size = 1 keeps one symbol: nothing to predict; 0 keeps all");
}

Vocabulary::Vocabulary(const std::vector<const Text*>& train_and_others, Tokenization tokenization,
                       const VocabularyLimits& limits, SymbolOrder order)
    : tokenization_(tokenization) {
  check_options(limits);
  if (tokenization.unit == Unit::pieces) {
    Text train = held(*train_and_others.front());
    if (tokenization.lowercase) train.content = utf8_of(lower_case(code_points(train.content, train.name)));
    pieces_ = std::make_shared<PieceModel>(PieceModel::learnt_from(train, tokenization));
    for (std::string& symbol : pieces_->symbols()) add(std::move(symbol));
    return;
  }

  std::vector<Type> types;
  bool needed = limits.reserve_unknown;  // whether <unk> has a row,
  bool trained = false;                  // because the training text maps something to it
  SymbolNumbers table;
  for (const Text* text : train_and_others) {
    const bool in_train = text == train_and_others.front();
    count_symbols(*text, tokenization, [&](const std::string& symbol, std::int64_t count) {
      if (symbol == unknown_symbol) {
        needed = true;
        trained |= in_train;
        return;
      }
      const auto [number, is_new] = table.add(symbol);
      if (is_new) types.push_back({.symbol = symbol});
      Type& type = types[static_cast<std::size_t>(number)];
      type.count += count;
      if (in_train) type.count_in_train += count;
    });
  }
  needed |= apply_limits(types, limits, line_end_symbol(tokenization.unit), needed);
  for (const Type& type : types) trained |= type.count_in_train > 0 && !type.kept;
  if (order == SymbolOrder::frequency) std::ranges::stable_sort(types, std::greater(), &Type::count_in_train);

  if (trained) add(std::string(unknown_symbol));
  for (Type& type : types)
    if (type.kept) add(std::move(type.symbol));
  if (!trained && needed) add(std::string(unknown_symbol));
}

bool Vocabulary::add(const std::string& symbol) { return table_.add(symbol).second; }

Vocabulary Vocabulary::from_text(std::string_view text, const std::string& name, Tokenization tokenization) {
  check_input(!text.empty(), "{}: empty; a vocabulary holds a symbol a line", name);
  Vocabulary vocabulary(tokenization);
  std::int64_t number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    const auto symbol = unescape_symbol(line);
    const auto refusal = [&](const std::string& what) {
      return InputError(fmt::format("{}: line {}: {}", name, number, what));
    };
    if (!symbol) throw refusal("bad escape: use \\\\, \\n, \\t or \\xNN");
    if (symbol->empty()) throw refusal("empty; every line is a symbol");
    if (!is_of_unit(*symbol, tokenization.unit))
      throw refusal(
          fmt::format("'{}' cannot come from text read as {}", excerpt(*symbol), name_of(tokenization.unit)));
    if (!vocabulary.add(*symbol))
      throw refusal(fmt::format("'{}' is already on line {}", excerpt(*symbol), *vocabulary.id(*symbol) + 1));
  }
  check_input(tokenization.unit != Unit::words || vocabulary.line_end_id().has_value(),
              "{}: no {}; is it the vocabulary of a model of words?", name, eos_symbol);
  return vocabulary;
}

void Vocabulary::read_pieces(std::string bytes, const std::string& name) {
  auto pieces = std::make_shared<PieceModel>(std::move(bytes), name);
  check_input(pieces->symbols() == table_.symbols(),
              "{}: not the model of this vocabulary, whose symbols are others", name);
  pieces_ = std::move(pieces);
}

std::string Vocabulary::to_text() const {
  std::string text;
  for (const std::string& symbol : table_.symbols()) text += escape_symbol(symbol) + '\n';
  return text;
}

std::int64_t Vocabulary::types() const { return size() - (unknown_id() && !unknown_is_trained() ? 1 : 0); }

const std::string& Vocabulary::symbol(std::int32_t id) const {
  check(id >= 0 && id < size(), "[vocabulary] an id from 0 to {} was expected: {}", size() - 1, id);
  return table_.symbols()[static_cast<std::size_t>(id)];
}

std::optional<std::int32_t> Vocabulary::id(std::string_view symbol) const {
  const std::int32_t number = table_.find(symbol);
  return number == SymbolNumbers::none ? std::nullopt : std::optional(number);
}

bool Vocabulary::unknown_is_trained() const {
  const auto unknown = unknown_id();
  return unknown && (*unknown == 0 || *unknown + 1 < size());
}

Encoded Vocabulary::encode(const Text& text) const {
  check(!text.source, "[vocabulary] {}: a text that is held in memory was expected", text.name);
  return encode(text.content, text.name);
}

Encoded Vocabulary::encode(const Block& block, const std::string& name) const {
  return encode(block.text, name, block.last, block.lines_before, false);
}

namespace {

/// "line 3: "; nothing for a text of one line, whose name may say which one it is.
std::string line_text(std::string_view text, std::int64_t lines_before, std::int64_t line) {
  const bool is_one = lines_before == 0 && text.find('\n') >= text.size() - 1;
  return is_one ? "" : fmt::format("line {}: ", lines_before + line);
}

}  // namespace

Encoded Vocabulary::encode(std::string_view text, const std::string& name, LastLine last,
                           std::int64_t lines_before, bool lists_missing) const {
  if (tokenization_.unit == Unit::pieces && !has_sentencepiece()) throw_no_sentencepiece();
  const auto unknown = unknown_id();
  Encoded encoded;
  encoded.bytes = std::ssize(text);
  std::unordered_set<std::string_view> missing;
  SymbolReader reader(text, tokenization_, name, last, pieces_.get());
  while (const auto symbol = reader.next()) {
    if (encoded.ids.empty()) encoded.first_bytes = static_cast<std::int64_t>(reader.position());
    std::int32_t known = table_.find(*symbol);
    if (known == SymbolNumbers::none) {
      if (!unknown)
        throw InputError(fmt::format("{}: {}'{}' is not in the vocabulary, which has no {}", name,
                                     line_text(text, lines_before, reader.line()), escape_symbol(*symbol),
                                     unknown_symbol));
      if (lists_missing && missing.insert(*symbol).second) encoded.missing.emplace_back(*symbol);
      known = *unknown;
    }
    encoded.ids.push_back(known);
    if (known == unknown) ++encoded.unknowns;
  }
  return encoded;
}

std::string Vocabulary::decode(std::span<const std::int32_t> ids) const {
  SymbolWriter writer(tokenization_.unit);
  std::string text;
  for (const std::int32_t id : ids) text += writer.next(symbol(id));
  return text;
}

std::pair<std::int32_t, bool> SymbolNumbers::add(std::string_view symbol) {
  if (const std::int32_t number = find(symbol); number != none) return {number, false};
  check_input(symbols_.size() < std::numeric_limits<std::int32_t>::max(), "more than {} different symbols",
              symbols_.size());
  symbols_.emplace_back(symbol);
  const auto number = static_cast<std::int32_t>(symbols_.size() - 1);
  numbers_.emplace(symbol, number);
  return {number, true};
}

std::int32_t SymbolNumbers::find(std::string_view symbol) const {
  const auto found = numbers_.find(symbol);
  return found == numbers_.end() ? none : found->second;
}

}  // namespace rondo
