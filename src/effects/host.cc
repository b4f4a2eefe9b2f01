#include "effects/host.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/lower_case.h"
#include "grants/host.h"

namespace sallyport::effects {

namespace {

struct Range {
  std::uint32_t first;
  int bits;
};

// The networks of RFC 6890 that an agent should not reach without approval.
constexpr auto kPrivateV4 = std::to_array<Range>({{0x00000000, 8},
                                                  {0x0a000000, 8},
                                                  {0x64400000, 10},
                                                  {0x7f000000, 8},
                                                  {0xa9fe0000, 16},
                                                  {0xac100000, 12},
                                                  {0xc0000000, 24},
                                                  {0xc0a80000, 16},
                                                  {0xc6120000, 15},
                                                  {0xe0000000, 4},
                                                  {0xf0000000, 4}});

constexpr auto kPrivateSuffixes =
    std::to_array<std::string_view>({".localhost", ".local", ".internal", ".home.arpa"});

bool is_private_v4(std::uint32_t address) {
  return std::ranges::any_of(kPrivateV4, [&](const Range& range) {
    return address >> (32 - range.bits) == range.first >> (32 - range.bits);
  });
}

std::string dotted(std::uint32_t address) {
  const in_addr raw{.s_addr = htonl(address)};
  std::array<char, INET_ADDRSTRLEN> buffer{};
  inet_ntop(AF_INET, &raw, buffer.data(), buffer.size());
  return buffer.data();
}

std::uint32_t v4_inside(const in6_addr& address) {
  std::uint32_t out = 0;
  std::memcpy(&out, address.s6_addr + 12, 4);
  return ntohl(out);
}

bool has_v4_inside(const in6_addr& address) {
  return IN6_IS_ADDR_V4MAPPED(&address) != 0;
}

EffectHost unknown_host() {
  return {.unknown = true};
}

// The start of the authority in `scheme://...`; 0: the text is not an address.
std::size_t authority_start(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return 0;
  const bool scheme = std::ranges::all_of(text.substr(0, colon), [](char c) {
    const char letter = lower_letter(c);
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
  });
  return scheme ? colon + 3 : 0;
}

}  // namespace

EffectHost host_from(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kBlanks)));
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  const std::size_t start = authority_start(text);
  // Only some programs end the host at a backslash, and curl reads braces as a glob.
  const std::size_t end = std::min(text.size(), text.find_first_of("/?#", start));
  std::string_view authority = text.substr(start, end - start);
  // `https:/host`: curl and browsers read it as `https://host`.
  if (start == 0 && end < text.size() && authority.ends_with(':')) return unknown_host();
  if (authority.find_first_of("\\{}%|^ \t") != std::string_view::npos) return unknown_host();
  const std::size_t at = authority.find('@');
  if (at != authority.rfind('@')) return unknown_host();
  if (at != std::string_view::npos) authority.remove_prefix(at + 1);
  const std::optional<grants::Host> host = grants::read_host(authority);
  if (!host || host->name.empty()) return unknown_host();
  if (host->name.starts_with('[')) {
    in6_addr address{};
    const std::string inner = host->name.substr(1, host->name.size() - 2);
    if (inet_pton(AF_INET6, inner.c_str(), &address) != 1) return unknown_host();
    if (has_v4_inside(address)) return {.text = dotted(v4_inside(address))};
    return {.text = host->name};
  }
  if (host->address) {
    in_addr address{};
    if (inet_aton(host->name.c_str(), &address) == 0) return unknown_host();
    return {.text = dotted(ntohl(address.s_addr))};
  }
  return {.text = host->name};
}

bool is_private(const EffectHost& host) {
  if (host.unknown) return false;
  if (host.text.starts_with('[')) {
    in6_addr address{};
    const std::string inner = host.text.substr(1, host.text.size() - 2);
    if (inet_pton(AF_INET6, inner.c_str(), &address) != 1) return true;
    // Loopback, unspecified, and networks that tunnel IPv4.
    if (std::all_of(address.s6_addr, address.s6_addr + 12, [](auto c) { return c == 0; })) {
      return true;
    }
    const unsigned char first = address.s6_addr[0];
    const unsigned char second = address.s6_addr[1];
    const bool unique_local = (first & 0xfe) == 0xfc;
    const bool link_or_site_local = first == 0xfe && (second & 0x80) != 0;
    const bool nat64 = first == 0 && second == 0x64 && is_private_v4(v4_inside(address));
    return unique_local || link_or_site_local || first == 0xff || nat64;
  }
  in_addr address{};
  if (inet_pton(AF_INET, host.text.c_str(), &address) == 1) {
    return is_private_v4(ntohl(address.s_addr));
  }
  if (!host.text.contains('.')) return true;
  return std::ranges::any_of(kPrivateSuffixes,
                             [&](std::string_view suffix) { return host.text.ends_with(suffix); });
}

}  // namespace sallyport::effects
