// Builds the effects of one call from paths, addresses, commands and patches in its input.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "effects/tool_effects.h"

namespace sallyport::effects {

// Members that name the folder of a command (RU-32).
inline constexpr std::string_view kFolderMembers[] = {"cwd", "dir_path", "workdir",
                                                      "working_directory"};

class EffectMaker {
 public:
  // `used` may be null; it receives every text that effects depend on. Both must outlive it.
  EffectMaker(const CallFacts& facts, std::vector<UsedText>* used) : facts_(facts), used_(used) {}

  // Returns at least one effect, and at most as many as RU-54 allows for a line.
  Effects take();

  void note_used(std::string_view text, bool as_address = false) const {
    if (used_) used_->push_back({text, as_address});
  }
  void add(std::string_view effect_class) {
    made_.effects.push_back({.effect_class = std::string(effect_class)});
  }
  void add_all(std::vector<Effect> effects);
  void add_path(std::string_view effect_class, std::string_view text, bool recursive = false);
  void add_unknown_path(std::string_view effect_class) {
    add_path(effect_class, EffectPath{.unknown = true});
  }
  void add_own_folder(bool recursive);
  void add_host(std::string_view effect_class, EffectHost host);
  void add_address(std::string_view text);
  // `value` is a line or a list of words. `more` are words behind it.
  void add_command(const json::value& value, std::span<const std::string> more = {});
  void add_opaque(OpaqueReason reason, std::size_t size);
  void add_patch(std::string_view text);

 private:
  EffectPath path_of(std::string_view text) const;
  void add_path(std::string_view effect_class, EffectPath path, bool recursive = false);
  void append(Effects more);
  // The folder in the tool's input takes precedence over the folder of the call (RU-32).
  std::optional<std::string> folder_of_command() const;

  const CallFacts& facts_;
  std::vector<UsedText>* used_;
  Effects made_;
};

}  // namespace sallyport::effects
