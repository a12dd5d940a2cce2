// SVG and HTML documents as tests look at them: elements of well-formed XML.
#pragma once

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace rondo {

struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes{};
  std::string text{};  // directly in it
  std::vector<XmlElement> children{};

  std::string at(const std::string& attribute, const std::string& otherwise = "") const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? otherwise : found->second;
  }
  /// All elements of this name below it, from the first to the last.
  std::vector<const XmlElement*> all(const std::string& of) const {
    std::vector<const XmlElement*> found;
    for (const XmlElement& child : children) {
      if (child.name == of) found.push_back(&child);
      for (const XmlElement* it : child.all(of)) found.push_back(it);
    }
    return found;
  }
  std::vector<std::string> texts(const std::string& of) const {
    std::vector<std::string> found;
    for (const XmlElement* it : all(of)) found.push_back(it->text);
    return found;
  }
};

/// A document without comments. Throws std::runtime_error where it is not well-formed.
class XmlReader {
 public:
  explicit XmlReader(const std::string& document) : text_(document) {}

  XmlElement root() {
    skip_spaces();
    if (text_.compare(at_, 9, "<!DOCTYPE") == 0) at_ = text_.find('>', at_) + 1;
    skip_spaces();
    XmlElement root = element();
    skip_spaces();
    if (at_ != text_.size()) fail("something after the root");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " before: " + text_.substr(at_, 60));
  }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() {
    while (std::isspace(static_cast<unsigned char>(here())) != 0) ++at_;
  }
  void expect(char letter) {
    if (here() != letter) fail(std::string("no ") + letter);
    ++at_;
  }
  std::string name() {
    const std::size_t begin = at_;
    while (std::isalnum(static_cast<unsigned char>(here())) != 0 || here() == '-' || here() == ':') ++at_;
    if (begin == at_) fail("no name");
    return text_.substr(begin, at_ - begin);
  }
  /// Characters up to `end`, with what stands for others.
  std::string characters(char end) {
    std::string result;
    for (; here() != end; ++at_) {
      if (here() == '\0' || here() == '<') fail("a text that does not end");
      if (here() != '&') {
        result += here();
        continue;
      }
      const std::size_t semicolon = text_.find(';', at_);
      static const std::map<std::string, char> entities{
          {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"apos", '\''}, {"quot", '"'}};
      const auto found = entities.find(text_.substr(at_ + 1, semicolon - at_ - 1));
      if (found == entities.end()) fail("an unknown entity");
      result += found->second;
      at_ = semicolon;
    }
    return result;
  }
  XmlElement element() {
    expect('<');
    XmlElement it{name()};
    for (skip_spaces(); here() != '>' && here() != '/'; skip_spaces()) {
      const std::string attribute = name();
      expect('=');
      const char quote = here();
      if (quote != '\'' && quote != '"') fail("no quote");
      ++at_;
      if (!it.attributes.emplace(attribute, characters(quote)).second) fail("an attribute twice");
      expect(quote);
    }
    if (here() == '/') {
      ++at_, expect('>');
      return it;
    }
    expect('>');
    while (true) {
      it.text += characters('<');
      if (text_.compare(at_, 2, "</") == 0) break;
      it.children.push_back(element());
    }
    at_ += 2;
    if (name() != it.name) fail("another element ends than " + it.name);
    expect('>');
    return it;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

inline XmlElement xml_of(const std::string& document) { return XmlReader(document).root(); }

}  // namespace rondo
