#include "app/agents/agent_config.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

using agent::Provider;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kSmallest = R"(
agent:
  id: writer
  model: {provider: anthropic, model: m}
  roots: []
)";

class AgentConfigTest : public testing::Test {
 protected:
  AgentConfigTest() {
    std::filesystem::create_directories(folder_ / "notes/inner");
    std::ofstream(folder_ / "plain") << "text";
  }

  std::filesystem::path file() const { return folder_ / "agent.yaml"; }
  Result<agent::Settings> read(const std::string& text) const {
    return parse_agent_config(text, file());
  }
  // The smallest file with one more line in the section `agent`.
  std::string with(const std::string& line) const {
    return std::string(kSmallest).substr(1) + "  " + line + "\n";
  }
  Error error_of(const std::string& text) const {
    const Result<agent::Settings> settings = read(text);
    EXPECT_FALSE(settings) << text;
    if (settings) return {};
    EXPECT_EQ(settings.error().code, ErrorCode::InvalidInput);
    EXPECT_TRUE(settings.error().where.starts_with(file().string() + ":")) << text;
    return settings.error();
  }
  // The message names the key, and the error its line.
  void expect_fault(const std::string& line, const std::string& key) const {
    const Error error = error_of(with(line));
    EXPECT_TRUE(error.message.contains(key)) << line << "\n" << error.message;
    EXPECT_TRUE(error.where.starts_with(file().string() + ":5:")) << line << "\n" << error.where;
  }

  test::TempFolder folder_;
};

// RT-4
TEST_F(AgentConfigTest, EveryKeyIsRead) {
  const Result<agent::Settings> settings = read(R"(
agent:
  id: writer
  system: keep the notes
  model: {provider: openai, base_url: "http://127.0.0.1:8080/v1", model: small, api_key_env: KEY,
          max_output_tokens: 100}
  roots:
    - {path: notes, write: true, deny: ["*.key", secret/]}
    - {path: /, write: true}
  shell: {env: [PATH, HOME], timeout_s: 5, max_timeout_s: 7, sandbox: required, network: false}
  background: {max_running: 2, max_runtime_s: 60}
  memory: {recall: false, limit: 4, max_chars: 500, timeout_ms: 100, edit: true}
  compaction: {at_tokens: 1000, keep_items: 5, keep_snapshots: 3}
  limits: {deadline_s: 10, model_requests: 11, tool_calls: 12, tokens: 13}
  retry: {jitter: 0.5}
  servers:
    - {name: files, command: [serve, --port, 8080]}
    - {name: wiki, url: "https://wiki.example.com/mcp"}
)");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->id, "writer");
  EXPECT_EQ(settings->system, "keep the notes");
  EXPECT_EQ(settings->model.provider, Provider::OpenAi);
  EXPECT_EQ(settings->model.base_url, "http://127.0.0.1:8080/v1");
  EXPECT_EQ(settings->model.model, "small");
  EXPECT_EQ(settings->model.api_key_env, "KEY");
  EXPECT_EQ(settings->model.max_output_tokens, 100u);
  ASSERT_EQ(settings->roots.size(), 2u);
  EXPECT_EQ(settings->roots[0].path, folder_ / "notes");
  EXPECT_TRUE(settings->roots[0].write);
  EXPECT_EQ(settings->roots[0].deny, (std::vector<std::string>{"*.key", "secret/"}));
  EXPECT_EQ(settings->roots[1].path, "/");
  EXPECT_EQ(settings->shell->env, (std::vector<std::string>{"PATH", "HOME"}));
  EXPECT_EQ(settings->shell->timeout, seconds(5));
  EXPECT_EQ(settings->shell->max_timeout, seconds(7));
  EXPECT_EQ(settings->shell->sandbox, agent::Sandbox::Required);
  EXPECT_FALSE(settings->shell->network);
  EXPECT_EQ(settings->background.max_running, 2u);
  EXPECT_EQ(settings->background.max_runtime, seconds(60));
  EXPECT_FALSE(settings->memory.recall);
  EXPECT_EQ(settings->memory.limit, 4u);
  EXPECT_EQ(settings->memory.max_chars, 500u);
  EXPECT_EQ(settings->memory.timeout, milliseconds(100));
  EXPECT_TRUE(settings->memory.edit);
  EXPECT_EQ(settings->compaction.at_tokens, 1000u);
  EXPECT_EQ(settings->compaction.keep_items, 5u);
  EXPECT_EQ(settings->compaction.keep_snapshots, 3u);
  EXPECT_EQ(settings->limits.deadline, seconds(10));
  EXPECT_EQ(settings->limits.model_requests, 11u);
  EXPECT_EQ(settings->limits.tool_calls, 12u);
  EXPECT_EQ(settings->limits.tokens, 13u);
  EXPECT_EQ(settings->retry_jitter, 0.5);
  ASSERT_EQ(settings->servers.size(), 2u);
  EXPECT_EQ(settings->servers[0].command, (std::vector<std::string>{"serve", "--port", "8080"}));
  EXPECT_EQ(settings->servers[1].url, "https://wiki.example.com/mcp");
}

