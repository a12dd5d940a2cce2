// Pieces; see data/text/pieces.h.
#include "data/text/pieces.h"

#ifdef RONDO_SENTENCEPIECE
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <exception>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#endif

namespace rondo {

void throw_no_sentencepiece() {
  throw_built_without("sentencepiece", "data.unit = \"pieces\"", "libsentencepiece-dev");
}

std::size_t word_length(std::string_view text, std::size_t at) {
  constexpr std::size_t most = 256;
  std::size_t length = 1;
  while (at + length < text.size() && length < most && text[at + length] != ' ') ++length;
  while (at + length < text.size() && continues_character(text[at + length])) ++length;
  return length;
}

#ifndef RONDO_SENTENCEPIECE

bool has_sentencepiece() { return false; }
PieceModel PieceModel::learnt_from(const Text&, const Tokenization&) { throw_no_sentencepiece(); }
PieceModel::PieceModel(std::string, const std::string&) { throw_no_sentencepiece(); }
std::vector<std::string> PieceModel::symbols() const { throw_no_sentencepiece(); }
std::vector<std::string> PieceModel::split(std::string_view) const { throw_no_sentencepiece(); }

#else

bool has_sentencepiece() { return true; }

namespace {

constexpr std::string_view library_space = "\xe2\x96\x81";    // U+2581 stands for a space in sentencepiece
constexpr std::string_view library_unknown = "\xe2\x96\x85";  // and U+2585 for an unknown character
constexpr std::string_view never_in_pieces[] = {library_space, library_unknown, "\t",
                                                std::string_view("\0", 1)};

std::string with_spaces(std::string_view piece) {
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    const bool is_space = piece.substr(at).starts_with(library_space);
    text += is_space ? ' ' : piece[at];
    at += is_space ? library_space.size() : 1;
  }
  return text;
}

/// The bytes that occur in UTF-8, as symbols.
std::vector<std::string> bytes_of_utf8() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 0xf5; ++byte)
    if (byte != 0xc0 && byte != 0xc1) bytes.emplace_back(1, static_cast<char>(byte));
  return bytes;
}

std::string_view character_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::max<std::size_t>(utf8_length(text, at), 1));
}

using Characters = std::unordered_set<std::string_view>;

/// The characters that become pieces: those of ASCII, and the most frequent others, which leave one of 2000
/// out, as sentencepiece does (character_coverage). Thousands of rare ones would fill the vocabulary.
Characters frequent_characters(std::string_view text) {
  std::map<std::string_view, std::int64_t> counts;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = character_at(text, at);
    ++counts[character];
    at += character.size();
  }
  counts.erase("\n");
  for (const std::string_view character : never_in_pieces) counts.erase(character);

  std::vector<std::pair<std::string_view, std::int64_t>> order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::int64_t all = 0, kept = 0;
  for (const auto& [character, count] : order) all += count;
  Characters characters{" "};
  for (const auto& [character, count] : order) {
    if (character.size() == 1 || kept * 2000 < all * 1999) characters.insert(character);
    kept += count;
  }
  return characters;
}

