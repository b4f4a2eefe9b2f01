// The doors of the messages of one request. The checks of the plan decide about texts, and the
// Governor decides about tool calls that the model proposes.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/call/governor.h"
#include "core/handoff/hand_offs.h"
#include "core/plan/plan.h"
#include "llm/message_door.h"
#include "llm/responses_request.h"
#include "proxy/record.h"

namespace sallyport::proxy {

// The released texts of an answer, by channel. They are kept whole, because deltas could hide a
// secret from the redaction of the ledger.
struct KeptTexts {
  std::size_t most = 0;  // byte limit; over it nothing is kept
  std::map<std::string, std::string> texts{};
  std::size_t bytes = 0;

  void add(const std::string& channel, std::string_view text);
  std::string json() const;  // empty: no text, or too much of it
};

// The parts of a request that doors use. All must outlive the doors.
struct DoorParts {
  std::shared_ptr<const core::Plan> plan;  // the pinned plan of the request
  core::Governor& governor;
  core::HandOffs& hand_offs;
  ModelRecord& record;
  std::vector<core::Draft>& findings;  // rows of what checks found, bounded
  std::vector<core::Fact>& facts;      // written with the record
  std::vector<std::shared_ptr<const core::FactChange>>& changes;  // the same
  std::vector<llm::UnansweredCall>& unanswered;  // refused; the provider may keep the original
  std::string session_id;                        // of calls
  std::stop_token gone;                          // the client went away
  const Clock& clock;
  std::string approvals_url;  // an approval id is appended; empty: no page
  bool json_format = false;   // the answer is JSON (MP-52)
  KeptTexts* kept = nullptr;  // released texts, for `keep: content`; null: not kept
};

// Adds a row for each finding, up to a limit. The record says if there were more.
void add_findings(DoorParts& parts, std::vector<Finding> findings, std::string_view channel);

// Splits a tool name: `mcp__fs__read` is `read` of server `fs`, any other is a tool of the agent.
struct ToolName {
  std::string server;
  std::string tool;
};
ToolName tool_name(const std::string& name, const std::string& agent);

class RequestDoors final : public llm::MessageDoors {
 public:
  explicit RequestDoors(DoorParts parts) : parts_(std::move(parts)) {}
  std::unique_ptr<llm::MessageDoor> open(std::uint64_t index) override;

 private:
  DoorParts parts_;
};

}  // namespace sallyport::proxy
