// One request of an agent to a model, from its first byte to its terminal entry:
//
//   read -> chosen -> checked -> (attempted -> answered) -> recorded
//
// Whatever ends it, exactly one entry of kind `model_audit` says so (MP-66), and the final frame
// leaves after that entry is durable (MP-68).
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
#include "proxy/event_teller.h"
#include "proxy/meter.h"
#include "proxy/owned_state.h"
#include "proxy/record.h"
#include "proxy/routes.h"
#include "proxy/upstreams.h"
#include "telemetry/tracer.h"

namespace sallyport::proxy {

// Upstreams, keys and prices as one step: a request keeps what it began with (MP-84).
struct Live {
  Settings settings{};
  UpstreamList upstreams{};
};

// What all requests share. Owned by the front.
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
  net::Quota bodies;       // of requests, decoded
  net::Turnstile begins;   // of requests that were read
  net::TaskGroup& asides;  // work that continues after a request has ended
  std::stop_token ending;  // the process ends, and streams with it (MP-85)
};

// Names that `Connection` says are for one hop only, in lower case.
std::vector<std::string> hop_headers(const net::HttpHeaders& headers);

class ModelExchange {
 public:
  ModelExchange(Shared& shared, std::shared_ptr<const Live> live, net::ServerExchange& client,
                Route route);
  ModelExchange(const ModelExchange&) = delete;

  Async<void> run();
  // An answer of our own, recorded like any other: no provider is asked.
  Async<void> answer_here(net::ServerResponse response);

 private:
  // Why a request ends before its first byte.
  struct Refusal {
    llm::ApiError error{};
    Outcome outcome = Outcome::Refused;
    std::string reason{};           // for the record; empty: the message
    std::string decision = "deny";  // `x-sallyport-decision`
    std::optional<std::uint64_t> retry_after_s{};
  };
  using Ended = std::optional<Refusal>;  // no value: it goes on
  // An answer of the provider that passes as it is: errors, and routes without an output stage.
  struct Opened {
    std::shared_ptr<ModelUpstream> upstream;  // shared: a reload leaves it to requests that run
    std::unique_ptr<net::HttpExchange> exchange;
    net::HttpHead head;
  };

  Async<Ended> serve();
  // exchange_request.cc
  void begin();
  Ended read_body();
  Ended choose();
  Ended obey_rules();
  Async<Ended> check_input();
  Ended owns_state();
  Ended owns_ids();
  void touch_state(const std::string& kind, const std::string& id, OwnedState::Owner owner);
  Ended refuse_elsewhere();
  void take_upstream(const std::string& name);
  void answer_unanswered(std::vector<llm::UnansweredCall> calls);
  Refusal deny(unsigned status, std::string code, std::string message) const;
  // The same, for what is no fault of the request.
  Refusal fault(unsigned status, std::string code, std::string message) const;
  Refusal busy() const;
  // exchange_attempts.cc
  Async<Ended> forward();
  Async<Ended> attempt(const std::shared_ptr<ModelUpstream>& upstream, bool last, Opened& opened);
  // The head of the answer. `upstream_exchange_` is left to the caller.
  Task<net::HttpHead> send(net::HttpExchange& exchange, net::HttpRequest request);
  // Counts for the circuit what came, and tells of it. False: it may be asked for again.
  bool stands(const net::HttpHead& head, ModelUpstream& upstream);
  Result<net::HttpRequest> upstream_request(const ModelUpstream& upstream);
  // The query without the event that the client names.
  std::string take_starting_after(std::string_view query);
  Refusal over_budget(std::string message);
  Ended reserve();  // with the first attempt
  void price();
  void settle(core::Draft& record);
  Async<Ended> announce_attempt();
  void tell_attempt(std::optional<std::string> error);
  void tell_opened();  // once, where an answer was opened
  Async<bool> wait_for_retry(std::chrono::milliseconds wait);
  Refusal unreachable(const Error& error) const;
  std::string without_keys(std::string text) const;
  // exchange_answer.cc
  Async<Ended> answer(Opened opened);
  Async<Ended> pass_error(Opened opened);
  Async<Ended> stream_answer(Opened opened, llm::AnswerAdapter& adapter);
  // `adapter` null: the route has no output stage.
  Async<Ended> whole_answer(Opened opened, llm::AnswerAdapter* adapter);
  Async<std::optional<Error>> relay(Opened& opened, llm::AnswerAdapter& adapter,
                                    ClientStream& stream);
  Async<void> finish_stream(ClientStream& stream, llm::AnswerAdapter& adapter,
                            std::optional<Error> failed);
  void tell_response(bool success, std::optional<std::string> error);
  void take_observed(const llm::AnswerAdapter& adapter);
  void take_ids(const std::string& answer);  // of an answer that passed unchecked
  OwnedState::Owner owner() const;           // of what this request obtains
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
  SteadyTime::duration waited_{};  // for the provider
  std::stop_source gone_;
  ModelRecord record_;
  std::vector<core::Draft> findings_;
  std::vector<core::Fact> facts_;
  std::vector<std::shared_ptr<const core::FactChange>> changes_;
  std::vector<llm::UnansweredCall> unanswered_;
  DoorParts doors_;
  std::shared_ptr<EventTeller> events_;  // shared with its coroutine, which may outlive this
  std::string decision_ = "allow";
  net::Quota::Share room_;  // that the body takes

  std::string body_;                     // as it came, decoded
  json::value parsed_;                   // the same
  llm::Splice edits_;                    // of what goes upstream
  std::optional<SteadyTime> attempted_;  // first
  std::string response_model_;           // as the provider calls it
  std::uint64_t text_bytes_ = 0;
  std::optional<llm::Request> request_;
  std::vector<std::shared_ptr<ModelUpstream>> candidates_;  // shared, as above
  std::vector<std::string> secrets_;                        // keys that no text may show (MP-26)
  bool own_retries_ = false;                     // the proxy has tried again, the client need not
  bool asked_usage_ = false;                     // by us, not by the client
  std::optional<std::uint64_t> starting_after_;  // of a stream that is resumed
  net::HttpExchange* upstream_exchange_ = nullptr;       // that the client's going cancels
  std::shared_ptr<const core::FactChange> reservation_;  // travels with the first attempt
  bool reserved_ = false;
  Amount estimate_;
  std::optional<core::TextBlock> blocked_;
  bool provider_failed_ = false;  // its stream ended with an error of its own
  bool opened_ = false;           // the provider has begun an answer
  bool responded_ = false;        // a 2xx answer was opened, and its end is not told yet
  bool concluded_ = false;
  bool checked_ = false;     // checks of `input` have run
  bool told_later_ = false;  // that the attempt worked is not told yet
  KeptTexts kept_;           // of the answer, for `keep: content`
};

}  // namespace sallyport::proxy
