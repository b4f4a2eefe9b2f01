#include "effects/effect_maker.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/trimmed.h"
#include "effects/command_line.h"
#include "effects/host.h"
#include "effects/patch.h"
#include "effects/path_text.h"
#include "effects/shell_syntax.h"
#include "grants/leaves.h"

namespace sallyport::effects {

namespace {

// The word as a shell reads it back.
std::string quoted_word(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

Effects EffectMaker::take() {
  if (made_.effects.size() > kMostEffects) {
    made_.effects.resize(kMostEffects);
    made_.effects.push_back({.effect_class = "process.exec", .opaque = true});
    made_.opaque.push_back({.reason = OpaqueReason::Limit});
  }
  if (made_.effects.empty()) add("none");
  return std::move(made_);
}

EffectPath EffectMaker::path_of(std::string_view text) const {
  if (is_file_address(text)) {
    std::optional<std::string> path = path_of_address(text);
    if (!path) return {.unknown = true};
    return {.text = std::move(*path), .folder = facts_.cwd};
  }
  if (text == "~" || text.starts_with("~/")) {
    if (facts_.machine.home.empty()) return {.unknown = true};
    return {.text = facts_.machine.home + std::string(text.substr(1)), .folder = facts_.cwd};
  }
  if (text.starts_with('~')) return {.unknown = true};
  return {.text = std::string(text), .folder = facts_.cwd};
}

void EffectMaker::add_path(std::string_view effect_class, EffectPath path, bool recursive) {
  made_.effects.push_back(
      {.effect_class = std::string(effect_class), .path = std::move(path), .recursive = recursive});
}

void EffectMaker::add_path(std::string_view effect_class, std::string_view text, bool recursive) {
  note_used(text);
  add_path(effect_class, path_of(text), recursive);
}

void EffectMaker::add_own_folder(bool recursive) {
  add_path("fs.read", facts_.cwd ? EffectPath{.text = *facts_.cwd} : EffectPath{.unknown = true},
           recursive);
}

void EffectMaker::add_host(std::string_view effect_class, EffectHost host) {
  made_.effects.push_back({.effect_class = std::string(effect_class), .host = std::move(host)});
}

void EffectMaker::add_address(std::string_view text) {
  const std::string_view address = trimmed(text);
  note_used(text, true);
  if (is_file_address(address)) {
    add_path("fs.read", address);
  } else {
    add_host("network.request", host_from(address));
  }
}

void EffectMaker::add_command(const json::value& value, std::span<const std::string> more) {
  const ShellSetting setting{
      .folder = folder_of_command(), .home = facts_.machine.home, .files = facts_.files};
  for (const std::string_view text : grants::all_strings(value)) note_used(text);
  if (value.is_string()) {
    const std::string_view line = value.get_string();
    if (more.empty()) return append(effects_of_line(line, setting));
    std::string longer(line);
    for (const std::string& word : more) longer += ' ' + quoted_word(word);
    Effects found = effects_of_line(longer, setting);
    // Spans are places in the line of the call.
    for (OpaqueSpan& span : found.opaque) {
      span.start = std::min(span.start, line.size());
      span.end = std::min(span.end, line.size());
    }
    return append(std::move(found));
  }
  const json::array* const list = value.if_array();
  const bool texts =
      list && !list->empty() &&
      std::ranges::all_of(*list, [](const json::value& word) { return word.is_string(); });
  if (!texts) return add_opaque(OpaqueReason::Expansion, 0);
  std::vector<std::string> words;
  for (const json::value& word : *list) words.emplace_back(word.get_string());
  words.insert(words.end(), more.begin(), more.end());
  append(effects_of_words(words, setting));
}

void EffectMaker::add_opaque(OpaqueReason reason, std::size_t size) {
  made_.effects.push_back({.effect_class = "process.exec", .opaque = true});
  made_.opaque.push_back({.reason = reason, .start = 0, .end = size});
}

void EffectMaker::add_patch(std::string_view text) {
  note_used(text);
  std::vector<Effect> effects = effects_of_patch(text, facts_.cwd);
  for (Effect& effect : effects) {
    if (!effect.path->unknown) effect.path = path_of(effect.path->text);
  }
  add_all(std::move(effects));
}

void EffectMaker::add_all(std::vector<Effect> effects) {
  std::ranges::move(effects, std::back_inserter(made_.effects));
}

void EffectMaker::append(Effects more) {
  if (more.effects.empty()) more.effects.push_back({.effect_class = "none"});
  add_all(std::move(more.effects));
  std::ranges::move(more.opaque, std::back_inserter(made_.opaque));
}

std::optional<std::string> EffectMaker::folder_of_command() const {
  const json::object* const input = facts_.call.input.if_object();
  for (const std::string_view name : kFolderMembers) {
    const json::value* const value = input ? input->if_contains(name) : nullptr;
    if (value == nullptr || value->is_null()) continue;
    if (!value->is_string()) return std::nullopt;
    note_used(value->get_string());
    const EffectPath path = path_of(value->get_string());
    if (path.unknown) return std::nullopt;
    if (path.text.empty()) return facts_.cwd;
    if (path.text.starts_with('/')) return path.text;
    if (!facts_.cwd) return std::nullopt;
    return *facts_.cwd + "/" + path.text;
  }
  return facts_.cwd;
}

}  // namespace sallyport::effects
