// Any bytes as a guardrail document: one error with a position, or a document whose canonical form
// reads the same.
#include <cstdint>
#include <string_view>

#include "base/try.h"
#include "guardrails/document/document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sallyport;
  using namespace sallyport::guardrails;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = read_document(text);
  if (!document) {
    const DocumentError& error = document.error();
    SALLYPORT_INVARIANT(!error.code.empty() && !error.message.empty());
    SALLYPORT_INVARIANT(error.message.find('\n') == std::string::npos);
    SALLYPORT_INVARIANT(error.path.has_value() || error.code == "syntax" ||
                        error.code == "too_large");
    return 0;
  }
  const std::string canonical = canonical_json(parse_json(text)->value);
  const auto again = read_document(canonical);
  SALLYPORT_INVARIANT(again.has_value() && *again == *document);
  return 0;
}
