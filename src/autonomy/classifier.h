// Classifies tools by the policy, the server's profile and the table of known names, in that order.
// An unknown tool is assumed to do anything (AT-21..AT-26).
//
//   Classifier classifier(entries, {{"files", "mcp-filesystem"}});
//   classifier.classify({.server = "files", .tool = "read_file"}).tier;   // Tier::Observe
//   classifier.classify({.server = "other", .tool = "read_file"}).tier;   // Tier::Confirm
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sallyport/classification.h"
#include "sallyport/json.h"
#include "sallyport/result.h"

namespace sallyport::autonomy {

enum class ClassSource { Policy, Profile, Table, Hint, Unknown };
std::string_view to_string(ClassSource source);

// The classification of a tool (AT-21).
struct ToolClass {
  Tier tier = Tier::Confirm;
  std::string effect_class = "unknown";
  std::string capability = "unknown";
  ClassSource source = ClassSource::Unknown;

  bool operator==(const ToolClass&) const = default;
};
json::object to_json(const ToolClass& tool_class);

// A policy's entry for a tool. Without a server, it applies to the tool on all servers.
struct ToolEntry {
  std::string server{};
  std::string tool{};
  Tier tier = Tier::Confirm;
  std::string effect_class = "unknown";
  std::string capability = "unknown";
};

// A server's hints about its own tool. They can only raise caution, never lower it.
struct ToolHints {
  std::optional<bool> read_only{};    // readOnlyHint
  std::optional<bool> destructive{};  // destructiveHint

  bool raise_caution() const { return destructive == true || read_only == false; }
};

struct ToolQuery {
  std::string_view server{};
  std::string_view tool{};
  ToolHints hints{};
  bool definition_changed = false;  // since it was classified or approved
};

// All known tools as entries for a plan: those of the policy, then those of profiles and the table
// that the policy does not name. A plan with these entries classifies like `Classifier` without
// hints.
std::vector<ToolEntry> known_tools(const std::vector<ToolEntry>& policy,
                                   const std::map<std::string, std::string>& profile_of_server);

class Classifier {
 public:
  Classifier() = default;
  // `InvalidInput`: two entries for one tool, or an unknown profile.
  static Result<Classifier> build(std::vector<ToolEntry> entries,
                                  std::map<std::string, std::string> profile_of_server);

  ToolClass classify(const ToolQuery& query) const;

 private:
  ToolClass known(const ToolQuery& query) const;

  std::map<std::pair<std::string, std::string>, ToolEntry> entries_;  // server, tool
  std::map<std::string, std::string, std::less<>> profiles_;          // by server
};

}  // namespace sallyport::autonomy
