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

// One value that was taken out. `path` is a JSON Pointer from the value that was given.
struct Removal {
  std::string path;
  std::string category;
  std::string removed;              // the bytes themselves, for the keyed digest; never stored
  std::string detector{};           // what found it
  std::optional<std::size_t> at{};  // its first byte in the text it was in, where that has one
  std::size_t of = 0;               // bytes of that text

  // Where in its text it was does not tell two removals apart.
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

  // Replaces in place whatever is found by `[REDACTED:<category>]`, and keeps the shape around it.
  // Lists each replacement: where the list is empty, `value` is as it was.
  // `name` is the member that holds `value`, so that a sensitive name can take the whole of it.
  // From any thread. May throw: the caller then stores `[REDACTED:unreadable]` for the whole field.
  virtual std::vector<Removal> redact(std::string_view name, json::value& value) const = 0;

  // True: `redact` takes nothing out of the value that `text` is the JSON of, as `CanonicalWriter`
  // writes it. False says nothing. It saves building the value.
  virtual bool is_clean(std::string_view /*name*/, std::string_view /*text*/) const {
    return false;
  }

  // For an identifier (a tool, a session, an agent): only secrets are taken out of it, because an
  // address in a principal's name is who acted.
  virtual bool redact_identifier(std::string& text) const = 0;
};

// Stores everything as it is: for tests and measurements.
class NoRedactor final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value&) const override { return {}; }
  bool is_clean(std::string_view, std::string_view) const override { return true; }
  bool redact_identifier(std::string&) const override { return false; }
};

}  // namespace sallyport::core
