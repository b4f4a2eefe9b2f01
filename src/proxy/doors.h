// The doors of the messages of one request: checks of the plan for texts, and the Governor for tool
// calls that the model proposes.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/call/governor.h"
#include "core/call/hand_offs.h"
#include "core/plan/plan.h"
#include "llm/message_door.h"
#include "llm/responses_request.h"
#include "proxy/record.h"

namespace sallyport::proxy {

// What doors need of their request. All must outlive them.
struct DoorParts {
  std::shared_ptr<const core::Plan> plan;  // of the whole request
  core::Governor& governor;
  core::HandOffs& hand_offs;
  ModelRecord& record;
  std::vector<core::Draft>& findings;            // rows of what checks found, bounded
  std::vector<core::Fact>& facts;                // that change with the record
  std::vector<llm::UnansweredCall>& unanswered;  // refused; the provider may keep the original
  std::string session_id;                        // of calls
  std::stop_token gone;                          // the client went away
  const Clock& clock;
  std::string approvals_url;  // ids behind it; empty: nowhere
  bool json_format = false;   // the answer is JSON (MP-52)
};

// Adds a row for each finding, up to a bound; the record says where there were more.
void add_findings(DoorParts& parts, std::vector<Finding> findings, std::string_view channel);

// Calls that were left to a later door, by session and id of the model (MP-62). The value is the
// request that proposed them.
inline constexpr std::string_view kDeferredCalls = "model_deferred";
std::string deferred_key(const DoorParts& parts, const std::string& tool_call_id);

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
