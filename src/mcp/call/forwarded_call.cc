#include "mcp/call/forwarded_call.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "base/json_members.h"
#include "base/try.h"
#include "core/result/mcp_result.h"
#include "mcp/message/json_text.h"
#include "mcp/message/translation.h"

namespace sallyport::mcp {

namespace asio = boost::asio;

namespace {

// Cancels the request at the server, however the call ends.
class Outstanding {
 public:
  Outstanding(Server& server, std::uint64_t id, const Inbox& inbox, const std::string& reason)
      : server_(server), id_(id), inbox_(inbox), reason_(reason) {}
  Outstanding(const Outstanding&) = delete;
  ~Outstanding() { give_up(); }

  void give_up() {
    if (std::exchange(given_up_, true) || inbox_.has_reply()) return;
    server_.abandon(id_, reason_);
  }

 private:
  Server& server_;
  std::uint64_t id_;
  const Inbox& inbox_;
  const std::string& reason_;
  bool given_up_ = false;
};

// The error of a request that did not reach the tool, so that the record says so (AU-17).
std::unexpected<Error> not_begun(Error error) {
  error.cause = core::kNotBegun;
  return std::unexpected(std::move(error));
}

// The result of a stateless server that needs answers to continue; empty for any other.
std::string questions_in(const Response& reply) {
  if (!reply.message || reply.message->is_error()) return {};
  const json::object* const result = object_in(reply.message->object(), "result");
  if (result == nullptr || text_in(*result, "resultType") != "input_required") return {};
  return std::string(reply.message->result_text());
}

}  // namespace

Result<CallParams> read_call_params(const Message& request) {
  const json::object* const params = request.params();
  CallParams call_params{.tool = request.method};
  if (params == nullptr && !is_governed(request.method)) {
    call_params.input = json::object();  // the needs of such a request are unknown
    return call_params;
  }
  if (params == nullptr) return fail(ErrorCode::InvalidInput, "`params` is missing");
  std::string_view text = request.params_text();
  if (request.method == "tools/call") {
    const auto name = text_in(*params, "name");
    if (!name || name->empty()) return fail(ErrorCode::InvalidInput, "`name` is missing");
    call_params.tool = std::string(*name);
    const json::value* const arguments = params->if_contains("arguments");
    if (arguments != nullptr && !arguments->is_object() && !arguments->is_null()) {
      return fail(ErrorCode::InvalidInput, "`arguments` is not an object");
    }
    const bool given = arguments != nullptr && arguments->is_object();
    call_params.input = given ? *arguments : json::value(json::object());
    text = given ? *find(text, {"arguments"}) : "{}";
  } else {
    json::object input = *params;
    for (const char* const name : {"_meta", "inputResponses", "requestState"}) input.erase(name);
    call_params.input = std::move(input);
  }
  if (!request.exact) {
    const Result<ParsedJson> parsed = parse_json(text, {.bytes = text.size()});
    if (!parsed || !parsed->exact) call_params.raw_input = std::string(text);
  }
  return call_params;
}

std::string decided_params(const Message& request, const CallParams& call_params,
                           const Call& decided) {
  const bool same = decided.input == call_params.input &&
                    (!call_params.raw_input || decided.raw_input == call_params.raw_input);
  if (same) return std::string(request.params_text());
  const std::string input = decided.raw_input.value_or(json::serialize(decided.input));
  if (request.method == "tools/call") {
    return with_member(request.params_text(), "arguments", input);
  }
  const auto meta = find(request.params_text(), {"_meta"});
  return meta ? with_member(input, "_meta", *meta) : input;
}

std::string identity_of(const Message& request, const CallParams& call_params,
                        const std::vector<std::string>& grants) {
  const std::string input = call_params.raw_input.value_or(canonical_json(call_params.input));
  return hex(sha256(canonical_json(json::array{request.method, call_params.tool, input,
                                               json::array(grants.begin(), grants.end())})));
}

std::string task_named_by(const Message& request) {
  const json::object* const params = request.params();
  return std::string(params ? text_in(*params, "taskId").value_or("") : "");
}

ForwardedCall::ForwardedCall(Parts parts, Message request, CallParams call_params,
                             std::shared_ptr<Inbox> inbox)
    : parts_(std::move(parts)),
      request_(std::move(request)),
      call_params_(std::move(call_params)),
      inbox_(std::move(inbox)) {}

bool ForwardedCall::known() const {
  if (request_.method == "tools/call") return parts_.server.callable(call_params_.tool);
  if (!request_.method.starts_with("tasks/") || parts_.owners == nullptr) return true;
  return !parts_.owners->is_foreign(task_named_by(request_));
}

// Null: the request names no tool that the server lists.
const ToolDefinition* ForwardedCall::tool() const {
  return request_.method == "tools/call" ? parts_.server.tool(call_params_.tool) : nullptr;
}

bool ForwardedCall::raises_caution() const {
  return tool() != nullptr && tool()->raises_caution;
}

std::string ForwardedCall::definition() const {
  return tool() != nullptr ? "sha256:" + tool()->hash : std::string();
}

ToolResult ForwardedCall::result_of(const Envelope& released) const {
  const bool is_result = released.kind == Envelope::Kind::Value && released.value.is_object();
  if (request_.method != "tools/call" || !is_result) return released.to_result();
  return tool_result_from_mcp(released.value.get_object());
}

std::string ForwardedCall::text_for(const Call& call) const {
  std::string params = decided_params(request_, call_params_, call);
  if (params.empty()) params = "{}";
  return with_member(request_.text, "params", parts_.server.params_for(params, parts_.words));
}

Task<Envelope> ForwardedCall::invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                                     std::stop_token cancel) {
  if (parts_.clock != nullptr) span_ = Span{.begin = parts_.clock->steady()};
  Result<Envelope> given =
      co_await converse(std::move(call), std::move(delivery), std::move(cancel));
  if (span_) span_->end = parts_.clock->steady();
  co_return given;
}

