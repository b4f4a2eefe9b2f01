// Converts a history for models. The runtime's own blocks become marked texts, and names become
// names that every API accepts.
#pragma once

#include <string>
#include <string_view>

#include "agent/model/model.h"
#include "sessions/item.h"

namespace sallyport::agent {

// Returns the text of a block, or a marked text for a notice or a summary. A blank text becomes
// empty, because no API accepts a text without a letter.
std::string text_of_block(const json::value& block);
// The texts of all blocks of an item, with an empty line between them.
std::string text_of_item(const sessions::Item& item);
// The recalled memory, marked as data and not as an instruction; empty: there is none.
std::string marked_recall(std::string_view recalled);
// The system text of the request, then those of system items in the history that differ from it.
std::string system_text(const ModelRequest& request);

// Returns a call id or tool name in characters that APIs accept. Without this, an API would refuse
// the history forever after a model once made up an id with other characters.
std::string wire_id(std::string_view id);
std::string wire_name(std::string_view name);

}  // namespace sallyport::agent
