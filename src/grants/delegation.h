// Checks that a delegated token is narrower than its parent in every respect (CG-24..CG-33).
#pragma once

#include <optional>
#include <string>

#include "grants/token.h"

namespace sallyport::grants {

// Why a child's grant is wider than the parent's grant that it names. No value: it is not wider.
std::optional<std::string> wider(const Terms& child, std::span<const Terms> parents);

// The first rule that a step of the chain breaks. No value: every step is narrower.
std::optional<std::string> broken_link(const TokenChain& chain);

}  // namespace sallyport::grants
