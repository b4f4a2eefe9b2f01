#include "mcp/server/server_tools.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_members.h"
#include "base/try.h"
#include "core/record/plain_text.h"
#include "mcp/message/json_text.h"

namespace sallyport::mcp {

namespace {

// Takes out what cannot be called or recorded: one such name must not cost the whole list.
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
  const auto found = tools_.find(name);
  return found == tools_.end() ? nullptr : &found->second;
}

bool ServerTools::callable(const std::string& name) const {
  // What is no tool is judged by the name of its method, and mostly runs without a question.
  return !is_request_name(name) && name != kInstructionsPin && !doubled_.contains(name) &&
         (!known_ || tools_.contains(name));
}

void ServerTools::forget() {
  known_ = false;
  ++changes_;  // a server that refused to list them may want to now
}

bool ServerTools::take_accepted() {
  return std::erase_if(held_back_, [&](const std::string& tool) { return !held(tool); }) > 0;
}

Task<Message> ServerTools::shown(std::string method, Message answer) {
  parts_.door.note_trimmed(Side::Server, answer, method);
  const json::object* const result = object_in(answer.object(), "result");
  std::string kept;
  if (method == "tools/list" && result != nullptr) {
    SALLYPORT_CO_TRY(const std::set<std::string> held, co_await see(*result));
    if (!held.empty()) kept = without_tools(answer.result_text(), held);
  }
  if ((method == "initialize" || method == "server/discover") && result != nullptr &&
      !co_await may_instruct(*result)) {
    kept = without_member(answer.result_text(), "instructions");
  }
  if (!kept.empty()) {
    SALLYPORT_CO_TRY(
        answer, Message::read(with_member(answer.text, "result", kept), settings_.limits.json()));
  }
  co_return co_await parts_.door.release(std::move(method), std::move(answer));
}

Async<void> ServerTools::learn(std::string wanted) {
  constexpr auto kSeldom = std::chrono::seconds(1);
  const bool lacking =
      known_ && !tools_.contains(wanted) && parts_.clock.steady() - listed_at_ > kSeldom;
  if ((known_ && !lacking) || unlisted_ == changes_) co_return;
  while (listing_) co_await bell_.wait("listed", std::chrono::milliseconds(200), {});
  if (known_ && tools_.contains(wanted)) co_return;
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
  std::map<std::string, ToolDefinition> before = std::exchange(tools_, {});
  known_ = false;
  doubled_.clear();
  std::set<std::string> earlier;  // on pages before
  const std::uint64_t changes = changes_;
  for (std::size_t page = 0; page < settings_.limits.pages; ++page) {
    const Result<Message> answer = co_await parts_.server.link().ask(
        "tools/list", parts_.server.params_for(params, Words::Own), settings_.limits.start);
    const json::object* const result = answer ? object_in(answer->object(), "result") : nullptr;
    if (result == nullptr) {
      tools_ = std::move(before);
      co_return fail(ErrorCode::Unavailable,
                     answer ? "the server refuses" : answer.error().message);
    }
    std::set<std::string> here;
    for (const ToolDefinition& tool : definitions_in(*result)) here.insert(tool.name);
    for (const std::string& name : here) {
      if (!earlier.insert(name).second) note_doubled(name);
    }
    SALLYPORT_CO_TRY([[maybe_unused]] const auto held, co_await see(*result));
    if (tools_.size() > settings_.limits.tools) {
      co_return fail(ErrorCode::Exhausted, "there are too many");
    }
    const auto cursor = text_in(*result, "nextCursor");
    if (!cursor) break;
    params = json::serialize(json::object{{"cursor", *cursor}});
  }
  known_ = changes == changes_;
  listed_at_ = parts_.clock.steady();
  co_return Result<void>{};
}

Task<std::set<std::string>> ServerTools::see(const json::object& result) {
  std::vector<ToolDefinition> definitions = definitions_in(result);
  // Before each of them gets an entry.
  if (definitions.size() > settings_.limits.tools) {
    co_return fail(ErrorCode::Exhausted, "the server lists too many tools");
  }
  std::set<std::string> unusable = take_nameless(definitions);
  for (const std::string& name : take_doubled(definitions)) note_doubled(name);
  std::erase_if(definitions,
                [&](const ToolDefinition& tool) { return doubled_.contains(tool.name); });
  // Names of earlier lists stay until the next one that we read ourselves.
  if (tools_.size() > settings_.limits.tools) {
    tools_.clear();
    known_ = false;
  }
  for (const ToolDefinition& tool : definitions) {
    tools_[tool.name] = tool;
    held_back_.erase(tool.name);
  }
  SALLYPORT_CO_TRY(HeldBack held,
                   co_await parts_.pins.look(settings_.server, std::move(definitions)));
  tell_of_held(held);
  // The gateway watches this many held-back tools for acceptance.
  constexpr std::size_t kMostWatched = 256;
  for (const std::string& name : held.changed) {
    if (held_back_.size() < kMostWatched) held_back_.insert(name);
  }
  if (!unusable.empty()) {
    settings_.log(fmt::format("{} tools are held back: their names are over {} bytes, or ours",
                              unusable.size(), kLongestToolName));
  }
  unusable.insert(doubled_.begin(), doubled_.end());
  unusable.merge(held.changed);
  unusable.merge(held.beyond);
  co_return unusable;
}

// Two tools have this name, on one page of the list or on two: a call could mean either, so neither
// is listed or called until the list has changed.
void ServerTools::note_doubled(const std::string& name) {
  if (doubled_.size() >= settings_.limits.tools || !doubled_.insert(name).second) return;
  tools_.erase(name);
  settings_.log(fmt::format("the server lists two tools called `{}`; neither can be called",
                            core::plain_text(parts_.redactor, name)));
}

void ServerTools::tell_of_held(const HeldBack& held) const {
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

// May the model see the server's instructions? What has changed since it was first seen is held
// back like a tool, and so is what cannot be pinned.
Async<bool> ServerTools::may_instruct(const json::object& opening) {
  std::vector<ToolDefinition> said;
  said.push_back(instructions_in(opening));
  const Result<HeldBack> held = co_await parts_.pins.look(settings_.server, std::move(said));
  if (!held) co_return false;
  tell_of_held(*held);
  co_return held->changed.empty() && held->beyond.empty();
}

}  // namespace sallyport::mcp
