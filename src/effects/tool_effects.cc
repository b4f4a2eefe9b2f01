#include "effects/tool_effects.h"

#include <algorithm>
#include <boost/json.hpp>

#include "autonomy/effect_table.h"
#include "base/visible_text.h"
#include "effects/command_call.h"
#include "effects/effect_maker.h"
#include "effects/host.h"
#include "effects/path_text.h"
#include "effects/profiles.h"
#include "effects/sql.h"
#include "grants/host.h"
#include "grants/leaves.h"
#include "grants/path.h"

namespace sallyport::effects {

namespace {

// MCP methods that arrive as calls. They only read, some of them at an address.
constexpr ProfileTool kMethods[] = {
    {"", "resources/read", Does::Fetch, "uri"},
    {"", "resources/subscribe", Does::Fetch, "uri"},
    {"", "prompts/get"},
    {"", "completion/complete"},
    {"", "tasks/get"},
    {"", "tasks/result"},
};

constexpr std::string_view kSourceMembers[] = {"source", "src", "old_path", "from"};
constexpr std::string_view kTargetMembers[] = {"destination", "dst", "new_path", "target", "to"};

// True if the text begins with a character that no address has. A blank may be Unicode.
bool ends_address(std::string_view text) {
  if (std::string_view(" \t\r\n\v\f\"'<>`|{}").contains(text[0])) return true;
  if (static_cast<unsigned char>(text[0]) < 0x80) return false;
  const char32_t point = decode_utf8(text).point;
  return point == 0x85 || point == 0xa0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200b) || point == 0x2028 || point == 0x2029 ||
         point == 0x202f || point == 0x205f || point == 0x3000 || point == 0xfeff;
}

// Finds addresses in free text.
std::vector<std::string_view> addresses_in(std::string_view text) {
  std::vector<std::string_view> found;
  const auto is_scheme = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  std::size_t from = 0;
  for (std::size_t mark = text.find("://"); mark != std::string_view::npos;
       mark = text.find("://", from)) {
    std::size_t start = mark;
    while (start > from && is_scheme(text[start - 1])) --start;
    const std::size_t next = std::min(text.size(), text.find("://", mark + 3));
    std::size_t end = mark + 3;
    while (end < next && !ends_address(text.substr(end))) ++end;
    // Another address begins inside of this one.
    const bool inside = end == next && next < text.size();
    while (inside && end > mark + 3 && is_scheme(text[end - 1])) --end;
    std::string_view address = text.substr(start, end - start);
    while (!address.empty() &&
           std::string_view(".,;:!?)").find(address.back()) != std::string_view::npos) {
      address.remove_suffix(1);
    }
    found.push_back(address);
    from = end;
  }
  return found;
}

// The values of the members that a row names. Lists are split into items.
std::vector<const json::value*> values_of(const json::value& input, std::string_view members) {
  std::vector<const json::value*> values;
  const json::object* const object = input.if_object();
  while (object && !members.empty()) {
    const std::string_view name = members.substr(0, members.find(' '));
    members.remove_prefix(std::min(members.size(), name.size() + 1));
    const json::value* const value = object->if_contains(name);
    if (value == nullptr || value->is_null()) continue;
    if (const json::array* const list = value->if_array()) {
      for (const json::value& item : *list) values.push_back(&item);
    } else {
      values.push_back(value);
    }
  }
  return values;
}

void add_paths(EffectMaker& maker, std::string_view effect_class,
               const std::vector<const json::value*>& values, bool recursive = false) {
  for (const json::value* const value : values) {
    if (value->is_string()) {
      maker.add_path(effect_class, value->get_string(), recursive);
    } else {
      maker.add_unknown_path(effect_class);
    }
  }
}

// `/etc/*` and `../x/*` leave the folder that is searched.
void add_pattern(EffectMaker& maker, const json::value& input) {
  for (const json::value* const value : values_of(input, "pattern glob_pattern")) {
    if (!value->is_string()) continue;
    const std::string_view text = value->get_string();
    maker.note_used(text);
    const bool leaves =
        text.starts_with('/') || text.starts_with('~') || text.find("..") != std::string_view::npos;
    if (!leaves) continue;
    const std::string_view fixed = text.substr(0, text.find_first_of("*?[{"));
    const std::size_t slash = fixed.size() == text.size() ? fixed.size() : fixed.rfind('/');
    maker.add_path(
        "fs.read",
        slash == std::string_view::npos ? fixed : fixed.substr(0, slash == 0 ? 1 : slash), true);
  }
}

bool globs(const ProfileTool& row) {
  return row.tool == "Glob" || row.tool == "glob";
}

void add_fetch(EffectMaker& maker, const ProfileTool& row, const json::value& input) {
  const std::vector<const json::value*> values = values_of(input, row.members);
  bool none = true;
  for (const json::value* const value : values) {
    if (!value->is_string()) {
      maker.add_host("network.request", {.unknown = true});
      none = false;
      continue;
    }
    const std::string_view text = value->get_string();
    if (row.does == Does::FetchText) maker.note_used(text);
    const std::vector<std::string_view> addresses =
        row.does == Does::FetchText ? addresses_in(text) : std::vector{text};
    for (const std::string_view address : addresses) maker.add_address(address);
    none = none && addresses.empty();
  }
  if (none) maker.add_host("network.request", {.unknown = true});
}

void add_move(EffectMaker& maker, const ProfileTool& row, const json::value& input) {
  const std::size_t blank = row.members.find(' ');
  const auto source = values_of(input, row.members.substr(0, blank));
  const auto target = values_of(input, row.members.substr(blank + 1));
  add_paths(maker, "fs.delete", source);
  if (source.empty()) maker.add_unknown_path("fs.delete");
  add_paths(maker, "fs.write", target);
  if (target.empty()) maker.add_unknown_path("fs.write");
}

void add_row(EffectMaker& maker, const ProfileTool& row, const json::value& input) {
  const std::vector<const json::value*> values = values_of(input, row.members);
  const auto each_or_unknown = [&](std::string_view effect_class) {
    add_paths(maker, effect_class, values);
    if (values.empty()) maker.add_unknown_path(effect_class);
  };
  switch (row.does) {
    case Does::Nothing:
      return maker.add("none");
    case Does::Run: {
      const json::object* const object = input.if_object();
      const json::value* const command = object ? object->if_contains(row.members) : nullptr;
      if (command == nullptr) return maker.add_opaque(OpaqueReason::Expansion, 0);
      return maker.add_command(*command);
    }
    case Does::Type: {
      const bool text = !values.empty() && values.front()->is_string();
      return maker.add_opaque(OpaqueReason::Stdin, text ? values.front()->get_string().size() : 0);
    }
    case Does::Read:
      return each_or_unknown("fs.read");
    case Does::Look:
    case Does::Search:
      add_paths(maker, "fs.read", values, row.does == Does::Search);
      if (values.empty()) maker.add_own_folder(row.does == Does::Search);
      if (globs(row)) add_pattern(maker, input);
      return;
    case Does::Write:
      return each_or_unknown("fs.write");
    case Does::Delete:
      return each_or_unknown("fs.delete");
    case Does::Move:
      return add_move(maker, row, input);
    case Does::Patch:
      for (const json::value* const value : values) {
        if (!value->is_string()) continue;
        // Skips words before the patch, as in `["apply_patch", "*** Begin Patch ..."]`.
        const std::string_view text = value->get_string();
        if (values.size() > 1 && text == "apply_patch") continue;
        maker.add_patch(text);
      }
      if (values.empty()) maker.add_unknown_path("fs.write");
      return;
    case Does::GitRead:
      return each_or_unknown("fs.read");
    case Does::GitWrite:
      return each_or_unknown("git.write");
    case Does::Fetch:
    case Does::FetchText:
      return add_fetch(maker, row, input);
    case Does::FindOnWeb:
      return maker.add_host("network.request", {.unknown = true});
    case Does::Store:
      return maker.add("store.write");
  }
}

void add_role(EffectMaker& maker, Role role, const json::value& value) {
  const bool text = value.is_string();
  const std::string_view content = text ? std::string_view(value.get_string()) : std::string_view();
  const auto path = [&](std::string_view effect_class) {
    text ? maker.add_path(effect_class, content) : maker.add_unknown_path(effect_class);
  };
  switch (role) {
    case Role::Reads:
      return path("fs.read");
    case Role::Writes:
      return path("fs.write");
    case Role::Deletes:
      return path("fs.delete");
    case Role::Hosts:
      return text ? maker.add_address(content)
                  : maker.add_host("network.request", {.unknown = true});
    case Role::Commands:
      return text ? maker.add_command(value) : maker.add_opaque(OpaqueReason::Expansion, 0);
    case Role::Sql:
      maker.note_used(content);
      return maker.add_all(text
                               ? effects_of_sql(content)
                               : std::vector<Effect>{{.effect_class = "db.write", .opaque = true}});
  }
}

// True if one of the members holds exactly this string object.
bool stands_under(const json::value& input, std::span<const std::string_view> members,
                  std::string_view leaf) {
  const json::object* const object = input.if_object();
  return object && std::ranges::any_of(members, [&](std::string_view name) {
           const json::value* const value = object->if_contains(name);
           return value && value->is_string() && value->get_string().data() == leaf.data();
         });
}

// Adds the effects of a class of AT-22 on one path (RU-26).
void add_leaf(EffectMaker& maker, std::string_view effect_class, bool recursive,
              const json::value& input, std::string_view leaf) {
  const bool copies = effect_class == "fs.copy";
  if (!copies && effect_class != "fs.move") {
    maker.add_path(effect_class == "fs.mkdir" ? "fs.write" : effect_class, leaf, recursive);
    return;
  }
  const std::string_view first = copies ? "fs.read" : "fs.delete";
  if (!stands_under(input, kTargetMembers, leaf)) maker.add_path(first, leaf);
  if (!stands_under(input, kSourceMembers, leaf)) maker.add_path("fs.write", leaf);
}

void add_leaves(EffectMaker& maker, std::string_view effect_class, bool recursive,
                const json::value& input) {
  // The beginning of a text decides whether it is a path or an address.
  for (const std::string_view text : grants::all_strings(input)) maker.note_used(text, true);
  bool none = true;
  const bool requests = effect_class == "network.request";
  for (const std::string_view leaf : grants::path_leaves(input)) {
    const bool reads = requests && is_file_address(leaf);
    add_leaf(maker, reads ? "fs.read" : effect_class, recursive, input, leaf);
    none = none && !reads;
    none = none && requests;
  }
  const bool of_files = effect_class.starts_with("fs.");
  for (const std::string_view leaf : grants::host_leaves(input)) {
    maker.add_host(of_files ? "network.request" : effect_class, host_from(leaf));
    none = false;
  }
  if (!none) return;
  // A request without an address still goes to some host.
  if (requests) return maker.add_host(effect_class, {.unknown = true});
  if (effect_class == "fs.copy") maker.add("fs.read");
  if (effect_class == "fs.move") maker.add("fs.delete");
  const bool writes =
      effect_class == "fs.copy" || effect_class == "fs.move" || effect_class == "fs.mkdir";
  maker.add(writes ? "fs.write" : effect_class);
}

std::string_view profile_of_server(const CallFacts& facts, const ToolBook& book) {
  const ServerDescription* const server = book.server(facts.call.server);
  if (server == nullptr) return {};
  return server->profile == "auto" ? profile_of_command(facts.server_command)
                                   : std::string_view(server->profile);
}

const ProfileTool* row_of(const CallFacts& facts, const ToolBook& book) {
  const Call& call = facts.call;
  for (const ProfileTool& method : kMethods) {
    if (method.tool == call.tool) return &method;
  }
  if (const std::string_view profile = profile_of_server(facts, book); !profile.empty()) {
    if (const ProfileTool* const row = profile_tool(profile, call.tool)) return row;
  }
  // Only the host of a coding agent reports calls of its own tools. Our own runtime is such a host.
  const bool own = facts.front == "agent" && call.server == kOwnAgentProfile;
  if (!own && (facts.front != "hook" || !is_agent_profile(call.server))) return nullptr;
  return profile_tool(call.server, call.tool);
}

// The class of a tool in the table of AT-22 (RU-26).
std::string_view class_in_table(std::string_view tool) {
  if (tool == "git.push" || tool == "git_push") return "git.push";
  const std::optional<autonomy::Effect> found = autonomy::effect_of(tool);
  return found ? found->effect_class : std::string_view();
}

const json::value* command_in(const json::value& input) {
  const json::object* const object = input.if_object();
  return object ? object->if_contains("command") : nullptr;
}

}  // namespace

