// Reloads the plan when the policy's file, or the file that it extends, changes. A valid change
// takes effect within a second or two. An invalid one is recorded and logged, and the last valid
// plan stays.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async.h"
#include "core/plan/plan_shelf.h"
#include "policy/policy_loader.h"

namespace sallyport::app {

class PolicyWatch {
 public:
  using Log = std::function<void(std::string_view)>;
  // All of them must outlive it.
  PolicyWatch(policy::PolicyLoader& loader, core::PlanShelf& plans, std::string who, Log log);

  // The first time. An error: nothing may run.
  Task<void> load();
  // Another policy. An error: it is recorded, and what was in force stays.
  Task<void> turn_to(policy::PolicyLoader::Turn next);
  // Until `stop`. On the executor that awaits it.
  Async<void> run();
  void stop();

 private:
  struct Stamp {
    std::vector<std::pair<std::filesystem::file_time_type, std::uintmax_t>> files{};

    bool operator==(const Stamp&) const = default;
  };
  std::optional<Stamp> stamp() const;
  Task<void> take_up();
  Async<void> look();

  policy::PolicyLoader& loader_;
  core::PlanShelf& plans_;
  std::string who_;
  Log log_;
  std::optional<Stamp> seen_;
  std::optional<boost::asio::steady_timer> timer_;
  bool refused_ = false;  // what was looked at last
  bool stopped_ = false;
};

}  // namespace sallyport::app
