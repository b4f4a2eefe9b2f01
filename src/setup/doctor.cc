#include "setup/doctor.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "terminal/output.h"

namespace sallyport::app {

namespace {

std::string_view name_of(Finding finding) {
  switch (finding) {
    case Finding::Ok:
      return "ok";
    case Finding::Warn:
      return "warn";
    case Finding::Fail:
      return "fail";
  }
  return "?";
}

Paint paint_of(Finding finding) {
  if (finding == Finding::Ok) return Paint::Good;
  return finding == Finding::Warn ? Paint::Doubtful : Paint::Bad;
}

}  // namespace

Result<int> doctor(const Context& context) {
  const std::vector<Check> checks = examine_installation(context);
  const bool sound = std::ranges::none_of(
      checks, [](const Check& check) { return check.finding == Finding::Fail; });
  std::size_t width = 12;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  json::array list;
  for (const Check& check : checks) {
    if (!context.json()) {
      print_line(fmt::format("{} {:<{}} {}{}",
                             context.terminal.paint(paint_of(check.finding),
                                                    fmt::format("{:<4}", name_of(check.finding))),
                             check.name, width, visible(check.detail),
                             check.advice.empty() ? "" : "; " + visible(check.advice)));
      continue;
    }
    list.push_back(json::object{{"check", check.name},
                                {"state", name_of(check.finding)},
                                {"detail", check.detail},
                                {"advice", check.advice}});
  }
  if (context.json()) {
    print_line(
        visible_json(canonical_json(json::object{{"ok", sound}, {"checks", std::move(list)}})));
  }
  return sound ? 0 : 1;
}

}  // namespace sallyport::app
