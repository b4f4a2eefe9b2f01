// Sallyport inside a C++ program. The engine decides, runs, inspects and records every tool call.
//
//   auto engine = EngineBuilder("my-agent-data")
//                     .tool({.name = "add",
//                            .classification = {Tier::Observe, "none"},
//                            .run = [](const Invocation& i) -> Result<json::value> {
//                              return i.call().input.at("a").as_int64() +
//                                     i.call().input.at("b").as_int64();
//                            }})
//                     .guard("small-numbers",
//                            [](const Call& call, const GuardView&) -> Result<Verdict> {
//                              if (call.input.at("a").as_int64() < 1000) return Verdict::allow();
//                              return Verdict::deny("too large");
//                            })
//                     .open();
//   Result<Answer> answer = (*engine)->call({.agent_id = "agent:me", .session_id = "s-1",
//                                            .tool = "add", .input = {{"a", 1}, {"b", 2}}});
//   answer->result.output;   // "3", and a signed record of it is on disk
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sallyport/answer.h"
#include "sallyport/approval.h"
#include "sallyport/audit_record.h"
#include "sallyport/authorizer.h"
#include "sallyport/continuation.h"
#include "sallyport/escalation.h"
#include "sallyport/event.h"
#include "sallyport/guardrail_gate.h"
#include "sallyport/human_question.h"
#include "sallyport/model_error.h"
#include "sallyport/pre_hook.h"
#include "sallyport/record_query.h"
#include "sallyport/result_context.h"
#include "sallyport/subject.h"
#include "sallyport/tool.h"
#include "sallyport/topic.h"
#include "sallyport/verdict.h"

namespace sallyport {

// What a guard knows in addition to the call.
struct GuardView {
  Classification classification{};
  unsigned pass = 1;  // a guard judges again when another guard rewrites the input
};

// How the engine runs a guard function. By default the function runs on the thread that governs the
// call. It must be quick there: a function that never returns blocks its call forever. With `waits`
// the function runs on a thread of the pool, and the engine stops waiting at `limit`.
struct GuardOptions {
  bool waits = false;
  std::optional<std::chrono::milliseconds> limit{};  // default: 2 s before a call, 1 s after it
  bool fail_open = false;  // a failure lets the call pass; the ledger records each such interval
  json::value settings{};  // the guard's configuration; it is part of the policy hash
};

// How the engine runs a listener: a hook or a sink. Without `waits` the listener runs on a thread
// that governs calls. It must be quick there: the call and the thread are blocked until it returns.
// With `waits` the listener has a thread of its own and receives one message at a time. The engine
// stops waiting after `limit`, at most 5 s, and counts the listener as failed.
struct ListenerOptions {
  bool waits = false;
  std::chrono::milliseconds limit{5000};
};

// When the intent of a call becomes durable.
enum class WriteIntents {
  Strict,  // before every call
  Effect,  // before calls that have an effect; for other calls together with their outcome
  // Together with the outcome, for all calls, and no call waits for the disk. A crash can leave an
  // effect without a record. A power loss can lose the records of the last 0.2 s.
  Relaxed,
};

class Engine;

// Collects everything that decides about calls and opens an engine. An open engine cannot be
// changed. Use the builder on one thread. The engine calls the functions on its own threads, for
// several calls at the same time; what they capture must outlive the engine. A duplicate name, an
// empty function or a time that is not positive makes `open` fail.
class EngineBuilder {
 public:
  using Guard = std::function<Result<Verdict>(const Call&, const GuardView&)>;
  using ResultGuard = std::function<Result<Verdict>(const Envelope&, const ResultContext&)>;
  using PreHook = std::function<Result<PreHookDecision>(const PreHookContext&)>;
  using Authorizer = std::function<Result<Authorization>(const AuthorizationRequest&)>;
  using Hook = std::function<Result<void>(const Event&, const Subject&)>;
  using RowHook = std::function<Result<std::vector<TopicEvent>>(const Event&, const Subject&)>;
  using Sink = std::function<Result<void>(const AuditRecord&)>;
  using Approver = std::function<Result<Reply>(const Question&)>;

