// Changes single values of a JSON text and leaves every other byte as it is: order of members,
// white space, escapes and number spelling (MP-5).
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

// Texts inside a valid JSON text, as they stand there. `value_at`: empty where the pointer leads
// nowhere. `elements_of`: of an array; of another value none.
std::string_view value_at(std::string_view text, std::string_view pointer);
std::vector<std::string_view> elements_of(std::string_view array);

class Splice {
 public:
  // `json` is the new value as JSON text. Pointers lead to values that the text has.
  void replace(std::string pointer, std::string json);
  // A member with its name, or an element.
  void remove(std::string pointer);
  // Behind the last member of an object (`json` is then `"name":value`) or element of an array.
  void append(std::string pointer, std::string json);

  // The edits of another one as well.
  void add(Splice other) { edits_.merge(other.edits_); }

  bool empty() const { return edits_.empty(); }
  // `text` is valid JSON. An edit whose pointer leads nowhere changes nothing.
  std::string applied(std::string_view text) const;

 private:
  enum class Kind { Replace, Remove, Append };
  struct Edit {
    Kind kind;
    std::string json;
  };
  friend class Splicer;
  std::map<std::string, std::vector<Edit>, std::less<>> edits_;
};

}  // namespace sallyport::llm