class Parts : public sentencepiece::SentenceIterator {
 public:
  explicit Parts(std::vector<std::string> parts) : parts_(std::move(parts)) {}
  bool done() const override { return at_ == parts_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return parts_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> parts_;
  std::size_t at_ = 0;
};

/// The parts to learn from: lines, each after a space, in parts of a few thousand bytes that end at words;
/// and cut at characters that do not become pieces. All of them, or of a large text every second, third or
/// n-th.
Parts parts_of(const Text& text, const Tokenization& tokenization, const Characters& characters) {
  constexpr std::size_t long_enough = 4096;
  constexpr std::size_t enough = 64 << 20;  // bytes; learning needs about 30 times as much memory
  const std::size_t step = text.content.size() / enough + 1;
  std::vector<std::string> parts;
  std::string part;
  std::size_t index = 0;
  const auto end_part = [&] {
    if (!part.empty() && index++ % step == 0) parts.push_back(part);
    part.clear();
  };
  for (std::string_view line : split_lines(text.content)) {
    if (tokenization.strip_lines) line = stripped(line);
    if (line.empty()) continue;
    part = " ";
    for (std::size_t at = 0; at < line.size();) {
      const std::string_view character = character_at(line, at);
      at += character.size();
      if (!characters.contains(character) || (part.size() >= long_enough && character == " ")) end_part();
      if (characters.contains(character)) part += character;
    }
    end_part();
  }
  return Parts(std::move(parts));
}

/// Returns the model's bytes. InputError, beginning with `name`, if sentencepiece refuses.
std::string learn(Parts parts, const Tokenization& tokenization, std::int64_t pieces,
                  const std::string& name) {
  const std::unordered_map<std::string, std::string> arguments = {
      {"model_type", name_of(tokenization.pieces_model)},
      {"vocab_size", std::to_string(pieces + 1)},  // with the unknown symbol, which it needs
      {"unk_id", "0"},
      {"unk_piece",
       std::string(library_unknown)},  // sentencepiece cuts it out of the parts; texts have "<unk>"
      {"bos_id", "-1"},
      {"eos_id", "-1"},
      {"pad_id", "-1"},
      {"hard_vocab_limit", "false"},  // the caller counts
      {"character_coverage", "1"},    // the parts have no other characters
      {"normalization_rule_name", "identity"},
      {"add_dummy_prefix", "false"},  // the parts have it
      {"remove_extra_whitespaces", "false"},
      {"max_sentence_length", "1000000"},
      {"num_threads", "4"},  // the sums of unigram depend on it: the same on every machine
      {"minloglevel", "3"},  // fatal errors only
  };
  std::string bytes, reason;
  try {
    const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &parts, &bytes);
    if (status.ok()) return bytes;
    reason = status.error_message();
  } catch (const std::exception& failure) {
    reason = failure.what();
  }
  throw InputError(fmt::format("{}: sentencepiece learns no pieces from it: {}", name, printable(reason)));
}

/// The fields of a message of protobuf, one after the other (protobuf.dev/programming-guides/encoding).
class MessageFields {
 public:
  explicit MessageFields(std::string_view message) : rest_(message) {}

  std::uint64_t number = 0, value = 0;  // of the field; its value, if that is an integer,
  std::string_view bytes{};             // or else its bytes: of a text, a message, a float

  /// Goes to the next field; false at the end. Throws InputError for bytes that are no message.
  bool next() {
    if (rest_.empty()) return false;
    enum { integer = 0, text = 2, four_bytes = 5 };
    const std::uint64_t key = take_integer(), kind = key & 7;
    check_input(kind == integer || kind == text || kind == four_bytes, "a field of kind {}", kind);
    number = key >> 3;
    value = kind == integer ? take_integer() : 0;
    bytes = kind == integer ? "" : take(kind == text ? take_integer() : 4);
    return true;
  }

 private:
  std::string_view take(std::uint64_t count) {
    check_input(count <= rest_.size(), "{} bytes are missing", count - rest_.size());
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t take_integer() {
    std::uint64_t integer = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      integer |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return integer;
    }
    throw InputError("an integer of more than 64 bits");
  }

  std::string_view rest_;
};

void check_piece(std::string_view message) {
  constexpr std::size_t longest = 256;  // bytes; the library learns up to 16 characters
  enum { piece = 1, score = 2, type = 3, unknown = 2 };
  for (MessageFields it(message); it.next();) {
    if (it.number == piece) {
      check_input(!it.bytes.empty() && it.bytes.size() <= longest, "a piece of {} bytes", it.bytes.size());
      check_input(replace_invalid_utf8(it.bytes) == it.bytes && it.bytes.find('\0') == it.bytes.npos,
                  "a piece that is no text");
    } else {
      check_input(it.number == score || (it.number == type && it.value == unknown),
                  "a piece of another type");
    }
  }
}