  // The folder of the ledger and its keys. It is created on first use. An empty path means a
  // temporary folder that is deleted with the engine.
  explicit EngineBuilder(std::filesystem::path data_folder);
  EngineBuilder(EngineBuilder&&) noexcept;
  ~EngineBuilder();

  // Keeps the ledger in PostgreSQL, as the log `log` that gateways and engines of several machines
  // write together (docs/cluster.md). The data folder then holds the keys, which must be those of
  // the other writers. `url`: `postgresql://user@host/database?sslmode=verify-full`.
  EngineBuilder& shared_log(std::string url, std::string log = "main");

  // Adds a policy: the text of a policy file (docs/guardrails.md). The policy takes precedence over
  // settings of the program. Guards run in the order in which they are added; the guards of the
  // policy run at the position of this call. `open` fails with the place in the text if the policy
  // is invalid.
  EngineBuilder& policy(std::string text);
  EngineBuilder& policy_file(std::filesystem::path file);
  // Sets the absolute folder that `~` and `home` mean in rules. The library reads no environment.
  // Without this folder the engine cannot decide a rule about `~`: a `deny` or `ask` rule then asks
  // a person.
  EngineBuilder& home_folder(std::filesystem::path folder);

  // Sets a variable that programs under `external:` in the policy can request by name. The library
  // reads no environment.
  EngineBuilder& variable(std::string name, std::string value);

  // Adds a tool. A call to a tool that was not added is refused.
  EngineBuilder& tool(Tool tool);
  // Adds a function that decides before the call (`guard`, `pre_hook`, `authorizer`) or about its
  // result (`result_guard`). A function that throws, fails or is late denies the call or withholds
  // the result, unless its options say `fail_open`.
  EngineBuilder& guard(std::string name, Guard judge, GuardOptions options = {});
  EngineBuilder& result_guard(std::string name, ResultGuard judge, GuardOptions options = {});
  // A rewriting hook runs once, before all guards that decide.
  EngineBuilder& pre_hook(std::string name, PreHook decide, GuardOptions options = {});
  EngineBuilder& rewriting_hook(std::string name, PreHook decide, GuardOptions options = {});
  EngineBuilder& authorizer(std::string name, Authorizer authorize, GuardOptions options = {});
  // The built-in result guards. Their settings are those that a policy would contain.
  EngineBuilder& output_sanitizer(json::value settings = json::object{});
  EngineBuilder& size_limiter(json::value settings = json::object{});
  EngineBuilder& query_result();

  // Adds a listener for events. The name `audit` is reserved for the ledger, which receives every
  // event first. If a hook returns an error for an event that announces an effect, the effect does
  // not happen.
  EngineBuilder& hook(std::string name, Hook on_event, ListenerOptions options = {});
  // A hook that returns rows. The returned events, at most 16, become ledger entries on topics of
  // the program, next to the event that the hook received. A refused row is a failure of the hook.
  EngineBuilder& row_hook(std::string name, RowHook on_event, ListenerOptions options = {});
  // Adds a listener for audit records. It receives each record after the record is durable.
  EngineBuilder& sink(std::string name, Sink take, ListenerOptions options = {});
  // Sets the function that answers questions about calls. Without one, calls wait for
  // `Engine::answer` or for an answer from another process.
  EngineBuilder& approver(Approver answer);

  EngineBuilder& autonomy(Autonomy autonomy);          // default: `ActWithApproval`
  EngineBuilder& durability(WriteIntents durability);  // default: `Effect`
  // Limits the run of the tool. Time of guards and people does not count. Default: 60 s.
  EngineBuilder& time_limit(std::chrono::milliseconds limit);
  // Sets the deadline of a question to a person. Default: 24 h.
  EngineBuilder& approval_time(std::chrono::seconds time);
  EngineBuilder& threads(unsigned count);  // for tools and functions with `waits`; default: 8

