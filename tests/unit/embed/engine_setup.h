// An engine as a host uses it, and the tools and calls that most of its tests need.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sallyport/engine.h"

namespace sallyport::test {

inline constexpr const char* kSession = "s-1";
inline constexpr const char* kAgent = "agent:a";
inline constexpr const char* kPerson = "user:ada";

inline const Classification kLooks{.tier = Tier::Observe, .effect_class = "none"};
inline const Classification kActs{.tier = Tier::Confirm, .effect_class = "store.write"};

inline Call call_of(std::string tool, std::string id = {}, json::value input = json::object{}) {
  return {.tool_call_id = std::move(id),
          .agent_id = kAgent,
          .session_id = kSession,
          .tool = std::move(tool),
          .input = std::move(input)};
}

// Opens the value or fails the test, so that no test dereferences an error.
inline std::unique_ptr<Engine> opened(EngineBuilder& builder) {
  Result<std::unique_ptr<Engine>> engine = builder.open();
  if (engine) return std::move(*engine);
  ADD_FAILURE() << engine.error().message;
  std::abort();
}

// A tool that answers "<name> ran" and counts its runs.
class CountedTool {
 public:
  CountedTool(std::string name, Classification classification) {
    tool_.name = std::move(name);
    tool_.classification = std::move(classification);
    tool_.run = [runs = runs_, name = tool_.name](const Invocation&) -> Result<json::value> {
      ++*runs;
      return json::value(name + " ran");
    };
  }
  const Tool& tool() const { return tool_; }
  int runs() const { return *runs_; }

 private:
  std::shared_ptr<std::atomic<int>> runs_ = std::make_shared<std::atomic<int>>(0);
  Tool tool_;
};

inline Tool tool_of(std::string name, std::function<Result<json::value>(const Invocation&)> run,
                    Classification classification = kLooks) {
  Tool tool{.name = std::move(name), .classification = std::move(classification)};
  tool.run = std::move(run);
  return tool;
}

inline std::vector<std::string> outcomes_of(Engine& engine, const RecordQuery& query = {}) {
  std::vector<std::string> kinds;
  const auto records = engine.records(query);
  if (!records) ADD_FAILURE() << records.error().message;
  if (!records) return kinds;
  for (const AuditRecord& record : *records) kinds.emplace_back(to_string(record.outcome.kind));
  return kinds;
}

inline std::vector<std::string> event_types_of(Engine& engine, const EventQuery& query = {}) {
  std::vector<std::string> types;
  const auto events = engine.events(query);
  if (!events) ADD_FAILURE() << events.error().message;
  if (!events) return types;
  for (const json::object& row : *events) {
    types.emplace_back(row.at("event_type").as_string());
  }
  return types;
}

}  // namespace sallyport::test
