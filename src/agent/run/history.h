// Questions to a transcript, and the items that a run adds to it. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.h"
#include "sessions/item.h"
#include "sessions/session_store.h"

namespace sallyport::agent {

sessions::NewItem said_by_user(std::string_view text);
sessions::NewItem said_by_model(std::string_view text, std::span<const ModelCall> calls);
sessions::NewItem result_item(const std::string& tool_call_id, std::string_view text,
                              bool is_error);
sessions::NewItem notice_of(const sessions::BackgroundTask& task);
sessions::NewItem summary_item(std::string_view text);

// The calls of an assistant's item, with their arguments as text.
std::vector<ModelCall> calls_of(const sessions::Item& item);

// Calls of the last assistant message that have no result yet, in their order (RT-9).
std::vector<ModelCall> open_calls(std::span<const sessions::Item> items);

// True if the model must answer next: not after its own message without calls.
bool waits_for_model(std::span<const sessions::Item> items);

// The newest text of a person, without notices and summaries; empty: there is none.
std::string last_user_text(std::span<const sessions::Item> items);
// The newest text of the model.
std::string last_model_text(std::span<const sessions::Item> items);

// About how many tokens the transcript has, where no provider has said so (RT-62).
std::uint64_t estimated_tokens(std::span<const sessions::Item> items);

// How many items a summary may replace so that at least the last `keep` stay, and every call stays
// with its result (RT-64). `system` items at the beginning are not counted among the replaced.
// 0: there is nothing worth it.
std::size_t replaceable(std::span<const sessions::Item> items, std::size_t keep);

}  // namespace sallyport::agent
