// A token that was handed on says less than the one it came from, in every respect (CG-24..CG-33).
#pragma once

#include <optional>
#include <string>

#include "grants/token.h"

namespace sallyport::grants {

// True if the parent's constraint allows everything that the child's allows (CG-28).
bool implies(const Constraint& child, const Constraint& parent);

// Why a child's grant is wider than the parent's that it names; no value: it is not wider.
std::optional<std::string> wider(const Terms& child, std::span<const Terms> parents);

// The first rule that a step breaks; no value: every step is narrower.
std::optional<std::string> broken_link(const TokenChain& chain);

}  // namespace sallyport::grants
