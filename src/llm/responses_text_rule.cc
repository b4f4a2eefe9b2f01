#include "llm/responses_text_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sallyport::llm {

namespace {

constexpr std::array<TextRule, 7> kTextRules{{
    {"output_text", "text", "content", "content_index", ChannelKind::Text, true},
    {"refusal", "refusal", "content", "content_index", ChannelKind::Refusal, true},
    {"reasoning_text", "text", "content", "content_index", ChannelKind::Reasoning, true},
    {"reasoning_summary_text", "text", "summary", "summary_index", ChannelKind::Reasoning, true},
    {"mcp_call_arguments", "arguments", "arguments", "", ChannelKind::ProviderCall, false},
    {"code_interpreter_call_code", "code", "code", "", ChannelKind::ProviderCall, false},
    {"shell_call_command", "command", "action/commands", "command_index", ChannelKind::ProviderCall,
     false},
}};

std::string_view stem_of(std::string_view text, std::string_view end) {
  if (text.ends_with(end)) text.remove_suffix(end.size());
  return text;
}

template <class Fits>
const TextRule* first_rule(Fits fits) {
  const auto found = std::ranges::find_if(kTextRules, fits);
  return found == kTextRules.end() ? nullptr : &*found;
}

}  // namespace

const TextRule* TextRule::of(std::string_view event_type) {
  constexpr std::string_view kPrefix = "response.";
  if (!event_type.starts_with(kPrefix)) return nullptr;
  event_type.remove_prefix(kPrefix.size());
  const std::string_view base = stem_of(stem_of(stem_of(event_type, ".delta"), ".done"), ".added");
  if (base == event_type) return nullptr;
  return first_rule([&](const TextRule& rule) { return rule.base == base; });
}

const TextRule* TextRule::carrying(const ItemText& text) {
  if (text.fixed) return nullptr;
  return first_rule([&](const TextRule& rule) {
    return rule.kind == text.channel.kind &&
           rule.pointer(text.channel.part % kSummaryPart) == text.pointer;
  });
}

std::string TextRule::pointer(std::uint64_t number) const {
  if (index.empty()) return fmt::format("/{}", place);
  if (!part) return fmt::format("/{}/{}", place, number);
  return fmt::format("/{}/{}/{}", place, number, member);
}

}  // namespace sallyport::llm
