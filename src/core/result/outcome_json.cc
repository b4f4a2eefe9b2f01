#include <boost/json.hpp>

#include "core/record/read_field.h"
#include "core/record/shape_fields.h"
#include "core/record/shapes.h"
#include "sallyport/outcome.h"

namespace sallyport {

namespace {

constexpr core::Word<EffectState> kEffectStates[] = {
    {"none", EffectState::None}, {"done", EffectState::Done}, {"unknown", EffectState::Unknown}};
constexpr core::Word<Outcome::Kind> kOutcomeKinds[] = {
    {"blocked", Outcome::Kind::Blocked},
    {"requires_confirmation", Outcome::Kind::RequiresConfirmation},
    {"cached", Outcome::Kind::Cached},
    {"replayed", Outcome::Kind::Replayed},
    {"invalidated", Outcome::Kind::Invalidated},
    {"completed", Outcome::Kind::Completed},
    {"persistence_failed", Outcome::Kind::PersistenceFailed},
};

}  // namespace

std::string_view to_string(EffectState state) {
  return core::word_of(kEffectStates, state);
}

std::optional<EffectState> effect_state_from(std::string_view word) {
  return core::enum_of(kEffectStates, word);
}

std::string_view to_string(Outcome::Kind kind) {
  return core::word_of(kOutcomeKinds, kind);
}

std::optional<Outcome::Kind> outcome_kind_from(std::string_view word) {
  return core::enum_of(kOutcomeKinds, word);
}

Outcome Outcome::blocked(std::string reason) {
  return {.kind = Kind::Blocked, .text = std::move(reason)};
}

Outcome Outcome::requires_confirmation(std::string description,
                                       std::optional<Prepared> listen_context) {
  return {.kind = Kind::RequiresConfirmation,
          .text = std::move(description),
          .listen_context = std::move(listen_context)};
}

Outcome Outcome::cached(ToolResult result) {
  return {.kind = Kind::Cached, .result = std::move(result)};
}

Outcome Outcome::replayed(ToolResult result) {
  return {.kind = Kind::Replayed, .result = std::move(result)};
}

Outcome Outcome::invalidated(std::string reason) {
  return {.kind = Kind::Invalidated, .text = std::move(reason)};
}

Outcome Outcome::completed(ToolResult result) {
  return {.kind = Kind::Completed, .result = std::move(result)};
}

Outcome Outcome::persistence_failed(std::string error, std::optional<ToolResult> result) {
  return {.kind = Kind::PersistenceFailed, .text = std::move(error), .result = std::move(result)};
}

template <class Out>
void core::write_members(Out& out, const Outcome& outcome) {
  const auto put_result = [&] {
    if (!outcome.result) return out.put("result", nullptr);
    out.object("result", [&] { write_members(out, *outcome.result); });
  };
  out.put("kind", to_string(outcome.kind));
  switch (outcome.kind) {
    case Outcome::Kind::Blocked:
    case Outcome::Kind::Invalidated:
      out.put("reason", outcome.text);
      break;
    case Outcome::Kind::RequiresConfirmation:
      out.put("description", outcome.text);
      out.put("listen_context", shape_or_null(outcome.listen_context));
      break;
    case Outcome::Kind::Cached:
    case Outcome::Kind::Replayed:
    case Outcome::Kind::Completed:
      put_result();
      break;
    case Outcome::Kind::PersistenceFailed:
      put_result();
      out.put("error", outcome.text);
      break;
  }
}
template void core::write_members(CanonicalWriter& out, const Outcome& outcome);

json::object to_json(const Outcome& outcome) {
  return core::object_of(outcome);
}

Result<Outcome> outcome_from_json(const json::value& value, std::string where) {
  ObjectReader in(value, std::move(where));
  Outcome outcome{.kind = core::read_word(in, "kind", kOutcomeKinds)};
  switch (outcome.kind) {
    case Outcome::Kind::Blocked:
    case Outcome::Kind::Invalidated:
      outcome.text = in.text("reason");
      break;
    case Outcome::Kind::RequiresConfirmation:
      outcome.text = in.text("description");
      outcome.listen_context = core::optional_shape_in(in, "listen_context", prepared_from_json);
      break;
    case Outcome::Kind::Cached:
    case Outcome::Kind::Replayed:
    case Outcome::Kind::Completed:
      outcome.result = core::shape_in(in, "result", tool_result_from_json);
      break;
    case Outcome::Kind::PersistenceFailed:
      outcome.result = core::optional_shape_in(in, "result", tool_result_from_json);
      outcome.text = in.text("error");
      break;
  }
  return core::finished(in, std::move(outcome));
}

}  // namespace sallyport
