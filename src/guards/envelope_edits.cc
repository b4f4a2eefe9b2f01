#include "guards/envelope_edits.h"

#include <algorithm>
#include <boost/json.hpp>

#include "guards/free_names.h"

namespace sallyport::guards {

namespace {

class Editing {
 public:
  explicit Editing(const EnvelopeEdits& edits) : edits_(edits) {}

  json::value value(const json::value& original) const {
    if (const auto edit = edits_.values.find(&original); edit != edits_.values.end()) {
      return edit->second;
    }
    if (const json::object* const object = original.if_object()) return members(*object);
    if (const json::array* const array = original.if_array()) {
      json::array items;
      items.reserve(array->size());
      for (const json::value& item : *array) items.push_back(value(item));
      return items;
    }
    return original;
  }

  std::string text(const std::string& original) const {
    const auto edit = edits_.texts.find(&original);
    return edit == edits_.texts.end() ? original : edit->second;
  }

 private:
  json::object members(const json::object& object) const {
    json::object out;
    out.reserve(object.size());
    const bool renames =
        !edits_.names.empty() && std::ranges::any_of(object, [this](const auto& member) {
          return edits_.names.contains(&member);
        });
    FreeNames names;
    if (renames) {
      for (const auto& member : object) {
        if (!edits_.names.contains(&member)) names.take(member.key());
      }
    }
    for (const auto& member : object) {
      const auto edit = renames ? edits_.names.find(&member) : edits_.names.end();
      if (edit == edits_.names.end()) {
        out.emplace(member.key(), value(member.value()));
      } else {
        out.emplace(names.next_free(edit->second), value(member.value()));
      }
    }
    return out;
  }

  const EnvelopeEdits& edits_;
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
