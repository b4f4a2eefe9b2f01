#include "external/launch.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/cut_text.h"
#include "base/try.h"
#include "external/program_check.h"

namespace sallyport::external {

namespace {

constexpr std::uint64_t kMostFiles = 256;
constexpr std::uint64_t kMostMemory = 2ull << 30;
constexpr std::size_t kShortestSecret = 4;  // shorter ones occur in many texts by chance

net::Confinement confinement_of(const Entry& entry, const Host& host) {
  net::Confinement out;
  for (const std::string& name : entry.env) {
    if (const auto value = host.variable(name)) out.environment.push_back(name + "=" + *value);
  }
  if (!host.data_folder().empty()) {
    out.environment.push_back("SALLYPORT_DATA_DIR=" + host.data_folder());
  }
  // The program counts as a child of an agent: it must not answer approval requests (AP-29).
  out.environment.push_back("SALLYPORT_AGENT=" + entry.name());
  out.limits = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, kMostFiles}, {RLIMIT_DATA, kMostMemory}};
  if (!entry.serves) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(entry.deadline);
    out.limits.push_back({RLIMIT_CPU, static_cast<std::uint64_t>(seconds.count()) + 1});
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Child>> Launch::start(std::vector<std::string> call_workspaces) const {
  call_workspaces.insert(call_workspaces.end(), workspaces.begin(), workspaces.end());
  SALLYPORT_CHECK_OK(check_program(entry.command, call_workspaces));
  return Child::start(entry.command, confinement_of(entry, *host));
}

void Launch::log_failure(std::string_view problem, std::string_view errors) const {
  constexpr std::size_t kShown = 300;
  std::string line = fmt::format("{} failed: {}", entry.name(), problem);
  errors = errors.substr(0, errors.find('\n'));
  if (!errors.empty()) {
    line += fmt::format("; it says: {}",
                        cut_utf8_bytes(without_secrets(entry, *host, std::string(errors)), kShown));
  }
  host->log(line);
}

std::string without_secrets(const Entry& entry, const Host& host, std::string text) {
  std::vector<std::string> names = entry.env;
  for (const auto& [header, name] : entry.header_env) names.push_back(name);
  for (const std::string& name : names) {
    const std::optional<std::string> value = host.variable(name);
    if (!value || value->size() < kShortestSecret) continue;
    const std::string mark = "[REDACTED:" + name + "]";
    for (std::size_t at = 0; (at = text.find(*value, at)) != std::string::npos;) {
      text.replace(at, value->size(), mark);
      at += mark.size();
    }
  }
  return text;
}

}  // namespace sallyport::external
