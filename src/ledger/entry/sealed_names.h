// Which members of a body hold content, and so stand in an entry as commitments only (LE-14).
#pragma once

#include <span>
#include <string_view>

namespace sallyport::ledger {

bool is_sealed_name(std::string_view name);
std::span<const std::string_view> sealed_names();  // sorted

}  // namespace sallyport::ledger
