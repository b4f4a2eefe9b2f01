// One request of an agent to a model, from its first byte to its terminal entry:
//
//   read -> chosen -> checked -> (attempted -> answered) -> recorded
//
// Every request ends with exactly one entry of kind `model_audit` (MP-66). The final frame leaves
// after that entry is durable (MP-68).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/keyed_digest.h"
#include "core/call/governor.h"
#include "core/event/host_events.h"
#include "core/handoff/hand_offs.h"
#include "core/plan/fail_open.h"
#include "llm/answer_adapter.h"
#include "llm/request.h"
#include "net/http_server.h"
#include "net/quota.h"
#include "net/turnstile.h"
#include "proxy/budgets.h"
#include "proxy/client_stream.h"
#include "proxy/doors.h"
#include "proxy/event_queue.h"
#include "proxy/meter.h"
#include "proxy/owned_state.h"
#include "proxy/record.h"
#include "proxy/routes.h"
#include "proxy/upstreams.h"
#include "telemetry/tracer.h"

namespace sallyport::proxy {

// The code of errors of the ledger.
inline constexpr const char* kLedgerUnavailable = "ledger_unavailable";

// Upstreams, keys and prices of one configuration. A request keeps those it began with (MP-84).
struct Live {
  Settings settings{};
  UpstreamList upstreams{};
};

// Parts that all requests share. The front owns them.
struct Shared {
  core::Governor& governor;
  core::HandOffs& hand_offs;
  core::HostEvents& events;
  core::Recorder& recorder;
  const core::PlanSource& plans;
  const Clock& clock;
  Entropy& entropy;
  KeyedDigest digest;
  core::FailOpenLog& fail_open;
  Meter& meter;
  telemetry::Tracer& tracer;
  boost::asio::any_io_executor executor;
  std::string approvals_url;
  std::function<bool()> needs_token;
  net::Quota bodies;       // memory for decoded request bodies
  net::Turnstile begins;   // limits the requests that begin in one turn of the loop
  net::TaskGroup& asides;  // work that continues after a request has ended
  std::stop_token ending;  // the process ends, and streams with it (MP-85)
};

// The header names that `Connection` lists as hop-by-hop, in lower case.
std::vector<std::string> hop_headers(const net::HttpHeaders& headers);

class ModelExchange {
 public:
  ModelExchange(Shared& shared, std::shared_ptr<const Live> live, net::ServerExchange& client,
                Route route);
  ModelExchange(const ModelExchange&) = delete;

  Async<void> run();
  // Sends an answer of our own, without a provider, and records it like any other.
  Async<void> answer_here(net::ServerResponse response);

 private:
  // Why a request ends before the client has a byte of an answer.
  struct Refusal {
    llm::ApiError error{};
    Outcome outcome = Outcome::Refused;
    std::string reason{};           // for the record; empty: the message
    std::string decision = "deny";  // `x-sallyport-decision`
    std::optional<std::uint64_t> retry_after_s{};
  };
  // No value: nothing is refused. The next step follows, or the answer has been sent.
  using Ended = std::optional<Refusal>;
  // An open answer of the provider.
  struct Opened {
    std::shared_ptr<ModelUpstream> upstream;      // shared: outlives a reload
    std::shared_ptr<net::HttpExchange> exchange;  // shared: `upstream_exchange_` sees its end
    net::HttpHead head;
  };

