// Reloads the plan when the policy's file, or the file that it extends, changes. A file that is
// being written is read only after it rests. A valid change takes effect within a second or two. An
// invalid one is recorded and logged, and the last valid plan stays.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <optional>
#include <string>

#include "app/watch/file_rest.h"
#include "base/async.h"
#include "base/bell.h"
#include "core/plan/plan_shelf.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

class PolicyWatch {
 public:
  using Log = std::function<void(std::string_view)>;
  // All of them must outlive it.
  PolicyWatch(policy::PolicyLoader& loader, core::PlanShelf& plans, std::string who, Log log);

  // Loads the policy for the first time. An error: nothing may run.
  Task<void> load();
  // Loads another policy. An error is recorded, and the old policy stays in force.
  Task<void> switch_to(policy::PolicyLoader::Source next);
  // Loads a policy whose whole file was just replaced, without waiting for its rest. An error is
  // recorded and logged, and the old policy stays in force.
  Async<void> look_now();
  // Until `stop`. On the executor that awaits it.
  Async<void> run();
  void stop();

 private:
  FileRest::States states() const;
  Task<void> reload();
  Async<void> look();
  Async<void> load_changed(FileRest::States now);
  Async<void> wait_for_turn();

  policy::PolicyLoader& loader_;
  core::PlanShelf& plans_;
  std::string who_;
  Log log_;
  FileRest rest_;
  // Loading from the file to the plan: one task at a time, the others wait for the bell.
  bool loading_ = false;
  Bell bell_;
  std::optional<boost::asio::steady_timer> timer_;
  bool refused_ = false;  // the version that was read last
  bool stopped_ = false;
};

}  // namespace sallyport::app