// RT-71, RT-42 (partly), RT-48 (partly), RT-56 (partly), RT-58 (partly), RT-62 (partly)
TEST_F(AgentConfigTest, WhatIsLeftOutHasItsDefault) {
  const Result<agent::Settings> settings = read(kSmallest);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->limits.deadline, seconds(3600));
  EXPECT_EQ(settings->limits.model_requests, 100u);
  EXPECT_EQ(settings->limits.tool_calls, 200u);
  EXPECT_EQ(settings->limits.tokens, 1'000'000u);
  EXPECT_FALSE(settings->shell);
  EXPECT_EQ(settings->background.max_running, 8u);
  EXPECT_TRUE(settings->memory.recall);
  EXPECT_EQ(settings->memory.limit, 3u);
  EXPECT_EQ(settings->memory.max_chars, 2000u);
  EXPECT_EQ(settings->memory.timeout, milliseconds(250));
  EXPECT_EQ(settings->compaction.at_tokens, 50'000u);
  EXPECT_EQ(settings->compaction.keep_items, 20u);
  EXPECT_EQ(settings->compaction.keep_snapshots, 10u);
  EXPECT_TRUE(settings->servers.empty());

  const Result<agent::Settings> shell = read(with("shell: {}"));
  ASSERT_TRUE(shell) << shell.error().message;
  EXPECT_EQ(shell->shell->env, std::vector<std::string>{"PATH"});
  EXPECT_EQ(shell->shell->timeout, seconds(30));
  EXPECT_EQ(shell->shell->max_timeout, seconds(600));
  EXPECT_EQ(shell->shell->sandbox, agent::Sandbox::Auto);
}

// RT-4
TEST_F(AgentConfigTest, JsonIsReadToo) {
  const Result<agent::Settings> settings = read(
      R"({"agent":{"id":"writer","model":{"provider":"script","model":"m","script":"a/s.yaml"},
          "roots":[{"path":"notes","write":false}],"limits":{"tokens":5}}})");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->model.provider, Provider::Script);
  EXPECT_EQ(settings->model.script, folder_ / "a/s.yaml");
  EXPECT_EQ(settings->limits.tokens, 5u);
}

// RT-89
TEST_F(AgentConfigTest, AnUnknownKeyIsNamedWithItsPlace) {
  const Error error = error_of(with("limits: {tokns: 5}"));
  EXPECT_EQ(error.message, "`agent.limits`: unknown key `tokns`, did you mean `tokens`");
  EXPECT_EQ(error.where, file().string() + ":5:12");
  EXPECT_EQ(error_of("agents: {}\n").message, "unknown key `agents`, did you mean `agent`");
  for (const char* const line :
       {"shell: {colour: red}", "background: {colour: red}", "memory: {colour: red}",
        "compaction: {colour: red}", "limits: {colour: red}", "retry: {colour: red}",
        "servers: [{name: a, url: 'https://a.example', colour: red}]", "colour: red"}) {
    expect_fault(line, "colour");
  }
}

