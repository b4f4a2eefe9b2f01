// A Governor on a real ledger; a test can close it, reopen it, or leave it in the middle of a call.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/handoff/interrupted_call.h"
#include "core/record/journal.h"
#include "core/record/stored_record.h"
#include "guards/redact/storage_redactor.h"
#include "support/governed.h"
#include "support/ledger_checks.h"

namespace sallyport::test {

inline const guards::StorageRedactor& storage_redactor() {
  static const guards::StorageRedactor shared(*guards::Detectors::build());
  return shared;
}

class GovernedLedger {
 public:
  GovernedLedger() {
    ledger.redactor = &storage_redactor();
    ledger.close_interrupted = core::close_interrupted;
  }

  void open() {
    ledger.open();
    if (!plans) plans.emplace(*plan.build());
    governor.emplace(core::Governor::Parts{.plans = *plans,
                                           .recorder = *ledger,
                                           .redactor = *ledger.redactor,
                                           .clock = clock,
                                           .entropy = entropy,
                                           .digest = ledger->digest(),
                                           .sinks = sinks,
                                           .approver = approver});
  }
  void close() {
    governor.reset();
    ledger.close();
  }

  Result<Answer> call(Call asked, core::Caller caller = {}) {
    return run_now(governor->run(std::move(asked), tool, std::move(caller)));
  }

  void tool_answers(FakeUpstream::Simple answer) {
    upstream = std::make_shared<FakeUpstream>(std::move(answer));
    tool = upstream;
  }

  // Runs `work` in a process that dies without cleanup as soon as `work` is done.
  void die_after(const std::function<void()>& work) {
    close();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      open();
      work();
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  // Kills the process while its tool runs.
  void die_while_running(Call asked) {
    const auto survivor = tool;
    tool =
        std::make_shared<FakeUpstream>([](Call, std::stop_token) -> Task<Envelope> { _exit(0); });
    die_after([&] {
      (void)call(std::move(asked));
      ADD_FAILURE() << "the tool was not called";
    });
    tool = survivor;
  }

  std::vector<AuditRecord> records() {
    std::vector<AuditRecord> found;
    for (const Seen& seen : all_entries(ledger.store())) {
      if (seen.entry.at("kind") != json::value("tool_audit")) continue;
      const Result<json::object> entry = ledger->entry(seen.stored.sequence);
      EXPECT_TRUE(entry);
      const Result<AuditRecord> record = core::audit_record_of(*entry);
      EXPECT_TRUE(record) << record.error().message;
      if (record) found.push_back(*record);
    }
    return found;
  }

  // Returns `outcome`, or `outcome, open` for a record that is not the last of its call.
  std::vector<std::string> outcomes() {
    std::vector<std::string> found;
    for (const AuditRecord& record : records()) {
      found.push_back(std::string(to_string(record.outcome.kind)) +
                      (record.terminal ? "" : ", open"));
    }
    return found;
  }

  std::size_t terminal_records(const std::string& call_id) {
    std::size_t count = 0;
    for (const AuditRecord& record : records()) {
      if (record.call_id == call_id && record.terminal) ++count;
    }
    return count;
  }

  std::vector<std::string> files_with(std::string_view text) {
    return test::files_with(ledger.folder.path(), text);
  }

  TestLedger ledger;
  core::PlanBuilder plan = core::PlanBuilder().autonomy(Autonomy::ActAuto);
  std::optional<ChangingPlan> plans;
  std::vector<std::shared_ptr<const core::Sink>> sinks;
  std::shared_ptr<const core::Approver> approver;
  std::shared_ptr<FakeUpstream> upstream = std::make_shared<FakeUpstream>();
  std::shared_ptr<core::Upstream> tool = upstream;  // an abandoned call keeps it
  std::optional<core::Governor> governor;
  SystemClock clock;
  SystemEntropy entropy;
};

}  // namespace sallyport::test
