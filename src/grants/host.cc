#include "grants/host.h"

#include <arpa/inet.h>
#include <unicode/idna.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/lower_case.h"
#include "base/trimmed.h"
#include "grants/leaves.h"

namespace sallyport::grants {

namespace {

constexpr auto kHostKeys = std::to_array<std::string_view>({"host", "hostname", "domain"});

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The start of the authority in `scheme://...`. No value for other text.
std::optional<std::size_t> authority_start(std::string_view text) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0 || !is_letter(text[0])) return std::nullopt;
  const bool scheme = std::ranges::all_of(text.substr(0, colon), [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
  if (!scheme) return std::nullopt;
  return colon + 3;
}

constexpr auto kSchemes =
    std::to_array<std::string_view>({"http:", "https:", "ws:", "wss:", "ftp:"});

// True for an address behind a prefix that some programs drop, such as `<https://host>`,
// `URL:https://host` and `view-source:https://host`.
bool is_wrapped(std::string_view address) {
  const std::size_t end = address.find("://");
  if (end == std::string_view::npos) return false;
  std::string_view front = address.substr(0, end);
  if (front.starts_with('<')) front.remove_prefix(1);
  const std::size_t colon = front.rfind(':');
  const std::size_t begin = colon == std::string_view::npos ? 0 : colon + 1;
  const bool prefix = std::ranges::all_of(front, [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.' || c == ':';
  });
  std::string scheme;
  for (const char c : front.substr(begin)) scheme += lower_letter(c);
  return prefix && (begin > 0 || address.starts_with('<')) &&
         std::ranges::find(kSchemes, scheme + ':') != kSchemes.end();
}

// True for an address of which programs read different hosts. The URL standard reads `https:/host`,
// `https:host` and a scheme with a tab inside as `https://host`; other programs do not.
bool has_other_reading(std::string_view address) {
  if (is_wrapped(address)) return true;
  if (address.empty() || std::string_view("hHwWfF").find(address[0]) == std::string_view::npos) {
    return false;
  }
  std::string text;
  for (const char c : address) {
    if (c != '\t' && c != '\r' && c != '\n') text += lower_letter(c);
  }
  const auto scheme = std::ranges::find_if(
      kSchemes, [&](std::string_view begin) { return text.starts_with(begin); });
  if (scheme == kSchemes.end()) return false;
  std::string_view rest = std::string_view(text).substr(scheme->size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of("/\\")));
  const std::string_view authority = rest.substr(0, rest.find_first_of("/\\?#"));
  const std::string_view host = authority.substr(authority.rfind('@') + 1);
  // `http: the protocol` is a sentence: no program reads a host with a blank in it.
  return !host.empty() && host.find(' ') == std::string_view::npos;
}

std::optional<std::string> ascii_form(std::string_view name) {
  UErrorCode status = U_ZERO_ERROR;
  // Made once, because its tables are large. Any number of threads may use it.
  static const std::unique_ptr<icu::IDNA> idna(icu::IDNA::createUTS46Instance(
      UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII, status));
  if (!idna) return std::nullopt;
  std::string ascii;
  icu::StringByteSink<std::string> sink(&ascii);
  icu::IDNAInfo info;
  status = U_ZERO_ERROR;
  idna->nameToASCII_UTF8({name.data(), static_cast<std::int32_t>(name.size())}, sink, info, status);
  // Machine names may have hyphens and underscores where registries forbid them.
  constexpr std::uint32_t kHarmless = UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN |
                                      UIDNA_ERROR_HYPHEN_3_4 | UIDNA_ERROR_EMPTY_LABEL;
  if (U_FAILURE(status) || (info.getErrors() & ~kHarmless) != 0) return std::nullopt;
  return ascii;
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > 253 || name.starts_with('.') || name.ends_with('.')) {
    return false;
  }
  if (name.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

// Many programs read `127.1`, `0x7f000001` and `2130706433` as addresses.
bool ends_in_number(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::ranges::all_of(last, is_digit) || last.starts_with("0x");
}

std::optional<Host> bracketed(std::string_view text) {
  const std::string inner(text.substr(1, text.size() - 2));
  in6_addr address{};
  if (inet_pton(AF_INET6, inner.c_str(), &address) != 1) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  inet_ntop(AF_INET6, &address, buffer.data(), buffer.size());
  return Host{"[" + std::string(buffer.data()) + "]", true};
}

// Reads the authority of an address.
std::optional<Host> host_of_authority(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at != authority.find('@')) return std::nullopt;
  if (at != std::string_view::npos) authority.remove_prefix(at + 1);
  return read_host(authority);
}

}  // namespace

