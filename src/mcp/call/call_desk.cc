#include "mcp/call/call_desk.h"

#include <algorithm>
#include <array>

namespace sallyport::mcp {

namespace {

using State = HeldCall::State;

// True for the transitions that exist.
bool leads(State from, State to) {
  switch (from) {
    case State::Queued:
      return to == State::Running || to == State::Left;
    case State::Running:
      return to != State::Queued && to != State::Running;
    case State::Parked:
    case State::Away:
      return to == State::Running || to == State::Left;
    case State::Task:
      return to == State::Left;
    case State::Left:
      return false;
  }
  return false;
}

}  // namespace

std::string_view to_string(State state) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"queued", "running", "parked", "away", "task", "left"});
  static_assert(kNames.size() == static_cast<std::size_t>(State::Left) + 1);
  return kNames[static_cast<std::size_t>(state)];
}

void CallDesk::add(const Held& call, std::string client_id) {
  call->number = ++last_number_;
  call->state = State::Queued;
  call->key = std::move(client_id);
  index_.emplace(std::pair(call->state, call->key), call);
  queue_.push_back(call);
}

bool CallDesk::move(const Held& call, State to, std::string key) {
  if (!leads(call->state, to)) return false;
  if (call->state == State::Queued) std::erase(queue_, call);
  if (const auto place = place_of(*call); place != index_.end()) index_.erase(place);
  call->state = to;
  call->key = std::move(key);
  if (to != State::Left) index_.emplace(std::pair(to, call->key), call);
  return true;
}

CallDesk::Index::const_iterator CallDesk::place_of(const HeldCall& call) const {
  const auto [first, last] = index_.equal_range({call.state, call.key});
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.get() == &call; });
  return found == last ? index_.end() : found;
}

CallDesk::Held CallDesk::of_client(const std::string& client_id) const {
  const Held queued = find(State::Queued, client_id);
  return queued ? queued : find(State::Running, client_id);
}

CallDesk::Held CallDesk::find(State state, const std::string& key) const {
  const auto found = index_.find({state, key});
  return found == index_.end() ? nullptr : found->second;
}

CallDesk::Held CallDesk::find_away(const std::string& identity,
                                   const std::string& approval_id) const {
  const auto [first, last] = index_.equal_range({State::Away, identity});
  const auto found = std::find_if(
      first, last, [&](const auto& entry) { return entry.second->approval_id == approval_id; });
  return found == last ? nullptr : found->second;
}

CallDesk::Held CallDesk::newest() const {
  Held newest;
  for (const Held& call : in(State::Queued, State::Running)) {
    if (!newest || newest->number < call->number) newest = call;
  }
  return newest;
}

std::vector<CallDesk::Held> CallDesk::in(State first, State last) const {
  std::vector<Held> found;
  for (auto at = first_of(first); at != index_.end() && at->first.first <= last; ++at) {
    found.push_back(at->second);
  }
  return found;
}

std::size_t CallDesk::count(State first, State last) const {
  std::size_t found = 0;
  for (auto at = first_of(first); at != index_.end() && at->first.first <= last; ++at) ++found;
  return found;
}

CallDesk::Held CallDesk::start_next() {
  if (running_ >= limits_.calls || queue_.empty()) return nullptr;
  const Held next = queue_.front();
  take_place(*next);
  (void)move(next, State::Running, next->key);
  return next;
}

void CallDesk::take_place(HeldCall& call) {
  if (!std::exchange(call.placed, true)) ++running_;
}

bool CallDesk::leave_place(HeldCall& call) {
  if (!std::exchange(call.placed, false)) return false;
  --running_;
  return true;
}

CallDesk::Held CallDesk::of_token(const std::string& token) const {
  const auto found = tokens_.find(token);
  return found == tokens_.end() ? nullptr : found->second;
}

// No message reports the end of each task, so the number of tokens is limited.
void CallDesk::note_task(const Held& call) {
  for (const auto& [token, holder] : tokens_) {
    if (holder != call) continue;
    if (task_tokens_.size() >= limits_.requests) task_tokens_.erase(task_tokens_.begin());
    task_tokens_[token] = call->progress;
  }
}

ToldProgress* CallDesk::of_task_token(const std::string& token) {
  const auto found = task_tokens_.find(token);
  return found == task_tokens_.end() ? nullptr : &found->second;
}

void CallDesk::finish(const Held& call) {
  std::erase_if(tokens_, [&](const auto& token) { return token.second == call; });
  const bool kept =
      call->state == State::Parked || call->state == State::Away || call->state == State::Task;
  if (!kept) (void)move(call, State::Left);
}

void CallDesk::forget_old(State state, SteadyTime now) {
  for (const Held& call : in(state, state)) {
    const bool over =
        call->ended_at &&
        (state == State::Task ? now > call->task_until : now - *call->ended_at > limits_.parked);
    if (over) (void)move(call, State::Left);
  }
}

bool CallDesk::any_unended(State first, State last) const {
  return std::ranges::any_of(in(first, last), [](const Held& call) { return !call->ended_at; });
}

bool CallDesk::holds_calls() const {
  return count(State::Queued, State::Parked) > 0 || any_unended(State::Away, State::Task);
}

bool CallDesk::busy() const {
  return running_ > 0 || count(State::Queued, State::Running) > 0 ||
         any_unended(State::Away, State::Task);
}

bool CallDesk::holds_granted() const {
  return std::ranges::any_of(in(State::Queued, State::Task), [](const Held& call) {
    return !call->ended_at && !call->call.grants.empty();
  });
}

void CallDesk::stop_all() {
  for (const Held& call : in(State::Queued, State::Task)) call->stop.request_stop();
}

void CallDesk::clear() {
  for (const auto& [place, call] : std::exchange(index_, {})) {
    call->state = State::Left;
    call->key.clear();
  }
  queue_.clear();
  tokens_.clear();
  task_tokens_.clear();
}

}  // namespace sallyport::mcp
