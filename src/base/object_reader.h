// Reads a JSON object with known fields, and reports the first field that is missing or malformed.
//
//   ObjectReader in(value, "event");
//   Event event{.agent_id = in.text("agent_id"), .attempt = in.number("attempt")};
//   if (!in.ok()) return std::unexpected(in.error());   // "`event.attempt` is missing"
//
// After the first fault every further read returns an empty value, so that the caller can list all
// fields without checks. Other fields are ignored.
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
  // `where` names the object in messages. If it is empty, messages name the field alone.
  ObjectReader(const json::value& value, std::string where = {});
  ObjectReader(const json::object& object, std::string where = {});

  std::string text(std::string_view name);
  std::uint64_t number(std::string_view name);  // 0 to 2^53-1
  bool boolean(std::string_view name);
  json::value any(std::string_view name);
  const json::array& array(std::string_view name);
  // The value must be one of `accepted`; the error lists them.
  std::string word(std::string_view name, std::initializer_list<std::string_view> accepted);
  // RFC 3339 in UTC.
  std::string time(std::string_view name);
  // A nested object, for a reader of its own. Empty after a fault.
  const json::object& object(std::string_view name);

  // An absent member and `null` both give no value.
  bool has(std::string_view name) const;
  std::optional<std::string> optional_text(std::string_view name);
  std::optional<std::uint64_t> optional_number(std::string_view name);
  json::value optional_any(std::string_view name);

  // Records a fault that the caller found in a field.
  void refuse(std::string_view name, std::string_view problem);
  // Takes over the fault of a nested reader.
  void take(const Error& error);
  template <class T>
  T take(Result<T> nested) {
    if (nested) return std::move(*nested);
    take(nested.error());
    return T{};
  }

  // The name of a field in messages.
  std::string place(std::string_view name) const;

  bool ok() const { return !error_; }
  const Error& error() const { return *error_; }

 private:
  const json::value* find(std::string_view name, std::string_view wanted);

  const json::object* object_ = nullptr;  // null: the value was not an object, which is the fault
  std::string where_;
  std::optional<Error> error_;
};

}  // namespace sallyport
