// The names of body members that hold content. An entry has only commitments to them (LE-14).
#pragma once

#include <span>
#include <string_view>

namespace sallyport::ledger {

bool is_sealed_name(std::string_view name);
std::span<const std::string_view> sealed_names();  // sorted

}  // namespace sallyport::ledger