  Async<Ended> serve();
  Ended refuse_upgrade();
  Ended refuse_stream();
  // exchange_request.cc
  void begin();
  Ended refuse_unread();
  Ended read_body();
  Ended choose();
  Ended apply_rules();
  Async<Ended> check_input();
  Ended owns_state();
  Ended owns_stores();
  Ended owns_ids();
  void touch_state(const std::string& kind, const std::string& id, OwnedState::Owner owner);
  Ended refuse_other_route();
  Ended take_upstream(const std::string& name);
  void answer_unanswered(std::vector<llm::UnansweredCall> calls);
  Refusal deny(unsigned status, std::string code, std::string message) const;
  // As `deny`, but the request is not at fault.
  Refusal fault(unsigned status, std::string code, std::string message) const;
  Refusal busy() const;
  // exchange_attempts.cc
  Async<Ended> forward();
  Async<Ended> attempt(const std::shared_ptr<ModelUpstream>& upstream, bool last, Opened& opened);
  // Returns the head of the answer.
  Task<net::HttpHead> send(std::shared_ptr<net::HttpExchange> exchange, net::HttpRequest request);
  // Updates the circuit and emits the event of a failed attempt. False: the request may be tried
  // again.
  bool take_status(const net::HttpHead& head, ModelUpstream& upstream);
  void judge(ModelUpstream& upstream, const std::optional<Error>& failed);
  Result<net::HttpRequest> upstream_request(const ModelUpstream& upstream);
  Ended take_query();
  Refusal over_budget(std::string message) const;
  Ended reserve();  // with the first attempt
  void estimate_usage();
  void price();
  void settle(core::Draft& record);
  Async<Ended> announce_attempt();
  void emit_attempt(std::optional<std::string> error);
  void emit_opened();  // once, if an answer was opened
  Async<bool> wait_for_retry(std::chrono::milliseconds wait);
  Refusal upstream_failure(const Error& error) const;
  std::string without_keys(std::string text) const;
  // exchange_answer.cc
  Async<Ended> answer(Opened opened);
  Refusal unreadable(const Error& error, std::string_view why) const;
  Async<Ended> pass_error(Opened opened);
  Async<Ended> stream_answer(Opened opened, llm::AnswerAdapter& adapter);
  // `adapter` null: the route has no output stage.
  Async<Ended> whole_answer(Opened opened, llm::AnswerAdapter* adapter);
  Result<std::string> read_unguarded(std::string body);
  Async<std::optional<Error>> relay(Opened& opened, llm::AnswerAdapter& adapter,
                                    ClientStream& stream);
  Async<void> finish_stream(ClientStream& stream, llm::AnswerAdapter& adapter,
                            std::optional<Error> failed);
  void emit_response(bool success, std::optional<std::string> error);
  void take_observed(const llm::AnswerAdapter& adapter);
  void take_ids(const std::string& answer);  // of an answer that passed unchecked
  OwnedState::Owner owner() const;           // owner of state that this request obtains
  // exchange.cc
  Async<void> refuse(Refusal refusal);
  Async<bool> conclude(Outcome outcome, std::string reason, unsigned status);
  bool keeps_content() const { return plan_->model_rules().keeps_content && route_.generates(); }
  void trace() const;  // exchange_trace.cc
  net::ServerResponse ledger_failed();
  net::ServerResponse head_of(unsigned status, const net::HttpHead* provider) const;
  std::string guards() const;  // `x-sallyport-guards`
  void add_own_headers(net::ServerResponse& response) const;
  bool gone() const { return gone_.stop_requested(); }
  std::uint64_t elapsed_ms() const;
  std::string overhead_ms() const;  // without the time of the provider (MP-82)

  Shared& shared_;
  std::shared_ptr<const Live> live_;  // shared with other requests, for all of this one
  net::ServerExchange& client_;
  Route route_;
  std::shared_ptr<const core::Plan> plan_;  // pinned for the whole request
  SteadyTime started_;
  SteadyTime::duration waited_{};  // time spent waiting for the provider
  std::stop_source gone_;
  ModelRecord record_;
  std::vector<core::Draft> findings_;
  std::vector<core::Fact> facts_;
  std::vector<std::shared_ptr<const core::FactChange>> changes_;
  std::vector<llm::UnansweredCall> unanswered_;
  DoorParts doors_;
  std::shared_ptr<EventQueue> events_;  // shared with its coroutine, which may outlive this
  std::string decision_ = "allow";
  net::Quota::Share room_;  // memory of the body

  std::string body_;                     // the received body, decoded
  json::value parsed_;                   // `body_` as JSON
  llm::Splice edits_;                    // changes of the body that goes upstream
  std::optional<SteadyTime> attempted_;  // time of the first attempt
  std::string response_model_;           // the provider's name of the model
  std::uint64_t text_bytes_ = 0;
  std::optional<llm::Request> request_;
  std::vector<std::shared_ptr<ModelUpstream>> candidates_;  // shared, as above
  std::vector<std::string> secrets_;                        // keys that no text may show (MP-26)
  bool own_retries_ = false;                     // the proxy retried; the client should not
  bool added_usage_ = false;                     // usage is asked for by us, not by the client
  std::string query_;                            // of a stored response, without `starting_after`
  std::optional<std::uint64_t> starting_after_;  // set if a stream is resumed
  std::weak_ptr<net::HttpExchange> upstream_exchange_;   // cancelled when the client leaves
  std::shared_ptr<const core::FactChange> reservation_;  // travels with the first attempt
  bool reserved_ = false;
  Amount estimate_;
  std::optional<core::TextBlock> blocked_;
  bool provider_failed_ = false;  // its stream ended with an error of its own
  bool opened_ = false;           // the provider has begun an answer
  bool spent_ = false;            // an attempt without an answer had sent the whole request
  bool responded_ = false;        // a 2xx answer was opened and its end is not yet emitted
  std::optional<bool> durable_;   // of the entry; no value: it is not written yet
  bool checked_ = false;          // checks of `input` have run
  bool usage_is_final_ = true;    // what the provider reported counts the whole answer
  bool emitted_later_ = false;    // the success of the attempt is not yet emitted
  KeptTexts kept_;                // of the answer, for `keep: content`
};

}  // namespace sallyport::proxy
