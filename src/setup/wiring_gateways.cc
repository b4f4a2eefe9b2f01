#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_members.h"
#include "setup/wiring.h"

namespace sallyport::app {

namespace {

struct Client {
  std::string_view name;
  std::string_view file;     // below the home folder
  std::string_view servers;  // the member that has them
};

constexpr Client kClients[] = {
    {"claude-desktop", ".config/Claude/claude_desktop_config.json", "mcpServers"},
    {"cursor", ".cursor/mcp.json", "mcpServers"},
    {"vscode", ".config/Code/User/mcp.json", "servers"},
};

const Client& client_of(std::string_view name) {
  return *std::ranges::find(kClients, name, &Client::name);
}

const json::array* words_of(const json::object& server) {
  const json::value* const words = server.if_contains("args");
  return words != nullptr && words->is_array() ? &words->get_array() : nullptr;
}

bool is_ours(const json::object& server) {
  const std::string program = text_or_empty(server, "command");
  const json::array* const words = words_of(server);
  return program.substr(program.rfind('/') + 1) == "sallyport" && words != nullptr &&
         !words->empty() && (*words)[0] == "mcp";
}

// `sallyport mcp ... -- command ...`: the command starts behind the dashes. Nothing: not ours, or
// one that is reached by its address.
std::optional<std::size_t> behind_dashes(const json::object& server) {
  if (!is_ours(server)) return std::nullopt;
  const json::array& words = *words_of(server);
  const auto dashes = std::ranges::find(words, json::value("--"));
  if (dashes == words.end() || dashes + 1 == words.end()) return std::nullopt;
  return static_cast<std::size_t>(dashes - words.begin()) + 1;
}

void unwrap(json::object& server) {
  const std::optional<std::size_t> start = behind_dashes(server);
  if (!start) return;
  const json::array words = *words_of(server);
  server["command"] = words[*start];
  if (*start + 1 == words.size()) {
    server.erase("args");
  } else {
    server["args"] =
        json::array(words.begin() + static_cast<std::ptrdiff_t>(*start) + 1, words.end());
  }
}

void wrap(json::object& server, std::string_view name, const Invoked& invoked) {
  json::array words{"mcp", "--name", name};
  for (const std::string& option : invoked.options_of_new()) words.emplace_back(option);
  words.emplace_back("--");
  words.push_back(server.at("command"));
  if (const json::array* const before = words_of(server)) {
    words.insert(words.end(), before->begin(), before->end());
  }
  server["command"] = invoked.program;
  server["args"] = std::move(words);
}

// A server that is already behind the gate keeps its options, including its name and policy;
// options that are given now replace them.
void renew(json::object& server, const Invoked& invoked) {
  json::array words = *words_of(server);
  server["command"] = invoked.program;
  for (std::size_t i = 0; i + 1 < invoked.options.size(); i += 2) {
    const auto dashes = std::ranges::find(words, json::value("--"));
    const auto there = std::find(words.begin(), dashes, json::value(invoked.options[i]));
    if (dashes - there > 1) {
      *(there + 1) = json::value(invoked.options[i + 1]);
    } else {
      words.insert(words.insert(dashes, json::value(invoked.options[i])) + 1,
                   json::value(invoked.options[i + 1]));
    }
  }
  server["args"] = std::move(words);
}

// Each server that a command starts; the others are named.
template <class Change>
Result<Rewired> rewire(json::object settings, const Client& client, const Change& change) {
  Rewired rewired{.settings = std::move(settings)};
  json::value* const list = rewired.settings.if_contains(client.servers);
  if (list == nullptr || !list->is_object()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("there is no `{}` in these settings", client.servers));
  }
  for (auto& member : list->get_object()) {
    json::object* const server = member.value().if_object();
    if (server == nullptr || !text_in(*server, "command")) {
      rewired.left.emplace_back(member.key());
      continue;
    }
    change(*server, std::string_view(member.key()));
    rewired.wrapped.emplace_back(member.key());
  }
  return rewired;
}

}  // namespace

std::filesystem::path client_settings(std::string_view client) {
  return client_of(client).file;
}

std::vector<std::string> client_names() {
  std::vector<std::string> names;
  for (const Client& client : kClients) names.emplace_back(client.name);
  return names;
}

Result<Rewired> with_gateways(json::object settings, std::string_view client,
                              const Invoked& invoked) {
  return rewire(std::move(settings), client_of(client),
                [&](json::object& server, std::string_view name) {
                  if (is_ours(server)) {
                    renew(server, invoked);
                  } else {
                    wrap(server, name, invoked);
                  }
                });
}

Result<Rewired> without_gateways(json::object settings, std::string_view client) {
  return rewire(std::move(settings), client_of(client),
                [](json::object& server, std::string_view) { unwrap(server); });
}

}  // namespace sallyport::app
