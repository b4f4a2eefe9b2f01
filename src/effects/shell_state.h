// The state of a shell at one point of a line.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace sallyport::effects {

// One flow of commands. A copy is cheap: variables are shared until one of them changes.
struct ShellState {
  using Variables = std::map<std::string, std::vector<std::string>, std::less<>>;

  // The possible working folders: one, or one for each branch that ended here. Empty: unknown.
  std::vector<std::string> folders{};
  std::shared_ptr<const Variables> variables = std::make_shared<const Variables>();
  bool steered = false;  // a variable that changes how programs run was set (RU-56)

  const std::vector<std::string>* find(std::string_view name) const {
    const auto found = variables->find(name);
    return found == variables->end() ? nullptr : &found->second;
  }
  // An empty list makes the variable unknown.
  void set(const std::string& name, std::vector<std::string> values) {
    if (values.empty() && !variables->contains(name)) return;
    auto changed = variables.use_count() == 1 ? std::const_pointer_cast<Variables>(variables)
                                              : std::make_shared<Variables>(*variables);
    if (values.empty()) {
      changed->erase(name);
    } else {
      (*changed)[name] = std::move(values);
    }
    variables = std::move(changed);
  }
  void forget_variables() { variables = std::make_shared<const Variables>(); }

  bool operator==(const ShellState& other) const {
    return folders == other.folders && steered == other.steered &&
           (variables == other.variables || *variables == *other.variables);
  }
};

// The state that holds at a point that two branches reach.
ShellState joined(const ShellState& left, const ShellState& right);

// The changes of the disk by the commands so far. It only grows, also across branches.
struct DiskChanges {
  std::set<std::string> written{};    // cleaned paths
  std::set<std::string> links{};      // made by `ln`, `mv`, `cp -a` (RU-41)
  std::set<std::string> downloads{};  // files from the network (RU-57)
  std::set<std::string> unpacked{};   // folders into which an archive was unpacked
  std::set<std::pair<std::string, std::string>> copies{};  // whole folders: the copy, the source
  bool written_unknown = false;
  bool links_unknown = false;

  // Different after each change.
  std::size_t version() const {
    return 4 * (written.size() + links.size() + downloads.size() + unpacked.size() +
                copies.size()) +
           (written_unknown ? 2 : 0) + (links_unknown ? 1 : 0);
  }
};

}  // namespace sallyport::effects
