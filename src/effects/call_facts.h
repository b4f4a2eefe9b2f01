// One call and its context: the complete input of effects and rules. A view: the objects that it
// refers to must outlive it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/file_view.h"
#include "sallyport/call.h"

namespace sallyport::effects {

// Folders of the machine, absolute.
struct Machine {
  std::string home{};               // empty: unknown
  std::string data{};               // the data folder of Sallyport, `${data}`; empty: there is none
  std::string policy{};             // the file of the policy, `${policy}`; empty: there is none
  std::vector<std::string> temp{};  // `TMPDIR` of the gateway, in addition to `/tmp` and `/var/tmp`

  bool operator==(const Machine&) const = default;
};

struct CallFacts {
  const Call& call;          // agent, session, server, tool and input
  std::string_view front{};  // `mcp`, `http`, `hook`, `library` or `agent`
  bool interactive = false;  // the host can ask its user
  std::optional<std::string> cwd{};
  std::vector<std::string> workspace{};  // empty: unknown
  Machine machine{};
  const FileView* files = nullptr;  // null: files are elsewhere, and only written paths count
  std::vector<std::string> server_command{};  // if the gateway started the server; else empty
  std::optional<bool> read_only_hint{};       // the server's hint about the tool
  bool definition_changed = false;            // since it was accepted (AT-26)
};

}  // namespace sallyport::effects
