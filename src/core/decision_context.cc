#include "core/decision_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <vector>

#include "base/json_members.h"

namespace sallyport::core {

namespace {

constexpr const char* kBrief = "decided";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

void DecisionContext::add_to(json::object& body) const {
  body["decided_at"] = decided_at;
  body["as_of"] = as_of;
  body["class_source"] = class_source;
  body["caution"] = caution;
  body["definition"] = definition.empty() ? json::value() : json::value(definition);
  body["front"] = front;
}

std::string DecisionContext::brief() const {
  std::string text = fmt::format("{} {} {}", as_of, front, class_source);
  if (caution) text += " caution";
  return definition.empty() ? text : text + ' ' + definition;
}

std::string front_word(const std::string& front) {
  constexpr auto kFronts =
      std::to_array<std::string_view>({"mcp", "http", "hook", "library", "agent"});
  return std::ranges::find(kFronts, front) != kFronts.end() ? front : "library";
}

void expand_context(json::object& body) {
  const std::vector<std::string> words = words_of(text_or_empty(body, kBrief));
  body.erase(kBrief);
  if (words.size() < 3) return;
  DecisionContext context{
      .decided_at = text_or_empty(body, "started_at"), .class_source = words[2], .front = words[1]};
  const std::string& size = words[0];
  std::from_chars(size.data(), size.data() + size.size(), context.as_of);
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "caution") {
      context.caution = true;
    } else {
      context.definition = words[i];
    }
  }
  context.add_to(body);
}

}  // namespace sallyport::core
