// One writer and one reader for all events, driven by core/event/event_table.h.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/cut_text.h"
#include "core/event/event_table.h"
#include "sallyport/event.h"
#include "sallyport/json.h"

namespace sallyport::core {

// Writing.

template <class T>
json::value field_json(const T& value) {
  return json::value(value);
}
inline json::value field_json(const Preview& preview) {
  return to_json(preview);
}
inline json::value field_json(const Usage& usage) {
  return to_json(usage);
}
template <class T>
json::value field_json(const std::optional<T>& value) {
  return value ? field_json(*value) : json::value(nullptr);
}

template <class E, class T>
json::value written(const E& event, const Field<E, T>& field) {
  return field_json(event.*field.member);
}
// Reads all words, not only the accepted ones, so that a later refusal can name the word.
template <class E, class Enum>
json::value written(const E& event, const WordField<E, Enum>& field) {
  return json::value(word_of(words_of(Enum{}), event.*field.member));
}
template <class E>
json::value written(const E& event, const CutField<E>& field) {
  const std::string& text = event.*field.member;
  return json::value(field.unit == CutUnit::Bytes ? cut_utf8_bytes(text, field.limit)
                                                  : cut_code_points(text, field.limit));
}

template <class E>
json::object write_event(const E& event) {
  json::object object{{"kind", kShape<E>.kind}};
  std::apply(
      [&](const auto&... field) { (object.emplace(field.name, written(event, field)), ...); },
      kShape<E>.fields);
  return object;
}

Result<Event> read_event(const json::value& value);

}  // namespace sallyport::core
