// The configuration file: YAML or JSON, `version: 1`. An unknown key is an error. Texts may name
// environment variables (config_variables.h).
//
//   version: 1
//   data_dir: /var/lib/sallyport           # only in a file that --config names
//   reviewers: /etc/sallyport/reviewers.yaml  # default: <data-dir>/reviewers.yaml
//   ledger:
//     origin: ledger.example.com/agents    # before the first entry only
//     witness_path: /mnt/other/witness     # or `off`; default: <data-dir>/witness
//     witnesses: witnesses.txt             # servers that cosign checkpoints, see docs/witnesses.md
//     retention: {event: 90d, tool_audit: 26w}
//     reserve_bytes: 8388608
//     lock_wait_ms: 5000
//     allow_network_fs: false
//     store: {postgresql: ...}           # see store_config.h; in the place of a file
//   console: {enabled: true}               # see console_config.h; here or in `serve`
//   serve: ...                             # see serve_config.h
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "config/variables.h"
#include "sallyport/result.h"
#include "store/shared_log.h"
#include "workspace/config/serve_config.h"

namespace sallyport::app {

struct LedgerConfig {
  std::string origin;
  std::optional<std::filesystem::path> witness_path;  // no value: in the data folder
  bool keeps_witness = true;
  std::optional<std::filesystem::path> witnesses;  // of a witness policy; no value: no witness
  std::map<std::string, std::chrono::seconds> retention;  // by kind
  std::uint64_t reserve_bytes = 8u << 20;
  std::chrono::milliseconds lock_wait{5000};
  bool allow_network_fs = false;
  std::optional<store::SharedLog> shared;  // no value: a file in the data folder
};

struct Config {
  std::optional<std::filesystem::path> data_dir;   // only of a file that --config names
  std::optional<std::filesystem::path> reviewers;  // no value: in the data folder
  LedgerConfig ledger;
  std::optional<ConsoleConfig> console;  // moved into `serve` when the file is read
  std::optional<ServeConfig> serve;
  // Set if a variable that `serve` needs is not set. Only the server needs it.
  std::optional<Error> serve_lacks;
};

// `InvalidInput` with `where` = file:line:column. Relative paths are relative to the file's folder.
Result<Config> parse_config(
    const std::string& text, const std::filesystem::path& file,
    const config::Variables& variables = config::variables_of_this_process());

// JSON Schema of such a file, with its variables put in.
json::value config_schema();

// At most 1 MiB. `NotFound` when there is no such file.
Result<Config> load_config(const std::filesystem::path& file);

// `45s`, `30m`, `12h`, `90d`, `26w`.
std::optional<std::chrono::seconds> parse_duration(std::string_view text);
// The message for a text that is none. `examples`: such as `12h or 90d`.
std::string no_duration(std::string_view text, std::string_view examples);

}  // namespace sallyport::app
