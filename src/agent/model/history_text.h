// Parts of a history as every model reads them: marked texts in place of the runtime's own blocks,
// and names that every API takes.
#pragma once

#include <string>
#include <string_view>

#include "agent/model/model.h"
#include "sessions/item.h"

namespace sallyport::agent {

// The text of a block: its own, or a marked one of a notice or a summary. Blank ones are empty: no
// API takes a text without a letter.
std::string text_of_block(const json::value& block);
// The texts of all blocks of an item, with an empty line between them.
std::string text_of_item(const sessions::Item& item);
// What memory recalled, marked as no instruction; empty: there is nothing.
std::string marked_recall(std::string_view recalled);
// The system text: of the request, then of items of the history that say something else.
std::string system_text(const ModelRequest& request);

// An id of a call, or the name of a tool, in the letters that APIs take: a model that made up
// others would be refused its own history for good.
std::string wire_id(std::string_view id);
std::string wire_name(std::string_view name);

}  // namespace sallyport::agent
