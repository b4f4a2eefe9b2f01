// Calls: each is governed, and each gets one answer.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/call/continued_call.h"
#include "core/record/plain_text.h"
#include "mcp/answers.h"
#include "mcp/attendant.h"
#include "mcp/dispatch_in_meta.h"
#include "mcp/gateway.h"
#include "mcp/grant_in_meta.h"
#include "mcp/json_text.h"
#include "mcp/model_call_in_meta.h"
#include "mcp/told.h"

namespace sallyport::mcp {

namespace {

const json::value* progress_token(const Message& request) {
  const json::object* const meta = request.meta();
  return meta ? meta->if_contains("progressToken") : nullptr;
}

// The trace id of W3C trace context: `00-<32 hex>-<16 hex>-<2 hex>`.
std::string trace_of(const Message& request) {
  const json::object* const meta = request.meta();
  const auto parent = meta ? text_in(*meta, "traceparent") : std::nullopt;
  if (!parent || parent->size() < 55 || (*parent)[2] != '-' || (*parent)[35] != '-') return {};
  const std::string_view id = parent->substr(3, 32);
  return id.find_first_not_of("0123456789abcdef") == std::string_view::npos ? std::string(id) : "";
}

// Takes out what cannot be called or recorded: one such name must not cost the whole list.
constexpr std::size_t kLongestName = 512;
std::set<std::string> take_nameless(std::vector<ToolDefinition>& tools) {
  std::set<std::string> names;
  std::erase_if(tools, [&](const ToolDefinition& tool) {
    const bool taken = tool.name.size() > kLongestName || tool.name == kInstructionsPin;
    if (taken) names.insert(tool.name);
    return taken;
  });
  return names;
}

}  // namespace

std::string task_named_by(const Message& request) {
  const json::object* const params = request.params();
  return std::string(params ? text_in(*params, "taskId").value_or("") : "");
}

ForwardedCall::Means Gateway::means_for(const std::string& method, const std::string& about,
                                        const std::string& task) {
  ForwardedCall::Means means{.server = server_, .ready = [this] { return server_ready(); }};
  means.to_server = [this](std::string params) { return params_for_server(std::move(params)); };
  means.asks_client = [this] { return bridges(Era::Legacy, Era::Modern); };
  means.ask = [this, about](std::string method, std::string params) {
    return ask_client(std::move(method), std::move(params), about);
  };
  means.facts = [this](const std::string& tool) {
    const auto found = tools_.find(tool);
    return core::UpstreamFacts{
        .command = settings_.command,
        .read_only_hint = found == tools_.end() ? std::nullopt : found->second.read_only,
        .definition_changed = parts_.pins.held(settings_.name, tool),
        .remote_files = settings_.command.empty()};
  };
  means.clock = &parts_.clock;
  means.keep = weak_from_this().lock();
  if (method.starts_with("tasks/")) {
    means.known = [this, task](const std::string&) { return !tasks_of_server_.is_foreign(task); };
  }
  if (method == "tools/call") {
    means.known = [this](const std::string& tool) {
      // What is no tool is judged by the name of its method, and mostly runs without a question.
      return !is_request_name(tool) && tool != kInstructionsPin && !doubled_.contains(tool) &&
             (!tools_known_ || tools_.contains(tool));
    };
    means.cautious = [this](const std::string& tool) {
      const auto found = tools_.find(tool);
      return found != tools_.end() && found->second.raises_caution;
    };
    means.definition = [this](const std::string& tool) {
      const auto found = tools_.find(tool);
      return found != tools_.end() ? "sha256:" + found->second.hash : std::string();
    };
  }
  return means;
}

// Out of the request, so that no server sees the token.
Gateway::Grants Gateway::take_grants(Message& request) const {
  Call presented;
  take_grant(request, presented);
  if (presented.grants.empty() && !settings_.grant.empty()) {
    presented.grants.push_back(settings_.grant);
  }
  return std::move(presented.grants);
}

void Gateway::begin_call(Message request, Grants grants) {
  Result<Asked> asked = read_asked(request);
  if (!asked) return to_client(error_text(request.id, kInvalidParams, asked.error().message));
  if (waiting_.size() >= settings_.limits.waiting_calls) {
    return to_client(error_text(request.id, kTooMuch, "too many calls wait; try again later"));
  }
  auto held = room_for(request);
  if (!held) return;
  const auto governed = std::make_shared<Governed>();
  governed->client_id = request.id;
  governed->number = ++last_call_;
  governed->received = parts_.clock.steady();
  governed->capabilities = client_capabilities_;
  governed->call = {.agent_id = settings_.agent_id,
                    .session_id = settings_.session_id,
                    .trace_id = trace_of(request),
                    .server = settings_.name,
                    .tool = asked->tool,
                    .input = asked->input,
                    .raw_input = asked->raw_input,
                    .agent_name = client_name_,
                    .grants = std::move(grants),
                    .setting = settings_.setting};
  governed->call.setting.interactive = client_capabilities_.contains("elicitation");
  if (const Result<void> told = take_dispatch(request, governed->call); !told) {
    return to_client(error_text(request.id, kInvalidParams, told.error().message));
  }
  if (const json::value* const token = progress_token(request)) {
    governed->client_token = canonical_json(*token);
    tokens_[governed->client_token] = governed;
  }
  governed->identity = identity_of(request, *asked, governed->call.grants);
  ForwardedCall::Means means = means_for(request.method, request.id, task_named_by(request));
  means.held = std::move(*held);
  governed->upstream = std::make_shared<ForwardedCall>(
      std::move(means), std::move(request), std::move(*asked),
      std::make_shared<Inbox>(executor_, settings_.limits.progress));
  calls_[governed->client_id] = governed;
  waiting_.push_back(governed);
  start_waiting_calls();
}

void Gateway::start_waiting_calls() {
  while (running_ < settings_.limits.calls && !waiting_.empty()) {
    ++running_;
    std::shared_ptr<Governed> next = std::move(waiting_.front());
    waiting_.pop_front();
    tasks_.start(run_call(std::move(next)));
  }
}

// The call that a server most likely speaks of when it does not say: empty where there is none.
std::string Gateway::newest_call() const {
  const Governed* newest = nullptr;
  for (const auto& [id, governed] : calls_) {
    if (newest == nullptr || newest->number < governed->number) newest = governed.get();
  }
  return newest ? newest->client_id : std::string();
}

// However a call ends, its place is freed and no coroutine waits for it.
class Gateway::Place {
 public:
  Place(Gateway& gateway, std::shared_ptr<Governed> governed)
      : gateway_(gateway), governed_(std::move(governed)) {}
  Place(const Place&) = delete;
  ~Place() {
    const bool expected = !governed_->cancelled && !governed_->client_id.empty();
    if (governed_->response.empty() && expected) {
      gateway_.to_client(error_text(governed_->client_id, kInternalError, "the call failed"));
    }
    gateway_.calls_.erase(governed_->client_id);
    std::erase_if(gateway_.tokens_, [&](const auto& token) { return token.second == governed_; });
    gateway_.leave_place(*governed_);
  }

