// The body of an entry.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value_ref.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/json_writer.h"
#include "sallyport/json.h"

namespace sallyport::core {

// A JSON object, as a value or as its canonical text. What is written for every call is written as
// text at once; what is rare is a value, which the ledger turns into text. It has one owner at a
// time.
class Body {
 public:
  Body() = default;
  Body(json::object members) : content_(std::move(members)) {}
  Body(std::initializer_list<std::pair<json::string_view, json::value_ref>> members)
      : content_(json::object(members)) {}
  // Takes the one object that was written.
  Body(CanonicalWriter&& text) : content_(std::move(text).take()) {}

  // Opens the body for a change.
  json::value& operator[](std::string_view name) { return open()[name]; }
  json::object& open();

  // Reads it. A text is parsed when it is read first. Valid until the next change.
  const json::object& members() const;
  operator const json::object&() const { return members(); }
  const json::value& at(std::string_view name) const { return members().at(name); }
  const json::value* if_contains(std::string_view name) const {
    return members().if_contains(name);
  }
  bool contains(std::string_view name) const { return members().contains(name); }

  // Reads some members; those that a body lacks are left out. Members that are not read cost almost
  // nothing. `a/b` is the member `b` of the object `a`, which then has no other.
  json::object pick(std::initializer_list<std::string_view> paths) const;

  // False: no entry can hold it, because it is not UTF-8, not finite or nested too deep.
  bool is_sound() const;
  // Canonical JSON, as `CanonicalWriter` writes it.
  std::string text() &&;
  // The size of the text in bytes. No value: the body has no text yet.
  std::optional<std::size_t> text_size() const;

 private:
  std::variant<json::object, std::string> content_;
  mutable std::optional<json::object> read_;  // the members of a text that was read
};

}  // namespace sallyport::core
