// The configuration of an agent (RT-4), as values with their defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sallyport::agent {

enum class Provider : std::uint8_t { OpenAi, Anthropic, Script };

struct ModelSettings {
  Provider provider = Provider::OpenAi;
  std::string base_url{};  // empty: the provider's own
  std::string model{};     // for a script: its name in records
  std::filesystem::path script{};
  std::string api_key_env{};  // empty: no key is sent
  std::uint64_t max_output_tokens = 4096;
};

struct RootSettings {
  std::filesystem::path path{};
  bool write = false;
  std::vector<std::string> deny{};  // globs, compared with the path below the root
};

// How commands are confined to the roots.
enum class Sandbox : std::uint8_t {
  Off,
  Auto,      // if the kernel supports it
  Required,  // no command runs without it
};

struct ShellSettings {
  std::vector<std::string> env{"PATH"};
  std::chrono::seconds timeout{30};
  std::chrono::seconds max_timeout{600};
  Sandbox sandbox = Sandbox::Auto;
  bool network = true;  // of the sandbox
};

struct BackgroundSettings {
  std::uint64_t max_running = 8;
  std::chrono::seconds max_runtime{3600};
};

struct MemorySettings {
  bool recall = true;
  std::uint64_t limit = 3;
  std::uint64_t max_chars = 2000;
  std::chrono::milliseconds timeout{250};
  bool edit = false;  // offers `memory_pin` and `memory_forget`
};

struct CompactionSettings {
  std::uint64_t at_tokens = 50'000;
  std::uint64_t keep_items = 20;
  std::uint64_t keep_snapshots = 10;
};

struct LimitSettings {
  std::chrono::seconds deadline{3600};
  std::uint64_t model_requests = 100;
  std::uint64_t tool_calls = 200;
  std::uint64_t tokens = 1'000'000;
};

// A tool server that the agent uses beside its own tools.
struct ServerSettings {
  std::string name{};
  std::vector<std::string> command{};  // empty: it is reached at `url`
  std::string url{};
};

struct Settings {
  std::string id{};
  std::string system{};
  ModelSettings model{};
  std::vector<RootSettings> roots{};
  std::optional<ShellSettings> shell{};  // no value: no shell and no background tools
  BackgroundSettings background{};
  MemorySettings memory{};
  CompactionSettings compaction{};
  LimitSettings limits{};
  std::vector<ServerSettings> servers{};
  double retry_jitter = 0.25;
};

}  // namespace sallyport::agent
