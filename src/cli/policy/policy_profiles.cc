// Prints what is known about the tools of agents and servers, and about programs (RU-31).
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "effects/profiles.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct PolicyProfilesOptions {
  std::optional<std::string> name;  // of an agent, a server or a program
};

// A row of any kind: where it belongs, what it names, and what that does.
void print_row(const json::object& row) {
  if (const auto tool = text_in(row, "tool")) {
    return print_line(fmt::format("{:<24} tool     {:<28} {:<10} {}", text_or_empty(row, "profile"),
                                  *tool, text_or_empty(row, "does"),
                                  text_or_empty(row, "members")));
  }
  if (const auto by = text_in(row, "by")) {
    return print_line(fmt::format("{:<24} server   {:<28} {}", text_or_empty(row, "profile"),
                                  text_or_empty(row, "name"), *by));
  }
  std::string options;
  for (const json::value& option : row.at("options").as_array()) {
    const json::object& one = option.as_object();
    if (!options.empty()) options += ' ';
    options += one.at("spellings").as_array().front().as_string();
    if (text_in(one, "meaning") != "plain") options += ':' + text_or_empty(one, "meaning");
  }
  const auto subcommand = text_in(row, "subcommand");
  print_line(fmt::format("{:<24} {:<8} {:<28} {:<10} {}", text_or_empty(row, "program"),
                         subcommand ? "command" : "program", subcommand.value_or(""),
                         subcommand ? text_or_empty(row, "class") : text_or_empty(row, "operands"),
                         options));
}

Result<int> policy_profiles(const Context& context, const PolicyProfilesOptions& options) {
  const std::string name = options.name.value_or("");
  json::array rows = effects::profiles_json(name);
  for (const json::array& more : {effects::servers_json(name), effects::programs_json(name)}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  if (rows.empty()) {
    return fail(ErrorCode::NotFound,
                fmt::format("there is no profile of an agent, a server or a program `{:.80}`{}; "
                            "`sallyport policy profiles` lists them",
                            name, did_you_mean(name, effects::profile_names())));
  }
  for (const json::value& row : rows) {
    if (context.json()) {
      print_line(json::serialize(row));
    } else {
      print_row(row.as_object());
    }
  }
  return 0;
}

const Command kPolicyProfiles("policy profiles",
                              "list what tools of agents and servers do, and what programs do",
                              policy_profiles, [](Syntax& syntax, PolicyProfilesOptions& options) {
                                syntax.text("name", options.name,
                                            "only this agent, server or program", "NAME");
                              });

}  // namespace

}  // namespace sallyport::app
