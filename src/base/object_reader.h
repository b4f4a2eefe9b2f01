// Reads a JSON object whose shape is known, and names the first field that breaks it.
//
//   ObjectReader in(value, "event");
//   Event event{.agent_id = in.text("agent_id"), .attempt = in.number("attempt")};
//   if (!in.ok()) return std::unexpected(in.error());   // "`event.attempt` is missing"
//
// After the first fault every further read gives an empty value, so a shape reads as a list of its
// fields. Fields that are not asked for are ignored.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport {

class ObjectReader {
 public:
  // `where` is how messages name the object; empty: its fields stand alone.
  ObjectReader(const json::value& value, std::string where = {});
  ObjectReader(const json::object& object, std::string where = {});

  std::string text(std::string_view name);
  std::uint64_t number(std::string_view name);  // 0 to 2^53-1
  bool boolean(std::string_view name);
  json::value any(std::string_view name);
  const json::array& array(std::string_view name);
  // One of `accepted`; the refusal lists them.
  std::string word(std::string_view name, std::initializer_list<std::string_view> accepted);
  // RFC 3339 in UTC.
  std::string time(std::string_view name);
  // A member object, to be read by a reader of its own; an empty object after a fault.
  const json::object& object(std::string_view name);

  // Absent and `null` are the same: no value.
  bool has(std::string_view name) const;
  std::optional<std::string> optional_text(std::string_view name);
  std::optional<std::uint64_t> optional_number(std::string_view name);
  json::value optional_any(std::string_view name);

  // A fault that the caller found in a field.
  void refuse(std::string_view name, std::string_view what);
  // Takes over the fault of a nested reader or shape.
  void take(const Error& error);
  template <class T>
  T take(Result<T> nested) {
    if (nested) return std::move(*nested);
    take(nested.error());
    return T{};
  }

  // How messages name a field of this object.
  std::string place(std::string_view name) const;

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }

 private:
  const json::value* find(std::string_view name, std::string_view wanted);

  const json::object* object_ = nullptr;  // null: it was no object, and that is the fault
  std::string where_;
  std::optional<Error> error_;
};

}  // namespace sallyport
