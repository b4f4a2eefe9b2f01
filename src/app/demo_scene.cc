#include "app/demo_scene.h"

#include <boost/asio/co_spawn.hpp>

#include "app/demo_tools.h"
#include "base/try.h"

namespace sallyport::app {

Result<std::unique_ptr<DemoScene>> DemoScene::open(Workspace::Place place,
                                                   const std::filesystem::path& folder) {
  std::unique_ptr<DemoScene> scene(new DemoScene);
  SALLYPORT_TRY(
      scene->workspace_,
      Workspace::open_writing(std::move(place),
                              {.role = "demo", .close_interrupted = core::close_interrupted}));
  SALLYPORT_TRY(auto plan, demo_plan(folder));
  scene->plan_ = std::make_unique<core::FixedPlan>(std::move(plan));
  Workspace& workspace = *scene->workspace_;
  scene->governor_ = std::make_unique<core::Governor>(
      core::Governor::Parts{*scene->plan_, workspace.ledger(), workspace.clock(),
                            workspace.entropy(), workspace.ledger().digest()});
  scene->tools_ = std::make_shared<DemoTools>(folder);
  return scene;
}

Result<core::Answer> DemoScene::call(std::string tool, json::value input) {
  Call call{.agent_id = "agent:demo",
            .session_id = "demo",
            .tool = std::move(tool),
            .input = std::move(input),
            .turn = ++turn_};
  std::optional<Result<core::Answer>> answer;
  boost::asio::co_spawn(loop_, governor_->run(std::move(call), tools_),
                        [&](const std::exception_ptr& thrown, Result<core::Answer> value) {
                          if (!thrown) answer = std::move(value);
                        });
  loop_.restart();
  loop_.run();
  if (!answer) return fail(ErrorCode::Internal, "the call ended without an answer");
  return std::move(*answer);
}

}  // namespace sallyport::app
