#include "mcp/message/answer_bridge.h"

#include "mcp/call/call_tasks.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

std::string AnswerBridge::translated(std::string_view method, std::string text) const {
  if (method == "server/discover") text = with_list_changed(std::move(text));
  if (context_.client.era() != Era::Modern && context_.server.opening().era() != Era::Modern) {
    return text;
  }
  if (const auto given = find(text, {"result"})) {
    if (context_.bridges(Era::Legacy, Era::Modern) && !is_complete(*given)) {
      return error_text(find(text, {"id"}).value_or("null"), kInternalError, kIncomplete);
    }
    const std::string changed = result(method, *given);
    return with_member(text, "result", changed);
  }
  const auto error = find(text, {"error"});
  if (!error || !context_.bridges(Era::Modern, Era::Legacy)) return text;
  if (const std::string questions = questions_from_error(*error); !questions.empty()) {
    return with_member(without_member(text, "error"), "result", questions);
  }
  const std::string changed = modern_error(*error);
  return with_member(text, "error", changed);
}

std::string AnswerBridge::result(std::string_view method, std::string_view given) const {
  if (context_.bridges(Era::Legacy, Era::Modern)) {
    std::string changed = legacy_result(method, given);
    const bool lost = find(given, {"structuredContent"}) && !find(changed, {"structuredContent"});
    if (lost) context_.door.note_degraded("structured_content");
    return changed;
  }
  if (context_.client.era() != Era::Modern) return std::string(given);
  const ServerOpening& opening = context_.server.opening();
  const std::string_view info = opening.era() == Era::Legacy
                                    ? find(opening.opening(), {"serverInfo"}).value_or("")
                                    : std::string_view();
  // A result that is filtered for this client must not be cached for others.
  std::string changed = modern_result(method, given, info);
  return method == "server/discover" ? with_our_tasks(std::move(changed)) : changed;
}

std::string AnswerBridge::discovery(std::string_view opening) const {
  return with_our_tasks(discovery_from_opening(opening));
}

// Tasks are offered if a person may be asked at all.
std::string AnswerBridge::with_our_tasks(std::string discovery) const {
  const std::shared_ptr<const core::Plan> plan = context_.parts.plans.current();
  const auto& rules = plan->autonomy_rules();
  const bool asks = rules ? rules->may_ask() : plan->autonomy() != Autonomy::ActAuto;
  return asks ? offering_tasks(std::move(discovery)) : discovery;
}

}  // namespace sallyport::mcp
