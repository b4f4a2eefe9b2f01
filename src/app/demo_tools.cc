#include "app/demo_tools.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "base/json_members.h"
#include "base/try.h"
#include "guards/detectors.h"
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

class SecretGuard final : public core::ResultGuard {
 public:
  explicit SecretGuard(std::shared_ptr<const guards::Detectors> detectors)
      : detectors_(std::move(detectors)) {
    traits_.name = "secret-masker";
  }
  const core::GuardTraits& traits() const override { return traits_; }

  Task<Verdict> judge(const Envelope& result, const ResultContext&) const override {
    if (!result.value.is_string()) co_return Verdict::allow();
    const std::string_view text = result.value.get_string();
    std::string masked;
    std::size_t end = 0;
    for (const auto& hit : detectors_->scan(text)) {
      masked += text.substr(end, hit.begin - end);
      masked += "****";
      end = hit.end;
    }
    if (end == 0) co_return Verdict::allow();
    masked += text.substr(end);
    co_return Verdict::rewrite(Envelope::of(json::value(masked)).to_json(), "secrets masked");
  }

 private:
  std::shared_ptr<const guards::Detectors> detectors_;
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

Result<std::shared_ptr<const core::Plan>> demo_plan(const std::filesystem::path& folder) {
  SALLYPORT_TRY(auto detectors, guards::Detectors::build());
  return core::PlanBuilder()
      .tool("", "read_file", {Tier::Observe, "none"})
      .tool("", "write_file", {Tier::Confirm, "fs.write"})
      .tool("", "shell", {Tier::Confirm, "process.exec"})
      .guard(std::make_shared<FolderGuard>(folder))
      .result_guard(std::make_shared<SecretGuard>(std::move(detectors)))
      .autonomy(Autonomy::ActAuto)
      .build();
}

}  // namespace sallyport::app
