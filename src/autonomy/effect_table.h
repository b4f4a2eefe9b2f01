// The tools that are known by name: their effects, and which of them only read.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sallyport::autonomy {

struct Effect {
  std::string_view effect_class;
  std::string_view capability;
};

struct EffectRow {
  Effect effect;
  std::span<const std::string_view> names;
};
std::span<const EffectRow> effect_rows();

// The words that policies use for classes of effects. A class need not have a tool in the table.
const std::vector<std::string_view>& effect_classes();
bool is_effect_class(std::string_view name);

// Finds a tool by its exact name, on any server. No value: no row has the name.
std::optional<Effect> effect_of(std::string_view tool);

struct Profile {
  std::string_view name;
  std::span<const std::string_view> observing;  // tools that only read, on such a server
};
std::span<const Profile> profiles();

bool is_profile(std::string_view name);
// True if this tool only reads on a server of that profile.
bool observes(std::string_view profile, std::string_view tool);

}  // namespace sallyport::autonomy
