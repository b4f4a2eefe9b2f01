// What goes to the model: every text of a request through the checks of its stage, every tool
// result through the second door (section 4 of the specification). Changes are edits of single
// values.
#pragma once

#include <optional>
#include <string>

#include "core/plan/fail_open.h"
#include "llm/json_splice.h"
#include "llm/request.h"
#include "proxy/doors.h"

namespace sallyport::proxy {

class InputStage {
 public:
  // All must outlive it.
  InputStage(DoorParts& parts, core::FailOpenLog& fail_open, const Clock& clock)
      : parts_(parts), fail_open_(fail_open), clock_(clock) {}

  struct Decision {
    std::optional<core::TextBlock> block{};  // nothing goes upstream
    std::uint64_t text_bytes = 0;            // for the estimate of tokens
  };
  // An error: a result could not be recorded, so nothing may be sent.
  // `edits` get the changes of the body that is sent.
  Task<Decision> run(const llm::Request& request, const json::value& body, llm::Splice& edits);

 private:
  Task<void> pass_result(const llm::Request& request, const llm::ToolReturn& result,
                         const json::value& body, llm::Splice& edits);
  // The result of a call that is out completes it; any other passes the second door unrecorded
  // (MP-32, MP-33). No value: it leaves as it came. `latest`: no later result has the same id.
  Task<std::optional<Envelope>> released(const llm::ToolReturn& result, const std::string& tool,
                                         bool latest);
  Task<void> note_bypass(const llm::ToolReturn& result, bool& withheld);
  std::string tool_of(const llm::ToolReturn& result);
  void check(const llm::Leaf& leaf, Decision& out, llm::Splice& edits);

  DoorParts& parts_;
  core::FailOpenLog& fail_open_;
  const Clock& clock_;
};

// Edits that turn one value into another: single strings where only they differ, else the whole.
void add_edits(llm::Splice& edits, const std::string& pointer, const json::value& from,
               const json::value& to);

}  // namespace sallyport::proxy
