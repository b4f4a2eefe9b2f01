// A toolbox over folders of one test, with its dependencies.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/thread_pool.hpp>
#include <boost/json.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/tool/tool_output.h"
#include "agent/tool/tools.h"
#include "support/eventually.h"
#include "support/governed.h"
#include "support/temp_folder.h"

namespace sallyport::agent {

using namespace std::chrono_literals;

using test::eventually;

// Returns false also for a process that has ended but has not been reaped.
inline bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

class ToolBench : public ::testing::Test {
 protected:
  ToolBench()
      : emitter_({.records = recorder_, .redactor = redactor_, .clock = clock_, .hooks = hooks()}),
        events_(emitter_, recorder_, recorder_) {
    std::filesystem::create_directories(root());
    std::filesystem::create_directories(data());
    settings_.id = "writer";
    settings_.roots = {{.path = root(), .write = true}};
    store_ = std::move(*sessions::SessionStore::open({.file = folder_ / "agents.db"}, clock_));
    lease_ = *store_->take_lease("s-1", "writer", "i-1", std::chrono::seconds(3600), {});
  }
  ~ToolBench() override {
    if (tools_) stop();
    tools_.reset();
    pool_.join();
  }

  std::filesystem::path root() const { return folder_ / "root"; }
  std::filesystem::path data() const { return folder_ / "data"; }

  void write(const std::filesystem::path& file, std::string_view text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  Result<std::unique_ptr<Toolbox>> open() {
    return Toolbox::open(
        settings_, {.executor = loop_.get_executor(),
                    .pool = pool_,
                    .events = events_,
                    .store = *store_,
                    .clock = clock_,
                    .entropy = entropy_,
                    .redactor = redactor_,
                    .instance_id = "i-1",
                    .data_folder = data(),
                    .lease = [this] { return lease_; },
                    .variable = [this](const std::string& name) -> std::optional<std::string> {
                      const auto found = variables_.find(name);
                      if (found == variables_.end()) return std::nullopt;
                      return found->second;
                    },
                    .log = [this](std::string_view line) { log_.emplace_back(line); }});
  }
  Toolbox& tools() {
    if (!tools_) {
      auto opened = open();
      EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
      if (opened) tools_ = std::move(*opened);
    }
    return *tools_;
  }

  static Call call(std::string_view tool, json::object input, std::string id = "c-1") {
    return {.call_id = id,
            .tool_call_id = "t-" + id,
            .agent_id = "writer",
            .session_id = "s-1",
            .trace_id = "trace",
            .run_id = "r-1",
            .server = std::string(kToolProfile),
            .tool = std::string(tool),
            .input = std::move(input)};
  }

  // Runs a coroutine on the toolbox's loop to its end; other work on the loop continues meanwhile.
  template <class T>
  T on_loop(Async<T> work) {
    std::optional<T> answer;
    boost::asio::co_spawn(loop_, std::move(work),
                          [&](std::exception_ptr thrown, std::optional<T> value) {
                            if (thrown) std::rethrow_exception(thrown);
                            answer = std::move(value);
                          });
    loop_.restart();
    while (!answer) {
      if (loop_.run_one_for(std::chrono::seconds(60)) == 0) {
        ADD_FAILURE() << "nothing happened for 60 s";
        std::abort();
      }
    }
    return std::move(*answer);
  }

  // Runs the body of the tool alone, as the Governor calls it.
  Result<Envelope> invoke(Call call, std::stop_token cancel = {}) {
    const auto tool = tools().find(call.tool);
    if (!tool) return fail(ErrorCode::NotFound, "no such tool");
    const auto delivery = std::make_shared<core::Delivery>(
        core::Delivery::Parts{plan_,
                              {.tool = call.tool, .call = std::make_shared<const Call>(call)},
                              clock_,
                              fail_open_,
                              {}});
    Result<Envelope> answered =
        on_loop<Result<Envelope>>(tool->invoke(std::move(call), delivery, std::move(cancel)));
    for (Event& denied : delivery->take_denials()) {
      const json::object event = sallyport::to_json(denied);
      denials_.push_back(std::string(event.at("action").as_string()) + ": " +
                         std::string(event.at("detail").as_string()));
    }
    return answered;
  }
  // Returns the part that the model sees.
  ToolResult use(std::string_view tool, json::object input, std::stop_token cancel = {}) {
    const Result<Envelope> answered = invoke(call(tool, std::move(input)), std::move(cancel));
    if (!answered) return {.success = false, .output = "fault: " + answered.error().message};
    return tools().find(tool)->result_of(*answered);
  }

  void stop() {
    const auto work = [](Toolbox& tools) -> Async<bool> {
      co_await tools.stop();
      co_return true;
    };
    on_loop<bool>(work(*tools_));
  }

  // Returns the refusals of tools, as `action: detail`.
  const std::vector<std::string>& denials() const { return denials_; }

  test::TempFolder folder_;
  test::FakeRecorder recorder_;
  // Removes the word `hunter2`, as our redactor removes secrets.
  class WordRedactor final : public core::Redactor {
   public:
    std::vector<core::Removal> redact(std::string_view, json::value& value) const override {
      if (!value.is_string()) return {};
      std::string text(value.get_string());
      const std::size_t at = text.find("hunter2");
      if (at == std::string::npos) return {};
      value = text.replace(at, 7, "[REDACTED:test]");
      return {{.path = "", .category = "test", .removed = "hunter2"}};
    }
    bool redact_identifier(std::string&) const override { return false; }
  };
  WordRedactor redactor_;
  SystemClock clock_;
  SystemEntropy entropy_;
  std::optional<Error> hook_refuses_;  // every announcement
  std::map<std::string, std::string> variables_{{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  std::vector<std::string> log_;
  Settings settings_;
  sessions::Lease lease_;
  boost::asio::io_context loop_;
  boost::asio::thread_pool pool_{2};
  std::unique_ptr<sessions::SessionStore> store_;

 private:
  core::HookRegistry hooks() {
    core::HookRegistry all;
    (void)all.with_hook(std::make_shared<test::FunctionHook>(
        "test", [this](const Event& event, const Subject&) -> Result<void> {
          if (hook_refuses_ && announces(event)) return std::unexpected(*hook_refuses_);
          return {};
        }));
    return all;
  }

  std::shared_ptr<const core::Plan> plan_ = *core::PlanBuilder().build();
  core::FailOpenLog fail_open_{"i-1"};
  std::vector<std::string> denials_;
  core::Emitter emitter_;
  core::HostEvents events_;
  std::unique_ptr<Toolbox> tools_;
};

}  // namespace sallyport::agent
