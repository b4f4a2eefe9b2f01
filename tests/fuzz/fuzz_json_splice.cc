// Edits of JSON texts: a valid text stays valid and contains the edit, every other value is
// unchanged, and no text is read out of bounds.
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.h"
#include "llm/json_splice.h"
#include "sallyport/json.h"

namespace {

using namespace sallyport;
using llm::Splice;

struct Place {
  std::string pointer;
  const json::value* value;
};

void collect(const json::value& value, const std::string& pointer, std::vector<Place>& out) {
  if (out.size() >= 40) return;
  out.push_back({pointer, &value});
  if (value.is_array()) {
    std::size_t index = 0;
    for (const json::value& one : value.get_array()) {
      collect(one, pointer_to(pointer, index++), out);
    }
  }
  if (value.is_object()) {
    for (const auto& [name, one] : value.get_object()) {
      collect(one, pointer_to(pointer, std::string_view(name)), out);
    }
  }
}

void check_edits(std::string_view text, const json::value& before) {
  std::vector<Place> places;
  collect(before, "", places);
  for (const Place& place : places) {
    const Result<ParsedJson> there = parse_json(llm::value_at(text, place.pointer));
    SALLYPORT_INVARIANT(there && there->value == *place.value);
    if (place.value->is_array()) {
      SALLYPORT_INVARIANT(llm::elements_of(llm::value_at(text, place.pointer)).size() ==
                          place.value->get_array().size());
    }
    Splice replace;
    replace.replace(place.pointer, "\"new\"");
    const std::string replaced = replace.applied(text);
    const Result<ParsedJson> after = parse_json(replaced);
    SALLYPORT_INVARIANT(after);
    json::value expected = before;
    boost::system::error_code error;
    *expected.find_pointer(place.pointer, error) = "new";
    SALLYPORT_INVARIANT(after->value == expected);
    if (place.pointer.empty()) continue;
    Splice remove;
    remove.remove(place.pointer);
    const std::string removed = remove.applied(text);
    SALLYPORT_INVARIANT(parse_json(removed) && removed.size() < text.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4'000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Splice edits;
  edits.replace("/a/0", "1");
  edits.remove("/b");
  edits.append("", "\"z\":1");
  (void)edits.applied(text);
  (void)llm::value_at(text, "/a/0/b~1c");
  (void)llm::elements_of(text);
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) return 0;
  SALLYPORT_INVARIANT(Splice().applied(text) == text);
  check_edits(text, parsed->value);
  return 0;
}
