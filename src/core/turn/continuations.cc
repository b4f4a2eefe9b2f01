#include "core/turn/continuations.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/object_reader.h"
#include "base/try.h"
#include "base/uuid.h"
#include "core/call/call_json.h"
#include "core/record/read_field.h"

namespace sallyport::core {

namespace {

constexpr std::string_view kStates = "continuation";
constexpr std::string_view kSecrets = "continuation_kept";

using State = Continuations::State;
constexpr Word<State> kWords[] = {{"open", State::Open},
                                  {"taken:", State::Taken},  // and the process run
                                  {"answered", State::Answered},
                                  {"closed", State::Closed},
                                  {"expired", State::Expired}};

Fact fact_of(const std::string& id, State state) {
  return {std::string(kStates), id, std::string(word_of(kWords, state))};
}

Result<void> read_state(std::string_view stored, Continuations::Found& found) {
  const std::string_view taken = word_of(kWords, State::Taken);
  const bool is_taken = stored.starts_with(taken);
  const auto state = enum_of(kWords, is_taken ? taken : stored);
  if (!state) return fail(ErrorCode::Corrupt, "the state of a continuation has an unknown name");
  found.state = *state;
  if (is_taken) found.taken_by = stored.substr(taken.size());
  return {};
}

std::unexpected<Error> refused(std::string cause, std::string message) {
  return fail(ErrorCode::Conflict, std::move(message), "continuation", std::move(cause));
}

Result<Kept> kept_from(const json::value& value) {
  ObjectReader in(value, "kept");
  Kept kept{.approval_id = in.text("approval_id"), .deadline = in.text("deadline")};
  const json::value continuation = in.any("continuation");
  if (in.ok()) kept.continuation = in.take(continuation_from_json(continuation));
  for (const json::value& call : in.array("calls")) {
    kept.calls.push_back(in.take(call_from_json(call)));
  }
  if (in.has("grants")) {
    for (const auto& grant : in.object("grants")) {
      kept.grants[grant.key()] =
          std::make_shared<const GrantUse>(in.take(grant_use_from_json(grant.value())));
    }
  }
  if (!in.ok()) return std::unexpected(in.error());
  return kept;
}

std::string secret_of(const Kept& kept) {
  json::array calls;
  for (const Call& call : kept.calls) calls.push_back(to_json(call));
  json::object secret{{"continuation", to_json(kept.continuation)},
                      {"calls", std::move(calls)},
                      {"approval_id", kept.approval_id},
                      {"deadline", kept.deadline}};
  json::object grants;
  for (const auto& [call_id, grant] : kept.grants) grants[call_id] = grant_use_json(*grant);
  if (!grants.empty()) secret["grants"] = std::move(grants);
  return canonical_json(secret);
}

}  // namespace

std::string Continuations::digest_of(const Continuation::Payload& payload) const {
  return digest_(canonical_json(to_json(payload)));
}

std::string Continuations::fresh_id() const {
  return "con-" + uuid7_text(clock_, entropy_);
}

Continuation Continuations::make(Continuation::Payload payload, std::string id) const {
  Continuation made{.id = std::move(id), .digest = digest_of(payload)};
  made.payload = std::move(payload);
  return made;
}

Draft Continuations::keep(const Kept& kept, const SharedSubject& subject) {
  json::array call_ids;
  for (const Call& call : kept.calls) call_ids.push_back(json::value(call.call_id));
  Draft draft{.kind = Kind::Topic,
              .subject = subject,
              .topic = "turns",
              .body = {{"record", kTurnWaits},
                       {"continuation_id", kept.continuation.id},
                       {"call_ids", std::move(call_ids)},
                       {"approval_id", kept.approval_id},
                       {"deadline", kept.deadline}}};
  const std::string& id = kept.continuation.id;
  draft.facts.push_back(fact_of(id, State::Open));
  draft.facts.push_back({std::string(kSecrets), id, vault_.encrypt(secret_of(kept))});
  return draft;
}

Result<std::optional<Continuations::Found>> Continuations::load(const std::string& id) {
  SALLYPORT_TRY(const std::optional<std::string> state, records_.fact(kStates, id));
  if (!state) return std::nullopt;
  Found found{.stored = *state};
  SALLYPORT_CHECK_OK(read_state(*state, found));
  SALLYPORT_TRY(const std::optional<std::string> sealed, records_.fact(kSecrets, id));
  if (sealed) {
    SALLYPORT_TRY(const std::string text, vault_.decrypt(*sealed));
    SALLYPORT_TRY(const json::value value, parse_own_json(text, {.bytes = 64u << 20}));
    SALLYPORT_TRY(found.kept, kept_from(value));
  }
  return found;
}

Result<Continuations::Found> Continuations::find(const Continuation& given,
                                                 const std::string& session_id) {
  if (given.version != Continuation::kVersion) {
    return refused("continuation_version",
                   fmt::format("version {} of a continuation is not known", given.version));
  }
  SALLYPORT_TRY(std::optional<Found> found, load(given.id));
  if (!found) {
    return refused("continuation_unknown", fmt::format("no turn `{:.60}` waits here", given.id));
  }
  if (digest_of(given.payload) != given.digest) {
    return refused("continuation_altered", "the continuation is not the one that was handed out");
  }
  if (given.payload.session_id != session_id) {
    return refused("session_mismatch", "the continuation belongs to another session");
  }
  return std::move(*found);
}

std::vector<Fact> Continuations::answered(Kept kept) {
  Continuation::Payload& payload = kept.continuation.payload;
  for (Call& call : kept.calls) {
    call.input = nullptr;
    call.raw_input.reset();
  }
  for (PendingCall& call : payload.pending_tool_calls) {
    call.input = nullptr;
    call.effective_input = nullptr;
    call.listen_context.reset();
  }
  payload.completed_results.clear();
  payload.response_content.clear();
  payload.state = nullptr;
  const std::string& id = kept.continuation.id;
  return {fact_of(id, State::Answered),
          {std::string(kSecrets), id, vault_.encrypt(secret_of(kept))}};
}

Fact Continuations::expected(const std::string& id, const std::string& stored) {
  return {std::string(kStates), id, stored};
}

std::vector<Fact> Continuations::closed(const std::string& id) {
  return {fact_of(id, State::Closed), {std::string(kSecrets), id, std::nullopt}};
}

std::vector<Fact> Continuations::expired(const std::string& id) {
  return {fact_of(id, State::Expired), {std::string(kSecrets), id, std::nullopt}};
}

std::vector<Fact> Continuations::taken(const std::string& id, const std::string& instance_id) {
  Fact fact = fact_of(id, State::Taken);
  *fact.value += instance_id;
  return {std::move(fact)};
}

}  // namespace sallyport::core
