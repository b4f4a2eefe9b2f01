// One writer and one reader for all events, driven by core/event/event_table.h.
#pragma once

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/cut_text.h"
#include "core/event/event_table.h"
#include "core/record/shapes.h"
#include "sallyport/event.h"
#include "sallyport/json.h"

namespace sallyport::core {

// Writing.

template <class Out, class T>
void put_field(Out& out, MemberName name, const T& value) {
  out.put(name, value);
}
template <class Out>
void put_field(Out& out, MemberName name, const Preview& preview) {
  out.object(name, [&] { write_members(out, preview); });
}
template <class Out>
void put_field(Out& out, MemberName name, const std::optional<Usage>& usage) {
  out.put(name, usage ? json::value(to_json(*usage)) : json::value());
}

template <class Out, class E, class T>
void put(Out& out, const E& event, const Field<E, T>& field) {
  put_field(out, field.name, event.*field.member);
}
// Writes all words, not only the accepted ones, so that a later refusal can name the word.
template <class Out, class E, class Enum>
void put(Out& out, const E& event, const WordField<E, Enum>& field) {
  out.put(field.name, word_of(words_of(Enum{}), event.*field.member));
}
template <class Out, class E>
void put(Out& out, const E& event, const CutField<E>& field) {
  const std::string& text = event.*field.member;
  out.put(field.name, field.unit == CutUnit::Bytes ? cut_utf8_bytes(text, field.limit)
                                                   : cut_code_points(text, field.limit));
}

template <class E>
constexpr std::size_t kFields = std::tuple_size_v<decltype(kShape<E>.fields)>;

// The indexes of the fields in the order of their names. The last index stands for `kind`.
template <class E>
constexpr auto kCanonicalOrder = [] {
  std::array<std::pair<std::string_view, std::size_t>, kFields<E> + 1> order;
  order.back() = {"kind", kFields<E>};
  std::apply(
      [&, place = std::size_t{0}](const auto&... field) mutable {
        ((order[place] = {field.name.text(), place}, ++place), ...);
      },
      kShape<E>.fields);
  std::ranges::sort(order);  // names are lower-case letters and `_`
  return order;
}();

template <class E, std::size_t kPlace>
void put_place(CanonicalWriter& out, const E& event) {
  if constexpr (kPlace == kFields<E>) {
    out.put("kind", kShape<E>.kind);
  } else {
    put(out, event, std::get<kPlace>(kShape<E>.fields));
  }
}

// The form for people and other programs: the kind, then the fields in table order.
template <class E>
void write_event(ObjectWriter& out, const E& event) {
  out.put("kind", kShape<E>.kind);
  std::apply([&](const auto&... field) { (put(out, event, field), ...); }, kShape<E>.fields);
}
template <class E>
void write_event(CanonicalWriter& out, const E& event) {
  [&]<std::size_t... kPlaces>(std::index_sequence<kPlaces...>) {
    (put_place<E, kCanonicalOrder<E>[kPlaces].second>(out, event), ...);
  }(std::make_index_sequence<kFields<E> + 1>());
}

Result<Event> read_event(const json::value& value);

}  // namespace sallyport::core