std::optional<Host> read_host(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end + 1);
  } else {
    rest.remove_prefix(std::min(rest.size(), rest.find(':')));
  }
  const std::string_view name = text.substr(0, text.size() - rest.size());
  if (!rest.empty() && (rest[0] != ':' || !std::ranges::all_of(rest.substr(1), is_digit))) {
    // An IPv6 address needs no brackets if no port can follow it.
    if (text.starts_with('[') ||
        text.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) {
      return std::nullopt;
    }
    return bracketed("[" + std::string(text) + "]");
  }
  if (name.starts_with('[')) return bracketed(name);
  const std::optional<std::string> ascii = ascii_form(name);
  if (!ascii) return std::nullopt;
  std::string_view plain = *ascii;
  if (plain.ends_with('.')) plain.remove_suffix(1);
  if (!is_name(plain)) return std::nullopt;
  return Host{std::string(plain), ends_in_number(plain)};
}

std::optional<Host> glob_suffix(std::string_view pattern) {
  if (!pattern.starts_with("*.") || pattern.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  std::optional<Host> suffix = read_host(pattern.substr(2));
  if (!suffix || suffix->address) return std::nullopt;
  return suffix;
}

bool is_below(const Host& host, const Host& suffix) {
  return !host.address && host.name.ends_with("." + suffix.name);  // no name begins with a dot
}

std::vector<std::string_view> host_leaves(const json::value& input) {
  std::vector<std::string_view> leaves;
  const auto named = [](std::string_view name) -> std::optional<bool> {
    if (names(kHostKeys, name)) return true;
    return std::nullopt;
  };
  visit_strings(input, false, named, [&](std::string_view text, bool under_host_key) {
    const std::string_view address = trimmed(without_front(text));
    if (address.starts_with("file:")) return;
    const bool counts = under_host_key || authority_start(address) || has_other_reading(address);
    if (counts) leaves.push_back(text);
  });
  return leaves;
}

std::optional<std::vector<Host>> hosts_in(const json::value& input) {
  std::vector<Host> hosts;
  bool all_known = true;
  const auto named = [](std::string_view name) -> std::optional<bool> {
    if (names(kHostKeys, name)) return true;
    return std::nullopt;
  };
  visit_strings(input, false, named, [&](std::string_view text, bool under_host_key) {
    const std::string_view address = trimmed(without_front(text));
    std::optional<Host> host;
    if (const std::optional<std::size_t> start = authority_start(address)) {
      const std::string_view authority = address.substr(
          *start, std::min(address.size(), address.find_first_of("/?#", *start)) - *start);
      // A file of this machine names no host; every other address must.
      if (authority.empty() && address.starts_with("file:")) return;
      // Only some programs end the authority at a backslash.
      const bool one_reading = authority.find('\\') == std::string_view::npos;
      host = one_reading ? host_of_authority(authority) : std::nullopt;
    } else if (under_host_key) {
      host = read_host(text);
    } else if (!has_other_reading(address)) {
      return;
    }
    if (!host) {
      all_known = false;
    } else {
      hosts.push_back(std::move(*host));
    }
  });
  if (!all_known) return std::nullopt;
  return hosts;
}

}  // namespace sallyport::grants
