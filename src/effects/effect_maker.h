// Makes the effects of one call out of paths, addresses, commands and patches in its input.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "effects/call_facts.h"
#include "effects/effect.h"
#include "effects/tool_effects.h"

namespace sallyport::effects {

class EffectMaker {
 public:
  // `looked`: null, or gets every text that effects are made of. Both must outlive it.
  EffectMaker(const CallFacts& facts, std::vector<LookedAt>* looked)
      : facts_(facts), looked_(looked) {}

  // At least one, and no more than RU-54 allows a line.
  Effects take();

  void look(std::string_view text, bool as_address = false) const {
    if (looked_) looked_->push_back({text, as_address});
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
  // A line, or a list of words.
  void add_command(const json::value& value);
  void add_opaque(OpaqueReason reason, std::size_t size);
  void add_patch(std::string_view text);

 private:
  EffectPath path_of(std::string_view text) const;
  void add_path(std::string_view effect_class, EffectPath path, bool recursive = false);
  void append(Effects more);
  // RU-32: what the tool says of its folder counts before the folder of the call.
  std::optional<std::string> folder_of_command() const;

  const CallFacts& facts_;
  std::vector<LookedAt>* looked_;
  Effects made_;
};

}  // namespace sallyport::effects
