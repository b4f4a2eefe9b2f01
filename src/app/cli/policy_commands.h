// `sallyport policy` and `sallyport guard`: looking at policies and trying them out; nothing is
// called.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"

namespace sallyport::app {

struct GuardCheckOptions {
  std::string config;
  std::string stage;
  std::optional<std::string> policy;  // instead of both: its guards of results (PI-20)
  std::optional<std::string> tool;
  std::optional<std::string> text_file;
  std::optional<std::string> skip;
};
Result<int> guard_check(const Context& context, const GuardCheckOptions& options);
// A dry run of all guards of results of a policy, which know the name of the tool and nothing else.
Result<int> guard_check_result(const Context& context, const GuardCheckOptions& options);

struct GuardStreamOptions {
  std::string config;
  std::optional<std::string> delta;
  std::optional<std::string> splits;
  std::string stage = "output";
  std::optional<std::string> tool;
  std::optional<std::string> text_file;
  bool channels = false;  // the input is a message: a line of JSON for each delta
};
Result<int> guard_stream(const Context& context, const GuardStreamOptions& options);

struct PolicyCheckOptions {
  std::filesystem::path file;
  std::string fail_on = "error";  // or `warning`: then a warning is a "no" too
};
Result<int> policy_check(const Context& context, const PolicyCheckOptions& options);

struct PolicyExplainOptions {
  std::string call;  // a file, `-`, the JSON itself, or the id of a recorded call
  std::optional<std::string> policy;
  std::optional<std::string> grant;
  bool now = false;               // a recorded call by the policy and the facts of now
  std::optional<std::string> at;  // RFC 3339: the time of now
};
// 0: it runs; 1: it does not, or not without a person, or that cannot be told.
Result<int> policy_explain(const Context& context, const PolicyExplainOptions& options);

struct PolicyBacktestOptions {
  std::string candidate;  // a file, or a shipped one by its name
  std::optional<std::string> against;
  std::optional<std::string> last;  // how many calls
  std::optional<std::string> examples;
  std::optional<std::string> fail_on;
  std::optional<std::string> session;
  std::optional<std::string> agent;
  std::optional<std::string> server;
  std::optional<std::string> tool;
  std::optional<std::string> since;
  std::optional<std::string> until;
};
// 1: what `fail_on` names has happened.
Result<int> policy_backtest(const Context& context, const PolicyBacktestOptions& options);

struct PolicyShowOptions {
  std::optional<std::string> name;
};
Result<int> policy_show(const Context& context, const PolicyShowOptions& options);

struct PolicyTestOptions {
  // Policies, shipped ones by their name, guardrail documents, `gallery:NAME`, or files of cases
  // that name their policies.
  std::vector<std::string> files;
  std::vector<std::string> cases;  // files, or folders of files
  bool coverage = false;
  std::optional<std::string> min_coverage;  // percent
  std::string format = "text";              // json, junit or github
};
// 0: every case passed, and the coverage is as asked for.
Result<int> policy_test(const Context& context, const PolicyTestOptions& options);

struct PolicyLintOptions {
  std::string file;               // a policy, a shipped one by its name, or guardrails
  std::string fail_on = "error";  // or `warning`
};
Result<int> policy_lint(const Context& context, const PolicyLintOptions& options);

struct PolicyProfilesOptions {
  std::optional<std::string> name;  // of an agent, a server or a program
};
Result<int> policy_profiles(const Context& context, const PolicyProfilesOptions& options);

struct PolicyGalleryOptions {
  bool names = false;  // of all that guardrails are made of, instead of the presets
  std::optional<std::string> name;
  std::optional<std::string> locale;
};
Result<int> policy_gallery(const Context& context, const PolicyGalleryOptions& options);

struct PolicySchemaOptions {
  std::string of = "policy";  // which document
};
Result<int> policy_schema(const Context& context, const PolicySchemaOptions& options);

}  // namespace sallyport::app
