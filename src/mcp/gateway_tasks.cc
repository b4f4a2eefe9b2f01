// Tasks of the stateless era. A client that declared them gets one for a call that waits for a
// person, and the result or the refusal through it. A client that names the task in a subscription
// is told of every change (AP-46).
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/uuid.h"
#include "mcp/gateway.h"
#include "mcp/json_text.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kExtension = "io.modelcontextprotocol/tasks";
constexpr std::string_view kPrefix = "sallyport-task-";
constexpr std::string_view kSpace = "mcp_task";  // id: whose it is, and what it waits for
constexpr int kPollMilliseconds = 2000;

// The task of a process that has ended: what it held runs no more by itself.
json::object lost_task(const json::object& stored) {
  const std::string message = fmt::format(
      "the gateway that held this call has ended; look at `sallyport approvals show {}`"
      " for what became of it, or make the call again",
      text_in(stored, "approval_id").value_or(""));
  return {{"status", "failed"},
          {"createdAt", stored.at("created_at")},
          {"lastUpdatedAt", stored.at("created_at")},
          {"ttlMs", nullptr},
          {"error", json::object{{"code", kApprovalOver}, {"message", message}}}};
}

bool is_ours(const json::value& id) {
  return id.is_string() && std::string_view(id.get_string()).starts_with(kPrefix);
}

// The tasks that a subscription names.
json::array tasks_in(const json::object& wanted) {
  const json::value* const tasks = wanted.if_contains("taskIds");
  return tasks != nullptr && tasks->is_array() ? tasks->get_array() : json::array();
}

}  // namespace

bool wants_our_tasks_alone(const json::object& wanted) {
  const json::array tasks = tasks_in(wanted);
  return wanted.size() == 1 && !tasks.empty() && std::ranges::all_of(tasks, is_ours);
}

// `subscriptions/listen` as the server may hear it: neither of our tasks nor of those of others.
std::string Gateway::with_tasks_of_server(const std::string& listen) const {
  const auto wanted = find(listen, {"params", "notifications"});
  const Result<ParsedJson> read = parse_json(wanted.value_or("null"));
  if (!read || !read->value.is_object() || !read->value.get_object().contains("taskIds")) {
    return listen;
  }
  json::array own = tasks_in(read->value.get_object());
  const auto kept_back = [&](const json::value& id) {
    return is_ours(id) || !id.is_string() ||
           tasks_of_server_.is_foreign(std::string(id.get_string()));
  };
  own.erase(std::remove_if(own.begin(), own.end(), kept_back), own.end());
  const std::string left = own.empty() ? without_member(*wanted, "taskIds")
                                       : with_member(*wanted, "taskIds", json::serialize(own));
  return edited(listen, {{*wanted, left}});
}

bool declares_tasks(const json::object& capabilities) {
  const json::object* const extensions = object_in(capabilities, "extensions");
  return extensions != nullptr && extensions->contains(kExtension);
}

std::string offering_tasks(std::string discovery) {
  std::string capabilities(find(discovery, {"capabilities"}).value_or("{}"));
  std::string extensions(find(capabilities, {"extensions"}).value_or("{}"));
  if (!capabilities.starts_with('{') || !extensions.starts_with('{')) return discovery;
  if (find(extensions, {kExtension})) return discovery;
  extensions = with_member(extensions, kExtension, "{}");
  return with_member(discovery, "capabilities",
                     with_member(capabilities, "extensions", extensions));
}

std::string Gateway::with_our_tasks(std::string discovery) const {
  const std::shared_ptr<const core::Plan> plan = parts_.plans.current();
  const auto& rules = plan->autonomy_rules();
  const bool asks = rules ? rules->may_ask() : plan->autonomy() != Autonomy::ActAuto;
  return asks ? offering_tasks(std::move(discovery)) : discovery;
}

// The task is durable before the client hears of it. False: there is none, the client is held.
Async<bool> Gateway::give_task(std::shared_ptr<Governed> governed) {
  std::erase_if(given_, [&](const auto& one) {
    return one.second->ended_at && parts_.clock.steady() > one.second->task_until;
  });
  if (given_.size() >= settings_.limits.waiting_calls) co_return false;
  const std::string client_id = governed->client_id;
  const std::string id = std::string(kPrefix) + uuid7_text(parts_.clock, parts_.entropy);
  const std::string now = rfc3339(parts_.clock.wall());
  const json::object kept{{"owner", settings_.agent_id},
                          {"approval_id", governed->waits->approval_id},
                          {"created_at", now}};
  std::vector<core::Draft> drafts;
  drafts.push_back({.kind = core::Kind::Approval,
                    .subject = {.call_id = governed->waits->call_id,
                                .session_id = settings_.session_id,
                                .agent_id = settings_.agent_id,
                                .server = settings_.name},
                    .body = {{"record", "mcp_task"},
                             {"request_id", governed->waits->approval_id},
                             {"task_id", id}},
                    .facts = {{std::string(kSpace), id, canonical_json(kept)}}});
  const auto written = co_await parts_.recorder.append(std::move(drafts), core::Urgency::Announces);
  if (!written) co_return false;
  // Answered or cancelled meanwhile.
  if (governed->client_id != client_id || governed->cancelled) co_return true;
  governed->client_id.clear();
  governed->task_id = id;
  governed->task_made = governed->task_changed = now;
  governed->task_until = parts_.clock.steady() + task_time();
  given_[id] = governed;
  calls_.erase(client_id);
  json::object task = task_json(*governed);
  task["resultType"] = "task";
  to_client(answer_for_client("tools/call", result_text(client_id, json::serialize(task))));
  co_return true;
}

