#include "app/watch/waiting_notice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "net/process.h"
#include "people/approval_items.h"
#include "records/call_list.h"
#include "terminal/terminal.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMostNotified = 1024;
constexpr std::size_t kLongestWhat = 200;
constexpr auto kNotifierTime = std::chrono::seconds(5);
constexpr auto kBetweenNotifications = std::chrono::seconds(2);

// Notification servers read the body as markup.
std::string without_markup(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    plain += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return plain;
}

// Secrets were taken out of it before it was stored.
std::string call_text(const json::object& request) {
  const json::value* const args = request.if_contains("args");
  const bool one = args != nullptr && args->is_array() && args->get_array().size() == 1;
  return one ? shortened(visible(call_subject(args->get_array().front())), kLongestWhat) : "";
}

}  // namespace

std::optional<std::filesystem::path> desktop_notifier(const Environment& environment) {
  const bool display = environment.display && !environment.display->empty();
  std::error_code code;
  const bool bus =
      (environment.session_bus && !environment.session_bus->empty()) ||
      (environment.runtime_dir &&
       std::filesystem::exists(std::filesystem::path(*environment.runtime_dir) / "bus", code));
  if (!display || !bus) return std::nullopt;
  const std::string folders = environment.path.value_or("");
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::filesystem::path program =
        std::filesystem::path(folders.substr(at, end - at)) / "notify-send";
    if (program.is_absolute() && ::access(program.c_str(), X_OK) == 0) return program;
    at = end + 1;
  }
  return std::nullopt;
}

void WaitingNotice::show(const core::WaitingCall& call) {
  const std::string& id = call.approval_id;
  if (std::ranges::find(notified_ids_, id) != notified_ids_.end()) return;
  notified_ids_.push_back(id);
  if (notified_ids_.size() > kMostNotified) notified_ids_.pop_front();
  const Result<ApprovalItem> item = approval_item(parts_.records, id, parts_.clock.wall());
  if (!item) return;  // `approvals list` says why
  const std::string tool = with_lookalikes(visible(text_or_empty(item->request, "tool_name")));
  const std::string server = visible(text_or_empty(item->request, "server"));
  const std::string what = with_lookalikes(call_text(item->request));
  const std::string folder = parts_.data_dir.empty() ? "" : " --data-dir " + parts_.data_dir;
  parts_.log(
      fmt::format("`{}` of `{}` waits for approval{}{}; run `sallyport approvals approve "
                  "{}{}`, or the same with `deny`",
                  tool, server, what.empty() ? "" : ": ", what, id, folder));
  notify(fmt::format("Sallyport: {} waits for approval", tool),
         fmt::format("Server {}. Run: sallyport approvals show {}{}", server, id, folder));
}

void WaitingNotice::notify(std::string title, std::string body) {
  const SteadyTime now = parts_.clock.steady();
  const bool soon = notified_ && now - *notified_ < kBetweenNotifications;
  if (!parts_.notifier || notifying_ || soon) return;
  notifying_ = true;
  notified_ = now;
  boost::asio::co_spawn(parts_.loop, run_notifier(std::move(title), std::move(body)),
                        boost::asio::detached);
}

Async<void> WaitingNotice::run_notifier(std::string title, std::string body) {
  std::stop_source cancel;
  const std::stop_callback stopped(stop_.get_token(), [&cancel] { cancel.request_stop(); });
  boost::asio::steady_timer timer(parts_.loop, kNotifierTime);
  timer.async_wait([cancel](const boost::system::error_code& error) mutable {
    if (!error) cancel.request_stop();
  });
  net::ProcessSpec spec{.arguments = {parts_.notifier->string(), "--app-name=Sallyport", "--",
                                      shortened(title, kLongestWhat), without_markup(body)},
                        .max_output = 4096};
  // It is unknown whether a person saw it. The line on standard error was written.
  (void)co_await net::run_process(std::move(spec), cancel.get_token());
  timer.cancel();
  notifying_ = false;
}

}  // namespace sallyport::app
