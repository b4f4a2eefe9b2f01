// Merges the answers of several servers into one. Input and output are JSON text.
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

// Merges `initialize` or `server/discover`: the union of all capabilities, and the oldest version.
// If a server is missing, the capabilities that it may have are advertised too. The lists change
// whenever a server appears or disappears.
std::string merged_opening(const std::vector<PartAnswer>& parts, bool all);
std::string merged_discovery(const std::vector<PartAnswer>& parts, bool all);

// The member that a list method answers with (`tools`, `prompts`, ...); empty: it is no list.
std::string_view list_member(std::string_view method);
// Joins lists, with qualified names of tools and prompts and ids of tasks. A resource that two
// servers have belongs to the first. Members beside the list come from the first part.
std::string merged_list(std::string_view method, const std::vector<PartAnswer>& parts);

// The notification that a list has changed, and the subscription to it; empty: there is none.
struct ListChange {
  std::string_view notification{};
  std::string_view subscription{};
};
ListChange change_of(std::string_view method);

// Converts the cursors of the next pages, by server, to one opaque cursor, and back.
std::string merged_cursor(const std::map<std::string, std::string>& cursors);
std::optional<std::map<std::string, std::string>> split_cursor(std::string_view cursor);

}  // namespace sallyport::mcp