/// Checks a model before the library sees it, which a hostile one makes crash: as what learn() makes, it has
/// pieces of a bounded length, settings, and no map of characters (sentencepiece_model.proto).
void check_is_of_learn(std::string_view model) {
  enum { piece = 1, trainer = 2, normalizer = 3, map_of_normalizer = 2 };
  for (MessageFields it(model); it.next();) {
    check_input(it.number >= piece && it.number <= normalizer, "a field {}", it.number);
    if (it.number == piece) check_piece(it.bytes);
    if (it.number == normalizer)
      for (MessageFields of_normalizer(it.bytes); of_normalizer.next();)
        check_input(of_normalizer.number != map_of_normalizer || of_normalizer.bytes.empty(),
                    "a map of characters");
  }
}

}  // namespace

PieceModel PieceModel::learnt_from(const Text& text, const Tokenization& tokenization) {
  const std::int64_t wanted = tokenization.pieces;
  const auto characters = frequent_characters(text.content);
  const auto further_bytes =
      std::ssize(bytes_of_utf8()) - std::ranges::count_if(characters, [](auto it) { return it.size() == 1; });
  const std::int64_t least = std::ssize(characters) + further_bytes;
  check_input(
      wanted > least,
      "data.pieces = {} are too few: the {} characters of {} and the other bytes of UTF-8 have a symbol "
      "each, and more is needed to join them: {} or more",
      wanted, characters.size(), text.name, least + 1);

  PieceModel model(
      learn(parts_of(text, tokenization, characters), tokenization, wanted - further_bytes, text.name),
      text.name);
  const std::int64_t found = std::ssize(model.symbols());
  check_input(found == wanted,
              "data.pieces = {} are more than the {} that {} gives: set data.pieces = {} or less", wanted,
              found, text.name, found);
  return model;
}

PieceModel::PieceModel(std::string bytes, const std::string& name) : bytes_(std::move(bytes)) {
  auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  bool loaded = false;
  try {
    check_is_of_learn(bytes_);
    loaded = processor->LoadFromSerializedProto(bytes_).ok();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: not a model of pieces that lm has learnt: {}", name, error.what()));
  } catch (const std::exception&) {  // of its search structure, for pieces that it cannot hold
  }
  check_input(loaded, "{}: not a model of sentencepiece", name);
  processor_ = std::move(processor);
}

std::vector<std::string> PieceModel::symbols() const {
  std::vector<std::string> all;
  std::unordered_set<std::string> known;
  const auto add = [&](std::string symbol) {
    if (known.insert(symbol).second) all.push_back(std::move(symbol));
  };
  for (int id = 0; id < processor_->GetPieceSize(); ++id)
    if (!processor_->IsUnknown(id) && !processor_->IsControl(id)) add(with_spaces(processor_->IdToPiece(id)));
  for (std::string& byte : bytes_of_utf8()) add(std::move(byte));
  return all;
}

std::vector<std::string> PieceModel::split(std::string_view word) const {
  std::vector<std::string> symbols;
  const auto add_bytes = [&](std::string_view text) {
    for (const char byte : text) symbols.emplace_back(1, byte);
  };
  while (!word.empty()) {
    if (word.starts_with(library_space)) {  // in the text itself
      add_bytes(library_space);
      word.remove_prefix(library_space.size());
      continue;
    }
    const std::string_view part = word.substr(0, word.find(library_space));
    word.remove_prefix(part.size());
    std::vector<std::string> pieces;
    std::string joined;
    if (processor_->Encode(part, &pieces).ok())
      for (const std::string& piece : pieces) joined += with_spaces(piece);
    if (joined != part) {  // a model that normalises, which this program does not make
      add_bytes(part);
      continue;
    }
    for (const std::string& piece : pieces) {
      if (processor_->IsUnknown(processor_->PieceToId(piece)))
        add_bytes(with_spaces(piece));
      else
        symbols.push_back(with_spaces(piece));
    }
  }
  return symbols;
}

#endif

}  // namespace rondo
