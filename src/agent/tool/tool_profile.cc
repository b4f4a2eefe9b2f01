#include "agent/tool/tools.h"

namespace sallyport::agent {

namespace {

struct Row {
  const char* tool;
  Tier tier;
  const char* effect_class;
};

// RT-26. The last two are offered only if they are configured.
constexpr Row kRows[] = {
    {"read_file", Tier::Observe, "none"},
    {"list_files", Tier::Observe, "none"},
    {"search_files", Tier::Observe, "none"},
    {"write_file", Tier::Confirm, "fs.write"},
    {"edit_file", Tier::Confirm, "fs.write"},
    {"shell", Tier::Confirm, "process.exec"},
    {"background_start", Tier::Confirm, "process.exec"},
    {"background_status", Tier::Observe, "none"},
    {"background_stop", Tier::Confirm, "process.exec"},
    {"memory_search", Tier::Observe, "none"},
    {"memory_pin", Tier::Confirm, "store.write"},
    {"memory_forget", Tier::Confirm, "store.write"},
};

}  // namespace

void add_agent_tools(core::PlanBuilder& plan) {
  for (const Row& row : kRows) {
    plan.extension_tool(std::string(kToolProfile), row.tool,
                        {.tier = row.tier, .effect_class = row.effect_class, .source = "profile"});
  }
}

}  // namespace sallyport::agent
