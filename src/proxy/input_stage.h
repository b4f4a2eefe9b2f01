// Checks what goes to the model. Every text of a request passes the checks of its stage, every tool
// result the second door. Changes are edits of single values.
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
  // An error: a result could not be recorded, so the request must not be sent.
  // Adds the changes of the body to `edits`.
  Task<Decision> run(const llm::Request& request, const json::value& body, llm::Splice& edits);

 private:
  Task<void> pass_result(const llm::Request& request, const llm::ToolReturn& result,
                         const json::value& body, llm::Splice& edits);
  // The result of a handed-out call completes it. Any other result passes the second door without a
  // record (MP-32, MP-33). No value: unchanged. `latest`: no later result has the same id.
  Task<std::optional<Envelope>> released(const llm::ToolReturn& result, const std::string& tool,
                                         bool latest);
  Task<void> note_bypass(const llm::ToolReturn& result, bool& withheld);
  std::string tool_of(const llm::ToolReturn& result);
  void check(const llm::Leaf& leaf, Decision& out, llm::Splice& edits);

  DoorParts& parts_;
  core::FailOpenLog& fail_open_;
  const Clock& clock_;
};

// Adds edits that turn one value into another: of single strings if only they differ, else of all.
void add_edits(llm::Splice& edits, const std::string& pointer, const json::value& from,
               const json::value& to);

}  // namespace sallyport::proxy