// RT-89
TEST_F(AgentConfigTest, WrongTypesAreNamedWithTheirKey) {
  expect_fault("system: [a]", "`agent.system`");
  expect_fault("system: 5", "`agent.system`");
  expect_fault("shell: yes", "`agent.shell`");
  expect_fault("shell:", "`agent.shell` is empty");
  expect_fault("shell: {env: PATH}", "`agent.shell.env`");
  expect_fault("shell: {env: [A=B]}", "`agent.shell.env`");
  expect_fault("shell: {sandbox: on}", "`agent.shell.sandbox`");
  expect_fault("shell: {network: 1}", "`agent.shell.network`");
  expect_fault("shell: {timeout_s: 700}", "raise the second one");
  expect_fault("background: {max_running: many}", "`agent.background.max_running`");
  expect_fault("memory: {recall: 'true'}", "`agent.memory.recall`");
  expect_fault("memory: {limit: 3.5}", "`agent.memory.limit`");
  expect_fault("compaction: []", "`agent.compaction`");
  expect_fault("limits: {deadline_s: -1}", "`agent.limits.deadline_s`");
  expect_fault("limits: {tokens: '5'}", "`agent.limits.tokens`");
  expect_fault("retry: {jitter: 1.5}", "`agent.retry.jitter`");
  expect_fault("retry: {jitter: nan}", "`agent.retry.jitter`");
  expect_fault("servers: {}", "`agent.servers`");
  EXPECT_EQ(error_of("agent:\n  id: a b\n").where, file().string() + ":2:7");
  EXPECT_EQ(error_of("agent:\n  model: {provider: x}\n").where, file().string() + ":2:21");
  EXPECT_EQ(error_of("[]").where, file().string() + ":1:1");
  EXPECT_TRUE(error_of("agent:\n  id: a\n  roots: []\n").message.contains("`model` is missing"));
  EXPECT_TRUE(error_of("agent: {id: a, model: {provider: openai, model: m}}\n")
                  .message.contains("`roots` is missing"));
}

// RT-71
TEST_F(AgentConfigTest, ZeroIsNoLimit) {
  for (const char* const key : {"deadline_s", "model_requests", "tool_calls", "tokens"}) {
    const Error error = error_of(with(std::string("limits: {") + key + ": 0}"));
    EXPECT_TRUE(error.message.starts_with(std::string("`agent.limits.") + key + "`: 0"))
        << error.message;
    EXPECT_TRUE(error.message.contains("leave the key out")) << error.message;
  }
}

// RT-89
TEST_F(AgentConfigTest, RootsAreThereAndAgree) {
  const auto roots = [&](const std::string& list) {
    return "agent:\n  id: a\n  model: {provider: openai, model: m}\n  roots:\n" + list;
  };
  const Error missing =
      error_of(roots("    - {path: notes, write: true}\n"
                     "    - {path: gone, write: true}\n"));
  EXPECT_TRUE(missing.message.starts_with("`agent.roots[1].path`")) << missing.message;
  EXPECT_TRUE(missing.message.contains("is missing"));
  EXPECT_EQ(missing.where, file().string() + ":6:14");
  const Error plain = error_of(roots("    - {path: plain, write: false}\n"));
  EXPECT_TRUE(plain.message.contains("not a directory")) << plain.message;
  EXPECT_EQ(plain.where, file().string() + ":5:14");
  const Error nested =
      error_of(roots("    - {path: notes, write: true}\n"
                     "    - {path: notes/inner, write: false}\n"));
  EXPECT_TRUE(nested.message.contains("`agent.roots[1].write`")) << nested.message;
  EXPECT_EQ(nested.where, file().string() + ":6:34");
  EXPECT_TRUE(error_of(roots("    - {path: notes}\n")).message.contains("`write` is missing"));
  EXPECT_TRUE(
      read(roots("    - {path: notes, write: true}\n"
                 "    - {path: notes/inner, write: true}\n")));
}

