#include "terminal/log_line.h"

#include <boost/json.hpp>

#include "base/visible_text.h"
#include "sallyport/json.h"

namespace sallyport::app {

namespace {

// Removes `begin`, a part and `mark` from the start of `text`. Returns the part; empty: no match.
std::string_view taken_off(std::string_view& text, std::string_view begin, std::string_view mark) {
  if (!text.starts_with(begin)) return {};
  const std::size_t end = text.find(mark, begin.size());
  if (end == std::string_view::npos) return {};
  const std::string_view part = text.substr(begin.size(), end - begin.size());
  text.remove_prefix(end + mark.size());
  return part;
}

}  // namespace

std::string log_line(LogForm form, WallTime time, std::string_view message) {
  // The message may quote servers.
  const std::string shown = visible(message);
  if (form == LogForm::Text) return "sallyport: " + shown;
  std::string_view text = shown;
  const std::string_view server = taken_off(text, "[", "] ");
  std::string_view level = "info";
  for (const std::string_view other : {"warning", "error"}) {
    if (!server.empty() || !text.starts_with(other)) continue;
    if (!text.substr(other.size()).starts_with(": ")) continue;
    level = other;
    text.remove_prefix(other.size() + 2);
    break;
  }
  json::object line{{"time", rfc3339(time)}, {"level", level}, {"message", text}};
  if (!server.empty()) line["server"] = server;
  return json::serialize(line);
}

}  // namespace sallyport::app
