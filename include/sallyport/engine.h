// Sallyport inside a C++ program: every tool call decided, executed, inspected, recorded.
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

// What a guard can see beside the call.
struct GuardView {
  Classification classification{};
  unsigned pass = 1;
};

// How a function of the program is run. The default is on the thread that governs the call, which
// is quick and must not wait: one that never returns holds its call for good. `waits` gives it a
// thread of the pool, and ends the wait for it at the limit.
struct GuardOptions {
  bool waits = false;
  std::optional<std::chrono::milliseconds> limit{};  // else 2 s before a call, 1 s after it
  bool fail_open = false;  // its failure lets the call pass; each such stretch is on record
  json::value settings{};  // what it was configured with: part of the policy's hash
};

// How something that only listens is run. Without `waits` it runs on a thread that governs calls,
// and holds the call, and that thread, until it returns: it must be quick. With `waits` it has a
// thread of its own, where it hears one thing at a time; after `limit`, or 5 s, nobody waits for it
// any more, and it has failed.
struct ListenerOptions {
  bool waits = false;
  std::chrono::milliseconds limit{5000};
};

// When the intent of a call is on disk.
enum class WriteIntents {
  Strict,  // before every call
  Effect,  // before calls that have an effect; others become durable with their outcome
  // With the outcome, for all, and nobody waits for the disk: a crash can leave an effect that no
  // record names, a loss of power takes the records of the last fifth of a second.
  Relaxed,
};

class Engine;

// Everything that decides is given here; afterwards nothing can be added or taken away. For one
// thread. The functions given are called by threads of the engine, for different calls at the same
// time; what they capture must outlive the engine. A name that is taken, a function that is empty
// or a time that is not above zero makes `open` fail.
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

  // The folder of ledger and keys, made on first use. An empty one: a temporary folder, gone with
  // the engine.
  explicit EngineBuilder(std::filesystem::path data_folder);
  EngineBuilder(EngineBuilder&&) noexcept;
  ~EngineBuilder();

  // A policy as a file would say it (docs/guardrails.md). What it says goes before what the program
  // said; its guards stand where it is given. An invalid one makes `open` fail, with its place.
  EngineBuilder& policy(std::string text);
  EngineBuilder& policy_file(std::filesystem::path file);
  // What `~` and `home` mean in rules: an absolute folder. The library reads no environment;
  // without this folder, a rule about `~` is unknown for every path, so `deny` and `ask` rules ask.
  EngineBuilder& home_folder(std::filesystem::path folder);

  // What a program that the policy names under `external:` gets under this name, where it asks for
  // it. The library reads no environment.
  EngineBuilder& variable(std::string name, std::string value);

  EngineBuilder& tool(Tool tool);
  EngineBuilder& guard(std::string name, Guard judge, GuardOptions options = {});
  EngineBuilder& result_guard(std::string name, ResultGuard judge, GuardOptions options = {});
  // Hooks that rewrite run once, before everything that decides.
  EngineBuilder& pre_hook(std::string name, PreHook decide, GuardOptions options = {});
  EngineBuilder& rewriting_hook(std::string name, PreHook decide, GuardOptions options = {});
  EngineBuilder& authorizer(std::string name, Authorizer authorize, GuardOptions options = {});
  // The shipped guards of results, with their settings as a policy would write them.
  EngineBuilder& output_sanitizer(json::value settings = json::object{});
  EngineBuilder& size_limiter(json::value settings = json::object{});
  EngineBuilder& query_result();

  // The name `audit` is that of the ledger, which hears of everything first.
  EngineBuilder& hook(std::string name, Hook hear, ListenerOptions options = {});
  // A hook that adds rows: the events it returns, at most 16, become entries of the ledger on
  // topics of the program, beside the event it was told of. A row that is refused counts as its
  // failure.
  EngineBuilder& row_hook(std::string name, RowHook hear, ListenerOptions options = {});
  EngineBuilder& sink(std::string name, Sink take, ListenerOptions options = {});
  EngineBuilder& approver(Approver answer);  // none: calls wait for `Engine::answer`

  EngineBuilder& autonomy(Autonomy autonomy);  // `ActWithApproval` unless said otherwise
  EngineBuilder& durability(WriteIntents durability);
  // For the tool alone: what guards and people take is not counted. 60 s.
  EngineBuilder& time_limit(std::chrono::milliseconds limit);
  EngineBuilder& approval_time(std::chrono::seconds time);
  EngineBuilder& threads(unsigned count);  // for tools and for whatever `waits`; 8

  // Opens the ledger, closes what an earlier run left, and loads the plan. The builder is empty
  // afterwards.
  Result<std::unique_ptr<Engine>> open();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  friend class Engine;
};

