#include "mcp/server/server_tools.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/plain_text.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

// Removes tools that cannot be called or recorded, so that the rest of the list stays usable.
constexpr std::size_t kLongestToolName = 512;
std::set<std::string> take_nameless(std::vector<ToolDefinition>& tools) {
  std::set<std::string> names;
  std::erase_if(tools, [&](const ToolDefinition& tool) {
    const bool taken = tool.name.size() > kLongestToolName || tool.name == kInstructionsPin;
    if (taken) names.insert(tool.name);
    return taken;
  });
  return names;
}

}  // namespace

const ToolDefinition* ServerTools::find(const std::string& name) const {
  const auto found = list_.tools.find(name);
  return found == list_.tools.end() ? nullptr : &found->second;
}

bool ServerTools::callable(const std::string& name) const {
  // Other requests are judged by the name of their method, and usually run without approval.
  return !is_request_name(name) && name != kInstructionsPin && !list_.duplicates.contains(name) &&
         (!known_ || list_.tools.contains(name));
}

void ServerTools::forget() {
  known_ = false;
  ++changes_;  // the server may list them again
}

bool ServerTools::take_accepted() {
  return std::erase_if(held_back_, [&](const std::string& tool) { return !held(tool); }) > 0;
}

Task<Message> ServerTools::shown(std::string method, Message answer) {
  parts_.door.note_trimmed(Side::Server, answer, method);
  const json::object* const result = object_in(answer.object(), "result");
  std::string kept;
  if (method == "tools/list" && result != nullptr) {
    SALLYPORT_CO_TRY(const std::set<std::string> held, co_await see(*result, list_));
    if (!held.empty()) kept = without_tools(answer.result_text(), held);
  }
  if ((method == "initialize" || method == "server/discover") && result != nullptr &&
      !co_await may_instruct(*result)) {
    kept = without_member(answer.result_text(), "instructions");
  }
  if (!kept.empty()) {
    SALLYPORT_CO_CHECK_OK(answer.replace("result", kept, settings_.limits.json()));
  }
  co_return co_await parts_.door.release(std::move(method), std::move(answer));
}

Async<void> ServerTools::refresh(std::string wanted) {
  constexpr auto kSeldom = std::chrono::seconds(1);
  const bool lacking =
      known_ && !list_.tools.contains(wanted) && parts_.clock.steady() - listed_at_ > kSeldom;
  if ((known_ && !lacking) || unlisted_ == changes_) co_return;
  while (listing_) co_await bell_.wait("listed", std::chrono::milliseconds(200), {});
  if (known_ && list_.tools.contains(wanted)) co_return;
  listing_ = true;
  const Result<void> listed = co_await list();
  listing_ = false;
  if (!listed) {
    unlisted_ = changes_;
    settings_.log("the tools cannot be listed: " + listed.error().message);
  }
  bell_.ring("listed");
}

Task<void> ServerTools::list() {
  SALLYPORT_CO_CHECK_OK(co_await parts_.server.wait_ready());
  std::string params = "{}";
  List fresh;
  known_ = false;
  std::set<std::string> earlier;  // on pages before
  const std::uint64_t changes = changes_;
  for (std::size_t page = 0; page < settings_.limits.pages; ++page) {
    const Result<Message> answer = co_await parts_.server.link().ask(
        "tools/list", parts_.server.params_for(params, Words::Own), settings_.limits.start);
    const json::object* const result = answer ? object_in(answer->object(), "result") : nullptr;
    if (result == nullptr) {
      co_return fail(ErrorCode::Unavailable,
                     answer ? "the server refuses" : answer.error().message);
    }
    std::set<std::string> here;
    for (const ToolDefinition& tool : definitions_in(*result)) here.insert(tool.name);
    for (const std::string& name : here) {
      if (!earlier.insert(name).second) note_duplicate(fresh, name);
    }
    SALLYPORT_CO_TRY([[maybe_unused]] const auto held, co_await see(*result, fresh));
    if (fresh.tools.size() > settings_.limits.tools) {
      co_return fail(ErrorCode::Exhausted, "there are too many");
    }
    const auto cursor = text_in(*result, "nextCursor");
    if (!cursor) break;
    params = json::serialize(json::object{{"cursor", *cursor}});
  }
  list_ = std::move(fresh);
  known_ = changes == changes_;
  listed_at_ = parts_.clock.steady();
  co_return Result<void>{};
}

