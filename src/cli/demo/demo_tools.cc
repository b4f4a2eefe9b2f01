#include "cli/demo/demo_tools.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "autonomy/policy_rules.h"
#include "base/json_members.h"
#include "base/try.h"
#include "guards/redact/output_sanitizer.h"
#include "net/process.h"

namespace sallyport::app {

namespace {

std::string path_in(const Call& call) {
  const json::object* const input = call.input.if_object();
  return std::string(input == nullptr ? "" : text_in(*input, "path").value_or(""));
}

Envelope read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Envelope::error(fmt::format("{}: no such file", path));
  std::ostringstream text;
  text << file.rdbuf();
  return Envelope::of(json::value(text.str()));
}

Envelope write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) return Envelope::error(fmt::format("{}: cannot be written", path));
  return Envelope::of(json::value(fmt::format("{} bytes written", text.size())));
}

class FolderGuard final : public core::Guard {
 public:
  explicit FolderGuard(std::filesystem::path folder) : folder_(std::move(folder)) {
    traits_.name = "workspace-paths";
    traits_.settings = json::object{{"folder", folder_.string()}};
  }
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Call& call, const core::GuardContext&) const override {
    const std::string path = path_in(call);
    if (path.empty()) co_return Verdict::allow();
    const auto inside = std::filesystem::path(path).lexically_normal().lexically_relative(folder_);
    if (!inside.empty() && !inside.string().starts_with("..")) co_return Verdict::allow();
    co_return Verdict::deny(fmt::format("`{}` is outside the workspace", path), "path.outside");
  }

 private:
  std::filesystem::path folder_;
  core::GuardTraits traits_;
};

// A rule of the plan that wants a person to be asked.
class DeletionGuard final : public core::Guard {
 public:
  DeletionGuard() { traits_.name = "ask-before-deleting"; }
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Call& call, const core::GuardContext&) const override {
    const json::object* const input = call.input.if_object();
    const auto command = input == nullptr ? std::nullopt : text_in(*input, "command");
    if (!command || !command->starts_with("rm ")) co_return Verdict::allow();
    co_return Verdict::ask(fmt::format("Delete with `{}`?", *command), "shell.rm");
  }

 private:
  core::GuardTraits traits_;
};

bool says(const Envelope& result, std::string_view words) {
  return result.value.is_string() &&
         std::string_view(result.value.get_string()).find(words) != std::string_view::npos;
}

class MarkGuard final : public core::ResultGuard {
 public:
  MarkGuard() { traits_.name = "marked-documents"; }
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Envelope& result, const ResultContext&) const override {
    if (!says(result, "STRICTLY CONFIDENTIAL")) co_return Verdict::allow();
    co_return Verdict::deny("the document is marked as confidential", "mark.confidential");
  }

 private:
  core::GuardTraits traits_;
};

class PaymentGuard final : public core::ResultGuard {
 public:
  PaymentGuard() { traits_.name = "payments"; }
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Envelope& result, const ResultContext&) const override {
    if (!says(result, "payment due")) co_return Verdict::allow();
    co_return Verdict::escalate("the agent has read about a payment", "payment.due");
  }

 private:
  core::GuardTraits traits_;
};

}  // namespace

Task<Envelope> DemoTools::invoke(Call call, std::shared_ptr<core::Delivery>,
                                 std::stop_token cancel) {
  const json::object* const input = call.input.if_object();
  const auto argument = [&](std::string_view name) {
    return std::string(input == nullptr ? "" : text_in(*input, name).value_or(""));
  };
  if (call.tool == "read_file") co_return read_file(argument("path"));
  if (call.tool == "write_file") co_return write_file(argument("path"), argument("text"));
  if (call.tool != "shell") co_return Envelope::error("there is no tool " + call.tool);
  net::ProcessSpec spec{.arguments = {"sh", "-c", argument("command")}, .folder = folder_};
  SALLYPORT_CO_TRY(const net::ProcessResult ended,
                   co_await net::run_process(std::move(spec), std::move(cancel)));
  if (ended.exit_code == 0) co_return Envelope::of(json::value(ended.output));
  co_return Envelope::error(fmt::format("exit code {}: {}", ended.exit_code, ended.output));
}

Result<std::shared_ptr<const core::Plan>> demo_plan(const std::filesystem::path& folder,
                                                    std::string fingerprint_key, const Clock& clock,
                                                    Entropy& entropy) {
  SALLYPORT_TRY(auto sanitizer,
                guards::OutputSanitizer::build({}, std::move(fingerprint_key), clock));
  return core::PlanBuilder()
      .tool("", "read_file", {Tier::Observe, "none"})
      .tool("", "write_file", {Tier::Confirm, "fs.write"})
      .tool("", "shell", {Tier::Confirm, "process.exec"})
      .tool("", "deploy", {Tier::Confirm, "host.call"})
      .guard(std::make_shared<FolderGuard>(folder))
      .guard(std::make_shared<DeletionGuard>())
      .result_guard(std::make_shared<MarkGuard>())
      .result_guard(std::make_shared<PaymentGuard>())
      .result_guard(std::move(sanitizer))
      .autonomy_rules(std::make_shared<autonomy::PolicyRules>(
          autonomy::AutonomyPolicy{.tier = Autonomy::ActAuto,
                                   .action_tiers = {{"deploy", Autonomy::Shadow}}},
          clock, entropy))
      .build();
}

}  // namespace sallyport::app