struct CallOptions {
  std::stop_token cancel{};
  bool hold = true;  // wait while a person is asked; else the answer says `requires_confirmation`
  std::function<void(const json::value&)> on_progress{};  // called on a thread of the engine
};

// What came of the calls of one turn.
struct TurnEnd {
  std::vector<CallResult> results{};
  std::optional<Continuation> paused{};  // a person has to answer `approval_id` first
  std::string approval_id{};
};

struct HandedOut {
  HandOff hand_off{};
  std::vector<Answer> answered{};  // refused, or answered before: not handed out
};

// A dispatch made again from its record: the calls and questions of the program that an event set
// off, in their order. Each is decided by the policy of now. Nobody is asked: the answers that were
// recorded count. Nothing runs: results are those that were recorded, past the guards of now.
// A call that has no such answer or result is refused with a reason that begins with
// `replay_missing_answer` or `replay_missing_result`; each leaves a record of its own. From any
// thread; the engine must outlive it.
class Replay {
 public:
  Replay(const Replay&) = delete;
  ~Replay();

  Result<Answer> call(Call call);
  // `NotFound` with the cause `replay_missing_answer`: nobody had answered, or it was another
  // question.
  Result<HumanAnswer> ask(const HumanQuestion& question);

 private:
  friend class Engine;
  struct Body;
  explicit Replay(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

// Callable from any thread. The destructor cancels the calls that are under way, waits until they
// have returned, and for functions of the program that still run. Of the process that opened it
// alone: after a fork the child opens an engine of its own, on the same folder if it likes.
class Engine {
 public:
  Engine(const Engine&) = delete;
  ~Engine();

  // Waits for the answer. An error means that nothing may be shown: the call could not be recorded,
  // or was not a call. A refused call is a good answer that says so.
  Result<Answer> call(Call call, CallOptions options = {});
  // The same for a tool that answers in pieces: `on_chunk` gets each piece of what was released, in
  // order and on this thread, once all of it has passed the guards and is on record.
  Result<Answer> stream(Call call, const std::function<void(const json::value&)>& on_chunk,
                        CallOptions options = {});

  // The calls of one turn, in order. A call that needs a person pauses the turn. Session and turn
  // of all calls are those of the frame.
  Result<TurnEnd> run_turn(Continuation::Payload frame, std::vector<Call> calls);
  Result<TurnEnd> resume_turn(const Continuation& continuation, const std::string& session_id);

  // Calls that are decided here and executed by somebody else. The tools need not be registered: a
  // tool of this engine, or the policy, says how they are classified. With nothing to hand out, all
  // having been answered, the continuation has no id. Of a result that is submitted, `data` counts
  // where it is there, else `output`; one that has documents counts whole.
  Result<HandedOut> hand_out(Continuation::Payload frame, std::vector<Call> calls,
                             std::chrono::seconds within = std::chrono::hours(24));
  Result<std::vector<Answer>> submit(const Submission& submission, const std::string& session_id);

  // Asks people something that is about no call. With `hold` it waits: for an answer, the deadline
  // or a cancel. An error: the question is not on record, and nobody sees it.
  Result<HumanAnswer> ask(HumanQuestion question, CallOptions options = {});
  // How it stands now; the text of an answer that was erased is gone.
  Result<HumanAnswer> answer_to(const std::string& request_id);

  // `trigger_id` is that of the calls and questions of then.
  Result<std::unique_ptr<Replay>> replay(std::string trigger_id);

  // Writes an event of the program's own model, memory, background tasks or file access: durable
  // first, then told to the hooks. `subject` may say session, call and trace; an empty agent is
  // that of the event. An announcing event (`announces`) that returns an error was not announced:
  // do not do what it announces. Where a hook refused it, the engine has written its finish
  // already. `InvalidInput`: `check` refuses it, or the engine itself writes events of this kind.
  // `Conflict`: a finish without its start, or a start that is already open. Starts that a process
  // leaves open are finished by the next start of the engine, with a text that begins
  // `interrupted:` (EV-51).
  Result<void> emit(Event event, Subject subject = {});

  // A response of a model provider with an error status. Secrets in the body are redacted, then at
  // most 4 KiB of it are kept.
  ProviderError http_error(std::uint64_t status, std::string_view body,
                           std::optional<std::chrono::milliseconds> retry_after = {}) const;

  // A gate for one stream of the program's own text. Null: no check of this stage applies, and the
  // text goes its way untouched. `tool` for `ToolOutput`. `subject` names session, agent and trace
  // of what is put on record.
  Result<std::unique_ptr<GuardrailGate>> arm(GuardrailStage stage, const std::string& tool = {},
                                             Subject subject = {});
  // The same for one message of a model. Null: the policy has no checks.
  Result<std::unique_ptr<MessageGate>> arm_message(Subject subject = {});

  // Appends an event of the program; returns the sequence of its entry. `InvalidInput`: the topic
  // is one of the engine's, or a limit is passed, and nothing is written.
  Result<std::uint64_t> publish(TopicEvent event, const Subject& subject = {});
  // Events with an id greater than `after`, in order.
  Result<TopicPage> read_topic(const std::string& topic, std::uint64_t after = 0,
                               std::size_t limit = 100);
  Result<TopicFollower> follow(const std::string& topic, std::uint64_t after = 0,
                               std::size_t queue = 1024);
  // Where a named consumer stands; 0 before it moved. Durable, moves only forward, never passes the
  // latest id: else `Conflict`.
  Result<std::uint64_t> cursor(const std::string& topic, const std::string& consumer);
  Result<void> move_cursor(const std::string& topic, const std::string& consumer, std::uint64_t id);

  // What was asked for this session is taken back, and calls that wait end. Proposals stay. Returns
  // how many there were.
  Result<std::size_t> end_session(const std::string& session_id);

  // `reply.by` is the person, as the program authenticated them. Of several answers one counts; the
  // others are `Conflict`.
  Result<void> answer(const std::string& approval_id, const Reply& reply);
  // Runs what was proposed and is approved by now, and ends what was refused, each once; of tools
  // that this engine has. Call it now and then where the tier is `suggest`.
  Result<std::vector<Answer>> run_answered();
  Result<std::vector<EscalationItem>> escalations();
  Result<void> settle_escalation(const std::string& id, bool accepted, const std::string& by,
                                 const std::string& note = {});

  // In write order. A record some of whose content was erased is not among `records`; `record_json`
  // shows it with what is left.
  Result<std::vector<AuditRecord>> records(const RecordQuery& query = {});
  Result<std::vector<json::object>> record_json(const RecordQuery& query = {});
  Result<std::vector<json::object>> events(const EventQuery& query = {});  // EV-79

  // A receipt of one record, to be checked with `verifier_key` by anybody, offline.
  Result<std::string> receipt(std::uint64_t sequence);
  std::string verifier_key();  // empty where the ledger cannot be read
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
