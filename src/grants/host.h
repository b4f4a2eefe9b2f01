// Normalizes hosts for grants: lower case, ASCII, without a trailing dot (CG-45).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/json.h"

namespace sallyport::grants {

struct Host {
  std::string name;
  bool address = false;  // an IP literal: matches only itself

  bool operator==(const Host&) const = default;
};

// Reads a name or an IP literal, with or without a port. No value for text that programs may read
// as different hosts.
std::optional<Host> read_host(std::string_view text);

// The suffix after the star of `*.example.org`. No value for any other form.
std::optional<Host> glob_suffix(std::string_view pattern);

// True if the host has one or more labels before the suffix.
bool is_below(const Host& host, const Host& suffix);

// The strings of an input that name a host: addresses, and the values of host keys (CG-45).
std::vector<std::string_view> host_leaves(const json::value& input);

// All hosts that an input names. No value: one of them cannot be determined.
std::optional<std::vector<Host>> hosts_in(const json::value& input);

}  // namespace sallyport::grants