  // Opens the ledger, closes the calls that an earlier run left open, and loads the plan. The
  // builder is empty afterwards.
  Result<std::unique_ptr<Engine>> open();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  friend class Engine;
};

// Options of one call or question.
struct CallOptions {
  std::stop_token cancel{};
  // True: wait while a person is asked. False: return `requires_confirmation` at once.
  bool hold = true;
  std::function<void(const json::value&)> on_progress{};  // called on a thread of the engine
};

// The result of one turn.
struct TurnEnd {
  std::vector<CallResult> results{};
  std::optional<Continuation> paused{};  // set if a person must answer `approval_id` first
  std::string approval_id{};
};

// The result of `Engine::hand_out`.
struct HandedOut {
  HandOff hand_off{};
  std::vector<Answer> answered{};  // calls that are not handed out: refused, or answered before
};

// Replays a dispatch from its records: the calls and questions that one event triggered, in their
// order. The current policy decides about each call. No person is asked; the recorded answers
// count. No tool runs; the recorded results pass the current guards. A call without a recorded
// answer or result is refused with a reason that begins with `replay_missing_answer` or
// `replay_missing_result`. Each replayed call writes a record of its own. The program owns the
// replay and must destroy it before the engine. Its methods may be called from any thread.
class Replay {
 public:
  Replay(const Replay&) = delete;
  ~Replay();

  Result<Answer> call(Call call);
  // `NotFound` with the cause `replay_missing_answer`: the question was not answered, or it is not
  // the recorded question.
  Result<HumanAnswer> ask(const HumanQuestion& question);

