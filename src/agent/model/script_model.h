// A model that plays turns from a file: for tests, demonstrations and measurements (RT-15).
//
//   turns:
//     - text: I read the file first.
//       calls: [{tool: read_file, input: {path: notes.txt}}]
//       usage: {input_tokens: 120, output_tokens: 20}
//     - text: Done.
//   summary: What happened so far.     # answers the request for a summary
//
// The history alone determines the next turn, so a resumed session continues where it stopped.
// docs/agent.md lists all keys.
#pragma once

#include <memory>

#include "agent/model/open_model.h"

namespace sallyport::agent {

// As `open_model`. `where` of an error is `<file>:line:column`.
Result<std::unique_ptr<Model>> open_script_model(const ModelSettings& settings, ModelParts parts);

}  // namespace sallyport::agent