const ToolDescription* ToolBook::tool(const std::string& server, const std::string& name) const {
  if (tools.empty()) return nullptr;
  for (const std::string& where : {server, std::string()}) {
    if (const auto found = tools.find({where, name}); found != tools.end()) return &found->second;
  }
  return nullptr;
}

const ServerDescription* ToolBook::server(std::string_view name) const {
  if (const auto found = servers.find(name); found != servers.end()) return &found->second;
  const auto any = servers.find(std::string_view("*"));
  return any == servers.end() ? nullptr : &any->second;
}

Effects effects_of_call(const CallFacts& facts, const ToolBook& book, std::vector<UsedText>* used) {
  const Call& call = facts.call;
  EffectMaker maker(facts, used);
  if (const ToolDescription* const tool = book.tool(call.server, call.tool)) {
    bool none = true;
    for (const RoleOf& role : tool->roles) {
      for (const json::value* const value : role.selector.select(call.input)) {
        add_role(maker, role.role, *value);
        none = false;
      }
    }
    if (none && tool->roles.empty() && tool->effect_class != "none") {
      add_leaves(maker, tool->effect_class, false, call.input);
    } else if (none) {
      maker.add(tool->effect_class);
    }
    return maker.take();
  }
  if (const ProfileTool* const row = row_of(facts, book)) {
    add_row(maker, *row, call.input);
    return maker.take();
  }
  const std::string_view known = class_in_table(call.tool);
  if (known.empty() && is_read_only_by_hint(facts, book)) {
    maker.add("none");
  } else if (known == "process.exec" && command_in(call.input) != nullptr) {
    add_command_call(maker, call.input.get_object());
  } else if (known == "process.exec") {
    // The input names no program.
    maker.add("process.exec");
  } else {
    add_leaves(maker, known.empty() ? "unknown" : known, call.tool == "delete_directory",
               call.input);
  }
  return maker.take();
}

bool is_command_tool(const CallFacts& facts, const ToolBook& book) {
  const Call& call = facts.call;
  if (book.tool(call.server, call.tool)) return false;
  if (const ProfileTool* const row = row_of(facts, book)) return row->does == Does::Run;
  return class_in_table(call.tool) == "process.exec" && command_in(call.input) != nullptr;
}

bool is_read_only_by_hint(const CallFacts& facts, const ToolBook& book) {
  const Call& call = facts.call;
  const ServerDescription* const server = book.server(call.server);
  return server && server->trust_hints && facts.read_only_hint == true &&
         !facts.definition_changed && !book.tool(call.server, call.tool) && !row_of(facts, book) &&
         class_in_table(call.tool).empty();
}

bool is_free(const Effect& effect) {
  return !effect.opaque && (effect.effect_class == "none" || effect.effect_class == "fs.read");
}

bool is_tool_of_table(std::string_view tool) {
  return !class_in_table(tool).empty();
}

std::vector<std::string> known_classes() {
  const std::vector<std::string_view>& classes = autonomy::effect_classes();
  return {classes.begin(), classes.end()};
}

}  // namespace sallyport::effects
