// Normalizes hosts for rules (RU-59) and finds those of this network (RU-60).
#pragma once

#include <string_view>

#include "effects/effect.h"

namespace sallyport::effects {

// Reads a host, an address or a URL. Unknown if the text names no host, or can be read as two.
EffectHost host_from(std::string_view text);

// True for loopback, private, link-local, shared, multicast and unspecified addresses, names of one
// label, and names with a local suffix. False for an unknown host: check `unknown` first.
bool is_private(const EffectHost& host);

}  // namespace sallyport::effects
