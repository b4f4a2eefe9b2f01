#include "core/event/event_json.h"

#include <array>
#include <cstddef>
#include <utility>
#include <variant>

#include "base/object_reader.h"
#include "core/record/read_field.h"

namespace sallyport::core {

namespace {

class EventReader {
 public:
  explicit EventReader(const json::value& value) : value_(value), in_(value, "event") {}

  template <class E>
  Result<Event> read() {
    E event;
    std::apply([&](const auto&... field) { (read(event, field), ...); }, kShape<E>.fields);
    if (!in_.ok()) return std::unexpected(in_.error());
    return Event(std::move(event));
  }

  ObjectReader& in() { return in_; }

 private:
  template <class E, class T>
  void read(E& event, const Field<E, T>& field) {
    read_into(event.*field.member, field.name.text());
  }
  template <class E, class Enum>
  void read(E& event, const WordField<E, Enum>& field) {
    event.*field.member = read_word(in_, field.name.text(), field.accepted);
  }
  template <class E>
  void read(E& event, const CutField<E>& field) {
    read_into(event.*field.member, field.name.text());
  }

  void read_into(std::string& out, std::string_view name) { out = in_.text(name); }
  void read_into(std::uint64_t& out, std::string_view name) { out = in_.number(name); }
  void read_into(bool& out, std::string_view name) { out = in_.boolean(name); }
  void read_into(std::optional<std::string>& out, std::string_view name) {
    out = in_.optional_text(name);
  }
  void read_into(json::value& out, std::string_view name) { out = read_optional_any(in_, name); }
  void read_into(Preview& out, std::string_view name) {
    in_.object(name);
    if (!in_.ok()) return;
    out = in_.take(preview_from_json(value_.as_object().at(name), in_.place(name)));
  }
  void read_into(std::optional<Usage>& out, std::string_view name) {
    if (!in_.has(name)) return;
    out = in_.take(usage_from_json(value_.as_object().at(name), in_.place(name)));
  }

  const json::value& value_;
  ObjectReader in_;
};

using ReadKind = Result<Event> (*)(EventReader&);

template <std::size_t... Index>
constexpr auto readers(std::index_sequence<Index...>) {
  return std::array<Word<ReadKind>, sizeof...(Index)>{
      {{kShape<std::variant_alternative_t<Index, Event>>.kind,
        [](EventReader& in) { return in.read<std::variant_alternative_t<Index, Event>>(); }}...}};
}

constexpr auto kReaders = readers(std::make_index_sequence<std::variant_size_v<Event>>());

}  // namespace

Result<Event> read_event(const json::value& value) {
  EventReader reader(value);
  const ReadKind read_kind = read_word(reader.in(), "kind", kReaders);
  if (!reader.in().ok()) return std::unexpected(reader.in().error());
  return read_kind(reader);
}

}  // namespace sallyport::core
