#include "hook/dialect.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "hook/members.h"

namespace sallyport::hook {
namespace {

Event read(std::string_view agent, std::string_view text) {
  Event event;
  const Result<void> read = read_event(*dialect_named(agent), text, event);
  EXPECT_TRUE(read) << read.error().message;
  return event;
}

json::value written(std::string_view agent, const Event& event, const Decision& decision) {
  const std::string text = dialect_named(agent)->write(event, decision, {});
  return text.empty() ? json::value() : parse_json(text)->value;
}

TEST(DialectTest, FiveAgentsAreSpokenAndNoOther) {
  EXPECT_EQ(dialect_names().size(), 5u);
  for (const std::string& name : dialect_names()) EXPECT_EQ(dialect_named(name)->name(), name);
  EXPECT_EQ(dialect_named("emacs"), nullptr);
}

// For every event and every decision a host gets one JSON object or no output.
TEST(DialectTest, EveryDecisionAboutEveryEventIsOneObjectOrSilence) {
  for (const std::string& name : dialect_names()) {
    for (const auto kind : {Event::Kind::Before, Event::Kind::After, Event::Kind::Permission,
                            Event::Kind::Batch, Event::Kind::Prompt, Event::Kind::Question}) {
      for (int word = 0; word <= static_cast<int>(Decision::Kind::Withhold); ++word) {
        for (const bool bare : {false, true}) {
          Event event;
          event.kind = kind;
          event.output = json::object{{"text", "x"}};
          event.failed = bare;
          event.replaceable = !bare;
          const Decision decision{static_cast<Decision::Kind>(word), "a reason", json::object{}};
          const std::string text =
              dialect_named(name)->write(event, decision, {.interactive = !bare});
          if (text.empty()) continue;
          const auto parsed = parse_json(text);
          ASSERT_TRUE(parsed) << name << ": " << text;
          EXPECT_TRUE(parsed->value.is_object()) << name << ": " << text;
        }
      }
    }
  }
}

// A denied call stays denied in every dialect: no word of the answer allows it.
TEST(DialectTest, ADenialNeverReadsAsAnAllowance) {
  for (const std::string& name : dialect_names()) {
    Event event;
    event.kind = Event::Kind::Before;
    const std::string text = dialect_named(name)->write(event, Decision::deny("no"), {});
    EXPECT_NE(text.find("deny"), std::string::npos) << name;
    EXPECT_EQ(text.find("allow"), std::string::npos) << name;
    EXPECT_NE(text.find("\"no\""), std::string::npos) << name;
  }
}

// Codex treats a bare `allow` or `ask` as a failure of the hook, and runs the call.
TEST(DialectTest, CodexIsNeverToldABareAllowOrAsk) {
  Event event;
  event.kind = Event::Kind::Before;
  EXPECT_EQ(dialect_named("codex")->write(event, Decision::allow(), {}), "");
  for (const auto kind : {Decision::Kind::Ask, Decision::Kind::Wait}) {
    const json::value said = written("codex", event, {kind, "later", {}});
    EXPECT_EQ(said.at("hookSpecificOutput").at("permissionDecision"), "deny");
  }
}

TEST(DialectTest, AToolOfAServerIsNamedByBoth) {
  for (const auto& [name, server, tool] :
       {std::tuple("mcp__files__read_file", "files", "read_file"),
        std::tuple("mcp__a_b__c__d", "a_b", "c__d"), std::tuple("Bash", "", "Bash"),
        std::tuple("mcp____x", "", "mcp____x"), std::tuple("mcp__x", "", "mcp__x"),
        std::tuple("mcp__x__", "", "mcp__x__")}) {
    Event event;
    name_tool(event, name);
    EXPECT_EQ(event.server, server) << name;
    EXPECT_EQ(event.tool, tool) << name;
  }
}

// A repository can contain servers and name them: under the name of a host, its tools once counted
// as the host's own, which read without approval.
TEST(DialectTest, AServerThatIsCalledLikeAHostHasNoneOfItsTools) {
  const auto server_of = [](std::string_view agent, std::string text) {
    Event event;
    EXPECT_TRUE(read_event(*dialect_named(agent), text, event)) << text;
    return event.kind == Event::Kind::Batch ? event.calls.at(0).server : event.server;
  };
  for (const std::string& host : dialect_names()) {
    EXPECT_EQ(server_of("claude-code", R"({"hook_event_name":"PreToolUse","session_id":"s",)"
                                       R"("tool_input":{},"tool_name":"mcp__)" +
                                           host + R"(__Read"})"),
              "mcp__" + host);
    EXPECT_EQ(
        server_of("claude-code",
                  R"({"hook_event_name":"PostToolBatch","session_id":"s","tool_calls":[)"
                  R"({"tool_use_id":"t","tool_response":"","tool_input":{},"tool_name":"mcp__)" +
                      host + R"(__Read"}]})"),
        "mcp__" + host);
    EXPECT_EQ(server_of("gemini", R"({"hook_event_name":"BeforeTool","session_id":"s","tool_name":)"
                                  R"("read_file","tool_input":{},"mcp_context":{"server_name":")" +
                                      host + R"("}})"),
              "mcp__" + host);
  }
  EXPECT_EQ(server_of("gemini", R"({"hook_event_name":"BeforeTool","session_id":"s","tool_name":)"
                                R"("read_file","tool_input":{},"mcp_context":{}})"),
            "mcp");
}

