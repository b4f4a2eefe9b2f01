// Keeps drafts and facts in memory, and refuses a write if a test requests it.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/record/recorder.h"

namespace sallyport::test {

// Returns the text at a JSON Pointer of the body; `(absent)` if there is nothing.
inline std::string text_at(const core::Draft& draft, std::string_view pointer) {
  boost::system::error_code ignored;
  const json::value body = draft.body.members();
  const json::value* const found = body.find_pointer(pointer, ignored);
  if (found == nullptr) return "(absent)";
  return found->is_string() ? std::string(found->get_string()) : canonical_json(*found);
}

class FakeRecorder final : public core::Recorder {
 public:
  using core::Recorder::append;
  Task<std::vector<core::Position>> append(std::vector<core::Draft> drafts, core::Urgency urgency,
                                           std::vector<core::Fact> expected) override {
    if (before_append) std::exchange(before_append, nullptr)();
    const std::lock_guard lock(mutex_);
    ++commits;
    std::optional<Error>& refusal =
        urgency == core::Urgency::Announces ? refuse_announcements : refuse_reports;
    if (refusal) co_return std::unexpected(*refusal);
    if (refuse) {
      if (const std::optional<Error> error = refuse(drafts)) co_return std::unexpected(*error);
    }
    for (const core::Fact& fact : expected) {
      const auto found = facts_.find({fact.space, fact.key});
      const auto stored =
          found == facts_.end() ? std::nullopt : std::optional<std::string>(found->second);
      if (stored != fact.value) co_return fail(ErrorCode::Conflict, "changed meanwhile");
    }
    for (const core::Draft& draft : drafts) {
      for (const auto& change : draft.changes) {
        const auto asked = change->facts(stored_facts());
        if (!asked) co_return std::unexpected(asked.error());
      }
    }
    std::vector<core::Position> positions;
    for (core::Draft& draft : drafts) positions.push_back(place(std::move(draft)));
    co_return positions;
  }

  void owe(std::vector<core::Draft> drafts) override {
    const std::lock_guard lock(mutex_);
    for (core::Draft& draft : drafts) owed.push_back(std::move(draft));
  }

  Result<void> ready() const override {
    if (not_ready) return std::unexpected(*not_ready);
    return {};
  }

  Result<void> accept_call() override {
    if (full) return std::unexpected(*full);
    return {};
  }

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    const std::lock_guard lock(mutex_);
    const auto found = facts_.find({std::string(space), std::string(key)});
    if (found == facts_.end()) return std::nullopt;
    return found->second;
  }

  Result<Moment> moment(const std::vector<core::FactKey>& keys) override {
    Result<Moment> found = core::Recorder::moment(keys);
    const std::lock_guard lock(mutex_);
    if (found) found->size = written.size();
    return found;
  }

  Result<std::vector<core::Fact>> facts(std::string_view space) override {
    const std::lock_guard lock(mutex_);
    std::vector<core::Fact> found;
    for (const auto& [key, value] : facts_) {
      if (key.first == space) found.push_back({key.first, key.second, value});
    }
    return found;
  }

  Result<json::object> entry(std::uint64_t sequence) override {
    const std::lock_guard lock(mutex_);
    if (sequence >= written.size()) return fail(ErrorCode::NotFound, "no such entry");
    const core::Draft& draft = written[sequence];
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
                        {"body", draft.body.members()}};
  }

  const std::string& instance_id() const override { return instance; }
  bool alive(const std::string& id) const override { return !dead.contains(id); }
  Result<Claim> claim(std::string_view key) override {
    const std::lock_guard lock(mutex_);
    if (claimed_elsewhere.contains(std::string(key))) return nullptr;
    return std::make_shared<char>();
  }
  std::vector<std::uint64_t> take_late_records() override { return std::exchange(late, {}); }
  std::string encrypt(std::string_view text) override { return "sealed:" + std::string(text); }
  Result<std::string> decrypt(std::string_view sealed) const override {
    return std::string(sealed.substr(7));
  }

  // Accessors for tests.
  std::vector<core::Draft> of(core::Kind kind) const {
    std::vector<core::Draft> found;
    for (const core::Draft& draft : written) {
      if (draft.kind == kind) found.push_back(draft);
    }
    return found;
  }
  std::vector<core::Draft> records() const { return of(core::Kind::ToolAudit); }
  // `kind`, or `kind(outcome)` if an event has one.
  std::vector<std::string> events() const {
    std::vector<std::string> names;
    for (const core::Draft& draft : of(core::Kind::Event)) {
      std::string name(draft.body.at("kind").as_string());
      if (const json::value* const outcome = draft.body.if_contains("outcome")) {
        name += "(" + std::string(outcome->as_string()) + ")";
      }
      names.push_back(std::move(name));
    }
    return names;
  }

  std::string instance = "instance-1";
  std::optional<Error> refuse_announcements;
  std::optional<Error> refuse_reports;
  std::optional<Error> not_ready;
  std::optional<Error> full;  // no further call is accepted
  // Examines each commit, so that a test can make only some of them fail.
  std::function<std::optional<Error>(const std::vector<core::Draft>&)> refuse;
  // Called once, before the next commit: the action of another process between a read and a write.
  std::function<void()> before_append;
  std::set<std::string> dead;
  std::set<std::string> claimed_elsewhere;  // keys that another process has claimed
  std::vector<std::uint64_t> late;
  std::vector<core::Draft> written;
  std::vector<std::size_t> commit_of;  // for each of `written`, the number of its commit
  std::vector<core::Draft> owed;
  std::size_t commits = 0;

 private:
  // The writer holds the lock.
  core::FactChange::Stored stored_facts() const {
    return
        [this](std::string_view space, std::string_view key) -> Result<std::optional<std::string>> {
          const auto found = facts_.find({std::string(space), std::string(key)});
          if (found == facts_.end()) return std::nullopt;
          return found->second;
        };
  }

  core::Position place(core::Draft draft) {
    const std::uint64_t sequence = written.size();
    for (const auto& change : draft.changes) {
      for (core::Fact& fact : *change->facts(stored_facts()))
        draft.facts.push_back(std::move(fact));
    }
    for (const core::Fact& fact : draft.facts) {
      std::optional<std::string> value = fact.value;
      std::string& stored = facts_[{fact.space, fact.key}];
      if (fact.with_place) *value += "@" + std::to_string(sequence);
      if (fact.counts) value = std::to_string((stored.empty() ? 0 : std::stoull(stored)) + 1);
      if (value) {
        stored = *value;
      } else {
        facts_.erase({fact.space, fact.key});
      }
    }
    written.push_back(std::move(draft));
    commit_of.push_back(commits);
    return {sequence, "id-" + std::to_string(sequence)};
  }

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> facts_;
};

}  // namespace sallyport::test
