// One event of a coding agent, in any dialect. Its host runs tools and reports before and after.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::hook {

struct Event {
  enum class Kind {
    Before,      // a tool is about to run
    After,       // a tool has run
    Permission,  // the host is about to ask its user about a call, which has events of its own
    Batch,       // several tools have run: `calls`, each an `After` that can no longer be replaced
    Prompt,      // the user typed a prompt
    Question,    // a tool server asks the user something
    End,         // the session is over
    Other,       // does not concern us: no output
  };

  Kind kind = Kind::Other;
  std::string name{};  // as the host calls it
  std::string session_id{};
  std::string call_id{};  // the host's own id of the call; empty: it gives none
  std::string server{};   // of an MCP tool; empty: a tool of the host itself
  std::string tool{};
  json::value input{};
  // Identifies a call in its session if the host gives no id; null: the input.
  json::value identity{};
  // The host reports a call twice, in a general and a specific event; this is the second one.
  bool repeats = false;
  std::string command_folder{};  // where its command runs, if the host reports it twice
  json::value output{};          // of `After`
  bool failed = false;           // `output` is the text of an error
  // False: the host shows the result unchanged, whatever we answer (PI-33).
  bool replaceable = true;
  std::optional<std::uint64_t> duration_ms{};
  std::string text{};  // of `Prompt` and `Question`
  std::vector<Event> calls{};
  std::string sub_agent{};
  std::string model{};
  std::string folder{};
  std::vector<std::string> workspace{};  // folders of the project, if the host names them
  std::string permission_mode{};
};

}  // namespace sallyport::hook
