#include "support/call_history_ledger.h"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include "core/handoff/interrupted_call.h"
#include "core/record/journal.h"

namespace sallyport::test {

namespace asio = boost::asio;

namespace {

std::unexpected<Error> no_space() {
  return fail(ErrorCode::Unavailable, "ledger_unavailable: no_space", {}, "no_space");
}

}  // namespace

std::optional<std::string> ModelDisk::fact(std::string_view space, std::string_view key) const {
  const auto found = facts.find({std::string(space), std::string(key)});
  if (found == facts.end()) return std::nullopt;
  return found->second;
}

void ModelDisk::erase_fact(std::string_view space, std::string_view key) {
  facts.erase({std::string(space), std::string(key)});
}

void ModelDisk::apply(const core::Draft& draft, std::uint64_t sequence, Facts& facts) {
  for (const core::Fact& fact : draft.facts) {
    const std::pair<std::string, std::string> name{fact.space, fact.key};
    if (fact.counts) {
      std::string& stored = facts[name];
      stored = std::to_string((stored.empty() ? 0 : std::stoull(stored)) + 1);
    } else if (!fact.value) {
      facts.erase(name);
    } else {
      facts[name] = *fact.value + (fact.with_place ? "@" + std::to_string(sequence) : "");
    }
  }
}

core::Position ModelDisk::place(core::Draft draft, std::uint64_t moment,
                                const std::string& instance) {
  const std::uint64_t sequence = entries.size();
  apply(draft, sequence, facts);
  entries.push_back({std::move(draft), commits, moment, instance});
  return {sequence, "id-" + std::to_string(sequence)};
}

ModelLedger::ModelLedger(ModelDisk& disk, asio::io_context& loop, std::string instance)
    : disk_(disk), loop_(loop), instance_(std::move(instance)) {
  disk_.alive.insert(instance_);
}

// Other coroutines run before and after a write, as they do during a real write.
Async<void> ModelLedger::hesitate() {
  const std::size_t turns = disk_.writes % 3;
  for (std::size_t i = 0; i < turns; ++i) co_await asio::post(loop_, asio::use_awaitable);
}

// Nothing of this process runs any more: the owner of the loop drops the work left on it.
Async<void> ModelLedger::die() {
  disk_.died = true;
  loop_.stop();
  asio::steady_timer never(loop_, asio::steady_timer::time_point::max());
  boost::system::error_code ignored;
  co_await never.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

Async<bool> ModelLedger::begin_write(core::Urgency urgency) {
  const std::size_t number = ++disk_.writes;
  const Fault& fault = disk_.fault;
  if (fault.kind == Fault::Kind::DiesBefore && number == fault.at) co_await die();
  const bool inside = number >= fault.at && number < fault.at + fault.period;
  const bool refused =
      inside &&
      (fault.kind == Fault::Kind::Refuses ||
       (fault.kind == Fault::Kind::RefusesAnnouncements && urgency == core::Urgency::Announces));
  healthy_ = !refused;
  ++(refused ? disk_.refusals : disk_.commits);
  co_return !refused;
}

void ModelLedger::pay_debts() {
  for (core::Draft& draft : std::exchange(owed_, {})) {
    (void)disk_.place(std::move(draft), disk_.next_moment(), instance_);
  }
}

Task<std::vector<core::Position>> ModelLedger::append(std::vector<core::Draft> drafts,
                                                      core::Urgency urgency,
                                                      std::vector<core::Fact> expected) {
  co_await hesitate();
  if (!co_await begin_write(urgency)) co_return no_space();
  const bool dies = disk_.fault.kind == Fault::Kind::DiesAfter && disk_.writes == disk_.fault.at;
  pay_debts();
  bool as_expected = true;
  for (const core::Fact& fact : expected) {
    as_expected = as_expected && disk_.fact(fact.space, fact.key) == fact.value;
  }
  std::vector<core::Position> positions;
  const std::uint64_t moment = disk_.next_moment();
  for (const core::Draft& draft : drafts) {
    if (!as_expected) break;
    positions.push_back(disk_.place(draft, moment, instance_));
    if (on_written) on_written(draft);
  }
  if (dies) co_await die();
  co_await hesitate();
  if (!as_expected) co_return fail(ErrorCode::Conflict, "changed meanwhile");
  co_return positions;
}

void ModelLedger::owe(std::vector<core::Draft> drafts) {
  for (core::Draft& draft : drafts) owed_.push_back(std::move(draft));
}

Result<void> ModelLedger::ready() const {
  if (!healthy_) return no_space();
  if (owed_.empty()) return {};
  return fail(ErrorCode::Unavailable, "records of earlier calls are still owed", {}, "busy");
}

Result<std::optional<std::string>> ModelLedger::fact(std::string_view space, std::string_view key) {
  return disk_.fact(space, key);
}

Result<std::vector<core::Fact>> ModelLedger::facts(std::string_view space) {
  std::vector<core::Fact> found;
  for (const auto& [name, value] : disk_.facts) {
    if (name.first == space) found.push_back({name.first, name.second, value});
  }
  return found;
}

Result<json::object> ModelLedger::entry(std::uint64_t sequence) {
  if (sequence >= disk_.entries.size()) return fail(ErrorCode::NotFound, "no such entry");
  const auto& [draft, commit, moment, instance] = disk_.entries[sequence];
  return json::object{{"sequence", sequence},
                      {"kind", to_string(draft.kind)},
                      {"recorded_at", "2026-01-01T00:00:00.000000Z"},
                      {"instance_id", instance},
                      {"call_id", draft.subject->call_id},
                      {"session_id", draft.subject->session_id},
                      {"agent_id", draft.subject->agent_id},
                      {"server", draft.subject->server},
                      {"tool_name", draft.subject->tool_name},
                      {"trace_id", draft.subject->trace_id},
                      {"policy_hash", draft.subject->policy_hash},
                      {"body", draft.body}};
}

bool ModelLedger::alive(const std::string& instance_id) const {
  return disk_.alive.contains(instance_id);
}

Result<std::string> ModelLedger::decrypt(std::string_view sealed) const {
  return std::string(sealed.substr(sealed.find(':') + 1));
}

Task<void> ModelLedger::recover() {
  if (!co_await begin_write(core::Urgency::Announces)) co_return no_space();
  const bool dies = disk_.fault.kind == Fault::Kind::DiesAfter && disk_.writes == disk_.fault.at;
  const Result<std::vector<core::Fact>> open_calls = facts("open_call");
  for (const core::Fact& open : *open_calls) {
    const std::optional<core::Placed> placed = core::split_place(*open.value);
    if (!placed || alive(placed->value)) continue;
    for (core::Draft& draft : core::close_interrupted(*entry(placed->sequence))) {
      (void)disk_.place(std::move(draft), disk_.next_moment(), instance_);
    }
    disk_.erase_fact(open.space, open.key);
  }
  if (dies) co_await die();
  co_return Result<void>{};
}

Task<void> ModelLedger::probe() {
  if (!co_await begin_write(core::Urgency::Announces)) co_return no_space();
  pay_debts();
  co_return Result<void>{};
}

}  // namespace sallyport::test
