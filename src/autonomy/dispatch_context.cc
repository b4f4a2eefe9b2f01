#include "autonomy/dispatch_context.h"

#include <boost/json.hpp>

namespace sallyport::autonomy {

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

}  // namespace sallyport::autonomy
