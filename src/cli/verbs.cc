#include "cli/verbs.h"

#include <fmt/format.h>

#include <array>

#include "base/nearest.h"

namespace sallyport::app {

namespace {

struct Habit {
  std::string_view word;
  std::string_view answer;
  std::string_view in{};  // the group in which it is typed too
};

// Words of other tools.
constexpr auto kHabits = std::to_array<Habit>({
    {"wrap", "wrapping an MCP server is `sallyport mcp -- CMD`"},
    {"validate", "checking a policy is `sallyport policy check`", "policy"},
    {"lint", "finding parts of a policy that never matter is `sallyport policy lint`"},
    {"scan", "trying guards on a text is `sallyport guard check`"},
    {"pin", "tool definitions are pinned by `sallyport mcp`; `sallyport pins list` shows them"},
    {"approve", "answering a question is `sallyport approvals approve`"},
    {"deny", "answering a question is `sallyport approvals deny`"},
    {"reject", "answering a question is `sallyport approvals deny`", "approvals"},
    {"refuse", "answering a question is `sallyport approvals deny`", "approvals"},
    {"promote", "an agent's tier is raised by `sallyport trust promote`"},
    {"demote", "an agent's tier is lowered by `sallyport trust demote`"},
    {"audit", "`sallyport ledger show` shows records, `sallyport ledger tail` the newest ones"},
    {"log", "`sallyport ledger show` shows records, `sallyport ledger tail` the newest ones"},
    {"logs", "`sallyport ledger show` shows records, `sallyport ledger tail` the newest ones"},
    {"version", "it is `sallyport --version`"},
    {"help", "it is `sallyport --help`"},
});

// Full paths of all commands, without the program's name.
void collect(const CommandInfo& command, const std::string& path, std::vector<std::string>& paths) {
  for (const CommandInfo& inner : command.commands) {
    const std::string full = path.empty() ? inner.name : path + " " + inner.name;
    paths.push_back(full);
    collect(inner, full, paths);
  }
}

}  // namespace

std::string about_unknown_verb(const CommandInfo& root, std::string_view under,
                               const std::string& word) {
  const std::string typed = under.empty() ? word : fmt::format("{} {}", under, word);
  const std::string unknown = fmt::format("there is no command `{}`", typed.substr(0, 80));
  for (const Habit& habit : kHabits) {
    if ((under.empty() || habit.in == under) && habit.word == word)
      return fmt::format("{}; {}", unknown, habit.answer);
  }
  std::vector<std::string> paths;
  collect(root, "", paths);
  // `tail` for `ledger tail`: the right word in the wrong place.
  for (const std::string& path : paths) {
    if (under.empty() && path.ends_with(" " + word))
      return fmt::format("{}; it is `sallyport {}`", unknown, path);
  }
  if (const std::optional<std::string> near = nearest(typed, paths)) {
    return fmt::format("{}; did you mean `sallyport {}`", unknown, *near);
  }
  return fmt::format("{}; run `sallyport{}{} --help`", unknown, under.empty() ? "" : " ", under);
}

}  // namespace sallyport::app
