// A token that was handed on says less than the one it came from, in every respect (CG-24..CG-33).
#pragma once

#include <optional>
#include <string>

#include "grants/token.h"

namespace sallyport::grants {

// Is whatever matches the child's constraint also let pass by the parent's (CG-28)?
bool implies(const Constraint& child, const Constraint& parent);

// What makes a child's grant wider than the parent's that it names; nothing where it is not.
std::optional<std::string> wider(const Terms& child, std::span<const Terms> parents);

// The first rule that a step breaks; nothing where every step is narrower.
std::optional<std::string> broken_link(const TokenChain& chain);

}  // namespace sallyport::grants
