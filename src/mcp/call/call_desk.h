// The calls that a gateway holds: which of them run, and where the client of each one is.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/approval/attendant.h"
#include "mcp/call/forwarded_call.h"
#include "mcp/client/awaited_answer.h"
#include "mcp/message/limits.h"
#include "mcp/message/progress.h"
#include "sallyport/call.h"

namespace sallyport::mcp {

// A call from its request to its end, and longer while the client may still fetch the answer.
struct HeldCall {
  // The state of the client, not of the call: the call may end in any of these states.
  enum class State {
    Queued,   // the client waits for the answer; the call waits for its turn
    Running,  // the client waits for the answer
    Parked,   // the client got a question of the server and has not returned
    Away,     // the client was told to make the call again, once a person has answered
    Task,     // the client was given a task
    Left,     // the client does not return
  };
  // A question of the server that the client has to answer.
  struct Question {
    std::shared_ptr<AwaitedAnswer> answer;  // shared with its waiter
    std::string text{};                     // method and params, JSON
  };

  State state = State::Left;  // changed by `CallDesk::move` alone
  std::string key{};          // under which the desk finds it in this state

  std::uint64_t number = 0;
  SteadyTime received{};
  Call call{};
  std::shared_ptr<ForwardedCall> upstream{};  // shared with a Governor that abandoned it
  std::stop_source stop{};
  bool cancelled = false;       // the client does not want an answer
  json::object capabilities{};  // of the client, for this request
  std::string client_token{};   // of progress, as the client knows it now
  ToldProgress progress{};
  bool placed = false;  // holds a place among the running calls

  std::map<std::string, Question> open{};    // by key
  std::string roots{};                       // the client's answer to `roots/list`, JSON text
  std::optional<core::WaitingCall> waits{};  // while it waits for a person
  std::string approval_id{};                 // of the last question
  std::string form{};                        // our question to the client, while it is open
  std::string response{};                    // set when it has ended; the id in it is unused
  std::optional<SteadyTime> ended_at{};      // of a task, or while the client was away

  std::string task_id{};    // if the client was given a task
  std::string task_made{};  // RFC 3339
  std::string task_changed{};
  SteadyTime task_until{};  // kept at least so long

  // The id under which the client waits for it; empty: it does not wait.
  std::string client_id() const {
    return state == State::Queued || state == State::Running ? key : std::string();
  }
  // The same for an identical call under the same grants. It is a digest over the whole input.
  std::string identity() const {
    return identity_of(upstream->request(), upstream->call_params(), call.grants);
  }
};
std::string_view to_string(HeldCall::State state);

// Owned by a gateway and used on its strand. Calls are shared with the coroutines that run them.
class CallDesk {
 public:
  using State = HeldCall::State;
  using Held = std::shared_ptr<HeldCall>;  // shared with the coroutine that runs it

  explicit CallDesk(const Limits& limits) : limits_(limits) {}

  // Takes a call, under the id of the client's request: it is queued.
  void add(const Held& call, std::string client_id);
  // The only function that changes a state. `key` finds the call there: the client's id, the token
  // of a parked call, the identity of a call whose client is away, or the id of a task. False: this
  // transition is not allowed, and nothing has changed.
  bool move(const Held& call, State to, std::string key = {});

  // Null: there is no such call.
  Held of_client(const std::string& client_id) const;
  Held find(State state, const std::string& key) const;
  Held find_away(const std::string& identity, const std::string& approval_id) const;
  Held newest() const;  // among the calls with a waiting client
  // All in these states, in the order of their keys.
  std::vector<Held> in(State first, State last) const;
  std::size_t count(State first, State last) const;

  // Places limit how many calls run at once. Gives the next queued call a place; null: none is
  // queued, or no place is free.
  Held start_next();
  void take_place(HeldCall& call);
  bool leave_place(HeldCall& call);  // false: it had none
  bool queue_is_full() const { return queue_.size() >= limits_.waiting_calls; }

  // Tokens of progress, as the server knows them.
  void note_token(const std::string& token, const Held& call) { tokens_[token] = call; }
  Held of_token(const std::string& token) const;
  // The answer of this call is a task of the server, which keeps the tokens of the call.
  void note_task(const Held& call);
  ToldProgress* of_task_token(const std::string& token);  // null: there is no such task

  // The call has ended. Removes its tokens and, unless its client may still fetch it, the call.
  void finish(const Held& call);
  // Forgets ended calls in this state that no client has fetched in time.
  void forget_old(State state, SteadyTime now);

  bool holds_calls() const;    // the client waits for one, or may come back to one that runs
  bool busy() const;           // some call has not ended
  bool holds_granted() const;  // a call that presents a grant has not ended
  void stop_all();             // asks all to end
  void clear();

 private:
  using Index = std::multimap<std::pair<State, std::string>, Held>;
  Index::const_iterator place_of(const HeldCall& call) const;
  Index::const_iterator first_of(State state) const { return index_.lower_bound({state, ""}); }
  bool any_unended(State first, State last) const;

  const Limits& limits_;
  Index index_;             // every held call once, by its state and key
  std::deque<Held> queue_;  // calls that wait for a place
  std::map<std::string, Held> tokens_;
  std::map<std::string, ToldProgress> task_tokens_;
  std::size_t running_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace sallyport::mcp