TEST(DialectTest, AWithheldResultKeepsItsShape) {
  const json::value output =
      parse_json(
          R"({"stdout":"secret","stderr":"more","interrupted":false,"code":7,"parts":["a",null]})")
          ->value;
  EXPECT_EQ(canonical_json(shaped_notice(output, "withheld")),
            R"({"code":0,"interrupted":false,"parts":["",null],"stderr":"","stdout":"withheld"})");
  EXPECT_EQ(shaped_notice(json::object{{"n", 1}}, "withheld"), "withheld");
}

TEST(DialectTest, CopilotSaysItsEventByItsMembers) {
  const Event before =
      read("copilot", R"({"sessionId":"c","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"})");
  EXPECT_EQ(before.kind, Event::Kind::Before);
  EXPECT_EQ(before.input.at("command"), "ls");
  const Event failed =
      read("copilot", R"({"sessionId":"c","toolName":"bash","toolArgs":{},"error":"no"})");
  EXPECT_TRUE(failed.failed && !failed.replaceable && failed.kind == Event::Kind::After);
  // Text that is not JSON is an argument too.
  EXPECT_EQ(read("copilot", R"({"sessionId":"c","toolName":"x","toolArgs":"ls -l"})").input,
            "ls -l");
}

// A call whose tool is not named, and an event that says nothing, passed as events without a call.
TEST(DialectTest, CopilotsEventIsACallIfAnyOfItsMembersSaysSo) {
  const auto refused = [](std::string_view text) {
    Event event;
    return !read_event(*dialect_named("copilot"), text, event);
  };
  const std::string common = R"({"sessionId":"s","timestamp":1,"cwd":"/tmp")";
  for (const std::string_view call :
       {R"("toolArgs":"{}")", R"("toolInput":{})", R"("toolResult":{})", R"("toolName":"")"}) {
    EXPECT_TRUE(refused(common + "," + std::string(call) + "}")) << call;
  }
  EXPECT_TRUE(refused("{}"));
  EXPECT_FALSE(refused(common + "}"));
  EXPECT_FALSE(refused(common + R"(,"source":"new","prompt":"hi"})"));
}

TEST(DialectTest, CursorsSecondEventAboutACallIsKnownByWhatItIsAbout) {
  const Event general = read("cursor", R"({"conversation_id":"k","hook_event_name":"preToolUse",
      "tool_name":"Shell","tool_input":{"command":"ls","working_directory":"/"}})");
  const Event second =
      read("cursor", R"({"conversation_id":"k","hook_event_name":"beforeShellExecution",
      "command":"ls","cwd":"/"})");
  EXPECT_EQ(general.identity, second.identity);
  EXPECT_EQ(general.tool, second.tool);
  EXPECT_TRUE(second.repeats);
  EXPECT_FALSE(general.repeats);
}

TEST(DialectTest, BothEventsAboutACommandOfCursorNameItsFolder) {
  const auto general = [](std::string_view folder) {
    return read("cursor", R"({"conversation_id":"k","hook_event_name":"preToolUse","cwd":"/w",)"
                          R"("tool_name":"Shell","tool_input":{"command":"ls",)"
                          R"("working_directory":")" +
                              std::string(folder) + R"("}})")
        .command_folder;
  };
  EXPECT_EQ(general(""), "/w");
  EXPECT_EQ(general("a"), "/w/a");
  EXPECT_EQ(general("/etc"), "/etc");
  EXPECT_EQ(read("cursor", R"({"conversation_id":"k","hook_event_name":"beforeShellExecution",
      "command":"ls","cwd":"/etc"})")
                .command_folder,
            "/etc");
}

