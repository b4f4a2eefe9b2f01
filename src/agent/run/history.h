// Pure functions that read a transcript and build the items that a run adds to it.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.h"
#include "sessions/item.h"
#include "sessions/session_store.h"

namespace sallyport::agent {

sessions::NewItem user_message(std::string_view text);
sessions::NewItem model_message(std::string_view text, std::span<const ModelCall> calls);
sessions::NewItem result_item(const std::string& tool_call_id, std::string_view text,
                              bool is_error);
sessions::NewItem notice_of(const sessions::BackgroundTask& task);
sessions::NewItem summary_item(std::string_view text);

// The calls of an assistant item, with their arguments as text.
std::vector<ModelCall> calls_of(const sessions::Item& item);

// The ids of all calls.
std::set<std::string> call_ids(std::span<const sessions::Item> items);

// Calls of the last assistant message that have no result yet, in their order (RT-9).
std::vector<ModelCall> open_calls(std::span<const sessions::Item> items);

// True if the model must answer next. False after a message of the model without calls.
bool waits_for_model(std::span<const sessions::Item> items);

// The newest text of a person. Notices and summaries do not count. Empty: there is none.
std::string last_user_text(std::span<const sessions::Item> items);
// The newest text of the model.
std::string last_model_text(std::span<const sessions::Item> items);

// Estimates the tokens of the transcript, for use when no provider reported them (RT-62).
std::uint64_t estimated_tokens(std::span<const sessions::Item> items);

// The number of items that a summary may replace. At least the last `keep` items stay, and a call
// is never separated from its result (RT-64). Leading `system` items are not counted.
// 0: a summary is not worth it.
std::size_t replaceable(std::span<const sessions::Item> items, std::size_t keep);

}  // namespace sallyport::agent