Task<Envelope> ForwardedCall::converse(Call call, std::shared_ptr<core::Delivery> delivery,
                                       std::stop_token cancel) {
  constexpr int kRounds = 10;
  Result<void> ready = co_await parts_.server.wait_ready();
  if (!ready) co_return not_begun(std::move(ready.error()));
  const std::string first = text_for(call);
  std::string text = first;
  for (int round = 0; round <= kRounds; ++round) {
    Result<Response> given = co_await exchange(text, delivery, cancel);
    // In a later round the server has begun the call.
    if (!given && round > 0) given.error().cause.clear();
    SALLYPORT_CO_TRY(Response reply, std::move(given));
    const std::string questions = questions_in(reply);
    if (!questions.empty() && cancel.stop_requested()) {
      co_return fail(ErrorCode::Cancelled, "the call was given up on");
    }
    if (questions.empty() || parts_.client == nullptr) {
      note_end(reply);
      co_return envelope_of(std::move(reply));
    }
    if (!parts_.client->is_asked()) {
      // A call that ends with an error has an error in its record.
      if (auto refused = parts_.client->refusal(questions, request_)) {
        reply.message = std::move(*refused);
      }
      co_return envelope_of(std::move(reply));
    }
    const Result<std::string> answers = co_await answers_to(questions);
    if (!answers) co_return Envelope::error(answers.error().message);
    std::string params = with_member(*find(first, {"params"}), "inputResponses", *answers);
    if (const auto state = find(questions, {"requestState"})) {
      params = with_member(params, "requestState", *state);
    }
    text = with_member(first, "params", params);
    inbox_ = inbox_->fresh();
  }
  co_return Envelope::error("the server asks again and again");
}

// One request and its reply. Each message before the reply passes the second door on its own.
Task<Response> ForwardedCall::exchange(std::string text, std::shared_ptr<core::Delivery> delivery,
                                       std::stop_token cancel) {
  const auto compose = [&](std::string_view id) { return with_member(text, "id", id); };
  Result<std::uint64_t> id = parts_.server.link().request(compose, inbox_);
  if (!id) co_return not_begun(std::move(id.error()));
  Outstanding outstanding(parts_.server.link(), *id, *inbox_, reason_);
  // An abandoned call still waits for the server: a late answer is checked for the record (PI-31).
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const std::stop_callback on_stop(cancel, [&] { outstanding.give_up(); });
  while (true) {
    Inbox::Item item = co_await inbox_->take();
    if (Response* const reply = std::get_if<Response>(&item)) {
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
      if (reply->error.cause == kLoginRequired) co_return not_begun(std::move(reply->error));
      if (!reply->message && !reply->malformed) co_return std::unexpected(reply->error);
      co_return std::move(*reply);
    }
    interim_ = std::move(std::get<Message>(item));
    const json::object* const params = interim_->params();
    co_await delivery->progress(params ? json::value(*params) : json::value());
    interim_.reset();
  }
}

Task<std::string> ForwardedCall::answers_to(std::string questions) {
  std::string answers = "{";
  const auto wanted = find(questions, {"inputRequests"});
  if (!wanted) co_return answers + '}';
  for (const auto& [key, question] : members(*wanted)) {
    const Result<ParsedJson> method = parse_json(find(question, {"method"}).value_or("null"));
    if (!method || !method->value.is_string()) {
      co_return fail(ErrorCode::Corrupt, "the server sent a question without a `method`");
    }
    SALLYPORT_CO_TRY(CallClient::Given given,
                     co_await parts_.client->ask(
                         std::string(method->value.get_string()),
                         std::string(find(question, {"params"}).value_or("{}")), request_.id));
    if (answers.size() > 1) answers += ',';
    append_canonical_string(answers, key);
    answers += ':' + given.result;
    if (!given.page.empty()) pages_.push_back(std::move(given.page));
  }
  co_return answers + '}';
}

// A stateless server goes on once the pages were visited. A client of sessions waits to hear that.
void ForwardedCall::note_end(const Response& reply) const {
  if (!reply.message || reply.message->is_error()) return;
  for (const std::string& page : pages_) parts_.client->page_done(page, request_.id);
}

Envelope ForwardedCall::envelope_of(Response reply) {
  if (reply.malformed) return Envelope::malformed_output(std::move(*reply.malformed));
  if (!parts_.held.grow_to(request_.weight() + reply.message->weight())) {
    return Envelope::error(
        "the answer was dropped: too much waits for this agent; try again later");
  }
  const bool bridged = parts_.client != nullptr && parts_.client->is_asked();
  if (bridged && !reply.message->is_error() && !is_complete(reply.message->result_text())) {
    return Envelope::error(std::string(kIncomplete));
  }
  answer_.emplace(std::move(*reply.message));
  return answer_->envelope();
}

}  // namespace sallyport::mcp
