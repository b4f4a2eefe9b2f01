#include "workspace/config/config.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <charconv>

#include "base/try.h"
#include "config/mapping.h"
#include "core/record/draft.h"
#include "ledger/proof/note.h"
#include "terminal/input.h"
#include "workspace/config/config_values.h"
#include "workspace/config/store_config.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kLongestText = 4096;

using config::Mapping;
using config::Place;
using config::ReadValue;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<void> read_version(const Place& place) {
  const config::YamlNode& node = place.node;
  if (node.kind == config::YamlNode::Kind::Scalar && !node.quoted && node.text == "1") return {};
  return place.refuse(
      fmt::format("version `{}` is not known here; this release reads `version: 1`", node.text));
}

ReadValue read_origin(std::string& out) {
  return [&out](const Place& place) -> Result<void> {
    SALLYPORT_CHECK_OK(config::read_text(out, kLongestText)(place));
    const Result<void> fits = ledger::check_origin(out);
    if (!fits) return place.refuse(fits.error().message);
    return {};
  };
}

ReadValue read_witness(LedgerConfig& out, const std::filesystem::path& folder) {
  return [&out, &folder](const Place& place) -> Result<void> {
    std::string path;
    SALLYPORT_CHECK_OK(config::read_text(path, kLongestText)(place));
    out.keeps_witness = place.node.quoted || path != "off";
    if (out.keeps_witness) out.witness_path = folder / path;
    return {};
  };
}

Mapping retention_keys(LedgerConfig& out) {
  Mapping kinds("how long records are kept, by kind");
  for (const std::string_view kind : core::kind_words()) {
    const std::string name(kind);
    kinds.optional(name, "a duration such as 12h, 90d or 26w",
                   json::object{{"type", "string"}, {"pattern", "^[0-9]+[smhdw]$"}},
                   [&out, name](const Place& place) -> Result<void> {
                     const auto age = parse_duration(place.node.text);
                     if (!age) {
                       return place.refuse(no_duration(place.node.text, "12h, 90d or 26w"));
                     }
                     out.retention[name] = *age;
                     return {};
                   });
  }
  return kinds;
}

json::object any_store_schema() {
  store::SharedLog any;
  return store_keys(any).schema();
}

