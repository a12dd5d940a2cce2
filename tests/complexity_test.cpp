// Twice the input must take less than three times as long: what reads files is linear in their size, but for
// a logarithm, whatever they hold. Measured in time of the processor, the least of several runs, which other
// processes cannot change much.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <ostream>

#include "data/files/safetensors.h"
#include "data/ngram/arpa.h"
#include "data/text/corpus.h"
#include "data/text/text.h"
#include "lm/program/files.h"
#include "lm/program/recipe.h"
#include "lm/settings/settings.h"
#include "lm/settings/toml.h"
#include "tests/data/files/little_endian.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

std::string repeated(int times, const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part(i);
  return text;
}
std::string repeated(int times, const std::string& part) {
  return repeated(times, [&](int) { return part; });
}

struct Reader {
  std::string name;
  int size;                                           // with which it takes some milliseconds
  std::function<std::string(int)> input;              // of a size
  std::function<void(const std::string& path)> read;  // InputErrors are as good as any end
};
std::ostream& operator<<(std::ostream& out, const Reader& reader) { return out << reader.name; }

void read_recipe(const std::string& path) {
  Recipe recipe;
  read_toml(read_file(path), path, keys_of(recipe));
}
void read_toml_text(const std::string& path) { parse_toml(read_file(path), path); }
void read_words(const std::string& path) {
  const Text text = clean_text(read_file(path), path, Unit::words);
  Vocabulary(text, {}).encode(text);
}
void read_log(const std::string& path) {
  read_json_lines(path, "a test writes", [](const nlohmann::ordered_json& line) { return line.is_object(); });
}
void read_tensors(const std::string& path) { Safetensors file(path); }

/// {"0":VALUE,"1":VALUE, ...}
std::string object_of(int members, const std::string& value) {
  return "{" + repeated(members, [&](int i) { return fmt::format("{}\"{}\":{}", i ? "," : "", i, value); }) +
         "}";
}

std::string arpa_file(int words) {
  return fmt::format("\\data\\\nngram 1={0}\nngram 2={0}\n\\1-grams:\n-1 </s>\n", words + 1) +
         repeated(words, [](int i) { return fmt::format("-1 w{} -1\n", i); }) + "\\2-grams:\n" +
         repeated(words, [](int i) { return fmt::format("-1 w{} </s>\n", i); }) + "-1 w0 w1\n\\end\\\n";
}

const std::vector<Reader> readers = {
    {"settings_long_list", 20'000, [](int n) { return "[model]\nhidden = [" + repeated(n, "1, ") + "1]\n"; },
     read_recipe},
    {"settings_long_string", 200'000,
     [](int n) { return "[recipe]\nname = \"" + std::string(static_cast<std::size_t>(n), 'a') + "\"\n"; },
     read_recipe},
    {"settings_comments", 20'000, [](int n) { return repeated(n, "# a comment\n"); }, read_recipe},
    {"settings_nested", 20'000, [](int n) { return "[model]\nhidden = " + repeated(n, "["); }, read_recipe},
    {"toml_long_name", 200'000, [](int n) { return repeated(n, "x") + " = 1\n[" + repeated(n, "x") + "]"; },
     read_toml_text},
    {"toml_lines_in_a_list", 200'000, [](int n) { return "a = [" + repeated(n, "\n") + "]"; },
     read_toml_text},
    {"toml_list_of_strings", 10'000, [](int n) { return "a = [" + repeated(n, "'',") + "]"; },
     read_toml_text},
    {"toml_escapes", 100'000, [](int n) { return "a = \"" + repeated(n, "\\n") + "\""; }, read_toml_text},
    {"toml_digits", 100'000, [](int n) { return "a = 0." + repeated(n, "1"); }, read_toml_text},
    {"toml_long_comment", 200'000, [](int n) { return "#" + repeated(n, "x"); }, read_toml_text},
    {"toml_values", 5'000, [](int n) { return repeated(n, [](int i) { return fmt::format("k{}=1\n", i); }); },
     read_toml_text},
    {"toml_sections", 5'000,
     [](int n) { return repeated(n, [](int i) { return fmt::format("[s{}]\nk=1\n", i); }); }, read_toml_text},
    {"text", 20'000, [](int n) { return repeated(n, [](int i) { return fmt::format("a b{} c\r\n", i); }); },
     read_words},
    {"text_one_line", 40'000, [](int n) { return repeated(n, "word "); },
     [](const std::string& path) { open_corpus(path, Unit::words); }},
    {"vocabulary", 100'000,
     [](int n) { return "<eos>\n" + repeated(n, [](int i) { return fmt::format("w{}\n", i); }); },
     [](const std::string& path) { Vocabulary::from_text(read_file(path), path, {Unit::words}); }},
    {"json_lines", 2'000, [](int n) { return repeated(n, "{\"step\":1,\"nats\":2.5}\n"); }, read_log},
    {"json_one_line", 3'000, [](int n) { return object_of(n, "1") + "\n"; }, read_log},
    {"json_nested", 20'000, [](int n) { return repeated(n, "[") + "\n"; }, read_log},
    {"safetensors_tensors", 3'000,
     [](int n) {
       return safetensors_of(object_of(n, R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})"));
     },
     read_tensors},
    {"safetensors_metadata", 3'000,
     [](int n) { return safetensors_of("{\"__metadata__\":" + object_of(n, "\"a\"") + "}"); }, read_tensors},
    {"safetensors_shape", 20'000,
     [](int n) {
       return safetensors_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[0" + repeated(n, ",0") +
                             "],\"data_offsets\":[0,0]}}");
     },
     read_tensors},
    {"arpa", 20'000, arpa_file, [](const std::string& path) { read_arpa(path, {Unit::words}); }},
};

class TimingOfReaders : public testing::TestWithParam<Reader> {
 protected:
  /// Seconds, the least of some runs.
  double seconds(int size) const {
    const TemporaryFolder folder;
    write_bytes(folder / "input", GetParam().input(size));
    double least = 1e9;
    for (int run = 0; run < 3; ++run) {
      const std::clock_t begin = std::clock();
      try {
        GetParam().read(folder / "input");
      } catch (const InputError&) {
      }
      least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
  }
};

TEST_P(TimingOfReaders, TwiceTheInputTakesLessThanThreeTimesAsLong) {
  constexpr double floor = 0.001;  // below it, what does not depend on the size decides
  double ratio = 0;
  for (int attempt = 0, size = GetParam().size; attempt < 2; ++attempt, size *= 2) {  // beyond every cache
    ratio = seconds(4 * size) / std::max(seconds(size), floor);
    if (ratio < 3 * 3) return;  // of two doublings, which tell more than one from noise
  }
  ADD_FAILURE() << "four times the input takes " << ratio << " times as long";
}

INSTANTIATE_TEST_SUITE_P(Readers, TimingOfReaders, testing::ValuesIn(readers),
                         [](const auto& it) { return it.param.name; });

}  // namespace
}  // namespace rondo
