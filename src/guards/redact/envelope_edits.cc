#include "guards/redact/envelope_edits.h"

#include <algorithm>
#include <bitset>
#include <boost/json.hpp>
#include <cstdint>
#include <utility>

#include "guards/redact/free_names.h"

namespace sallyport::guards {

namespace {

// A filter that recognises nearly every unedited place faster than a map lookup: all places of a
// large result are looked up, and few are edited.
class EditedPlaces {
 public:
  void add(const void* place) { seen_.set(index_of(place)); }
  bool may_hold(const void* place) const { return seen_.test(index_of(place)); }

 private:
  static constexpr unsigned kBits = 12;
  static std::size_t index_of(const void* place) {
    return reinterpret_cast<std::uintptr_t>(place) * 0x9e3779b97f4a7c15u >> (64 - kBits);
  }
  std::bitset<std::size_t{1} << kBits> seen_;
};

class Editing {
 public:
  explicit Editing(const EnvelopeEdits& edits) : edits_(edits) {
    for (const auto& [place, value] : edits.values) places_.add(place);
  }

  // Copied whole and then changed where it must be, which is faster than piece by piece.
  json::value value(const json::value& original) const {
    json::value copy = original;
    edit(original, copy);
    return copy;
  }

  std::string text(const std::string& original) const {
    const auto edit = edits_.texts.find(&original);
    return edit == edits_.texts.end() ? original : edit->second;
  }

 private:
  void edit(const json::value& original, json::value& copy) const {
    if (places_.may_hold(&original)) {
      if (const auto edit = edits_.values.find(&original); edit != edits_.values.end()) {
        copy = edit->second;
        return;
      }
    }
    if (const json::object* const object = original.if_object()) {
      json::object& members = copy.get_object();
      auto member = members.begin();
      for (const json::key_value_pair& each : *object) edit(each.value(), (member++)->value());
      if (has_renamed(*object)) members = renamed(*object, std::move(members));
    } else if (const json::array* const array = original.if_array()) {
      auto item = copy.get_array().begin();
      for (const json::value& each : *array) edit(each, *item++);
    }
  }

  bool has_renamed(const json::object& object) const {
    if (edits_.names.empty()) return false;
    return std::ranges::any_of(object, [this](const json::key_value_pair& member) {
      return edits_.names.contains(&member);
    });
  }

  // `copy` has the members of `object` in the same order.
  json::object renamed(const json::object& object, json::object copy) const {
    FreeNames names;
    for (const json::key_value_pair& member : object) {
      if (!edits_.names.contains(&member)) names.take(member.key());
    }
    json::object out;
    out.reserve(object.size());
    auto value = copy.begin();
    for (const json::key_value_pair& member : object) {
      const auto edit = edits_.names.find(&member);
      const std::string name =
          edit == edits_.names.end() ? std::string(member.key()) : names.next_free(edit->second);
      out.emplace(name, std::move((value++)->value()));
    }
    return out;
  }

  const EnvelopeEdits& edits_;
  EditedPlaces places_;
};

}  // namespace

Envelope edited(const Envelope& envelope, const EnvelopeEdits& edits) {
  const Editing editing(edits);
  Envelope out{.kind = envelope.kind,
               .value = editing.value(envelope.value),
               .chunks = {},
               .complete = envelope.complete,
               .reason = editing.text(envelope.reason),
               .code = envelope.code,
               .message = editing.text(envelope.message),
               .data = editing.value(envelope.data)};
  for (const json::value& chunk : envelope.chunks) out.chunks.push_back(editing.value(chunk));
  if (edits.texts.contains(&envelope.code)) out.code.reset();
  return out;
}

}  // namespace sallyport::guards
