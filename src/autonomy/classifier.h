// Classifies tools by the policy, the profile of the server and the table of known names, in that
// order. An unknown tool may do anything (AT-21..AT-26).
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

// AT-21.
struct ToolClass {
  Tier tier = Tier::Confirm;
  std::string effect_class = "unknown";
  std::string capability = "unknown";
  ClassSource source = ClassSource::Unknown;

  bool operator==(const ToolClass&) const = default;
};
json::object to_json(const ToolClass& tool_class);

// What a policy says of one tool. Without a server: of that tool anywhere.
struct ToolEntry {
  std::string server{};
  std::string tool{};
  Tier tier = Tier::Confirm;
  std::string effect_class = "unknown";
  std::string capability = "unknown";
};

// What a server says of its own tool: nothing of it is believed where it would lower caution.
struct ToolHints {
  std::optional<bool> read_only{};    // readOnlyHint
  std::optional<bool> destructive{};  // destructiveHint

  bool raise_caution() const { return destructive == true || read_only == false; }
};

struct AskedTool {
  std::string_view server{};
  std::string_view tool{};
  ToolHints hints{};
  bool definition_changed = false;  // since it was classified or approved
};

// All that is known of tools as one list of entries, for a plan: what the policy says, then what
// the profiles and the table say where the policy is silent. A plan that has them classifies like
// `Classifier` does without hints.
std::vector<ToolEntry> known_tools(const std::vector<ToolEntry>& policy,
                                   const std::map<std::string, std::string>& profile_of_server);

class Classifier {
 public:
  Classifier() = default;
  // `InvalidInput`: two entries for one tool, or a profile that is not there.
  static Result<Classifier> build(std::vector<ToolEntry> entries,
                                  std::map<std::string, std::string> profile_of_server);

  ToolClass classify(const AskedTool& asked) const;

 private:
  ToolClass known(const AskedTool& asked) const;

  std::map<std::pair<std::string, std::string>, ToolEntry> entries_;  // server, tool
  std::map<std::string, std::string, std::less<>> profiles_;          // by server
};

}  // namespace sallyport::autonomy
