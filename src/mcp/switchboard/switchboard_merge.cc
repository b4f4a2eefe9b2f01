// Requests to all servers, with one merged answer.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"
#include "mcp/message/translation.h"
#include "mcp/switchboard/extension.h"
#include "mcp/switchboard/switchboard.h"

namespace sallyport::mcp {

namespace {

constexpr std::string_view kListenAcknowledged = "notifications/subscriptions/acknowledged";

std::vector<std::string> texts_in(std::string_view list, std::string_view member) {
  std::vector<std::string> out;
  for (const std::string_view item : elements(list)) {
    const Result<ParsedJson> read = parse_json(find(item, {member}).value_or("null"));
    if (read && read->value.is_string()) out.emplace_back(read->value.get_string());
  }
  return out;
}

// True for the error of a gateway whose server is unavailable.
bool is_not_there(const Message& answer) {
  return find(answer.error_text(), {"code"}) == std::to_string(kInternalError);
}

// The task ids with the names that the client sees.
json::value named_tasks(const json::value& ids, std::string_view server) {
  json::array named;
  for (const json::value& id : ids.is_array() ? ids.get_array() : json::array()) {
    if (id.is_string()) named.emplace_back(qualified(server, id.get_string()));
  }
  return named;
}

}  // namespace

Switchboard::Merge& Switchboard::begin_merge(const Message& request,
                                             std::chrono::milliseconds longest) {
  Merge& merge = merges_[request.id];
  merge.request = request;
  merge.begin = std::chrono::steady_clock::now();
  finish_by(merge, merge.begin + longest);
  return merge;
}

void Switchboard::finish_by(Merge& merge, std::chrono::steady_clock::time_point when) {
  merge.deadline = std::make_unique<boost::asio::steady_timer>(executor_, when);
  merge.deadline->async_wait([this, id = merge.request.id, timer = merge.deadline.get()](
                                 const boost::system::error_code& error) {
    const auto found = error ? merges_.end() : merges_.find(id);
    if (found != merges_.end() && found->second.deadline.get() == timer) on_deadline(id);
  });
}

// A server that was late once gets only a short time. A server that is still starting must not
// delay the others either; it is added later.
void Switchboard::abandon_late_servers(Merge& merge) {
  const auto late = [&](std::size_t party) { return parties_[party].late; };
  const auto missing = [&](std::size_t party) { return late(party) || !parties_[party].answered; };
  if (merge.waiting.empty()) return;
  if (std::ranges::all_of(merge.waiting, late)) {
    finish_by(merge, merge.begin + settings_.limits.probe);
  } else if (!merge.results.empty() && std::ranges::all_of(merge.waiting, missing)) {
    finish_by(merge, merge.begin + std::min(settings_.limits.together, settings_.limits.start));
  }
}

void Switchboard::ask_all(const Message& request) {
  const json::object* const params = request.params();
  const json::value* const cursor = params ? params->if_contains("cursor") : nullptr;
  const bool later = cursor != nullptr && !cursor->is_null();
  const auto cursors =
      later && cursor->is_string() ? split_cursor(cursor->get_string()) : std::nullopt;
  if (later && !cursors) return refuse(request, kInvalidParams, "`cursor` was not issued here");
  if (request.method == "initialize") opening_ = request.text;
  if (request.method == "logging/setLevel") {
    log_level_ = with_member(request.text, "id", own_id("level"));
  }
  Merge& merge = begin_merge(request, settings_.limits.start);
  for (std::size_t i = 0; i < parties_.size(); ++i) {
    std::string text = request.text;
    if (cursors) {
      const auto own = cursors->find(parties_[i].name);
      if (own == cursors->end()) continue;
      std::string page;
      append_canonical_string(page, own->second);
      text = edited(text, {{*find(text, {"params", "cursor"}), page}});
    }
    const bool sent = !parties_[i].gone && parties_[i].line->put({.text = std::move(text)});
    (sent ? merge.waiting : merge.missing).insert(i);
  }
  if (merge.waiting.empty()) return finish(request.id);
  abandon_late_servers(merge);
}

void Switchboard::listen(const Message& request) {
  const json::object* const params = request.params();
  const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
  if (wanted == nullptr) return refuse(request, kInvalidParams, "`notifications` is missing");
  Merge& merge = begin_merge(request, settings_.limits.probe);
  // We send these notifications ourselves when a server appears.
  for (const char* const list : {"tools/list", "prompts/list", "resources/list"}) {
    const std::string_view name = change_of(list).subscription;
    if (bool_in(*wanted, name) == true) merge.granted[name] = true;
  }
  for (std::size_t i = 0; i < parties_.size(); ++i) listen_at(merge, i);
  merge.silent = merge.waiting;
  if (merge.waiting.empty()) finish(request.id);
}

// Each server is asked for its own resources only.
void Switchboard::listen_at(Merge& merge, std::size_t party) {
  const Message& request = merge.request;
  json::object own = *object_in(*request.params(), "notifications");
  json::value* const uris = own.if_contains("resourceSubscriptions");
  if (uris != nullptr && uris->is_array()) {
    json::array kept;
    for (const json::value& uri : uris->get_array()) {
      if (uri.is_string() && owner_of(std::string(uri.get_string())) == party) kept.push_back(uri);
    }
    *uris = std::move(kept);
  }
  json::value* const tasks = own.if_contains("taskIds");
  if (tasks != nullptr && tasks->is_array()) *tasks = own_tasks(tasks->get_array(), party);
  const std::string changed =
      with_member(request.params_text(), "notifications", json::serialize(own));
  if (merge.waiting.contains(party) || parties_[party].gone) return;
  if (parties_[party].line->put({.text = with_member(request.text, "params", changed)})) {
    merge.waiting.insert(party);
  }
}

// Messages before the acknowledgement are held back until it is sent.
void Switchboard::notify_listener(Merge& merge, std::string text) {
  if (merge.silent.empty()) return to_client(std::move(text), merge.request.id);
  if (merge.held.size() < settings_.limits.progress) merge.held.push_back(std::move(text));
}

json::array Switchboard::own_tasks(const json::array& wanted, std::size_t party) const {
  json::array own;
  for (const json::value& id : wanted) {
    const auto found = id.is_string() ? named(std::string(id.get_string())) : std::nullopt;
    if (found && found->party == party) own.emplace_back(found->name);
  }
  return own;
}

// Servers without an answer no longer delay the others.
void Switchboard::on_deadline(const std::string& id) {
  Merge& merge = merges_.at(id);
  const bool listens = merge.request.method == "subscriptions/listen";
  for (const std::size_t party : listens ? merge.silent : merge.waiting) {
    settings_.log(fmt::format("`{}` did not answer `{}` in time and is left out",
                              parties_[party].name, merge.request.method));
    parties_[party].late = true;
    merge.missing.insert(party);
  }
  if (!listens) return finish(id);
  if (!merge.silent.empty()) acknowledge(id, merge);
}

// No response: the party has gone.
void Switchboard::take_part(const std::string& id, std::size_t party, const Message* response) {
  const auto found = merges_.find(id);
  if (found == merges_.end() || found->second.waiting.erase(party) == 0) return;
  Merge& merge = found->second;
  if (response != nullptr && !response->is_error()) {
    merge.results[party] = std::string(response->result_text());
  } else if (response != nullptr && merge.error.empty()) {
    merge.error = std::string(response->error_text());
  }
  if (response == nullptr || is_not_there(*response)) merge.missing.insert(party);
  const bool all_granted = merge.silent.erase(party) > 0 && merge.silent.empty();
  if (merge.waiting.empty()) return finish(id);
  if (merge.request.method != "subscriptions/listen") abandon_late_servers(merge);
  if (all_granted) acknowledge(id, merge);
}

void Switchboard::finish(const std::string& id) {
  const auto taken = merges_.extract(id);
  const Merge& merge = taken.mapped();
  const std::string& method = merge.request.method;
  const bool all = merge.missing.empty();
  for (const std::size_t party : merge.missing) note_missed(party, merge.request);
  for (const auto& [party, result] : merge.results) parties_[party].missed.erase(method);
  if (merge.results.empty()) {
    // The list was advertised for servers that are missing.
    if (!all && find(merge.error, {"code"}) == std::to_string(kMethodNotFound) &&
        !change_of(method).notification.empty()) {
      const std::string none = fmt::format(R"({{"{}":[]}})", list_member(method));
      const bool modern = merge.request.is_modern();
      return to_client(result_text(id, modern ? modern_result(method, none, {}) : none));
    }
    if (merge.error.empty()) {
      return refuse(merge.request, kInternalError, "no server has answered");
    }
    return to_client(R"({"jsonrpc":"2.0","id":)" + id + ",\"error\":" + merge.error + '}');
  }
  remember(merge);
  std::vector<PartAnswer> parts;
  for (const auto& [party, result] : merge.results) parts.push_back({parties_[party].name, result});
  if (method == "initialize") return to_client(result_text(id, merged_opening(parts, all)));
  if (method == "server/discover") return to_client(result_text(id, merged_discovery(parts, all)));
  if (method == "subscriptions/listen") return end_subscription(id, parts.front().result);
  const bool is_list = !list_member(method).empty();
  to_client(result_text(id, is_list ? merged_list(method, parts) : parts.front().result));
}

// As `ClientSession::end_subscription`.
void Switchboard::end_subscription(const std::string& id, std::string_view result) {
  to_client(ended_subscription(id, result));
  to_client(notification_text("notifications/cancelled", "{\"requestId\":" + id + '}'), id);
}

// All gateways have ended. Their open requests are answered here.
void Switchboard::end_merges() {
  for (const auto& [id, merge] : std::exchange(merges_, {})) {
    if (merge.request.method == "subscriptions/listen") {
      end_subscription(id, "{}");
    } else {
      to_client(error_text(id, kInternalError, "the gateway ends"));
    }
  }
}

void Switchboard::on_granted(std::size_t party, const Message& notification) {
  const auto mark = find(notification.params_text(), {"_meta", kMetaSubscription});
  const auto found = mark ? merges_.find(std::string(*mark)) : merges_.end();
  if (found == merges_.end() || found->second.silent.erase(party) == 0) return;
  Merge& merge = found->second;
  const json::object* const params = notification.params();
  const json::object* const granted = params ? object_in(*params, "notifications") : nullptr;
  for (const auto& [name, given] : granted ? *granted : json::object()) {
    const json::value value = name == "taskIds" ? named_tasks(given, parties_[party].name) : given;
    json::value& known = merge.granted[name];
    if (known.is_array() && value.is_array()) {
      for (const json::value& item : value.get_array()) known.get_array().push_back(item);
    } else if (known.is_null() || value == json::value(true)) {
      known = value;
    }
  }
  if (merge.silent.empty()) acknowledge(found->first, merge);
}

void Switchboard::acknowledge(const std::string& id, Merge& merge) {
  merge.silent.clear();
  to_client(notification_text(kListenAcknowledged,
                              fmt::format(R"({{"_meta":{{"{}":{}}},"notifications":{}}})",
                                          kMetaSubscription, id, json::serialize(merge.granted))),
            id);
  for (std::string& text : std::exchange(merge.held, {})) to_client(std::move(text), id);
}

// A resource that several servers list belongs to the first of them in the configuration. No server
// gets it by answering sooner, in this list or in an earlier one.
void Switchboard::remember(const Merge& merge) {
  const std::string& method = merge.request.method;
  const bool is_template = method == "resources/templates/list";
  std::map<std::string, std::size_t>& owners = is_template ? templates_ : resources_;
  const bool goes_on = find(merge.request.params_text(), {"cursor"}).has_value();
  std::set<std::string> shown;
  for (const auto& [party, result] : merge.results) {
    if (find(result, {"capabilities", "resources"})) with_resources_.insert(party);
    if (!is_template && method != "resources/list") continue;
    const std::string_view list = find(result, {list_member(method)}).value_or("[]");
    for (std::string& uri : texts_in(list, is_template ? "uriTemplate" : "uri")) {
      if (is_template) uri.resize(std::min(uri.size(), uri.find('{')));
      const bool known = owners.contains(uri);
      if (!shown.insert(uri).second || (known && goes_on)) continue;
      if (known || owners.size() < settings_.limits.tools) owners[std::move(uri)] = party;
    }
  }
}

}  // namespace sallyport::mcp
