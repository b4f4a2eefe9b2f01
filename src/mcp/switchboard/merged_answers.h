// What several servers answered, as one answer. JSON text in, JSON text out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sallyport::mcp {

// The result of one server.
struct PartAnswer {
  std::string server;  // its name
  std::string result;  // JSON text of an object
};

// Names that the client sees: `server.tool`.
std::string qualified(std::string_view server, std::string_view name);

// `initialize` and `server/discover`: what one of them can, all can; the oldest version counts.
// Where they are not all, what the others may have is promised too. Lists of several change
// whenever one of them comes or goes.
std::string merged_opening(const std::vector<PartAnswer>& parts, bool all);
std::string merged_discovery(const std::vector<PartAnswer>& parts, bool all);

// The member that a list method answers with (`tools`, `prompts`, ...); empty: it is no list.
std::string_view list_member(std::string_view method);
// Lists one behind the other, with qualified names of tools and prompts and ids of tasks. A
// resource that two servers have is the first one's. What stands beside the list is that of the
// first part.
std::string merged_list(std::string_view method, const std::vector<PartAnswer>& parts);

// How a client hears that a list has changed, and asks to; empty: it cannot.
struct ListChange {
  std::string_view notification{};
  std::string_view subscription{};
};
ListChange change_of(std::string_view method);

// Where the next pages are, by server, as one opaque cursor; and back.
std::string merged_cursor(const std::map<std::string, std::string>& cursors);
std::optional<std::map<std::string, std::string>> split_cursor(std::string_view cursor);

}  // namespace sallyport::mcp
