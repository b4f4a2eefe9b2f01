#include "core/decision/decision_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <utility>
#include <vector>

#include "base/encoding.h"

namespace sallyport::core {

namespace {

constexpr std::string_view kCaution = "!";

// One letter for each source of a classification: an intent is written for every call.
constexpr auto kSources = std::to_array<std::pair<char, std::string_view>>({{'p', "policy"},
                                                                            {'t', "table"},
                                                                            {'f', "profile"},
                                                                            {'h', "hint"},
                                                                            {'c', "command"},
                                                                            {'u', "unknown"}});

std::string letter_of(const std::string& source) {
  const auto found =
      std::ranges::find(kSources, source, &std::pair<char, std::string_view>::second);
  return found == kSources.end() ? source : std::string(1, found->first);
}

std::string source_of(const std::string& letter) {
  for (const auto& [short_form, source] : kSources) {
    if (letter.size() == 1 && letter.front() == short_form) return std::string(source);
  }
  return letter;
}

constexpr std::string_view kShaPrefix = "sha256:";

// The bytes of a digest in Base64, which is shorter than their digits.
std::string short_digest(std::string_view digest) {
  const std::optional<std::string> bytes =
      digest.starts_with(kShaPrefix) ? from_hex(digest.substr(kShaPrefix.size())) : std::nullopt;
  return bytes ? base64(as_bytes(*bytes)) : std::string(digest);
}

std::string long_digest(const std::string& text) {
  const std::optional<std::string> bytes = from_base64(text);
  return bytes ? std::string(kShaPrefix) + hex(as_bytes(*bytes)) : text;
}

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

std::string DecisionContext::brief() const {
  return fmt::format("{} {} {}{}{}{}", as_of, front, letter_of(class_source),
                     caution ? fmt::format(" {}", kCaution) : "", definition.empty() ? "" : " ",
                     short_digest(definition));
}

std::string front_word(const std::string& front) {
  constexpr auto kFronts =
      std::to_array<std::string_view>({"mcp", "http", "hook", "library", "agent"});
  return std::ranges::find(kFronts, front) != kFronts.end() ? front : "library";
}

std::optional<DecisionContext> DecisionContext::from_brief(const std::string& brief,
                                                           std::string started_at) {
  const std::vector<std::string> words = words_of(brief);
  if (words.size() < 3) return std::nullopt;
  DecisionContext context{.decided_at = std::move(started_at),
                          .class_source = source_of(words[2]),
                          .caution = words.size() > 3 && words[3] == kCaution,
                          .front = words[1]};
  const std::size_t behind = context.caution ? 4 : 3;
  if (words.size() > behind) context.definition = long_digest(words[behind]);
  const std::string& size = words[0];
  std::from_chars(size.data(), size.data() + size.size(), context.as_of);
  return context;
}

}  // namespace sallyport::core
