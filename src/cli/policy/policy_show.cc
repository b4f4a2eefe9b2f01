// The policies that come with the program.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/nearest.h"
#include "base/try.h"
#include "cli/command.h"
#include "core/plan/policy_text.h"
#include "ledger/read/store_reader.h"
#include "policy/policy.h"
#include "policy/shipped.h"
#include "terminal/input.h"
#include "terminal/output.h"
#include "workbench/policy_tree.h"
#include "workspace/workspace.h"

namespace sallyport::app {

namespace {

struct PolicyShowOptions {
  std::optional<std::string> name;
};

// A policy that was in force, by its hash (WB-7): the text as it was, or the whole of one that
// extended another.
Result<int> show_kept(const Context& context, const std::string& hash) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_reading());
  ledger::StoreReader records(workspace->store());
  SALLYPORT_TRY(const auto kept, core::kept_policy(records, hash));
  if (!kept) {
    return fail(
        ErrorCode::NotFound,
        fmt::format("no text of a policy with the hash `{:.80}` is kept in this data folder",
                    hash));
  }
  if (kept->text.base_name.empty()) {
    std::fwrite(kept->text.text.data(), 1, kept->text.text.size(), stdout);
    std::fflush(stdout);
    return 0;
  }
  SALLYPORT_TRY(const PolicyTree tree, PolicyTree::read(kept->text, kept->source));
  print_line(canonical_json(tree.value()));
  return 0;
}

Result<int> policy_show(const Context& context, const PolicyShowOptions& options) {
  if (options.name && options.name->starts_with("sha256:")) {
    return show_kept(context, *options.name);
  }
  if (options.name) {
    const policy::ShippedPolicy* const shipped = policy::shipped_policy(*options.name);
    if (shipped != nullptr) {
      print_line(trimmed(shipped->text));
      return 0;
    }
    std::vector<std::string> known;
    for (const policy::ShippedPolicy& one : policy::shipped_policies()) {
      known.emplace_back(one.name);
    }
    return fail(ErrorCode::NotFound,
                fmt::format("there is no policy `{:.200}`{}; `sallyport policy show` lists them",
                            *options.name, did_you_mean(*options.name, known)));
  }
  for (const policy::ShippedPolicy& shipped : policy::shipped_policies()) {
    const std::string name(shipped.name);
    SALLYPORT_TRY(const policy::Policy read, policy::read_policy(std::string(shipped.text), name));
    print_line(context.json() ? json::serialize(json::object{{"name", name}, {"about", read.about}})
                              : fmt::format("{:<20} {}", name, read.about));
  }
  return 0;
}

const Command kPolicyShow("policy show", "list policies that come with the program", policy_show,
                          [](Syntax& syntax, PolicyShowOptions& options) {
                            syntax.text("name", options.name,
                                        "print this policy; a hash names one that was in force",
                                        "NAME|HASH");
                          });

}  // namespace

}  // namespace sallyport::app
