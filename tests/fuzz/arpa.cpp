// n-gram models in ARPA files; the first byte chooses the unit.
#include "data/ngram/arpa.h"

#include "tests/fuzz/target.h"

namespace rondo::fuzz {
namespace {

std::string text_of(const Arpa& arpa) {
  std::string text;
  write_arpa(arpa.model, arpa.vocabulary, [&](std::string_view piece) { text += piece; });
  return text;
}

void run_arpa(std::string_view bytes) {
  const Tokenization how{static_cast<Unit>(take_choice(bytes) % 3)};
  const Arpa arpa = read_arpa(scratch("model.arpa", bytes), how);
  const std::string written = text_of(arpa);
  const Arpa again = read_arpa(scratch("model.arpa", written), how);
  demand(text_of(again) == written, "another text when written again");
  NgramModel::State context = arpa.model.line_start();
  for (std::int32_t symbol = 0; symbol < std::min(arpa.model.symbols(), 20); ++symbol)
    context = arpa.model.step(context, symbol).next;
}

}  // namespace

Target arpa() {
  const std::string head = "\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-99\t<s>\t-0.30103\n-0.6 </s>\n";
  const std::string tail = "-1 <unk>\n\n\\2-grams:\n-0.2 <s> a\n-0.5 a </s>\n\n\\end\\\n";
  return {"arpa",
          run_arpa,
          {std::string(1, '\0') + head + "-0.6\ta\t-0.2\n" + tail, "\1" + head + "-0.6\ta\t-0.2\n" + tail,
           "\2\\data\\\nngram 1=2\n\\1-grams:\n-0.3 \\x0c\n-0.3 <space>\n\\end\\\n"}};
}

}  // namespace rondo::fuzz
