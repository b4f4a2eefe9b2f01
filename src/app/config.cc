#include "app/config.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <vector>

#include "app/input.h"
#include "app/nearest.h"
#include "app/yaml.h"
#include "base/try.h"
#include "core/recorder.h"
#include "ledger/note.h"

namespace sallyport::app {

namespace {

constexpr std::size_t kMaxFile = 1u << 20;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads one file; knows its name and where it lies.
class Reader {
 public:
  explicit Reader(std::filesystem::path file) : file_(std::move(file)) {}

  Result<Config> document(const YamlNode& root) {
    if (root.kind != YamlNode::Kind::Mapping) {
      return refused("a configuration begins with `version: 1`", root);
    }
    bool has_version = false;
    SALLYPORT_CHECK_OK(
        members(root, {
                          {"version",
                           [&](const YamlNode& node) {
                             has_version = true;
                             return version(node);
                           }},
                          {"ledger", [&](const YamlNode& node) { return ledger(node); }},
                      }));
    if (!has_version) return refused("`version: 1` is missing", root);
    return config_;
  }

 private:
  struct Member {
    std::string name;
    std::function<Result<void>(const YamlNode&)> read;
  };

  std::unexpected<Error> refused(std::string message, const YamlNode& node) const {
    return fail(ErrorCode::InvalidInput, std::move(message), place_of(node, file_.string()));
  }

  Result<void> members(const YamlNode& node, const std::vector<Member>& known) const {
    if (node.is_null()) return {};
    if (node.kind != YamlNode::Kind::Mapping)
      return refused("a section of keys belongs here", node);
    for (const auto& [key, value] : node.members) {
      const auto member = std::ranges::find(known, key.text, &Member::name);
      if (member != known.end()) {
        SALLYPORT_CHECK_OK(member->read(value));
        continue;
      }
      std::vector<std::string> names;
      for (const Member& one : known) names.push_back(one.name);
      return refused(fmt::format("unknown key `{}`{}", key.text, did_you_mean(key.text, names)),
                     key);
    }
    return {};
  }

  Result<void> version(const YamlNode& node) const {
    if (node.kind == YamlNode::Kind::Scalar && !node.quoted && node.text == "1") return {};
    return refused(
        fmt::format("version `{}` is not known here; this release reads `version: 1`", node.text),
        node);
  }

  Result<void> ledger(const YamlNode& node) {
    LedgerConfig& out = config_.ledger;
    return members(node,
                   {
                       {"origin", [&](const YamlNode& value) { return origin(value); }},
                       {"witness_path", [&](const YamlNode& value) { return witness(value); }},
                       {"retention", [&](const YamlNode& value) { return retention(value); }},
                       {"reserve_bytes",
                        [&](const YamlNode& value) {
                          return number(value, 0, 1ull << 40, out.reserve_bytes);
                        }},
                       {"lock_wait_ms",
                        [&](const YamlNode& value) -> Result<void> {
                          std::uint64_t wait = 0;
                          SALLYPORT_CHECK_OK(number(value, 0, 600'000, wait));
                          out.lock_wait = std::chrono::milliseconds(wait);
                          return {};
                        }},
                       {"allow_network_fs",
                        [&](const YamlNode& value) { return truth(value, out.allow_network_fs); }},
                   });
  }

  Result<std::string> text(const YamlNode& node) const {
    if (node.kind == YamlNode::Kind::Scalar && !node.is_null() && !node.text.empty()) {
      return node.text;
    }
    return refused("a text belongs here", node);
  }

  Result<void> origin(const YamlNode& node) {
    SALLYPORT_TRY(config_.ledger.origin, text(node));
    const Result<void> fits = ledger::check_origin(config_.ledger.origin);
    if (!fits) return refused(fits.error().message, node);
    return {};
  }

  Result<void> witness(const YamlNode& node) {
    SALLYPORT_TRY(const std::string path, text(node));
    config_.ledger.keeps_witness = node.quoted || path != "off";
    if (config_.ledger.keeps_witness) config_.ledger.witness_path = file_.parent_path() / path;
    return {};
  }

  Result<void> retention(const YamlNode& node) {
    std::vector<Member> kinds;
    for (int kind = 0; kind <= static_cast<int>(core::Kind::Control); ++kind) {
      const std::string name(to_string(static_cast<core::Kind>(kind)));
      kinds.push_back(
          {name, [this, name](const YamlNode& value) -> Result<void> {
             const std::optional<std::chrono::seconds> age = parse_duration(value.text);
             if (!age) {
               return refused(fmt::format("`{}` is no duration; write 12h, 90d or 26w", value.text),
                              value);
             }
             config_.ledger.retention[name] = *age;
             return {};
           }});
    }
    return members(node, kinds);
  }

  Result<void> number(const YamlNode& node, std::uint64_t least, std::uint64_t greatest,
                      std::uint64_t& out) const {
    const bool plain = node.kind == YamlNode::Kind::Scalar && !node.quoted;
    const std::optional<std::uint64_t> value = plain ? whole_number(node.text) : std::nullopt;
    if (!value || *value < least || *value > greatest) {
      return refused(
          fmt::format("`{}` is no whole number from {} to {}", node.text, least, greatest), node);
    }
    out = *value;
    return {};
  }

  Result<void> truth(const YamlNode& node, bool& out) const {
    const bool plain = node.kind == YamlNode::Kind::Scalar && !node.quoted;
    if (!plain || (node.text != "true" && node.text != "false")) {
      return refused(fmt::format("`{}` is neither true nor false", node.text), node);
    }
    out = node.text == "true";
    return {};
  }

  std::filesystem::path file_;
  Config config_;
};

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

Result<Config> parse_config(const std::string& text, const std::filesystem::path& file) {
  SALLYPORT_TRY(const YamlNode root, parse_yaml(text, file.string()));
  return Reader(file).document(root);
}

Result<Config> load_config(const std::filesystem::path& file) {
  SALLYPORT_TRY(const std::string text, read_input(file, kMaxFile + 1));
  if (text.size() > kMaxFile) {
    return fail(ErrorCode::InvalidInput, "a configuration is at most 1 MiB", file.string());
  }
  return parse_config(text, file);
}

}  // namespace sallyport::app