 private:
  friend class Engine;
  struct Body;
  explicit Replay(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

// The engine: the only way to the tools of the program. The program owns it. Every method may be
// called from any thread. The destructor cancels running calls and waits for them and for functions
// of the program that still run. An engine belongs to the process that opened it. After a fork the
// child opens an engine of its own; it may use the same folder.
class Engine {
 public:
  Engine(const Engine&) = delete;
  ~Engine();

  // Runs a call and waits for its answer. A refused call is an answer that says so. An error means
  // that the call could not be recorded or is malformed: show nothing.
  Result<Answer> call(Call call, CallOptions options = {});
  // Runs a call to a tool that answers in pieces. After all pieces have passed the guards and are
  // recorded, it calls `on_chunk` for each released piece, in order and on this thread.
  Result<Answer> stream(Call call, const std::function<void(const json::value&)>& on_chunk,
                        CallOptions options = {});

  // Runs the calls of one turn in order. A call that needs a person pauses the turn. All calls take
  // session and turn from the frame. `InvalidInput`: a call is malformed; no call has run.
  Result<TurnEnd> run_turn(Continuation::Payload frame, std::vector<Call> calls);
  // Continues a paused turn after its question is answered. The recorded answer decides, not the
  // caller. `Conflict` with the cause `approval_pending`: there is no answer yet. `Error::cause`
  // names every other reason too (docs/audit.md).
  Result<TurnEnd> resume_turn(const Continuation& continuation, const std::string& session_id);

  // Decides calls that a client runs. The tools need not be registered; a tool of this engine or
  // the policy classifies them. If all calls are already answered, the continuation has no id.
  // `submit` takes one result for each call. The guards judge the whole result if it has documents,
  // otherwise `data`, or `output` if `data` is null.
  Result<HandedOut> hand_out(Continuation::Payload frame, std::vector<Call> calls,
                             std::chrono::seconds within = std::chrono::hours(24));
  Result<std::vector<Answer>> submit(const Submission& submission, const std::string& session_id);

  // Asks people a question that is not about a call. With `hold` it waits for an answer, the
  // deadline or a cancel. An error means that the question is not recorded and not shown.
  Result<HumanAnswer> ask(HumanQuestion question, CallOptions options = {});
  // Returns the current state of a question. The text of an erased answer is gone. `NotFound`: no
  // question has this id.
  Result<HumanAnswer> answer_to(const std::string& request_id);

  // Opens a replay of the calls and questions that were recorded with this trigger id.
  Result<std::unique_ptr<Replay>> replay(std::string trigger_id);

  // Records an event of the program's own model, memory, background tasks or file access, then
  // notifies the hooks. `subject` may name session, call and trace; an empty agent is filled in
  // from the event. If an announcing event (`announces`) returns an error, do not do what it
  // announces; if a hook refused it, the engine has already recorded its finish. `InvalidInput`:
  // `check` refuses the event, or only the engine may write this kind. `Conflict`: a finish without
  // a start, or a start that is already open. A start that a process leaves open is finished when
  // an engine next opens the ledger, with a text that begins with `interrupted:` (EV-51).
  Result<void> emit(Event event, Subject subject = {});

  // Builds the error of a model provider's response with an error status. Secrets in the body are
  // redacted; then at most 4 KiB are kept.
  ProviderError http_error(std::uint64_t status, std::string_view body,
                           std::optional<std::chrono::milliseconds> retry_after = {}) const;

  // Opens a gate for one stream of the program's own text. Null: no check applies to this stage;
  // pass the text on unchanged. `tool` is for `ToolOutput`. `subject` names session, agent and
  // trace for the records.
  Result<std::unique_ptr<GuardrailGate>> arm(GuardrailStage stage, const std::string& tool = {},
                                             Subject subject = {});
  // Opens a gate for one message of a model. Null: the policy has no checks.
  Result<std::unique_ptr<MessageGate>> arm_message(Subject subject = {});

  // Appends an event of the program and returns the sequence of its entry. `InvalidInput`: the
  // topic belongs to the engine, or the event exceeds a limit; nothing is written.
  Result<std::uint64_t> publish(TopicEvent event, const Subject& subject = {});
  // Returns events with an id greater than `after`, in order. An unknown topic has no events.
  Result<TopicPage> read_topic(const std::string& topic, std::uint64_t after = 0,
                               std::size_t limit = 100);
  // Opens a follower that begins after the id `after`. It queues at most `queue` events.
  Result<TopicFollower> follow(const std::string& topic, std::uint64_t after = 0,
                               std::size_t queue = 1024);
  // The durable position of a named consumer; 0 before its first move. It moves forward only and
  // never past the latest id; any other move is `Conflict`.
  Result<std::uint64_t> cursor(const std::string& topic, const std::string& consumer);
  Result<void> move_cursor(const std::string& topic, const std::string& consumer, std::uint64_t id);

  // Cancels the open questions of this session and ends the calls that wait for them. Proposals
  // stay. Returns the number of cancelled questions.
  Result<std::size_t> end_session(const std::string& session_id);

  // Answers a question. The program has authenticated the person `reply.by`. Only one answer
  // counts; every other answer is `Conflict`. `NotFound`: no question has this id.
  Result<void> answer(const std::string& approval_id, const Reply& reply);
  // Runs approved proposals and closes refused ones, each once, for the tools of this engine. Under
  // the tier `suggest`, call it from time to time.
  Result<std::vector<Answer>> run_answered();
  // Returns the open escalations.
  Result<std::vector<EscalationItem>> escalations();
  // Closes an escalation as accepted or dismissed. `NotFound`: it is not open.
  Result<void> settle_escalation(const std::string& id, bool accepted, const std::string& by,
                                 const std::string& note = {});

  // All three return entries in write order. `records` skips a record with erased content;
  // `record_json` returns what is left of it.
  Result<std::vector<AuditRecord>> records(const RecordQuery& query = {});
  Result<std::vector<json::object>> record_json(const RecordQuery& query = {});
  Result<std::vector<json::object>> events(const EventQuery& query = {});  // EV-79

  // Returns the receipt of one record. Anyone can check it offline with `verifier_key`. `NotFound`:
  // the ledger has no such entry, or its bytes were pruned.
  Result<std::string> receipt(std::uint64_t sequence);
  std::string verifier_key();  // empty: the ledger cannot be read
  const std::string& policy_hash() const;

 private:
  friend class Agent;
  friend class EngineBuilder;
  friend class Replay;
  struct Body;
  explicit Engine(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace sallyport
