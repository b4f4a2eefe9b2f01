// Changes single values of a JSON text and keeps every other byte: order of members, white space,
// escapes and number spelling (MP-5).
//
//   Splice splice;
//   splice.replace("/messages/0/content", "\"[redacted]\"");
//   splice.remove("/tools/1");
//   splice.append("/stream_options", "\"include_usage\":true");
//   std::string changed = splice.applied(text);
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_pointer.h"

namespace sallyport::llm {

// A text as a JSON string, quotes included.
std::string json_string(std::string_view text);

// Parts of a valid JSON text, byte for byte. `value_at` is empty if there is no such value.
// `elements_of` is empty if the text is not an array.
std::string_view value_at(std::string_view text, std::string_view pointer);
std::vector<std::string_view> elements_of(std::string_view array);

class Splice {
 public:
  // `json` is the new value as JSON text. Pointers lead to values that the text has.
  void replace(std::string pointer, std::string json);
  // Removes a member with its name, or an element.
  void remove(std::string pointer);
  // Appends a member to an object (`json` is `"name":value`) or an element to an array.
  void append(std::string pointer, std::string json);

  // Puts text before and after a value, which may have other edits.
  void wrap(std::string pointer, std::string before, std::string after);

  // Adds the edits of another splice.
  void add(Splice other) { edits_.merge(other.edits_); }

  bool empty() const { return edits_.empty(); }
  // Returns the edited text. `text` is valid JSON. An edit at a missing place is ignored.
  std::string applied(std::string_view text) const;
  // False if a replacement has no place, also none in a value that goes: a redaction would be lost.
  bool fits(std::string_view text) const;

 private:
  enum class Kind { Replace, Remove, Append, Wrap };
  struct Edit {
    Kind kind;
    std::string json;
    std::string after{};  // Wrap
  };
  friend class Splicer;
  std::map<std::string, std::vector<Edit>, std::less<>> edits_;
};

}  // namespace sallyport::llm
