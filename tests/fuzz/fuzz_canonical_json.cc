// Every valid text has one canonical form, which is a fixed point. The quick check accepts exactly
// the canonical form that the slow one would write.
#include <cstdint>
#include <string_view>

#include "base/try.h"
#include "sallyport/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<json::value> own = parse_own_json(text);
  SALLYPORT_INVARIANT(is_canonical_json(text) == (own && canonical_json(*own) == text));
  const Result<ParsedJson> parsed = parse_json(text);
  if (!parsed) return 0;
  SALLYPORT_INVARIANT(check_json(parsed->value, 129));
  const std::string once = canonical_json(parsed->value);
  const Result<ParsedJson> again = parse_json(once);
  SALLYPORT_INVARIANT(again && canonical_json(again->value) == once);
  return 0;
}
