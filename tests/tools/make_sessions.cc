// make_sessions FOLDER: writes sessions of agents as a run leaves them, for tests of the session
// commands. `s-done` has finished, `s-works` has a live lease, `s-left` belongs to a dead process,
// and its agent's text is hostile to a terminal.
#include <cstdio>

#include "app/agents/agent_store.h"
#include "base/clock.h"
#include "sessions/session_store.h"

namespace {

using namespace sallyport;
using namespace sallyport::sessions;

class Maker {
 public:
  explicit Maker(const std::filesystem::path& folder)
      : store_(checked(SessionStore::open({.file = app::agents_file(folder)}, clock_))) {}

  void done() {
    const Lease lease = begin("s-done", "writer", "r-1");
    say(lease, Role::User, "tidy the notes");
    say(lease, Role::Assistant, "done");
    checked(store_->end_run(lease,
                            {.id = "r-1", .session_id = "s-done", .status = RunStatus::Finished}));
    checked(store_->release(lease));
    const Lease again = begin("s-done", "writer", "r-2");
    BackgroundTask task{
        .id = "t-1", .run_id = "r-2", .call_id = "c-1", .command = "make all", .cwd = "/srv"};
    checked(store_->begin_task(again, task, 8));
    task.status = TaskStatus::Failed;
    task.exit_code = 2;
    checked(store_->end_task(task));
    checked(store_->end_run(again, {.id = "r-2",
                                    .session_id = "s-done",
                                    .status = RunStatus::Aborted,
                                    .reason = "tool_budget"}));
    checked(store_->release(again));
  }

  void works() {
    const Lease lease = begin("s-works", "writer", "r-3");
    say(lease, Role::User, "go on");
  }

  void left() {
    const Lease lease = begin("s-left", "agent \xe2\x80\xae", "r-4");
    say(lease, Role::User, "\x1b]0;owned\x07 \xe2\x80\xae evil");
    checked(store_->begin_task(
        lease, {.id = "t-2", .run_id = "r-4", .command = "echo \x1b[31m\nrm -rf /"}, 8));
    checked(store_->release(lease));
  }

 private:
  template <class T>
  static T checked(Result<T> result) {
    if (!result) {
      std::fprintf(stderr, "make_sessions: %s\n", result.error().message.c_str());
      std::exit(1);
    }
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

  // A lease that outlives this process, like the lease of a live process.
  Lease begin(const std::string& session, const std::string& agent, const std::string& run) {
    const Lease lease =
        checked(store_->take_lease(session, agent, "i-" + run, std::chrono::hours(1), {}));
    checked(store_->begin_run(lease, {.id = run,
                                      .session_id = session,
                                      .agent_id = agent,
                                      .instance_id = "i-" + run,
                                      .trace_id = "trace"}));
    return lease;
  }

  void say(const Lease& lease, Role role, const std::string& text) {
    const NewItem item{.role = role, .content = {json::object{{"type", "text"}, {"text", text}}}};
    checked(store_->append(lease, std::span(&item, 1)));
  }

  SystemClock clock_;
  std::unique_ptr<SessionStore> store_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  Maker maker(argv[1]);
  maker.done();
  maker.works();
  maker.left();
  return 0;
}