TEST(DialectTest, CursorsSecondEventAboutAnMcpToolIsKnownByItsWholeInput) {
  const Event general = read("cursor", R"({"conversation_id":"k","hook_event_name":"preToolUse",
      "tool_name":"MCP:put","tool_input":{"path":"a","text":"1"}})");
  const Event same =
      read("cursor", R"({"conversation_id":"k","hook_event_name":"beforeMCPExecution",
      "tool_name":"put","tool_input":"{\"path\":\"a\",\"text\":\"1\"}"})");
  const Event other =
      read("cursor", R"({"conversation_id":"k","hook_event_name":"beforeMCPExecution",
      "tool_name":"put","tool_input":"{\"path\":\"a\",\"text\":\"2\"}"})");
  EXPECT_EQ(general.identity, same.identity);
  EXPECT_NE(general.identity, other.identity);
}

// Names and texts in the form once passed the checks unread.
TEST(DialectTest, AQuestionOfAServerIsReadWithItsForm) {
  EXPECT_EQ(read("claude-code", R"({"session_id":"s","hook_event_name":"Elicitation",
      "mcp_server_name":"srv","message":"m","url":"u","requested_schema":{"properties":
      {"field":{"title":"t","enum":["a","b"],"default":1}},"required":["field"]}})")
                .text,
            "m\nu\nproperties\nfield\ntitle\nt\nenum\na\nb\ndefault\nrequired\nfield");
}

// The calls of a batch once had no folder, so an approval of such a call did not fit.
TEST(DialectTest, ACallOfABatchRunsWhereItsBatchRuns) {
  const Event batch = read("claude-code", R"({"session_id":"s","hook_event_name":"PostToolBatch",
      "cwd":"/w","workspace_roots":["/w"],"model":"m","tool_calls":[{"tool_name":"Bash",
      "tool_input":{},"tool_use_id":"t","tool_response":"done"}]})");
  ASSERT_EQ(batch.calls.size(), 1u);
  const Event& call = batch.calls.front();
  EXPECT_EQ(call.kind, Event::Kind::After);
  EXPECT_EQ(call.session_id, "s");
  EXPECT_EQ(call.folder, "/w");
  EXPECT_EQ(call.workspace, std::vector<std::string>{"/w"});
  EXPECT_EQ(call.model, "m");
  EXPECT_FALSE(call.replaceable);
}

TEST(DialectTest, AMemberThatIsMissingIsNamed) {
  Event event;
  const Result<void> read =
      dialect_named("claude-code")
          ->read({{"hook_event_name", "PostToolUse"}, {"session_id", "s"}}, event);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("`tool_name`"), std::string::npos);
  // Enough of the event to answer it in its own words.
  EXPECT_EQ(event.kind, Event::Kind::After);
}

// A form that the host parses and we do not would bypass all rules about its members.
TEST(DialectTest, AnInputThatIsATextOfJsonMustBeReadable) {
  const auto refused = [](std::string_view host, json::object event) {
    Event read;
    return !read_event(*dialect_named(host), json::serialize(event), read);
  };
  const std::string deep =
      R"({"command":"ls","x":)" + std::string(200, '[') + std::string(200, ']') + "}";
  for (const std::string& text :
       {deep, std::string(R"({"command":"ls","command":"rm"})"), std::string(" {\"command\":")}) {
    EXPECT_TRUE(refused("copilot", {{"sessionId", "c"}, {"toolName", "bash"}, {"toolArgs", text}}));
    EXPECT_TRUE(refused("cursor", {{"conversation_id", "k"},
                                   {"hook_event_name", "beforeMCPExecution"},
                                   {"tool_name", "put"},
                                   {"tool_input", text}}));
  }
  EXPECT_FALSE(
      refused("copilot", {{"sessionId", "c"}, {"toolName", "x"}, {"toolArgs", "ls { -l"}}));
}

