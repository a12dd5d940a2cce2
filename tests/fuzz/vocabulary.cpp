// vocab.txt; the first byte chooses the unit.
#include "data/text/vocabulary.h"

#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

Vocabulary read(std::string_view text, Tokenization how) {
  return Vocabulary::from_text(text, "vocab.txt", how);
}

void run_vocabulary(std::string_view raw) {
  const Tokenization how{static_cast<Unit>(take_choice(raw) % 3)};
  const Vocabulary vocabulary = read(raw, how);
  for (std::int32_t id = 0; id < vocabulary.size(); ++id)
    demand(vocabulary.id(vocabulary.symbol(id)) == id, "a symbol with another id");
  const std::string written = vocabulary.to_text();
  demand(read(written, how).to_text() == written, "another text when written again");
  demand(vocabulary.types() == vocabulary.size() || vocabulary.types() == vocabulary.size() - 1,
         "types that are not symbols");
  vocabulary.encode(raw, "text", LastLine::goes_on);
}

}  // namespace

Target vocabulary() {
  const std::string zero(1, '\0');
  return {"vocabulary",
          run_vocabulary,
          {zero + "<unk>\nthe\ncat\n<eos>\n", zero + "the\n<eos>\n<unk>\n",
           "\1a\n\\n\n\\x20\n\\\\\n\xc3\xa4\n<unk>\n", "\2a\n\\t\n\\xe4\n\\x00\n<unk>\n"}};
}

}  // namespace rondo::fuzz
