// Judges events of coding agents: the one event of a hook process, or all events of a daemon. The
// hosts run the tools, so every failure gets an answer too, in the host's format.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/hooks/hook_policy.h"
#include "base/bell.h"
#include "daemon_client/hook_wire.h"
#include "hook/dialect.h"
#include "hook/front.h"
#include "hook/origins.h"
#include "workspace/workspace.h"

namespace sallyport::app {

// A user of this machine who asks the service of the system set-up, as the kernel names them.
struct HookAsker {
  std::string user{};
  unsigned uid = 0;
  int pid = 0;
};

struct HookQuestion {
  const hook::Dialect* dialect = nullptr;
  std::string policy = "starter";  // a file, or a shipped one by its name
  hook::Setting setting{};
  hook::Event event{};
  std::optional<int> host{};  // the process that runs the agent; no value: it is gone
  // No value: the host runs under the account of the judge. A yes of another account's host does
  // not count: the agent could give it.
  std::optional<HookAsker> asker{};

  // The agent of the event: `claude-code`, or `claude-code@dana`.
  std::string agent() const;
};

// The answer if nothing could be judged: a refusal, unless the policy lets such calls pass. A
// result that could not be judged is withheld.
HookAnswer refusal(const HookQuestion& question, const Error& error);
HookAnswer failure(const HookQuestion& question, const Error& error);

// Used on a strand, or on a context with one thread.
class HookDesk {
 public:
  // `recorder` is the ledger of the workspace, or one that counts. Both must outlive the desk.
  // Policies are compiled on `aside`, so that callers with another policy do not wait; null: there
  // are no other callers. It must be joined before the desk is destroyed.
  HookDesk(Workspace& workspace, core::Recorder& recorder,
           boost::asio::thread_pool* aside = nullptr)
      : workspace_(workspace), recorder_(recorder), aside_(aside) {}

  Async<HookAnswer> answer(HookQuestion question);

 private:
  Task<hook::Decision> judge(HookQuestion question);
  // If several callers need one policy at once, one loads it and the others wait.
  struct Loading {
    std::optional<Error> failed{};
  };
  Task<std::shared_ptr<HookPolicy>> policy_of(std::string name);
  Task<std::shared_ptr<HookPolicy>> load(std::string name);
  std::shared_ptr<HookPolicy> known(const std::string& name);
  Task<void> mark_host(int host, std::string agent);
  json::value origin_of(const HookQuestion& question);
  hook::Reporter reporter_of(const HookQuestion& question) const;
  Async<void> note_passed(std::string agent, std::string reason);

  Workspace& workspace_;
  core::Recorder& recorder_;
  hook::Origins origins_;
  boost::asio::thread_pool* aside_;
  std::vector<std::shared_ptr<HookPolicy>> policies_;        // the one used last stands first
  std::map<std::string, std::shared_ptr<Loading>> loading_;  // shared with those who wait for it
  Bell loaded_;
};

}  // namespace sallyport::app