 private:
  Gateway& gateway_;
  std::shared_ptr<Governed> governed_;  // shared with the maps that it is taken out of
};

Async<void> Gateway::run_call(std::shared_ptr<Governed> governed) {
  const Place place(*this, governed);
  if (governed->upstream->request().method == "tools/call") {
    co_await know_tools(governed->call.tool);
    if (refuse_headers(*governed)) co_return;
  }
  core::Caller caller{.cancel = governed->stop.get_token()};
  caller.progress = [this, raw = governed.get()](const json::value& released) {
    forward_progress(*raw, released);
  };
  caller.attendant = std::make_shared<Attendant>(*this, governed);
  const SteadyTime begin = parts_.clock.steady();
  const Result<Answer> answer = co_await core::run_model_call(
      parts_.governor, governed->call, model_call_id(governed->upstream->request()),
      governed->upstream, std::move(caller));
  count(*governed, begin, answer);
  std::string response = response_to(*governed, answer);
  if (governed->upstream->request().method == "tools/call") {
    const Result<void> noted = co_await tasks_of_server_.note(
        response, {.call_id = answer ? answer->call_id : std::string(),
                   .session_id = settings_.session_id,
                   .agent_id = settings_.agent_id,
                   .server = settings_.name});
    if (!noted) response = error_text(governed->client_id, kNotRecorded, noted.error().message);
  }
  response = answer_for_client(governed->upstream->request().method, std::move(response));
  governed->response = co_await hand_over(with_sealed_state(std::move(response), *governed));
  for (const auto& [key, question] : governed->open) question.first->stop();
  if (!governed->task_made.empty()) {
    governed->ended_at = parts_.clock.steady();
    if (!governed->cancelled) tell_task(*governed);
  }
  if (governed->away) end_away(governed, answer && answer->outcome.kind == Outcome::Kind::Blocked);
  // One that is parked is answered when the client comes back.
  if (governed->cancelled || governed->client_id.empty()) co_return;
  co_await client_->room(settings_.limits.start);
  to_client(with_member(governed->response, "id", governed->client_id));
}

void Gateway::count(const Governed& governed, SteadyTime begin,
                    const Result<Answer>& answer) const {
  if (parts_.meter == nullptr) return;
  GatewayMeter::Ended ended{.method = governed.upstream->request().method,
                            .received = governed.received,
                            .governed = begin,
                            .answered = parts_.clock.steady(),
                            .server = governed.upstream->span()};
  if (!answer) {
    ended.error = "not_recorded";
  } else if (answer->outcome.kind != Outcome::Kind::Completed &&
             answer->outcome.kind != Outcome::Kind::Cached) {
    ended.error = to_string(answer->outcome.kind);
  } else if (!answer->result.success) {
    ended.error = "tool_error";
  }
  ended.waited = !governed.approval_id.empty() || (answer && !answer->approval_id.empty());
  parts_.meter->ended(ended);
  if (!parts_.meter->traces()) return;
  const json::object* const meta = governed.upstream->request().meta();
  // A name that only the client knows could be anything.
  const bool known = tools_.contains(governed.call.tool);
  parts_.meter->trace(ended,
                      {.tool = known ? std::string_view(governed.call.tool) : "",
                       .server = settings_.name,
                       .agent = settings_.agent_id,
                       .session = settings_.session_id,
                       .request = governed.client_id,
                       .call = answer ? std::string_view(answer->call_id) : "",
                       .parent = meta ? text_in(*meta, "traceparent").value_or("") : "",
                       .local = !settings_.command.empty()},
                      parts_.clock);
}

// True: it was answered, because the client said two things.
bool Gateway::refuse_headers(Governed& governed) {
  const auto tool = tools_.find(governed.call.tool);
  const json::value* const schema =
      tool == tools_.end() ? nullptr : tool->second.pinned.if_contains("inputSchema");
  if (schema == nullptr) return false;
  const std::string wrong =
      client_->contradiction(governed.client_id, *schema, governed.call.input);
  if (wrong.empty()) return false;
  governed.response = error_text(governed.client_id, kHeaderMismatch, wrong);
  to_client(governed.response);
  return true;
}

std::string Gateway::response_to(const Governed& governed, const Result<Answer>& answer) {
  const bool is_tool = governed.upstream->request().method == "tools/call";
  // A call that is parked gets its id when the client comes back.
  const std::string id = governed.client_id.empty() ? "null" : governed.client_id;
  if (!answer) {
    if (answer.error().code == ErrorCode::InvalidInput) {
      return error_text(id, kInvalidParams, answer.error().message);
    }
    return is_tool ? result_text(id, unrecorded_result(answer.error()))
                   : error_text(id, kNotRecorded, answer.error().message);
  }
  const std::optional<GivenAnswer>& given = governed.upstream->answer();
  if (given) note_trimmed(Side::Server, given->message(), governed.upstream->request().method);
  const Envelope& released = answer->released;
  // An error of the server's own stays one.
  const bool shown = released.kind == Envelope::Kind::Value || released.code.has_value();
  if (shown && given) return given->showing(released, id);
  // What the server said to an identical call.
  if (shown && answer->outcome.kind == Outcome::Kind::Cached) {
    const bool is_error = released.kind == Envelope::Kind::Error;
    const std::string said = json::serialize(is_error ? error_of(released) : released.value);
    if (!is_error) return result_text(id, said);
    return R"({"jsonrpc":"2.0","id":)" + id + ",\"error\":" + said + '}';
  }
  if (!is_tool) {
    const Message& request = governed.upstream->request();
    const bool foreign =
        request.method.starts_with("tasks/") && tasks_of_server_.is_foreign(task_named_by(request));
    const std::string error =
        foreign ? unknown_error("there is no such task", *answer) : notice_error(*answer);
    return R"({"jsonrpc":"2.0","id":)" + id + ",\"error\":" + error + '}';
  }
  const auto tool = tools_.find(governed.call.tool);
  const bool structured = tool == tools_.end() || !tool->second.has_output_schema;
  return result_text(id, notice_result(*answer, structured));
}

void Gateway::forward_progress(const Governed& governed, const json::value& released) {
  const std::optional<Message>& message = governed.upstream->on_the_way();
  if (!message || governed.client_id.empty() || governed.client_token.empty()) return;
  if (!released.is_object()) return;  // too large, and no progress any more
  const json::object* const params = message->params();
  const json::value* const progress = params ? params->if_contains("progress") : nullptr;
  // It has to rise, and we have told of some while a person was asked.
  const bool risen = progress == nullptr || !progress->is_number() || governed.progress == 0 ||
                     progress->to_number<double>() > governed.progress;
  if (!risen) return;
  const bool same = params != nullptr && json::value(*params) == released;
  if (!same) note(MessageLog::What::Redacted, Side::Server, message->method);
  note_trimmed(Side::Server, *message, message->method);
  std::string changed = same ? std::string(message->params_text()) : json::serialize(released);
  // A request that goes on with a parked call may have brought a token of its own.
  changed = with_member(changed, "progressToken", governed.client_token);
  to_client(with_member(message->text, "params", changed), governed.client_id);
}

// Reads the list before the first call, and again when it may have changed or lacks the tool. A
// tool whose definition was never seen cannot be pinned.
Async<void> Gateway::know_tools(std::string wanted) {
  constexpr auto kSeldom = std::chrono::seconds(1);
  const bool lacking =
      tools_known_ && !tools_.contains(wanted) && parts_.clock.steady() - listed_at_ > kSeldom;
  if ((tools_known_ && !lacking) || unlisted_ == generation_) co_return;
  while (listing_) co_await bell_.wait("listed", std::chrono::milliseconds(200), {});
  if (tools_known_ && tools_.contains(wanted)) co_return;
  listing_ = true;
  const Result<void> listed = co_await list_tools();
  listing_ = false;
  if (!listed) {
    unlisted_ = generation_;
    settings_.log("the tools cannot be listed: " + listed.error().message);
  }
  bell_.ring("listed");
}

Task<void> Gateway::list_tools() {
  SALLYPORT_CO_CHECK_OK(co_await server_ready());
  std::string params = "{}";
  std::map<std::string, ToolDefinition> before = std::exchange(tools_, {});
  tools_known_ = false;
  doubled_.clear();
  std::set<std::string> earlier;  // on pages before
  const std::uint64_t generation = generation_;
  const std::uint64_t changes = list_changes_;
  for (std::size_t page = 0; page < settings_.limits.pages; ++page) {
    Result<Message> answer =
        co_await server_.ask("tools/list", own_params(params), settings_.limits.start);
    const json::object* const result = answer ? object_in(answer->object(), "result") : nullptr;
    if (result == nullptr) {
      tools_ = std::move(before);
      co_return fail(ErrorCode::Unavailable,
                     answer ? "the server refuses" : answer.error().message);
    }
    std::set<std::string> here;
    for (const ToolDefinition& tool : definitions_in(*result)) here.insert(tool.name);
    for (const std::string& name : here) {
      if (!earlier.insert(name).second) note_doubled(name);
    }
    SALLYPORT_CO_TRY([[maybe_unused]] const auto held, co_await see_tools(*result));
    if (tools_.size() > settings_.limits.tools) {
      co_return fail(ErrorCode::Exhausted, "there are too many");
    }
    const auto cursor = text_in(*result, "nextCursor");
    if (!cursor) break;
    params = json::serialize(json::object{{"cursor", *cursor}});
  }
  tools_known_ = generation == generation_ && changes == list_changes_;
  listed_at_ = parts_.clock.steady();
  co_return Result<void>{};
}

Task<std::set<std::string>> Gateway::see_tools(const json::object& result) {
  std::vector<ToolDefinition> definitions = definitions_in(result);
  // Before each of them gets an entry.
  if (definitions.size() > settings_.limits.tools) {
    co_return fail(ErrorCode::Exhausted, "the server lists too many tools");
  }
  std::set<std::string> unusable = take_nameless(definitions);
  for (const std::string& name : take_doubled(definitions)) note_doubled(name);
  std::erase_if(definitions,
                [&](const ToolDefinition& tool) { return doubled_.contains(tool.name); });
  // Names of earlier lists stay until the next one that we read ourselves.
  if (tools_.size() > settings_.limits.tools) {
    tools_.clear();
    tools_known_ = false;
  }
  for (const ToolDefinition& tool : definitions) {
    tools_[tool.name] = tool;
    held_back_.erase(tool.name);
  }
  SALLYPORT_CO_TRY(HeldBack held,
                   co_await parts_.pins.look(settings_.name, std::move(definitions)));
  tell_of_held(held);
  // The gateway watches this many held-back tools for acceptance.
  constexpr std::size_t kMostWatched = 256;
  for (const std::string& name : held.changed) {
    if (held_back_.size() < kMostWatched) held_back_.insert(name);
  }
  if (!unusable.empty()) {
    settings_.log(fmt::format("{} tools are held back: their names are over {} bytes, or ours",
                              unusable.size(), kLongestName));
  }
  unusable.insert(doubled_.begin(), doubled_.end());
  unusable.merge(held.changed);
  unusable.merge(held.beyond);
  co_return unusable;
}

// Two tools have this name, on one page of the list or on two: a call could mean either, so neither
// is listed or called until the list has changed.
void Gateway::note_doubled(const std::string& name) {
  if (doubled_.size() >= settings_.limits.tools || !doubled_.insert(name).second) return;
  tools_.erase(name);
  settings_.log(fmt::format("the server lists two tools called `{}`; neither can be called",
                            core::plain_text(parts_.redactor, name)));
}

// A client that reads the list page by page: the gate knows all pages before the second one, and
// so which names stand on two of them.
Async<void> Gateway::list_then_relay(Message request) {
  co_await know_tools({});
  if (relayed_.erase(request.id) > 0) relay(std::move(request));
}

void Gateway::tell_of_held(const HeldBack& held) const {
  for (const std::string& tool : held.changed) {
    settings_.log(fmt::format(
        "`{}` has changed its definition and is held back; look at it with `{}`, and accept it "
        "with `{}`",
        tool, pins_command("diff", settings_.name, tool),
        pins_command("accept", settings_.name, tool)));
  }
  if (held.beyond.empty()) return;
  settings_.log(fmt::format("`{}`{} held back: {}", *held.beyond.begin(),
                            held.beyond.size() == 1
                                ? std::string(" is new and is")
                                : fmt::format(" and {} more new tools are", held.beyond.size() - 1),
                            no_room_for(settings_.name, parts_.pins.most_of_server())));
}

}  // namespace sallyport::mcp
