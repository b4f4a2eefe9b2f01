#include "autonomy/dispatch_context.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "autonomy/policy_reader.h"
#include "base/object_reader.h"
#include "base/uuid.h"

namespace sallyport::autonomy {

namespace {

Trigger trigger_in(ObjectReader& in) {
  PolicyReader strict(in.object("trigger"), in.place("trigger"));
  strict.only({"id", "provider", "kind", "trace_id", "headers"});
  if (!strict.ok()) in.take(strict.error());
  ObjectReader members(in.object("trigger"), in.place("trigger"));
  Trigger trigger{.id = members.text("id"),
                  .provider = members.text("provider"),
                  .kind = members.text("kind"),
                  .trace_id = members.text("trace_id")};
  ObjectReader headers(members.object("headers"), members.place("headers"));
  for (const json::key_value_pair& header : members.object("headers")) {
    trigger.headers[header.key()] = headers.text(header.key());
  }
  if (!headers.ok()) members.take(headers.error());
  if (!members.ok()) in.take(members.error());
  return trigger;
}

}  // namespace

json::object to_json(const DispatchContext& context) {
  json::object headers;
  for (const auto& [name, value] : context.trigger.headers) headers[name] = value;
  json::object object{{"dispatch_id", context.dispatch_id},
                      {"trigger", json::object{{"id", context.trigger.id},
                                               {"provider", context.trigger.provider},
                                               {"kind", context.trigger.kind},
                                               {"trace_id", context.trigger.trace_id},
                                               {"headers", std::move(headers)}}},
                      {"binding_id", context.binding_id},
                      {"binding_version", context.binding_version},
                      {"agent_id", context.agent_id},
                      {"action", context.action},
                      {"autonomy_tier", nullptr}};
  if (context.replay_of_event_id) object["replay_of_event_id"] = *context.replay_of_event_id;
  if (context.autonomy_tier) object["autonomy_tier"] = to_string(*context.autonomy_tier);
  return object;
}

Result<DispatchContext> dispatch_context_from_json(const json::value& value, std::string where) {
  PolicyReader strict(value, where);
  strict.only({"dispatch_id", "trigger", "replay_of_event_id", "binding_id", "binding_version",
               "agent_id", "action", "autonomy_tier"});
  const std::optional<Autonomy> tier = strict.tier("autonomy_tier");
  if (!strict.ok()) return std::unexpected(strict.error());
  ObjectReader in(value, std::move(where));
  DispatchContext context{.dispatch_id = in.text("dispatch_id"),
                          .trigger = trigger_in(in),
                          .replay_of_event_id = in.optional_text("replay_of_event_id"),
                          .binding_id = in.text("binding_id"),
                          .binding_version = in.number("binding_version"),
                          .agent_id = in.text("agent_id"),
                          .action = in.text("action"),
                          .autonomy_tier = tier};
  if (!in.ok()) return std::unexpected(in.error());
  return context;
}

Result<std::string> agent_of(const AutonomyPolicy& policy, const DispatchContext& context,
                             std::string_view authenticated) {
  if (!authenticated.empty() && policy.agent_id && *policy.agent_id != authenticated) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the policy is for agent `{:.60}`, but `{:.60}` is the one who acts",
                            *policy.agent_id, authenticated),
                "agent_id");
  }
  if (policy.agent_id) return *policy.agent_id;
  if (!authenticated.empty()) return std::string(authenticated);
  return context.agent_id.empty() ? "runtime" : context.agent_id;
}

std::string trace_of(const DispatchContext& context, const Clock& clock, Entropy& entropy) {
  if (!context.trigger.trace_id.empty()) return context.trigger.trace_id;
  return "trace-" + uuid7_text(clock, entropy);
}

}  // namespace sallyport::autonomy