// As long as people may take, the call after them, and a while to fetch the result.
std::chrono::milliseconds Gateway::task_time() const {
  const std::shared_ptr<const core::Plan> plan = parts_.plans.current();
  return plan->approval_time() + plan->time_limit() + settings_.limits.parked;
}

json::object Gateway::task_json(const Governed& governed) const {
  std::string_view status = "working";
  std::string message = "no longer waiting for a person";
  if (governed.waits) {
    message = fmt::format("waiting for a person to approve `{}` ({})", governed.call.tool,
                          governed.waits->approval_id);
  }
  if (!governed.response.empty()) {
    status = find(governed.response, {"error"}) ? "failed" : "completed";
    message = "ended";
  }
  if (governed.cancelled) {
    status = "cancelled";
    message = "cancelled";
  }
  return {{"taskId", governed.task_id},
          {"status", status},
          {"statusMessage", message},
          {"createdAt", governed.task_made},
          {"lastUpdatedAt", governed.task_changed},
          {"ttlMs", task_time().count()},
          {"pollIntervalMs", kPollMilliseconds}};
}

// True: it was answered. Who does not say that it knows tasks is not told of any, whether it is
// there or not; and a server that has none is not said to lack this one.
bool Gateway::refuses_task(const Message& request) {
  if (!ready_ || !request.method.starts_with("tasks/")) return false;
  const bool ours = client_era_ == Era::Modern && task_named_by(request).starts_with(kPrefix);
  const bool offered =
      server_era_ == Era::Modern
          ? find(discovery_, {"capabilities", "extensions", kExtension}).has_value()
          : find(opening_result_, {"capabilities", "tasks"}).has_value();
  if (client_era_ == Era::Modern && (ours || offered) && !declares_tasks(client_capabilities_)) {
    const json::object needed{{"extensions", json::object{{kExtension, json::object()}}}};
    to_client(error_text(request.id, kMissingCapability,
                         "tasks are an extension that was not declared",
                         json::object{{"requiredCapabilities", needed}}));
    return true;
  }
  if (ours || offered || !settings_.serves_others) return false;
  to_client(error_text(request.id, kMethodNotFound, "Method not found"));
  return true;
}

// True: it is about a task of ours.
bool Gateway::answers_task(const Message& request) {
  if (client_era_ != Era::Modern || !request.method.starts_with("tasks/")) return false;
  const json::object* const params = request.params();
  const std::string id(params ? text_in(*params, "taskId").value_or("") : "");
  if (!id.starts_with(kPrefix)) return false;
  const auto found = given_.find(id);
  const std::optional<json::object> lost = found == given_.end() ? kept_task(id) : std::nullopt;
  if (found == given_.end() && !lost) {
    to_client(error_text(request.id, kInvalidParams, "there is no such task"));
    return true;
  }
  if (request.method == "tasks/get") {
    to_client(result_text(request.id,
                          with_member(lost ? json::serialize(*lost) : whole_task(*found->second),
                                      "resultType", R"("complete")")));
  } else if (request.method == "tasks/cancel" || request.method == "tasks/update") {
    const bool open = !lost && found->second->response.empty();
    if (open && request.method == "tasks/cancel") {
      found->second->cancelled = true;
      tell_task(*found->second);
      found->second->stop.request_stop();
    }
    to_client(result_text(request.id, R"({"resultType":"complete"})"));
  } else {
    to_client(error_text(request.id, kMethodNotFound, "Method not found"));
  }
  return true;
}

// With what came of it.
std::string Gateway::whole_task(const Governed& governed) const {
  std::string text = json::serialize(task_json(governed));
  for (const char* const member : {"result", "error"}) {
    const auto value = find(governed.response, {member});
    if (value && !governed.cancelled) text = with_member(text, member, *value);
  }
  return text;
}

// Those that are there are granted.
json::array Gateway::listen_to_tasks(const Message& request) {
  const json::object* const params = request.params();
  const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
  json::array granted;
  for (const json::value& id : wanted ? tasks_in(*wanted) : json::array()) {
    if (!is_ours(id) || !given_.contains(std::string(id.get_string()))) continue;
    const bool is_new = task_listeners_[request.id].emplace(id.get_string()).second;
    if (is_new) granted.push_back(id);
  }
  return granted;
}

// It has changed.
void Gateway::tell_task(Governed& governed) {
  if (governed.task_id.empty()) return;
  governed.task_changed = rfc3339(parts_.clock.wall());
  for (const auto& [listener, tasks] : task_listeners_) {
    if (tasks.contains(governed.task_id)) send_task(listener, governed);
  }
}

// A client that subscribes after the end of a task is told of the end too.
void Gateway::tell_ended_tasks(const std::string& listener) {
  const auto found = task_listeners_.find(listener);
  if (found == task_listeners_.end()) return;
  for (const std::string& id : found->second) {
    const auto given = given_.find(id);
    const bool over =
        given != given_.end() && (given->second->ended_at || given->second->cancelled);
    if (over) send_task(listener, *given->second);
  }
}

void Gateway::send_task(const std::string& listener, const Governed& governed) {
  const std::string mark = fmt::format(R"({{"{}":{}}})", kMetaSubscription, listener);
  to_client(
      notification_text("notifications/tasks", with_member(whole_task(governed), "_meta", mark)),
      listener);
}

// One that another process gave, to the same principal.
std::optional<json::object> Gateway::kept_task(const std::string& id) {
  const auto stored = parts_.recorder.fact(kSpace, id);
  if (!stored || !*stored) return std::nullopt;
  const Result<json::value> value = parse_own_json(**stored);
  const json::object* const kept = value ? value->if_object() : nullptr;
  if (kept == nullptr || text_in(*kept, "owner") != settings_.agent_id) return std::nullopt;
  json::object task = lost_task(*kept);
  task["taskId"] = id;
  return task;
}

}  // namespace sallyport::mcp
