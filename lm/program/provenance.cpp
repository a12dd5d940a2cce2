// The keys of section [made_by].
#include "lm/program/provenance.h"

#include <algorithm>

#include "data/text.h"

namespace rondo {

Keys keys_of(Provenance& made_by) {
  return {
      {"version", &made_by.version, {}, "", "of the program"},
      {"command", &made_by.command, any_text(), "", "what was typed"},
      {"device", choice(made_by.device), {}, "", "where it was computed"},
      {"precision", choice(made_by.precision), {}, "", "in which matrices were multiplied"},
      {"threads", &made_by.threads, at_least(0), "threads", "that computed"},
      {"ranks", &made_by.ranks, any_count(), "processes", "that computed, each with so many threads"},
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
  };
}

std::string name_of_text(const std::string& data) {
  return data.empty() ? "generated text" : printable(data);
}

bool is_same_data(const std::vector<std::string>& recorded, const std::vector<std::string>& present) {
  const auto same = [](const std::string& a, const std::string& b) {
    return a.substr(0, a.find(' ')) == b.substr(0, b.find(' '));
  };
  return recorded.size() <= present.size() &&
         std::equal(recorded.begin(), recorded.end(), present.begin(), same);
}

}  // namespace rondo
