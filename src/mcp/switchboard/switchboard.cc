#include "mcp/switchboard/switchboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "mcp/call/forwarded_call.h"
#include "mcp/message/era.h"
#include "mcp/message/grant_in_meta.h"
#include "mcp/message/json_text.h"
#include "mcp/message/notices.h"
#include "mcp/message/translation.h"
#include "mcp/switchboard/extension.h"
#include "mcp/switchboard/task_names.h"

namespace sallyport::mcp {

namespace {

// The string in a part of a message; empty: it is no string.
std::string text_in_part(std::optional<std::string_view> part) {
  const Result<ParsedJson> read = parse_json(part.value_or("null"));
  return read && read->value.is_string() ? std::string(read->value.get_string()) : std::string();
}

constexpr std::string_view kNoSuchName =
    "nothing has this name; names are those of a list, as in `server.tool`";

}  // namespace

Switchboard::Switchboard(boost::asio::any_io_executor executor, std::unique_ptr<ClientLink> client,
                         std::vector<NamedServer> upstreams, Settings settings)
    : executor_(executor),
      client_(std::move(client)),
      settings_(std::move(settings)),
      tasks_(executor, settings_.log),
      upstreams_(std::move(upstreams)) {
  for (const NamedServer& upstream : upstreams_) {
    parties_.push_back({.name = upstream.name});
    connect(parties_.size() - 1);
  }
}

Switchboard::~Switchboard() = default;

Task<void> Switchboard::run() {
  net::TaskGroup writing(executor_, settings_.log);
  writing.start(client_->run());
  for (std::size_t i = 0; i < parties_.size(); ++i) tasks_.start(serve(i));
  while (!stopping_ && !client_->broken()) {
    std::optional<net::Line> line = co_await client_->next();
    if (!line) break;
    on_client_line(std::move(*line));
    co_await client_->room(settings_.limits.start);
  }
  stopping_ = true;
  bell_.ring("stop");
  // Each gateway ends its own calls, within deadlines.
  for (const Party& party : parties_) party.line->finish();
  (void)co_await tasks_.join(4 * settings_.limits.start);
  end_merges();
  co_await client_->flush(settings_.limits.patience);
  client_->close();
  (void)co_await writing.join(settings_.limits.patience);
  writing.cancel();
  if (gave_up_) co_return std::unexpected(*gave_up_);
  co_return Result<void>{};
}

void Switchboard::stop() {
  stopping_ = true;
  bell_.ring("stop");
  for (const Party& party : parties_) party.conversation->stop();
  client_->hang_up();
}

bool Switchboard::holds_calls() const {
  return std::ranges::any_of(parties_,
                             [](const Party& party) { return party.conversation->holds_calls(); });
}

bool Switchboard::quiet() const {
  const auto is_quiet = [](const auto& conversation) { return conversation->quiet(); };
  return tasks_.size() == 0 && std::ranges::all_of(retired_, is_quiet) &&
         std::ranges::all_of(parties_, is_quiet, &Party::conversation);
}

Async<void> Switchboard::serve(std::size_t party) {
  const std::shared_ptr<Conversation> conversation = parties_[party].conversation;
  const Result<void> ended = co_await conversation->run();
  if (stopping_) co_return;
  // Logged once: a party that is reconnected may end again and again.
  if (!parties_[party].refetching) {
    settings_.log(fmt::format("`{}` is not served any more{}", parties_[party].name,
                              ended ? "" : ": " + ended.error().message));
  }
  on_party_ended(party);
  if (!std::ranges::all_of(parties_, &Party::gone)) co_return;
  if (!ended) gave_up_ = ended.error();
  client_->hang_up();
}

// Requests that wait for the server get an error.
void Switchboard::on_party_ended(std::size_t party) {
  parties_[party].gone = true;
  const auto why = fmt::format("the server `{}` is not there", parties_[party].name);
  for (auto at = routed_.begin(); at != routed_.end();) {
    if (at->second.party != party) {
      ++at;
      continue;
    }
    to_client(error_text(at->first, kInternalError, why));
    at = routed_.erase(at);
  }
  std::vector<std::string> waiting;
  for (const auto& [id, merge] : merges_) {
    if (merge.waiting.contains(party)) waiting.push_back(id);
  }
  for (const std::string& id : waiting) take_part(id, party, nullptr);
  const auto is_its = [&](const auto& entry) { return entry.second.party == party; };
  std::erase_if(questions_, is_its);
  std::erase_if(list_requests_, is_its);
  for (auto& [method, missed] : parties_[party].missed) missed.asked = false;
}

void Switchboard::to_client(std::string text, std::string_view about) {
  if (!client_->send(std::move(text), about) && !client_->broken()) {
    settings_.log("the client does not read; a message to it was dropped");
  }
}

void Switchboard::refuse(const Message& request, std::int64_t code, std::string_view why) {
  to_client(error_text(request.id, code, why));
}

void Switchboard::on_client_line(net::Line line) {
  if (parties_.size() == 1) {
    if (!parties_.front().line->put(std::move(line))) {
      settings_.log("too much waits for the server; a message of the client was dropped");
    }
    return;
  }
  if (line.too_long) {
    to_client(too_long_text(line.text, line.tail, settings_.limits.frame_bytes));
    return;
  }
  if (is_batch(line.text) && parse_json(line.text, settings_.limits.json())) {
    for (const std::string_view message : elements(line.text))
      on_client_message(std::string(message));
  } else {
    on_client_message(std::move(line.text));
  }
}

void Switchboard::on_client_message(std::string text) {
  Result<Message> message = Message::read(text, settings_.limits.json());
  if (!message) return to_client(unreadable_text(text, message.error()));
  switch (message->kind) {
    case Message::Kind::Request:
      return route(std::move(*message));
    case Message::Kind::Notification:
      return on_client_notification(*message);
    case Message::Kind::Response:
      return answer(*message);
  }
}

void Switchboard::route(Message request) {
  const std::string& method = request.method;
  if (routed_.contains(request.id) || merges_.contains(request.id)) {
    refuse(request, kInvalidRequest, "this id is in use");
  } else if (routed_.size() + merges_.size() >= settings_.limits.requests) {
    refuse(request, kTooMuch, "too many requests wait; try again later");
  } else if (method == "subscriptions/listen") {
    listen(request);
  } else if (method == "initialize" || method == "server/discover" ||
             method == "logging/setLevel" || !list_member(method).empty()) {
    ask_all(request);
  } else if (method == "tools/call" || method == "prompts/get") {
    route_by_name(request, find(request.text, {"params", "name"}).value_or(""));
  } else if (method == "resources/read" || method == "resources/subscribe" ||
             method == "resources/unsubscribe") {
    route_by_uri(request, find(request.text, {"params", "uri"}).value_or(""));
  } else if (method == "completion/complete") {
    route_completion(request);
  } else if (method.starts_with("tasks/")) {
    route_by_task(request);
  } else {
    // An unknown method goes to the first server; its gateway asks the policy.
    const auto present = std::ranges::find(parties_, false, &Party::gone);
    pass_to(present == parties_.end() ? 0 : present - parties_.begin(), request, request.text);
  }
}

std::optional<Switchboard::Named> Switchboard::named(const std::string& name) const {
  std::size_t owner = parties_.size();
  for (std::size_t i = 0; i < parties_.size(); ++i) {
    // Names may contain dots, so the longest server name that fits is used.
    const std::string& known = parties_[i].name;
    const bool fits = name.starts_with(known + '.') && name.size() > known.size() + 1;
    if (fits && (owner == parties_.size() || known.size() > parties_[owner].name.size())) owner = i;
  }
  if (owner == parties_.size()) return std::nullopt;
  return Named{owner, name.substr(parties_[owner].name.size() + 1)};
}

// `text` is the part of the request with the name.
void Switchboard::route_by_name(const Message& request, std::string_view text) {
  const std::string name = text_in_part(text.empty() ? std::nullopt : std::optional(text));
  if (name.empty()) return refuse(request, kInvalidParams, "`name` is missing");
  const auto found = named(name);
  if (!found) return refuse_unknown(request, kNoSuchName);
  pass_to(found->party, request, edited(request.text, {{text, json_quoted(found->name)}}));
}

void Switchboard::route_by_task(const Message& request) {
  const auto found = named(text_in_part(find(request.text, {"params", "taskId"})));
  if (!found) return refuse_unknown(request, "there is no such task");
  pass_to(found->party, request, with_own_task(request.text, found->name));
}

// Records the refusal of a request that would be governed if a server had the name.
void Switchboard::refuse_unknown(const Message& request, std::string_view why) {
  if (!is_governed(request.method) || !settings_.refuse || !read_call_params(request)) {
    return refuse(request, kInvalidParams, why);
  }
  if (tasks_.size() >= parties_.size() + settings_.limits.calls) {
    return refuse(request, kTooMuch, "too many calls wait; try again later");
  }
  tasks_.start(record_unknown(request, std::string(why)));
}

Async<void> Switchboard::record_unknown(Message request, std::string why) {
  Call call;
  take_grant(request, call);
  Result<CallParams> call_params = read_call_params(request);
  call.tool = std::move(call_params->tool);
  call.input = std::move(call_params->input);
  call.raw_input = std::move(call_params->raw_input);
  const Result<Answer> answer = co_await settings_.refuse(std::move(call));
  if (request.method != "tools/call") {
    co_return to_client(
        answer ? R"({"jsonrpc":"2.0","id":)" + request.id +
                     ",\"error\":" + unknown_error(why, *answer) + '}'
               : error_text(request.id, kNotRecorded, unrecorded_sentence(answer.error())));
  }
  std::string result = answer ? notice_result(*answer, true) : unrecorded_result(answer.error());
  if (find(request.text, {"params", "_meta", kMetaVersion})) {
    result = modern_result(request.method, result, {});
  }
  to_client(result_text(request.id, result));
}

void Switchboard::route_by_uri(const Message& request, std::string_view text) {
  const std::string uri = text_in_part(text.empty() ? std::nullopt : std::optional(text));
  if (uri.empty()) return refuse(request, kInvalidParams, "`uri` is missing");
  pass_to(owner_of(uri), request, request.text);
}

void Switchboard::route_completion(const Message& request) {
  if (const auto name = find(request.text, {"params", "ref", "name"})) {
    return route_by_name(request, *name);
  }
  route_by_uri(request, find(request.text, {"params", "ref", "uri"}).value_or(""));
}

// The server that listed it, else the one with a matching template prefix, else the first one with
// resources.
std::size_t Switchboard::owner_of(const std::string& uri) const {
  if (const auto found = resources_.find(uri); found != resources_.end()) return found->second;
  std::size_t owner = with_resources_.empty() ? 0 : *with_resources_.begin();
  std::size_t longest = 0;
  for (const auto& [begin, party] : templates_) {
    if (!uri.starts_with(begin) || begin.size() < longest) continue;
    longest = begin.size();
    owner = party;
  }
  return owner;
}

void Switchboard::pass_to(std::size_t party, const Message& request, std::string text) {
  if (parties_[party].gone) {
    return refuse(request, kInternalError,
                  fmt::format("the server `{}` is not there", parties_[party].name));
  }
  if (!parties_[party].line->put({.text = std::move(text)})) {
    return refuse(request, kTooMuch, "too many requests wait; try again later");
  }
  routed_[request.id] = {party, request.method};
}

void Switchboard::on_client_notification(const Message& notification) {
  if (notification.method == "notifications/cancelled") return cancel(notification);
  if (notification.method == "notifications/initialized") opened_ = notification.text;
  for (const Party& party : parties_) {
    if (!party.gone) (void)party.line->put({.text = notification.text});
  }
}

// Nothing more is sent for that id.
void Switchboard::cancel(const Message& notification) {
  const std::string client_id = cancelled_id(notification);
  if (client_id.empty()) return;
  std::set<std::size_t> parties;
  if (const auto routed = routed_.extract(client_id)) parties.insert(routed.mapped().party);
  if (auto merge = merges_.extract(client_id)) parties = std::move(merge.mapped().waiting);
  for (const std::size_t party : parties) {
    (void)parties_[party].line->put({.text = notification.text});
  }
}

void Switchboard::answer(const Message& response) {
  const auto question = questions_.extract(response.id);
  if (!question) return;
  const Question& origin = question.mapped();
  Party& party = parties_[origin.party];
  const std::string text = without_task_names(response, party.name);
  (void)party.line->put({.text = with_member(text, "id", origin.id)});
}

bool Switchboard::on_server_message(std::size_t party, std::string text, std::string_view about) {
  if (parties_.size() == 1) return client_->send(std::move(text), about);
  const Result<Message> message = Message::read(std::move(text), settings_.limits.json());
  if (!message) return true;
  if (message->kind == Message::Kind::Notification) {
    return on_server_notification(party, *message, about);
  }
  if (message->kind == Message::Kind::Request) {
    const std::string id = std::to_string(++last_question_);
    questions_[id] = {party, message->id};
    const std::string text = with_task_names(*message, {}, parties_[party].name);
    return client_->send(with_member(text, "id", id), about);
  }
  if (!message->is_error()) {
    // A `server/discover` result may be our own, made for a server that is still starting.
    if (!find(message->result_text(), {"supportedVersions"})) {
      parties_[party].late = false;
      parties_[party].answered = true;
    }
    // From an opening that was too late for the merged answer.
    if (find(message->result_text(), {"capabilities", "resources"})) with_resources_.insert(party);
  }
  if (take_missed_list(*message)) return true;
  if (merges_.contains(message->id)) {
    take_part(message->id, party, &*message);
    return true;
  }
  const auto routed = routed_.find(message->id);
  // The request was cancelled meanwhile, or belongs to another party.
  if (routed == routed_.end() || routed->second.party != party) return true;
  const std::string method = routed->second.method;
  routed_.erase(routed);
  return client_->send(with_task_names(*message, method, parties_[party].name), about);
}

bool Switchboard::on_server_notification(std::size_t party, const Message& notification,
                                         std::string_view about) {
  if (notification.method == "notifications/subscriptions/acknowledged") {
    on_granted(party, notification);
    return true;
  }
  if (notification.method == "notifications/cancelled") {
    const auto id = find(notification.params_text(), {"requestId"});
    const auto found = std::ranges::find_if(questions_, [&](const auto& entry) {
      return entry.second.party == party && id && entry.second.id == *id;
    });
    if (found == questions_.end()) return true;
    const std::string params = with_member(notification.params_text(), "requestId", found->first);
    questions_.erase(found);
    return client_->send(with_member(notification.text, "params", params), about);
  }
  std::string text = with_task_names(notification, {}, parties_[party].name);
  const auto mark = find(notification.params_text(), {"_meta", kMetaSubscription});
  const auto merge = mark ? merges_.find(std::string(*mark)) : merges_.end();
  if (merge == merges_.end()) return client_->send(std::move(text), about);
  notify_listener(merge->second, std::move(text));
  return true;
}

}  // namespace sallyport::mcp
