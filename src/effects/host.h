// Hosts as rules compare them (RU-59) and which of them belong to this network (RU-60).
#pragma once

#include <string_view>

#include "effects/effect.h"

namespace sallyport::effects {

// A host, an address or a URL. Unknown for text that can be read as two hosts, and for none.
EffectHost host_from(std::string_view text);

// Loopback, private, link-local, shared, multicast and unspecified addresses, names of one label
// and the names that are local by their suffix. False for an unknown host: ask for that first.
bool is_private(const EffectHost& host);

}  // namespace sallyport::effects
