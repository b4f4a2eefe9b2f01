// The doors of the messages of one request: checks of the plan for texts, and the Governor for tool
// calls that the model proposes.
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

// The texts of an answer as they left, by channel. Whole texts, so that the ledger finds in them
// what must not be stored; deltas could hide it.
struct KeptTexts {
  std::size_t most = 0;  // bytes; more than that is not kept
  std::map<std::string, std::string> texts{};
  std::size_t bytes = 0;

  void add(const std::string& channel, std::string_view text);
  std::string json() const;  // empty: nothing left, or it was too long
};

// What doors need of their request. All must outlive them.
struct DoorParts {
  std::shared_ptr<const core::Plan> plan;  // of the whole request
  core::Governor& governor;
  core::HandOffs& hand_offs;
  ModelRecord& record;
  std::vector<core::Draft>& findings;  // rows of what checks found, bounded
  std::vector<core::Fact>& facts;      // that change with the record
  std::vector<std::shared_ptr<const core::FactChange>>& changes;  // the same
  std::vector<llm::UnansweredCall>& unanswered;  // refused; the provider may keep the original
  std::string session_id;                        // of calls
  std::stop_token gone;                          // the client went away
  const Clock& clock;
  std::string approvals_url;  // ids behind it; empty: nowhere
  bool json_format = false;   // the answer is JSON (MP-52)
  KeptTexts* kept = nullptr;  // what leaves, for `keep: content`; null: it is not kept
};

// Adds a row for each finding, up to a bound; the record says where there were more.
void add_findings(DoorParts& parts, std::vector<Finding> findings, std::string_view channel);

// Whose tool it is: `mcp__fs__read` is `read` of server `fs`, others are tools of the agent's host.
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
