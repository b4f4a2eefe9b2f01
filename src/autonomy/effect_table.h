// The tools that are known by name: what they do to the world, and which of them only look.
#pragma once

#include <optional>
#include <span>
#include <string_view>

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

// By exact name, on any server; no value for a name that is in no row.
std::optional<Effect> effect_of(std::string_view tool);

struct Profile {
  std::string_view name;
  std::span<const std::string_view> observing;  // tools that only look, on such a server
};
std::span<const Profile> profiles();

bool is_profile(std::string_view name);
// True if this tool only reads, on a server of that profile.
bool observes(std::string_view profile, std::string_view tool);

}  // namespace sallyport::autonomy