Mapping ledger_keys(LedgerConfig& out, const std::filesystem::path& folder) {
  Mapping keys("the ledger");
  keys.optional("origin",
                "name of the ledger in checkpoints; it cannot change after the first entry",
                config::text_schema(kLongestText), read_origin(out.origin))
      .optional("witness_path", "file that keeps a copy of the newest checkpoint, or `off`",
                config::text_schema(kLongestText), read_witness(out, folder))
      .optional("witnesses", "file that lists the servers that cosign checkpoints",
                config::text_schema(kLongestText), read_file_name(out.witnesses, folder))
      .optional("retention", "how long records are kept, by kind", retention_keys(out).schema(),
                [&out](const Place& place) { return retention_keys(out).read(place); })
      .optional("reserve_bytes", "bytes on disk reserved for records of what has already happened",
                config::number_schema(0, 1ull << 40),
                config::read_number(0, 1ull << 40,
                                    [&out](std::uint64_t bytes) { out.reserve_bytes = bytes; }))
      .optional("lock_wait_ms", "milliseconds to wait for another process",
                config::number_schema(0, 600'000),
                config::read_number(0, 600'000,
                                    [&out](std::uint64_t wait) {
                                      out.lock_wait = std::chrono::milliseconds(wait);
                                    }))
      .optional("allow_network_fs", "whether the ledger may lie on a network file system",
                config::truth_schema(), config::read_truth(out.allow_network_fs))
      .optional(
          "store", "a log in PostgreSQL instead of a file", any_store_schema(),
          [&out](const Place& place) { return store_keys(out.shared.emplace()).read(place); });
  return keys;
}

Result<void> read_ledger(LedgerConfig& out, const std::filesystem::path& folder,
                         const Place& place) {
  SALLYPORT_CHECK_OK(ledger_keys(out, folder).read(place));
  return out.shared ? check_ledger_with_store(place) : Result<void>{};
}

Mapping config_keys(Config& out, const std::filesystem::path& folder) {
  ServeConfig unused;
  ConsoleConfig any_console;
  Mapping keys("the configuration");
  keys.required("version", "version of the format", json::object{{"const", 1}}, read_version)
      .optional(
          "ledger", "the ledger", ledger_keys(out.ledger, folder).schema(),
          [&out, &folder](const Place& place) { return read_ledger(out.ledger, folder, place); })
      .optional("data_dir", "the data folder", config::text_schema(kLongestText),
                [&out, &folder](const Place& place) -> Result<void> {
                  std::string path;
                  SALLYPORT_CHECK_OK(config::read_text(path, kLongestText)(place));
                  out.data_dir = std::filesystem::absolute(folder / path);
                  return {};
                })
      .optional("reviewers", "file that registers reviewers [reviewers.yaml in the data folder]",
                config::text_schema(kLongestText), read_file_name(out.reviewers, folder))
      .optional(
          "console", "the web console of the server; here or in `serve`",
          console_keys(any_console).schema(),
          [&out](const Place& place) { return console_keys(out.console.emplace()).read(place); })
      .optional("serve", "the server", serve_keys(unused, folder).schema(),
                [&out, &folder](const Place& place) {
                  return read_serve(out.serve.emplace(), folder, place);
                });
  return keys;
}

}  // namespace

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  if (text.size() < 2 || text.size() > 8) return std::nullopt;
  const std::optional<std::uint64_t> count = whole_number(text.substr(0, text.size() - 1));
  if (!count) return std::nullopt;
  constexpr std::pair<char, std::uint64_t> kUnits[] = {
      {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}, {'w', 604'800}};
  for (const auto& [unit, seconds] : kUnits) {
    if (text.back() == unit) return std::chrono::seconds(*count * seconds);
  }
  return std::nullopt;
}

std::string no_duration(std::string_view text, std::string_view examples) {
  if (text.empty()) return fmt::format("a duration is missing; write {}", examples);
  return fmt::format("`{:.80}` is not a duration; write {}", text, examples);
}

Result<Config> parse_config(const std::string& text, const std::filesystem::path& file,
                            const config::Variables& variables) {
  const std::string name = file.string();
  SALLYPORT_TRY(config::YamlNode root, config::parse_yaml(text, name));
  if (root.kind != config::YamlNode::Kind::Mapping) {
    return Place{root, name}.refuse("a configuration begins with `version: 1`");
  }
  Config config;
  for (config::YamlMember& member : root.members) {
    const std::string& key = member.key.text;
    const Result<void> put = config::put_variables(member.value, key, name, variables);
    if (!put && key != "serve") return std::unexpected(put.error());
    if (!put) config.serve_lacks = put.error();
  }
  if (config.serve_lacks) {
    std::erase_if(root.members, [](const auto& member) { return member.key.text == "serve"; });
  }
  const std::filesystem::path folder = file.parent_path();
  SALLYPORT_CHECK_OK(config_keys(config, folder).read({root, name}));
  if (config.console && config.serve) {
    if (config.serve->console) {
      return Place{root, name}.refuse("`console` is at the top and in `serve`; write it once");
    }
    config.serve->console = std::exchange(config.console, std::nullopt);
  }
  return config;
}

json::value config_schema() {
  Config any;
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "Sallyport configuration"}};
  for (auto& [name, value] : config_keys(any, {}).schema()) schema[name] = value;
  return schema;
}

Result<Config> load_config(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string text, read_input(file, kLargestConfigFile + 1));
  if (text.size() > kLargestConfigFile) {
    return fail(ErrorCode::InvalidInput, "a configuration is at most 1 MiB", file.string());
  }
  return parse_config(text, file);
}

}  // namespace sallyport::app