Task<std::set<std::string>> ServerTools::see(const json::object& result, List& list) {
  std::vector<ToolDefinition> definitions = definitions_in(result);
  // Checked before each tool gets an entry.
  if (definitions.size() > settings_.limits.tools) {
    co_return fail(ErrorCode::Exhausted, "the server lists too many tools");
  }
  std::set<std::string> unusable = take_nameless(definitions);
  for (const std::string& name : take_duplicates(definitions)) note_duplicate(list, name);
  std::erase_if(definitions,
                [&](const ToolDefinition& tool) { return list.duplicates.contains(tool.name); });
  // Names of earlier lists stay until we read a whole list ourselves.
  if (list.tools.size() > settings_.limits.tools) {
    list.tools.clear();
    known_ = false;
  }
  for (const ToolDefinition& tool : definitions) {
    list.tools[tool.name] = tool;
    held_back_.erase(tool.name);
  }
  SALLYPORT_CO_TRY(HeldBack held,
                   co_await parts_.pins.look(settings_.server, std::move(definitions)));
  report_held(held);
  // The gateway watches this many held-back tools for acceptance.
  constexpr std::size_t kMostWatched = 256;
  for (const std::string& name : held.changed) {
    if (held_back_.size() < kMostWatched) held_back_.insert(name);
  }
  if (!unusable.empty()) {
    settings_.log(fmt::format("{} tools are held back: their names are over {} bytes, or ours",
                              unusable.size(), kLongestToolName));
  }
  unusable.insert(list.duplicates.begin(), list.duplicates.end());
  unusable.merge(held.changed);
  unusable.merge(held.beyond);
  co_return unusable;
}

// Two tools have this name, so a call would be ambiguous. Neither is listed or called until the
// list has changed.
void ServerTools::note_duplicate(List& list, const std::string& name) const {
  std::set<std::string>& duplicates = list.duplicates;
  if (duplicates.size() >= settings_.limits.tools || !duplicates.insert(name).second) return;
  list.tools.erase(name);
  settings_.log(fmt::format("the server lists two tools called `{}`; neither can be called",
                            core::plain_text(parts_.redactor, name)));
}

void ServerTools::report_held(const HeldBack& held) const {
  for (const std::string& tool : held.changed) {
    settings_.log(fmt::format(
        "`{}` has changed its definition and is held back; look at it with `{}`, and accept it "
        "with `{}`",
        tool, pins_command("diff", settings_.server, tool),
        pins_command("accept", settings_.server, tool)));
  }
  if (held.beyond.empty()) return;
  settings_.log(fmt::format("`{}`{} held back: {}", *held.beyond.begin(),
                            held.beyond.size() == 1
                                ? std::string(" is new and is")
                                : fmt::format(" and {} more new tools are", held.beyond.size() - 1),
                            no_room_for(settings_.server, parts_.pins.most_of_server())));
}

// True if the model may see the server's instructions. Changed instructions are held back like a
// tool, and so are those that cannot be pinned.
Async<bool> ServerTools::may_instruct(const json::object& opening) {
  std::vector<ToolDefinition> definitions;
  definitions.push_back(instructions_in(opening));
  const Result<HeldBack> held = co_await parts_.pins.look(settings_.server, std::move(definitions));
  if (!held) co_return false;
  report_held(*held);
  co_return held->changed.empty() && held->beyond.empty();
}

}  // namespace sallyport::mcp
