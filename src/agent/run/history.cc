#include "agent/run/history.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "agent/model/history_text.h"
#include "llm/wire_json.h"

namespace sallyport::agent {

using sessions::Item;
using sessions::NewItem;
using sessions::Role;

namespace {

// Fewer items are not worth a request to the model.
constexpr std::size_t kFewestReplaced = 2;
constexpr std::uint64_t kBytesPerToken = 4;
// The Governor and the store take no deeper values.
constexpr std::size_t kDeepestArguments = 100;

bool is_call(const json::value& block) {
  return llm::text_in(block, "type") == "tool_call";
}

}  // namespace

NewItem user_message(std::string_view text) {
  return {.role = Role::User, .content = {json::object{{"type", "text"}, {"text", text}}}};
}

NewItem model_message(std::string_view text, std::span<const ModelCall> calls) {
  NewItem item{.role = Role::Assistant};
  if (!text.empty()) item.content.push_back(json::object{{"type", "text"}, {"text", text}});
  for (const ModelCall& call : calls) {
    // Arguments that are not a JSON object, are nested too deeply or have a number that no double
    // holds stay as text.
    const auto parsed = parse_json(call.arguments.empty() ? "{}" : call.arguments);
    const bool object = parsed && parsed->value.is_object() && parsed->exact &&
                        check_json(parsed->value, kDeepestArguments);
    item.content.push_back(
        json::object{{"type", "tool_call"},
                     {"id", call.id},
                     {"name", call.name},
                     {"input", object ? parsed->value : json::value(call.arguments)}});
  }
  return item;
}

NewItem result_item(const std::string& tool_call_id, std::string_view text, bool is_error) {
  return {
      .role = Role::Tool,
      .content = {json::object{{"type", "tool_result"}, {"text", text}, {"is_error", is_error}}},
      .tool_call_id = tool_call_id};
}

NewItem notice_of(const sessions::BackgroundTask& task) {
  return {.role = Role::User,
          .content = {json::object{
              {"type", "notice"},
              {"task_id", task.id},
              {"status", sessions::to_string(task.status)},
              {"exit_code", task.exit_code ? json::value(*task.exit_code) : json::value()}}}};
}

NewItem summary_item(std::string_view text) {
  return {.role = Role::User, .content = {json::object{{"type", "summary"}, {"text", text}}}};
}

std::vector<ModelCall> calls_of(const Item& item) {
  std::vector<ModelCall> calls;
  for (const json::value& block : item.content) {
    if (!is_call(block)) continue;
    const json::value* const input = block.as_object().if_contains("input");
    std::string arguments;
    if (input != nullptr) {
      arguments = input->is_string() ? std::string(input->get_string()) : json::serialize(*input);
    }
    calls.push_back({.id = std::string(llm::text_in(block, "id")),
                     .name = std::string(llm::text_in(block, "name")),
                     .arguments = std::move(arguments)});
  }
  return calls;
}

std::set<std::string> call_ids(std::span<const Item> items) {
  std::set<std::string> ids;
  for (const Item& item : items) {
    for (const json::value& block : item.content) {
      if (is_call(block)) ids.emplace(llm::text_in(block, "id"));
    }
  }
  return ids;
}

std::vector<ModelCall> open_calls(std::span<const Item> items) {
  std::set<std::string> answered;
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->role == Role::Tool && item->tool_call_id) answered.insert(*item->tool_call_id);
    if (item->role != Role::Assistant) continue;
    std::vector<ModelCall> calls = calls_of(*item);
    std::erase_if(calls, [&](const ModelCall& call) { return answered.contains(call.id); });
    return calls;
  }
  return {};
}

bool waits_for_model(std::span<const Item> items) {
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->role == Role::System) continue;
    return item->role != Role::Assistant || !calls_of(*item).empty();
  }
  return false;
}

std::string last_user_text(std::span<const Item> items) {
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->role != Role::User) continue;
    for (const json::value& block : item->content) {
      if (llm::text_in(block, "type") == "text") return std::string(llm::text_in(block, "text"));
    }
  }
  return {};
}

std::string last_model_text(std::span<const Item> items) {
  for (auto item = items.rbegin(); item != items.rend(); ++item) {
    if (item->role == Role::Assistant) return text_of_item(*item);
  }
  return {};
}

std::uint64_t estimated_tokens(std::span<const Item> items) {
  std::uint64_t bytes = 0;
  for (const Item& item : items) bytes += json::serialize(item.content).size();
  return bytes / kBytesPerToken;
}

std::size_t replaceable(std::span<const Item> items, std::size_t keep) {
  std::size_t first = 0;
  while (first < items.size() && items[first].role == Role::System) ++first;
  std::size_t cut = items.size() - std::min(items.size(), keep);
  // A result stays with its call: the cut moves before the message with the call.
  while (cut > first && items[cut].role == Role::Tool) --cut;
  return cut >= first + kFewestReplaced ? cut : 0;
}

}  // namespace sallyport::agent