// RT-90
TEST_F(AgentConfigTest, OnlyAddressesThatMayBeReachedAreRead) {
  const auto model = [&](const std::string& keys) {
    return "agent:\n  id: a\n  model: {provider: openai, model: m, " + keys + "}\n  roots: []\n";
  };
  for (const char* const url : {"ftp://a.example", "a.example/v1", "file:///etc/passwd", "https://",
                                "http://a.example/v1", "https://a.example:99999"}) {
    const Error error = error_of(model(std::string("base_url: '") + url + "'"));
    EXPECT_TRUE(error.message.starts_with("`agent.model.base_url`")) << error.message;
    EXPECT_TRUE(error.where.starts_with(file().string() + ":3:")) << error.where;
  }
  EXPECT_TRUE(read(model("base_url: 'https://a.example/v1'")));
  EXPECT_TRUE(read(model("base_url: 'http://[::1]:8080/v1'")));
  const Error secret = error_of(model("base_url: 'https://me:hunter2@a.example'"));
  EXPECT_FALSE(secret.message.contains("hunter2"));
}

// RT-16 (partly)
TEST_F(AgentConfigTest, AKeyInTheFileIsRefusedAndNotRepeated) {
  const Error error = error_of(
      "agent:\n  id: a\n  model: {provider: openai, model: m, api_key_env: sk-ant-12345}\n");
  EXPECT_TRUE(error.message.starts_with("`agent.model.api_key_env`")) << error.message;
  EXPECT_FALSE(error.message.contains("12345"));
  const Error given = error_of(
      "agent:\n  id: a\n  model: {provider: openai, model: m, api_key_env: KEY}\n  roots: []\n"
      "  shell: {env: [PATH, KEY]}\n");
  EXPECT_TRUE(given.message.contains("no command is given")) << given.message;
  EXPECT_EQ(given.where, file().string() + ":5:11");
}

// A value that reads like its key once passed for the key, and the message did not name it.
TEST_F(AgentConfigTest, AMessageNamesTheKeyAlsoOfAValueThatReadsLikeIt) {
  const Error error = error_of(
      "agent:\n  id: a\n  model: {provider: openai, model: m}\n  roots: []\n"
      "  retry: {jitter: agent.retry.jitter}\n");
  EXPECT_EQ(error.message,
            "`agent.retry.jitter` must be a number from 0 to 1, not `agent.retry.jitter`");
  EXPECT_EQ(error.cause, "");
}

TEST_F(AgentConfigTest, AScriptHasAFileAndNoAddress) {
  const auto model = [&](const std::string& keys) {
    return "agent:\n  id: a\n  model: {" + keys + "}\n  roots: []\n";
  };
  EXPECT_TRUE(
      error_of(model("provider: script, model: m")).message.contains("`agent.model.script`"));
  EXPECT_TRUE(error_of(model("provider: openai, model: m, script: s"))
                  .message.contains("is for provider `script`"));
  EXPECT_TRUE(error_of(model("provider: script, script: s, base_url: 'https://a.example'"))
                  .message.contains("base_url"));
  EXPECT_EQ(read(model("provider: script, script: s"))->model.model, "script");
}

TEST_F(AgentConfigTest, ServersHaveNamesThatModelsAndPoliciesCanUse) {
  const auto server = [&](const std::string& keys) { return "servers: [{" + keys + "}]"; };
  expect_fault(server("name: a.b, url: 'https://a.example'"), "`agent.servers.name`");
  expect_fault(server("name: a__b, url: 'https://a.example'"), "`agent.servers.name`");
  expect_fault(server("name: sallyport-agent, url: 'https://a.example'"), "own tools");
  expect_fault(server("name: a"), "either a `command` or a `url`");
  expect_fault(server("name: a, command: [x], url: 'https://a.example'"), "either a `command`");
  expect_fault(server("name: a, url: 'http://a.example'"), "without encryption");
  expect_fault("servers: [{name: a, command: [x]}, {name: a, command: [y]}]", "duplicate name");
}

