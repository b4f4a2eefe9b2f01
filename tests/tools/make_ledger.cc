// make_ledger FOLDER COUNT [AT_ONCE]: writes a ledger with COUNT calls through the product's own
// composition root, for tests that read it from outside.
//
// With AT_ONCE, that many calls are one commit and their records have all members that lists of
// calls read, for measurements of large ledgers.
//
// Every call has an intent and a terminal tool-audit record. Call 1 was blocked, call 2 has hidden
// characters and a secret in its content, call 3 has no known outcome, and call 4 has an intent
// only.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "workspace/workspace.h"

namespace {

using namespace sallyport;

constexpr const char* kTools[] = {"read_file", "write_file", "run_command"};

Subject subject_of(std::uint64_t call) {
  return {.policy_hash = "sha256:" + std::string(64, '1'),
          .call_id = fmt::format("call-{:05}", call),
          .session_id = fmt::format("session-{}", call / 10),
          .agent_id = fmt::format("agent-{}", call % 3),
          .server = "files",
          .tool_name = kTools[call % 3]};
}

json::object input_of(std::uint64_t call) {
  if (call == 2) {
    return {{"path", "/tmp/\x1b[31mred\xe2\x80\xae"},
            {"api_key", "sk-live-0123456789abcdef0123456789"}};
  }
  return {{"path", fmt::format("/tmp/file-{}", call)}};
}

core::Draft intent(std::uint64_t call) {
  core::Draft draft{.kind = core::Kind::Intent, .subject = subject_of(call)};
  draft.body = {{"call_id", draft.subject->call_id}, {"effective_input", input_of(call)}};
  return draft;
}

core::Draft outcome(std::uint64_t call) {
  core::Draft draft{.kind = core::Kind::ToolAudit, .subject = subject_of(call)};
  draft.outcome = call == 1 ? "blocked" : "completed";
  json::object ended{{"kind", draft.outcome}};
  if (call == 1) {
    ended["reason"] = "outside of the project";
  } else {
    ended["result"] =
        json::object{{"success", call != 3}, {"output", fmt::format("content number {}", call)}};
  }
  draft.body = {{"call_id", draft.subject->call_id},
                {"tool_name", draft.subject->tool_name},
                {"terminal", true},
                {"effect_state", call == 1   ? "none"
                                 : call == 3 ? "unknown"
                                             : "done"},
                {"requested_input", input_of(call)},
                {"effective_input", input_of(call)},
                {"outcome", std::move(ended)}};
  return draft;
}

// The members of a call's record that only call lists read.
void make_whole(core::Draft& draft) {
  const std::string digest = "hmac-sha256:" + std::string(64, '2');
  draft.body["tool_call_id"] = draft.subject->call_id;
  draft.body["display_name"] = draft.subject->tool_name;
  draft.body["tier"] = "Confirm";
  draft.body["turn"] = 0;
  draft.body["provenance"] = json::object{{"model", "unknown"}, {"provider", "unknown"}};
  draft.body["request_digest"] = digest;
  draft.body["call_digest"] = digest;
  draft.body["effect_class"] = "fs.read";
  draft.body["recovery_class"] = "side_effecting";
  draft.body["autonomy"] = "act_auto";
  draft.body["autonomy_source"] = "tier";
  draft.body["approval_id"] = nullptr;
  draft.body["matched_grant_index"] = nullptr;
  draft.body["guards"] = json::array();
}

int failed(const Error& error) {
  std::fprintf(stderr, "make_ledger: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fputs("usage: make_ledger FOLDER COUNT [AT_ONCE]\n", stderr);
    return 64;
  }
  const auto count = std::strtoull(argv[2], nullptr, 10);
  const auto at_once = argc == 4 ? std::max(1ull, std::strtoull(argv[3], nullptr, 10)) : 1;
  app::Config config;
  config.ledger.reserve_bytes = 64 * 1024;
  const auto workspace = app::Workspace::open_writing({.data_dir = argv[1], .config = config},
                                                      {.role = "make_ledger"});
  if (!workspace) return failed(workspace.error());
  std::vector<core::Draft> drafts;
  for (std::uint64_t call = 0; call < count; ++call) {
    drafts.push_back(intent(call));
    if (call != 4) drafts.push_back(outcome(call));
    if (argc == 4 && call != 4) make_whole(drafts.back());
    if ((call + 1) % at_once != 0 && call + 1 < count) continue;
    const auto written =
        (*workspace)->ledger().append_blocking(std::move(drafts), core::Urgency::Announces);
    if (!written) return failed(written.error());
    drafts.clear();
  }
  return 0;
}
