// Servers without whose part a list was answered. They are asked again from time to time, and the
// client is notified when the list has changed.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "mcp/message/era.h"
#include "mcp/message/json_text.h"
#include "mcp/switchboard/extension.h"
#include "mcp/switchboard/switchboard.h"

namespace sallyport::mcp {

namespace {

constexpr std::chrono::milliseconds kFirstMissedPause{1'000};

// The first page of the same list.
std::string first_page(const Message& request) {
  if (!find(request.params_text(), {"cursor"})) return request.text;
  return with_member(request.text, "params", without_member(request.params_text(), "cursor"));
}

// True if the server has no such list, so nothing is missing.
bool has_none(const Message& answer) {
  return find(answer.error_text(), {"code"}) == std::to_string(kMethodNotFound);
}

}  // namespace

// Notes that the first page of a list was answered without this party.
void Switchboard::note_missed(std::size_t party, const Message& request) {
  if (change_of(request.method).notification.empty() || stopping_) return;
  Party& entry = parties_[party];
  entry.missed[request.method].request = first_page(request);
  if (!std::exchange(entry.refetching, true)) tasks_.start(refetch_missed(party));
}

Async<void> Switchboard::refetch_missed(std::size_t party) {
  std::chrono::milliseconds pause = kFirstMissedPause;
  while (!stopping_ && !parties_[party].missed.empty()) {
    co_await bell_.wait("stop", pause, {});
    if (stopping_) break;
    pause = std::min(2 * pause, settings_.limits.longest_backoff);
    if (parties_[party].gone) reconnect(party);
    for (auto& [method, missed] : parties_[party].missed) {
      if (missed.asked) continue;
      const std::string id = own_id("look");
      missed.asked = parties_[party].line->put({.text = with_member(missed.request, "id", id)});
      if (missed.asked) list_requests_[id] = {party, method};
    }
  }
  parties_[party].refetching = false;
}

// True: it answers a list request of our own.
bool Switchboard::take_missed_list(const Message& answer) {
  const auto request = list_requests_.extract(answer.id);
  if (!request) return false;
  const auto [party, method] = request.mapped();
  const auto found = parties_[party].missed.find(method);
  if (found == parties_[party].missed.end()) return true;
  found->second.asked = false;
  if (answer.is_error() && !has_none(answer)) return true;
  parties_[party].missed.erase(found);
  if (parties_[party].missed.empty()) {
    settings_.log(fmt::format("`{}` is there now", parties_[party].name));
  }
  for (auto& [id, merge] : merges_) {
    if (merge.request.method == "subscriptions/listen") listen_at(merge, party);
  }
  if (!answer.is_error()) notify_changed(method);
  return true;
}

void Switchboard::notify_changed(const std::string& list) {
  const ListChange change = change_of(list);
  if (!opening_.empty()) to_client(notification_text(change.notification, {}));
  for (auto& [id, merge] : merges_) {
    const json::object* const params = merge.request.params();
    const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
    if (wanted == nullptr || bool_in(*wanted, change.subscription) != true) continue;
    notify_listener(
        merge, notification_text(change.notification,
                                 fmt::format(R"({{"_meta":{{"{}":{}}}}})", kMetaSubscription, id)));
  }
}

// Replaces the ended gateway of a party by a new one, and opens it as the client opened the others.
void Switchboard::reconnect(std::size_t party) {
  Party& entry = parties_[party];
  std::erase_if(retired_, [](const auto& conversation) { return conversation->quiet(); });
  retired_.push_back(std::move(entry.conversation));
  connect(party);
  if (!opening_.empty()) {
    (void)entry.line->put({.text = with_member(opening_, "id", own_id("opening"))});
  }
  for (const std::string& text : {opened_, log_level_}) {
    if (!text.empty()) (void)entry.line->put({.text = text});
  }
  tasks_.start(serve(party));
}

void Switchboard::connect(std::size_t party) {
  auto line = std::make_unique<Extension>(*this, party, executor_, settings_.limits.waiting_calls);
  Party& entry = parties_[party];
  entry.gone = entry.late = entry.answered = false;
  entry.line = line.get();
  entry.conversation = upstreams_[party].connect(std::move(line));
}

// The id of a request of our own. Its answer is dropped, or `take_missed_list` takes it.
std::string Switchboard::own_id(std::string_view purpose) {
  return fmt::format(R"("sallyport.{}.{}")", purpose, ++last_own_);
}

}  // namespace sallyport::mcp