TEST_F(AgentConfigTest, AFileIsReadWithABound) {
  EXPECT_EQ(read_agent_config(file()).error().code, ErrorCode::NotFound);
  std::ofstream(file()) << kSmallest;
  EXPECT_TRUE(read_agent_config(file()));
  std::ofstream(file()) << std::string((1u << 20) + 1, ' ');
  EXPECT_EQ(read_agent_config(file()).error().code, ErrorCode::InvalidInput);
}

TEST(DefaultAgent, WorksInItsFolderAndNowhereElse) {
  const agent::Settings settings = default_agent("/srv/work");
  EXPECT_EQ(settings.id, "agent:local");
  ASSERT_EQ(settings.roots.size(), 1u);
  EXPECT_EQ(settings.roots[0].path, "/srv/work");
  EXPECT_TRUE(settings.roots[0].write);
  EXPECT_EQ(settings.shell->env, (std::vector<std::string>{"PATH", "HOME", "LANG", "TERM"}));
}

TEST(UseModel, NamesProviderModelAndKey) {
  agent::Settings settings = default_agent("/srv/work");
  ASSERT_TRUE(use_model(settings, "anthropic/claude", ""));
  EXPECT_EQ(settings.model.provider, Provider::Anthropic);
  EXPECT_EQ(settings.model.model, "claude");
  EXPECT_EQ(settings.model.api_key_env, "ANTHROPIC_API_KEY");
  ASSERT_TRUE(use_model(settings, "openai/org/model", "https://models.example.com/v1"));
  EXPECT_EQ(settings.model.provider, Provider::OpenAi);
  EXPECT_EQ(settings.model.model, "org/model");
  EXPECT_EQ(settings.model.api_key_env, "OPENAI_API_KEY");
  ASSERT_TRUE(use_model(settings, "openai/local", "http://127.0.0.1:8080/v1"));
  EXPECT_EQ(settings.model.api_key_env, "");
  ASSERT_TRUE(use_model(settings, "script:/srv/turns.yaml", ""));
  EXPECT_EQ(settings.model.provider, Provider::Script);
  EXPECT_EQ(settings.model.script, "/srv/turns.yaml");
  for (const char* const model : {"", "claude", "anthropic/", "script:", "google/x"}) {
    const Result<void> used = use_model(settings, model, "");
    ASSERT_FALSE(used) << model;
    EXPECT_TRUE(used.error().message.contains("anthropic/NAME"));
  }
  EXPECT_FALSE(use_model(settings, "openai/m", "http://models.example.com/v1"));
  EXPECT_FALSE(use_model(settings, "openai/m", "ftp://models.example.com"));
  EXPECT_FALSE(use_model(settings, "script:a", "https://models.example.com"));
}

TEST(UseModel, NoCommandIsGivenItsKey) {
  agent::Settings settings = default_agent("/srv/work");
  settings.shell->env.push_back("OPENAI_API_KEY");
  ASSERT_TRUE(use_model(settings, "openai/m", ""));
  EXPECT_EQ(std::ranges::count(settings.shell->env, "OPENAI_API_KEY"), 0);
}

// RT-90
TEST(CheckKey, AVariableThatIsNotSetIsAnErrorBeforeAnythingStarts) {
  agent::Settings settings = default_agent("/srv/work");
  const auto variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "SET") return "k";
    if (name == "BLANK") return " \n";
    return std::nullopt;
  };
  EXPECT_TRUE(check_key(settings, variable));
  settings.model.api_key_env = "SET";
  EXPECT_TRUE(check_key(settings, variable));
  for (const char* const name : {"UNSET", "BLANK"}) {
    settings.model.api_key_env = name;
    const Result<void> checked = check_key(settings, variable);
    ASSERT_FALSE(checked);
    EXPECT_TRUE(checked.error().message.contains(name));
    EXPECT_EQ(checked.error().where, "agent.model.api_key_env");
  }
}

}  // namespace
}  // namespace sallyport::app
