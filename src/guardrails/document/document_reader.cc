#include <fmt/format.h>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/try.h"
#include "guardrails/document/document.h"
#include "guardrails/document/document_names.h"
#include "guardrails/document/document_rules.h"
#include "guardrails/document/document_shape.h"
#include "guardrails/document/one_line.h"

namespace sallyport::guardrails {

namespace {

// Of the document as given: defaults are not filled in, and `null` counts as `{}` (GR-9).
std::string hash_of(const json::value& given) {
  return hex(sha256(given.is_null() ? "{}" : canonical_json(given)));
}

}  // namespace

template <std::same_as<json::value> Value>
std::expected<Document, DocumentError> read_document(const Value& given) {
  SALLYPORT_TRY(Document document, read_shape(given));
  for (std::size_t index = 0; index < document.checks.size(); ++index) {
    Check& check = document.checks[index];
    check.label = check.id.value_or(fmt::format("{}#{}", to_string(check.type), index));
  }
  SALLYPORT_CHECK_OK(check_rules(document, given));
  document.config_hash = hash_of(given);
  return document;
}

template std::expected<Document, DocumentError> read_document(const json::value& given);

std::expected<Document, DocumentError> read_document(std::string_view text) {
  if (text.size() > kMostDocumentBytes) {
    return std::unexpected(
        DocumentError{.code = "too_large",
                      .message = fmt::format("the document has {} bytes, the limit is {}",
                                             text.size(), kMostDocumentBytes)});
  }
  const Result<ParsedJson> parsed =
      parse_json(text, {.bytes = kMostDocumentBytes, .depth = kMostNesting});
  if (!parsed) {
    const Error& error = parsed.error();
    return std::unexpected(
        DocumentError{.code = "syntax",
                      .message = fmt::format("the document cannot be read: {} ({})",
                                             in_one_line(error.message), error.where)});
  }
  return read_document(parsed->value);
}

}  // namespace sallyport::guardrails
