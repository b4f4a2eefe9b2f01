#include "cli/demo/demo_scene.h"

#include <boost/asio/co_spawn.hpp>

#include "base/try.h"
#include "base/uuid.h"
#include "cli/demo/demo_tools.h"
#include "ledger/read/look_at.h"

namespace sallyport::app {

template <class T>
Result<T> DemoScene::run(Task<T> task) {
  std::optional<Result<T>> answer;
  boost::asio::co_spawn(loop_, std::move(task),
                        [&](const std::exception_ptr& thrown, Result<T> value) {
                          if (!thrown) answer = std::move(value);
                        });
  loop_.restart();
  loop_.run();
  if (!answer) return fail(ErrorCode::Internal, "a task ended without an answer");
  return std::move(*answer);
}

Result<std::unique_ptr<DemoScene>> DemoScene::open(Workspace::Place place,
                                                   const std::filesystem::path& folder,
                                                   std::shared_ptr<const core::Approver> person) {
  std::unique_ptr<DemoScene> scene(new DemoScene);
  SALLYPORT_TRY(
      scene->workspace_,
      Workspace::open_writing(std::move(place), {.role = "demo", .closes_interrupted = true}));
  SALLYPORT_CHECK_OK(scene->load_plan(folder));
  Workspace& workspace = *scene->workspace_;
  scene->governor_ =
      std::make_unique<core::Governor>(core::Governor::Parts{*scene->plans_,
                                                             workspace.ledger(),
                                                             workspace.redactor(),
                                                             workspace.clock(),
                                                             workspace.entropy(),
                                                             workspace.ledger().digest(),
                                                             {},
                                                             {},
                                                             std::move(person)});
  scene->session_ = "demo-" + uuid7_text(workspace.clock(), workspace.entropy());
  SALLYPORT_CHECK_OK(scene->run(scene->governor_->start()));
  scene->tools_ = std::make_shared<DemoTools>(folder);
  return scene;
}

Result<void> DemoScene::load_plan(const std::filesystem::path& folder) {
  SALLYPORT_TRY(const auto before, ledger::look_at(workspace_->store(), [](auto& view) {
                  return view.fact("policy", "hash");
                }));
  plans_ = std::make_unique<core::PlanShelf>(workspace_->ledger(), before.value_or(""));
  SALLYPORT_TRY(auto plan, demo_plan(folder, workspace_->ledger().fingerprint_key(),
                                     workspace_->clock(), workspace_->entropy()));
  return run(plans_->load(std::move(plan), {.source = "demo", .who = "sallyport demo"}));
}

Result<Answer> DemoScene::call(std::string id, std::string tool, json::value input) {
  Call call{.tool_call_id = std::move(id),
            .agent_id = "agent:demo",
            .session_id = session_,
            .tool = std::move(tool),
            .input = std::move(input),
            .turn = ++turn_};
  return run(governor_->run(std::move(call), tools_));
}

}  // namespace sallyport::app
