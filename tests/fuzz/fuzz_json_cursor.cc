// The cursor accepts exactly what the parser accepts, except for blanks and checks that only the
// parser makes: UTF-8, surrogates, repeated member names, and numbers beyond a double.
#include <cstdint>
#include <string_view>

#include "base/json_cursor.h"
#include "base/try.h"
#include "sallyport/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  JsonCursor cursor(text);
  bool exact = true;
  const std::string_view taken = cursor.take_value(128, &exact);
  SALLYPORT_INVARIANT(taken.size() <= text.size());
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) return 0;
  const std::string canonical = canonical_json(parsed->value);
  JsonCursor again(canonical);
  SALLYPORT_INVARIANT(again.take_value(129) == canonical && again.at_end());
  return 0;
}