TEST(DialectTest, AnEventOfTooManyValuesIsRefused) {
  json::array many(250'000);
  Event event;
  const Result<void> read = read_event(
      *dialect_named("claude-code"),
      json::serialize(json::object{{"hook_event_name", "PreToolUse"}, {"tool_input", many}}),
      event);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("250000 values"), std::string::npos);
}

// What makes an event unreadable, as the value of a member.
std::vector<std::string> damages() {
  return {R"("\ud83d key")",
          R"({"a":1,"a":2})",
          "\"\xff\"",
          "1e999",
          "\"a\nb\"",
          "[tru, }",
          R"({"x":"\q"})",
          R"("a" : ["b" , )",
          std::string(500, '[') + "{\"}\":1}" + std::string(500, ']')};
}

// The members of an answer, or null.
json::value answer_to_damaged(std::string_view agent, std::string_view text) {
  Event event;
  EXPECT_FALSE(read_event(*dialect_named(agent), text, event)) << text;
  EXPECT_EQ(event.kind, Event::Kind::After) << agent << ": " << text;
  return written(agent, event, Decision::withhold("unread"));
}

// The answer to a damaged event had the form of another event. The host then ignored it and showed
// the result, and half of an emoji damages an event.
TEST(DialectTest, ADamagedResultIsWithheldInTheFormOfItsEvent) {
  for (const std::string& damage : damages()) {
    const std::string claude =
        R"({"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash",)"
        R"("tool_input":{"command":"make"},"tool_use_id":"a","tool_response":{"stdout":"key",)"
        R"("code":7,"parts":[ "a" , true ],"more":)" +
        damage;
    const json::value said = answer_to_damaged("claude-code", claude + "}}");
    EXPECT_EQ(said.at("decision"), "block");
    const json::value& specific = said.at("hookSpecificOutput");
    EXPECT_EQ(specific.at("hookEventName"), "PostToolUse");
    const json::value& shape = specific.at("updatedToolOutput");
    EXPECT_EQ(shape.at("stdout"), "unread");
    EXPECT_EQ(shape.at("code"), 0);
    EXPECT_EQ(canonical_json(shape.at("parts")), R"(["",true])");
    EXPECT_EQ(answer_to_damaged("codex", claude + "}}").at("decision"), "block");
    EXPECT_EQ(answer_to_damaged("gemini", R"({"session_id":"s","hook_event_name":"AfterTool",)"
                                          R"("tool_name":"x","tool_input":{},"tool_response":)" +
                                              damage + "}")
                  .at("decision"),
              "deny");
    EXPECT_EQ(answer_to_damaged("copilot", R"({"sessionId":"s","toolName":"x","toolArgs":{},)"
                                           R"("toolResult":)" +
                                               damage + "}")
                  .at("modifiedResult")
                  .at("textResultForLlm"),
              "unread");
  }
}

TEST(DialectTest, TheNameOfADamagedEventMayBeItsLastMember) {
  const auto cursor = [](const std::string& output) {
    return answer_to_damaged(
        "cursor", R"({"conversation_id":"c","tool_name":"MCP:x","tool_input":{},"tool_output":)" +
                      output + R"(,"hook_event_name":"postToolUse"})");
  };
  EXPECT_EQ(cursor(R"("\ud83d")").at("updated_mcp_tool_output"), "unread");
  EXPECT_EQ(cursor('"' + std::string(kLargestEvent, 'x') + '"').at("updated_mcp_tool_output"),
            "unread");
  std::string many = "[0";
  for (int i = 0; i < 300'000; ++i) many += ",\"\"";
  EXPECT_EQ(cursor(many + "]").at("updated_mcp_tool_output"), "unread");
}

TEST(DialectTest, ADamagedCallIsStillACall) {
  for (const std::string& damage : damages()) {
    Event event;
    EXPECT_FALSE(
        read_event(*dialect_named("claude-code"),
                   R"({"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash",)"
                   R"("tool_input":{"command":)" +
                       damage + "}}",
                   event));
    EXPECT_EQ(event.kind, Event::Kind::Before) << damage;
  }
  for (const std::string_view text : {"", "{", "[{\"hook_event_name\":\"PostToolUse\"}", "\"x"}) {
    Event event;
    EXPECT_FALSE(read_event(*dialect_named("claude-code"), text, event));
    EXPECT_EQ(event.kind, Event::Kind::Other) << text;
  }
}

}  // namespace
}  // namespace sallyport::hook
