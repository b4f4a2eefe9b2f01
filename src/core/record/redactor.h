// Removes secrets from data before it is stored. Never changes what runs or what is answered.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_digest.h"
#include "sallyport/json.h"

namespace sallyport::core {

// One removed value. `path` is a JSON Pointer into the given value.
struct Removal {
  std::string path;
  std::string category;
  std::string removed;              // the bytes themselves, for the keyed digest; never stored
  std::string detector{};           // what found it
  std::optional<std::size_t> at{};  // its first byte in its text, if it has one
  std::size_t of = 0;               // bytes of that text

  // The position in the text is not compared.
  bool operator==(const Removal& other) const {
    return path == other.path && category == other.category && removed == other.removed;
  }
};

// The removal as `redactions` of an entry lists it (LE-56, WB-9). `path` is that of the given
// value.
json::object listed(const Removal& removal, std::string_view path, const KeyedDigest& digest);

class Redactor {
 public:
  virtual ~Redactor() = default;

  // Replaces each finding in place by `[REDACTED:<category>]` and keeps the shape around it. Lists
  // each replacement; an empty list: `value` is unchanged. `name` is the member that holds `value`:
  // a sensitive name replaces the whole value. Any thread may call it. May throw: the caller then
  // stores `[REDACTED:unreadable]` for the whole field.
  virtual std::vector<Removal> redact(std::string_view name, json::value& value) const = 0;

  // True: `redact` would remove nothing from the value whose JSON, as `CanonicalWriter` writes it,
  // is `text`. False says nothing. This saves building the value.
  virtual bool is_clean(std::string_view /*name*/, std::string_view /*text*/) const {
    return false;
  }

  // For an identifier (a tool, a session, an agent). Only secrets are removed: an address in a
  // principal's name stays, because it says who acted.
  virtual bool redact_identifier(std::string& text) const = 0;
};

// Removes secrets from an identifier. True: it was changed. One that cannot be read becomes
// `[REDACTED:unreadable]`.
bool redact_name(const Redactor& redactor, std::string& text);

// Stores everything as it is: for tests and measurements.
class NoRedactor final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value&) const override { return {}; }
  bool is_clean(std::string_view, std::string_view) const override { return true; }
  bool redact_identifier(std::string&) const override { return false; }
};

}  // namespace sallyport::core
