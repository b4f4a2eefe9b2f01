// Servers that a list had to be answered without. They are asked again from time to time, and the
// client hears when its list is longer than it was.
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

// It has no such list, and so nothing is missing.
bool has_none(const Message& answer) {
  return find(answer.error_text(), {"code"}) == std::to_string(kMethodNotFound);
}

}  // namespace

// The first page of a list was answered without it.
void Switchboard::miss(std::size_t party, const Message& request) {
  if (change_of(request.method).notification.empty() || stopping_) return;
  Party& one = parties_[party];
  one.missed[request.method].request = first_page(request);
  if (!std::exchange(one.sought, true)) tasks_.start(seek(party));
}

Async<void> Switchboard::seek(std::size_t party) {
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
      if (missed.asked) looks_[id] = {party, method};
    }
  }
  parties_[party].sought = false;
}

// True: it is the answer to a question of ours.
bool Switchboard::hear_look(const Message& answer) {
  const auto look = looks_.extract(answer.id);
  if (!look) return false;
  const auto [party, method] = look.mapped();
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
  if (!answer.is_error()) tell_changed(method);
  return true;
}

void Switchboard::tell_changed(const std::string& list) {
  const ListChange change = change_of(list);
  if (!opening_.empty()) to_client(notification_text(change.notification, {}));
  for (auto& [id, merge] : merges_) {
    const json::object* const params = merge.request.params();
    const json::object* const wanted = params ? object_in(*params, "notifications") : nullptr;
    if (wanted == nullptr || bool_in(*wanted, change.subscription) != true) continue;
    tell_listener(
        merge, notification_text(change.notification,
                                 fmt::format(R"({{"_meta":{{"{}":{}}}}})", kMetaSubscription, id)));
  }
}

// A new gateway in the place of one that has ended, opened as the client has opened the others.
void Switchboard::reconnect(std::size_t party) {
  Party& one = parties_[party];
  std::erase_if(retired_, [](const auto& conversation) { return conversation->quiet(); });
  retired_.push_back(std::move(one.conversation));
  connect(party);
  if (!opening_.empty()) {
    (void)one.line->put({.text = with_member(opening_, "id", own_id("opening"))});
  }
  for (const std::string& told : {opened_, log_level_}) {
    if (!told.empty()) (void)one.line->put({.text = told});
  }
  tasks_.start(serve(party));
}

void Switchboard::connect(std::size_t party) {
  auto line = std::make_unique<Extension>(*this, party, executor_, settings_.limits.waiting_calls);
  Party& one = parties_[party];
  one.gone = one.late = one.there = false;
  one.line = line.get();
  one.conversation = upstreams_[party].connect(std::move(line));
}

// The id of a request of the switchboard itself. Its answer is dropped, or `hear_look` takes it.
std::string Switchboard::own_id(std::string_view what) {
  return fmt::format(R"("sallyport.{}.{}")", what, ++last_own_);
}

}  // namespace sallyport::mcp
