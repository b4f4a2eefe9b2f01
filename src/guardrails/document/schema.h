// The JSON Schema (2020-12) of a guardrail document, for editors and other programs.
#pragma once

#include <boost/json/value.hpp>

#include "sallyport/json.h"

namespace sallyport::guardrails {

// Accepts every document that `read_document` accepts and refuses unknown keys. Limits that a
// schema cannot express, such as lengths in bytes, are in descriptions (GR-71).
json::value document_schema();

}  // namespace sallyport::guardrails
