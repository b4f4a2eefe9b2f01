#include "policy/external_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/try.h"
#include "config/yaml_json.h"
#include "external/peer.h"
#include "policy/condition_keys.h"
#include "policy/rule_checks.h"
#include "policy/rule_keys.h"

namespace sallyport::policy {

namespace {

using external::Entry;
using external::Kind;

constexpr std::size_t kMostEntries = 64;
constexpr std::size_t kMostWords = 100;
constexpr std::size_t kMostVariables = 64;
constexpr std::size_t kLongestWord = 4'096;
constexpr std::size_t kLongestVariable = 256;

std::vector<std::string> kind_words() {
  return {external::kKinds.begin(), external::kKinds.end()};
}

bool is_variable(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

Result<void> read_variable(const config::Place& place, std::string& out) {
  SALLYPORT_CHECK_OK(config::read_word(out, kLongestVariable)(place));
  if (!is_variable(out)) {
    return place.refuse(
        fmt::format("`{:.80}` is not a name of a variable; use letters, digits and `_`", out));
  }
  // The gateway sets these.
  if (out == "SALLYPORT_AGENT" || out == "SALLYPORT_DATA_DIR") {
    return place.refuse(fmt::format("`{}` is set by Sallyport; leave it out", out));
  }
  // These make the loader run code of another program.
  if (out.starts_with("LD_")) {
    return place.refuse(fmt::format("`{:.80}` changes which code runs; leave it out", out));
  }
  return {};
}

// A path and its arguments as one text, or as a list if a word has a blank.
config::ReadValue read_command(std::vector<std::string>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    if (place.node.kind == config::YamlNode::Kind::Sequence) {
      SALLYPORT_CHECK_OK(
          config::read_list(kMostWords, [&out](const config::Place& item) -> Result<void> {
            std::string word;
            SALLYPORT_CHECK_OK(config::read_word(word, kLongestWord)(item));
            out.push_back(std::move(word));
            return {};
          })(place));
    } else {
      std::string text;
      SALLYPORT_CHECK_OK(config::read_text(text, kLongestWord)(place));
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (end > at) out.push_back(text.substr(at, end - at));
        at = end + 1;
      }
    }
    if (out.empty()) return place.refuse("name a program by its absolute path");
    if (out.front().starts_with('/')) return {};
    return place.refuse(fmt::format(
        "`{:.200}` is not an absolute path; write the whole path of the program", out.front()));
  };
}

bool is_header(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

config::ReadValue read_headers(std::vector<std::pair<std::string, std::string>>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    if (place.node.kind != config::YamlNode::Kind::Mapping || place.node.members.empty()) {
      return place.must_be("a mapping of headers to names of variables");
    }
    if (place.node.members.size() > kMostVariables)
      return place.refuse("there are over 64 headers");
    for (const auto& [key, value] : place.node.members) {
      static const std::vector<std::string> kOwn = {"host", "content-length", "content-type",
                                                    "transfer-encoding", "connection"};
      std::string lower = key.text;
      std::ranges::transform(lower, lower.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (!is_header(key.text) || std::ranges::find(kOwn, lower) != kOwn.end()) {
        return config::Place{key, place.file}.refuse(
            fmt::format("`{:.80}` is not a header that can be set here", key.text));
      }
      std::string variable;
      SALLYPORT_CHECK_OK(read_variable({value, place.file}, variable));
      out.emplace_back(key.text, std::move(variable));
    }
    return {};
  };
}

config::Mapping entry_keys(Entry& out) {
  static const std::vector<std::string> kOnError = {"deny", "allow"};
  static const std::vector<std::string> kSees = {"preview", "input"};
  static const std::vector<std::string> kModes = {"once", "serve"};
  const json::object words{
      {"anyOf", json::array{config::text_schema(kLongestWord),
                            config::list_schema(config::word_schema(kLongestWord), kMostWords)}}};
  const json::object headers{{"type", "object"},
                             {"additionalProperties", config::text_schema(kLongestVariable)}};
  const auto longest = static_cast<std::uint64_t>(external::kLongestDeadline.count());
  config::Mapping keys("an external program or URL");
  keys.required("id", "unique name: a-z, 0-9 and `-`", config::text_schema(64),
                read_rule_id(out.id))
      .required("kind", "role of the program or URL", config::choice_schema(kind_words()),
                config::read_choice(kind_words(),
                                    [&out](std::size_t at) { out.kind = static_cast<Kind>(at); }))
      .optional("command", "absolute path of the program, and its arguments", words,
                read_command(out.command))
      .optional("url", "URL: `https`, or an address of this machine",
                config::text_schema(kLongestWord), config::read_text(out.url, kLongestWord))
      .optional("when", "conditions under which it is called", when_schema(),
                read_when(out.when.when))
      .optional("deadline_ms", "milliseconds to wait for its answer [2000]",
                config::number_schema(1, longest),
                config::read_number(
                    1, longest,
                    [&out](std::uint64_t time) { out.deadline = std::chrono::milliseconds(time); }))
      .optional("on_error",
                "what happens to the call if it fails; `allow` is recorded as failing open",
                config::choice_schema(kOnError),
                config::read_choice(kOnError, [&out](std::size_t at) { out.fails_open = at == 1; }))
      .optional("sees", "what it receives: a preview without secrets, or the input itself",
                config::choice_schema(kSees),
                config::read_choice(kSees, [&out](std::size_t at) { out.sees_input = at == 1; }))
      .optional("env", "names of environment variables that the program receives",
                config::list_schema(config::text_schema(kLongestVariable), kMostVariables),
                config::read_list(kMostVariables,
                                  [&out](const config::Place& place) -> Result<void> {
                                    std::string name;
                                    SALLYPORT_CHECK_OK(read_variable(place, name));
                                    out.env.push_back(std::move(name));
                                    return {};
                                  }))
      .optional("header_env",
                "HTTP headers, each with the name of the environment variable that holds its value",
                headers, read_headers(out.header_env))
      .optional("mode", "`serve` keeps the program running; it answers line by line",
                config::choice_schema(kModes),
                config::read_choice(kModes, [&out](std::size_t at) { out.serves = at == 1; }));
  return keys;
}

const config::YamlMember* member(const config::YamlNode& node, std::string_view name) {
  const auto found = std::ranges::find_if(
      node.members, [&](const config::YamlMember& each) { return each.key.text == name; });
  return found == node.members.end() ? nullptr : &*found;
}

Result<void> refuse_key(const config::Place& place, std::string_view name, std::string_view why) {
  const config::YamlMember* const found = member(place.node, name);
  if (found == nullptr) return {};
  return config::Place{found->key, place.file}.refuse(fmt::format("`{}` {}", name, why));
}

// Without an input, conditions about effects would never hold.
Result<void> check_named_only(const config::Place& place, const Entry& entry) {
  for (const rules::Conditions& conditions : entry.when.when) {
    rules::Conditions rest = conditions;
    rest.agent.clear();
    rest.session.clear();
    rest.server.clear();
    rest.tool.clear();
    const bool empty = rest.front.empty() && !rest.interactive && rest.effect_class.empty() &&
                       !rest.names_paths() && !rest.recursive && !rest.opaque &&
                       rest.host.empty() && rest.command.empty() && rest.args.empty();
    if (empty) continue;
    return config::Place{member(place.node, "when")->key, place.file}.refuse(
        fmt::format("`when` of kind `{}` takes `agent`, `session`, `server` and `tool`",
                    to_string(entry.kind)));
  }
  return {};
}

Result<void> check_entry(const config::Place& place, const Entry& entry) {
  if (entry.command.empty() == entry.url.empty()) {
    return place.refuse("name either `command` or `url`");
  }
  if (entry.url.empty()) {
    SALLYPORT_CHECK_OK(refuse_key(place, "header_env", "is for `url`"));
  } else {
    SALLYPORT_CHECK_OK(refuse_key(place, "env", "is for `command`; use `header_env`"));
    SALLYPORT_CHECK_OK(refuse_key(place, "mode", "is for `command`"));
    SALLYPORT_CHECK_OK(external::check_peer(entry, {}));
  }
  const bool listens = entry.kind == Kind::Events || entry.kind == Kind::Sink;
  if (listens) {
    SALLYPORT_CHECK_OK(check_named_only(place, entry));
    SALLYPORT_CHECK_OK(refuse_key(place, "sees", "is not for this kind, which gets redacted text"));
  }
  if (entry.kind == Kind::Sink) {
    SALLYPORT_CHECK_OK(refuse_key(place, "on_error", "is not for a sink, which stops no call"));
  }
  if (entry.kind == Kind::Approver) {
    SALLYPORT_CHECK_OK(refuse_key(place, "on_error", "is not for an approver"));
  }
  return {};
}

config::ReadValue read_entry(std::vector<Entry>& out) {
  return [&out](const config::Place& place) -> Result<void> {
    Entry entry;
    SALLYPORT_CHECK_OK(entry_keys(entry).read(place));
    const config::YamlMember* const target =
        member(place.node, entry.url.empty() ? "command" : "url");
    entry.place = config::place_of(target ? target->value : place.node, place.file);
    SALLYPORT_CHECK_OK(check_entry(place, entry));
    SALLYPORT_TRY(entry.source, to_json(place.node, place.file));
    entry.when.then = entry.kind == Kind::Approver ? rules::Then::Allow : rules::Then::Log;
    for (const Entry& other : out) {
      if (other.id == entry.id) return place.refuse(fmt::format("duplicate id `{}`", entry.id));
      if (other.kind == Kind::Approver && entry.kind == Kind::Approver) {
        return place.refuse("there is an approver already; a policy has one");
      }
    }
    out.push_back(std::move(entry));
    return {};
  };
}

}  // namespace

json::object external_schema() {
  Entry any;
  return config::list_schema(entry_keys(any).schema(), kMostEntries);
}

config::ReadValue read_external(Policy& out) {
  return config::read_list(kMostEntries, read_entry(out.external));
}

Result<void> finish_external(const Policy& policy, const config::YamlNode& root,
                             const std::string& file) {
  if (policy.external.empty()) return {};
  for (const config::YamlNode& entry : config::node_at(root, "/external").items) {
    if (const config::YamlMember* const when = member(entry, "when")) {
      SALLYPORT_CHECK_OK(check_when(policy, {when->value, file}));
    }
  }
  return {};
}

}  // namespace sallyport::policy
