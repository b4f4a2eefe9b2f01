// One process of the demo: a workspace, a Governor and tools, and one call after the other.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "core/call/governor.h"
#include "core/plan/plan_shelf.h"
#include "workspace/workspace.h"

namespace sallyport::app {

class DemoScene {
 public:
  // Opening is also recovery: what a killed process left open is closed before this returns.
  static Result<std::unique_ptr<DemoScene>> open(Workspace::Place place,
                                                 const std::filesystem::path& folder,
                                                 std::shared_ptr<const core::Approver> person);

  // `id` is the model's own id of the call: the same one again asks for the same answer.
  Result<Answer> call(std::string id, std::string tool, json::value input);
  Workspace& workspace() { return *workspace_; }

 private:
  DemoScene() = default;
  Result<void> load_plan(const std::filesystem::path& folder);
  template <class T>
  Result<T> run(Task<T> task);

  boost::asio::io_context loop_{1};  // destroyed after the ledger, which may still post to it
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<core::PlanShelf> plans_;
  std::unique_ptr<core::Governor> governor_;
  std::shared_ptr<core::Upstream> tools_;  // shared with calls that were given up on
  std::string session_;
  std::uint64_t turn_ = 0;
};

}  // namespace sallyport::app
