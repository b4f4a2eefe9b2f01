// The two eras of the protocol: stateful (sessions that begin with `initialize`) and stateless.
#pragma once

#include <array>
#include <functional>
#include <string_view>

namespace sallyport::mcp {

enum class Era {
  Unknown,
  Legacy,  // `initialize`, up to 2025-11-25
  Modern,  // `server/discover`, since 2026-07-28
};

// What is known about the era of a server before it is asked.
struct EraHint {
  Era era = Era::Unknown;               // the one that it is expected to have
  bool pinned = false;                  // by a person: the other one is not tried
  std::function<void(Era)> on_found{};  // gets the era that it has; must not block

  bool excludes(Era other) const { return pinned && era != Era::Unknown && era != other; }
};

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLegacyVersion = "2025-11-25";
inline constexpr auto kLegacyVersions =
    std::to_array<std::string_view>({"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"});

// Names in `_meta`.
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaClient = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaServer = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

}  // namespace sallyport::mcp
