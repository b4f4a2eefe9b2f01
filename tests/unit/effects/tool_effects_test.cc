#include "effects/tool_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "effects/profiles.h"
#include "effects/program_table.h"
#include "effects/sql.h"

namespace sallyport::effects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Asked {
  std::string front = "hook";
  std::string server = "claude-code";
  std::string tool{};
  json::value input{};
  std::vector<std::string> command{};
  ToolBook book{};
  std::optional<bool> read_only{};
  bool changed = false;
};

// Returns class, place and marks of each effect: `fs.write /w/a`, `fs.read ? recursive`.
std::vector<std::string> effects_of(const Asked& asked) {
  const Call call{
      .agent_id = "a", .server = asked.server, .tool = asked.tool, .input = asked.input};
  const CallFacts facts{.call = call,
                        .front = asked.front,
                        .cwd = "/w",
                        .machine = {.home = "/home/user"},
                        .server_command = asked.command,
                        .read_only_hint = asked.read_only,
                        .definition_changed = asked.changed};
  std::vector<std::string> texts;
  for (const Effect& effect : effects_of_call(facts, asked.book).effects) {
    std::string text = effect.effect_class;
    if (effect.path) text += effect.path->unknown ? " ?" : " " + effect.path->text;
    if (effect.host) text += effect.host->unknown ? " host?" : " @" + effect.host->text;
    if (effect.recursive) text += " recursive";
    if (effect.opaque) text += " opaque";
    texts.push_back(std::move(text));
  }
  return texts;
}

ToolBook book_with(const std::string& server, const std::string& tool, std::string effect_class,
                   std::vector<std::pair<Role, std::string>> roles) {
  ToolDescription said{.effect_class = std::move(effect_class)};
  for (const auto& [role, text] : roles) {
    said.roles.push_back({role, text, grants::Selector::parse(text).value()});
  }
  ToolBook book;
  book.tools[{server, tool}] = std::move(said);
  return book;
}

ToolBook book_of_server(const std::string& server, ServerDescription said) {
  ToolBook book;
  book.servers[server] = std::move(said);
  return book;
}

// RU-24: every row of every profile is known, and has the effect that the table says.
TEST(ToolEffects, EveryRowOfTheTableHasItsEffect) {
  for (const ProfileTool& row : profile_tools()) {
    SCOPED_TRACE(std::string(row.profile) + " " + std::string(row.tool));
    std::string tool(row.tool);
    if (tool.ends_with('*')) tool.back() = 'X';
    json::object input;
    const std::string member(row.members.substr(0, row.members.find(' ')));
    if (!member.empty())
      input[member] = row.does == Does::FetchText ? "see https://h.example/" : "/p/x";
    if (row.does == Does::Fetch) input[member] = "https://h.example/";
    if (row.does == Does::Move) input["destination"] = "/p/y";
    if (row.does == Does::Patch) input[member] = "*** Add File: /p/x\n+a";
    const std::vector<std::string> found =
        effects_of({.front = "mcp",
                    .server = "s",
                    .tool = tool,
                    .input = input,
                    .book = book_of_server("s", {.profile = std::string(row.profile)})});
    switch (row.does) {
      case Does::Nothing:
        EXPECT_THAT(found, ElementsAre("none"));
        break;
      case Does::Run:
        EXPECT_FALSE(found.empty());
        break;
      case Does::Type:
        EXPECT_THAT(found, ElementsAre("process.exec opaque"));
        break;
      case Does::Read:
      case Does::Look:
      case Does::GitRead:
        EXPECT_THAT(found, ElementsAre("fs.read /p/x"));
        break;
      case Does::Search:
        EXPECT_THAT(found, ElementsAre("fs.read /p/x recursive"));
        break;
      case Does::Write:
      case Does::Patch:
        EXPECT_THAT(found, ElementsAre("fs.write /p/x"));
        break;
      case Does::Delete:
        EXPECT_THAT(found, ElementsAre("fs.delete /p/x"));
        break;
      case Does::Move:
        EXPECT_THAT(found, ElementsAre("fs.delete /p/x", "fs.write /p/y"));
        break;
      case Does::GitWrite:
        EXPECT_THAT(found, ElementsAre("git.write /p/x"));
        break;
      case Does::Fetch:
      case Does::FetchText:
        EXPECT_THAT(found, ElementsAre("network.request @h.example"));
        break;
      case Does::FindOnWeb:
        EXPECT_THAT(found, ElementsAre("network.request host?"));
        break;
      case Does::Store:
        EXPECT_THAT(found, ElementsAre("store.write"));
        break;
    }
  }
}

// RU-31
TEST(ToolEffects, ProfilesAreData) {
  EXPECT_EQ(profiles_json().size(), profile_tools().size());
  const json::array codex = profiles_json("codex");
  EXPECT_EQ(codex.size(), 11U);
  EXPECT_EQ(codex.at(0).at("tool"), "Bash");
  EXPECT_EQ(codex.at(0).at("does"), "command");
}

// RT-26: the tools of our own agent are known without any policy, on its own front only.
TEST(ToolEffects, ToolsOfOurOwnAgentAreKnownOnItsFront) {
  const auto of = [](std::string front, std::string tool, json::value input) {
    return effects_of({.front = std::move(front),
                       .server = "sallyport-agent",
                       .tool = std::move(tool),
                       .input = std::move(input)});
  };
  EXPECT_THAT(of("agent", "read_file", {{"path", "/p/x"}}), ElementsAre("fs.read /p/x"));
  EXPECT_THAT(of("agent", "write_file", {{"path", "/p/x"}, {"content", "/etc/passwd"}}),
              ElementsAre("fs.write /p/x"));
  EXPECT_THAT(of("agent", "memory_search", {{"query", "/etc/passwd"}}), ElementsAre("none"));
  EXPECT_THAT(of("agent", "background_stop", {{"task_id", "t"}}), ElementsAre("process.exec"));
  EXPECT_THAT(of("agent", "shell", {{"command", "rm x"}, {"cwd", "/p/y"}}),
              testing::Contains(testing::HasSubstr("fs.delete")));
  EXPECT_THAT(of("mcp", "memory_search", {{"query", "q"}}), ElementsAre("unknown"));
}

// RU-28, RU-31: each row that identifies a server does identify it.
TEST(ToolEffects, EveryServerOfTheTableIsRecognized) {
  const json::array rows = servers_json();
  EXPECT_GE(rows.size(), 18U);
  for (const json::value& row : rows) {
    const std::string name(row.at("name").as_string());
    SCOPED_TRACE(name);
    const std::string_view by = row.at("by").as_string();
    const std::vector<std::string> command =
        by == "npm"      ? std::vector<std::string>{"npx", "-y", name}
        : by == "python" ? std::vector<std::string>{"uvx", name}
        : by == "image"  ? std::vector<std::string>{"docker", "run", "-i", name}
                         : std::vector<std::string>{name};
    EXPECT_EQ(profile_of_command(command), std::string_view(row.at("profile").as_string()));
  }
}

// RU-31
TEST(ToolEffects, ProgramsAreData) {
  for (const json::value& row : programs_json()) {
    const std::string program(row.at("program").as_string());
    SCOPED_TRACE(program);
    EXPECT_NE(find_program(program), nullptr);
    if (const json::value* const name = row.as_object().if_contains("subcommand")) {
      const Subcommand* const found = find_subcommand(program, std::string_view(name->as_string()));
      ASSERT_NE(found, nullptr);
    }
  }
  EXPECT_EQ(programs_json("rm").size(), 1U);
  EXPECT_EQ(programs_json("rm").at(0).at("operands"), "delete");
  EXPECT_TRUE(programs_json("no-such-program").empty());
}

// RU-24: the policy counts before the profile, the profile before the table.
TEST(ToolEffects, TheFirstSourceThatKnowsTheToolCounts) {
  EXPECT_THAT(effects_of({.tool = "Write", .input = {{"file_path", "/a"}}}),
              ElementsAre("fs.write /a"));
  EXPECT_THAT(effects_of({.tool = "Write",
                          .input = {{"file_path", "/a"}},
                          .book = book_with("", "Write", "none", {})}),
              ElementsAre("none"));
  // A server of that name on another front may be anything.
  EXPECT_THAT(effects_of({.front = "mcp", .tool = "TodoWrite"}), ElementsAre("unknown"));
}

// RU-24: a tool that only the table knows, and an unknown tool.
TEST(ToolEffects, LeavesOfUnknownToolsAreEffects) {
  EXPECT_THAT(effects_of({.front = "mcp",
                          .server = "s",
                          .tool = "write_file",
                          .input = {{"path", "/a"}, {"content", "/etc/x"}}}),
              ElementsAre("fs.write /a"));
  EXPECT_THAT(effects_of({.front = "mcp",
                          .server = "s",
                          .tool = "frob",
                          .input = {{"path", "a"}, {"where", "https://h.example/x"}}}),
              ElementsAre("unknown a", "unknown @h.example"));
  EXPECT_THAT(effects_of({.front = "mcp", .server = "s", .tool = "frob", .input = {{"n", 1}}}),
              ElementsAre("unknown"));
  EXPECT_THAT(
      effects_of(
          {.front = "mcp", .server = "s", .tool = "http_get", .input = {{"url", "h.example/x"}}}),
      ElementsAre("network.request host?"));
}

// RU-24: the words of a command count wherever they stand.
TEST(ToolEffects, WordsBesideACommandBelongToIt) {
  const auto of = [](json::value input) {
    return effects_of(
        {.front = "mcp", .server = "s", .tool = "run_command", .input = std::move(input)});
  };
  EXPECT_THAT(of({{"command", "git"}, {"args", {"push", "--force"}}}),
              ElementsAre("git.push . host?"));
  EXPECT_THAT(of({{"command", "rm"}, {"args", {"-rf", "/home"}}}),
              ElementsAre("fs.delete /home recursive"));
  EXPECT_THAT(of({{"command", json::array{"rm"}}, {"arguments", {"-r", "/a b"}}}),
              ElementsAre("fs.delete /a b recursive"));
  EXPECT_THAT(of({{"command", "rm"}, {"args", {"-r", "it's; ls"}}, {"cwd", "/x"}}),
              ElementsAre("fs.delete it's; ls recursive"));
  EXPECT_THAT(of({{"command", "rm"}, {"argv", {"rm", "/a"}}}),
              ElementsAre("fs.delete rm", "fs.delete /a", "fs.delete /a"));
  EXPECT_THAT(of({{"command", "ls"}, {"args", json::array()}}), ElementsAre("fs.read ."));
  for (const json::value& input :
       {json::value{{"command", "rm"}, {"args", "-rf /home"}},
        json::value{{"command", "rm"}, {"args", {"-r", 7}}},
        json::value{
            {"command", "rm"}, {"args", json::array{"-r"}}, {"arguments", json::array{"/a"}}}}) {
    EXPECT_THAT(of(input), testing::Contains("process.exec opaque")) << input;
  }
}

// RU-24, RU-54: what else may change what runs makes the call opaque.
TEST(ToolEffects, MembersThatSteerACommandMakeItOpaque) {
  const auto of = [](json::object more) {
    more["command"] = "true";
    return effects_of({.front = "mcp", .server = "s", .tool = "run_command", .input = more});
  };
  for (const json::object& more :
       {json::object{{"env", {{"LD_PRELOAD", "/tmp/x.so"}}}},
        json::object{{"env", json::array{"A=b"}}}, json::object{{"stdin", "rm -rf /"}},
        json::object{{"input", "rm -rf /"}}, json::object{{"shell", "/tmp/evil"}},
        json::object{{"shell", true}, {"args", json::array{";rm"}}},
        json::object{{"options", {{"env", {{"A", "b"}}}}}}, json::object{{"directory", "/etc"}},
        json::object{{"cwd", "/a"}, {"workdir", "/b"}}}) {
    EXPECT_THAT(of(more), ElementsAre("none", "process.exec opaque")) << more;
  }
  for (const json::object& more :
       {json::object{{"description", "x"}, {"timeout", 5000}, {"run_in_background", true}},
        json::object{{"explanation", "x"}, {"is_background", false}},
        json::object{{"cwd", "/a"}, {"timeout_ms", 5}}, json::object{{"env", {{"CI", "1"}}}},
        json::object{{"env", json::object()}, {"stdin", nullptr}, {"input", ""}},
        json::object{{"shell", "/bin/bash"}}, json::object{{"shell", true}}}) {
    EXPECT_THAT(of(more), ElementsAre("none")) << more;
  }
}

// RU-26
TEST(ToolEffects, ClassesOfTheTableBecomeEffects) {
  const auto of = [](std::string tool, json::value input) {
    return effects_of(
        {.front = "mcp", .server = "s", .tool = std::move(tool), .input = std::move(input)});
  };
  EXPECT_THAT(of("mkdir", {{"path", "/a"}}), ElementsAre("fs.write /a"));
  EXPECT_THAT(of("copy_file", {{"source", "/a"}, {"destination", "/b"}}),
              ElementsAre("fs.read /a", "fs.write /b"));
  EXPECT_THAT(of("move_file", {{"source", "/a"}, {"destination", "/b"}}),
              ElementsAre("fs.delete /a", "fs.write /b"));
  EXPECT_THAT(of("delete_directory", {{"path", "/a"}}), ElementsAre("fs.delete /a recursive"));
  EXPECT_THAT(of("delete_file", {{"path", "/a"}}), ElementsAre("fs.delete /a"));
  EXPECT_THAT(of("git_push", json::object{}), ElementsAre("git.push"));
  EXPECT_THAT(of("git.push", json::object{}), ElementsAre("git.push"));
  EXPECT_THAT(of("git_commit", json::object{}), ElementsAre("git.write"));
}

// RU-25: a value that is not a string has an unknown path, host, command or statement.
TEST(ToolEffects, RolesOfArgumentsAreEffects) {
  const auto of = [](Role role, json::value value) {
    return effects_of({.front = "mcp",
                       .server = "s",
                       .tool = "t",
                       .input = {{"a", std::move(value)}},
                       .book = book_with("s", "t", "unknown", {{role, "/a"}})});
  };
  EXPECT_THAT(of(Role::Reads, "/x"), ElementsAre("fs.read /x"));
  EXPECT_THAT(of(Role::Writes, "x"), ElementsAre("fs.write x"));
  EXPECT_THAT(of(Role::Deletes, "/x"), ElementsAre("fs.delete /x"));
  EXPECT_THAT(of(Role::Hosts, "h.example:80"), ElementsAre("network.request @h.example"));
  EXPECT_THAT(of(Role::Sql, "select 1; drop table t"), ElementsAre("db.read", "db.schema"));
  EXPECT_THAT(of(Role::Writes, 7), ElementsAre("fs.write ?"));
  EXPECT_THAT(of(Role::Hosts, 7), ElementsAre("network.request host?"));
  EXPECT_THAT(of(Role::Commands, 7), ElementsAre("process.exec opaque"));
  EXPECT_THAT(of(Role::Sql, 7), ElementsAre("db.write opaque"));
}

// RU-28
TEST(ToolEffects, AServerIsKnownByTheCommandThatStartsIt) {
  const auto of = [](std::vector<std::string> command) {
    return std::string(profile_of_command(command));
  };
  EXPECT_EQ(of({"npx", "-y", "@modelcontextprotocol/server-filesystem", "/w"}), "mcp-filesystem");
  EXPECT_EQ(of({"npx", "@modelcontextprotocol/server-memory@1.2.3"}), "mcp-memory");
  EXPECT_EQ(of({"bunx", "@modelcontextprotocol/server-sequential-thinking"}),
            "mcp-sequential-thinking");
  EXPECT_EQ(of({"uvx", "mcp-server-git", "--repository", "/w"}), "mcp-git");
  EXPECT_EQ(of({"uvx", "mcp-server-time@latest"}), "mcp-time");
  EXPECT_EQ(of({"/usr/bin/mcp-server-fetch"}), "mcp-fetch");
  EXPECT_EQ(of({"docker", "run", "-i", "--rm", "-v", "/w:/w", "mcp/memory:1"}), "mcp-memory");
  EXPECT_EQ(of({"docker", "run", "--mount=type=bind,src=/a,dst=/b", "mcp/filesystem", "/b"}),
            "mcp-filesystem");
  // Lines that look like one of them, or could start another program.
  EXPECT_EQ(of({"npx", "-y", "@evil/server-filesystem", "/w"}), "");
  EXPECT_EQ(of({"npx", "-p", "evil", "@modelcontextprotocol/server-filesystem"}), "");
  EXPECT_EQ(of({"npx", "@modelcontextprotocol/server-filesystem@npm:evil"}), "");
  EXPECT_EQ(of({"uvx", "--from", "evil", "mcp-server-git"}), "");
  EXPECT_EQ(of({"uvx", "mcp-server-git-evil"}), "");
  EXPECT_EQ(of({"/tmp/mcp-server-git"}), "");
  EXPECT_EQ(of({"./npx", "@modelcontextprotocol/server-memory"}), "");
  EXPECT_EQ(of({"docker", "run", "--entrypoint", "sh", "mcp/memory"}), "");
  EXPECT_EQ(of({"docker", "run", "evil/mcp/memory"}), "");
  EXPECT_EQ(of({"docker", "exec", "mcp/memory"}), "");
  EXPECT_EQ(of({}), "");
}

// RU-29
TEST(ToolEffects, HintsCountWhereTheyAreTrustedAndNobodyElseKnowsTheTool) {
  const ToolBook trusted = book_of_server("crm", {.trust_hints = true});
  const auto of = [](std::string tool, ToolBook book, std::optional<bool> read_only, bool changed) {
    return effects_of({.front = "mcp",
                       .server = "crm",
                       .tool = std::move(tool),
                       .book = std::move(book),
                       .read_only = read_only,
                       .changed = changed});
  };
  EXPECT_THAT(of("find", trusted, true, false), ElementsAre("none"));
  EXPECT_THAT(of("find", {}, true, false), ElementsAre("unknown"));
  EXPECT_THAT(of("find", trusted, std::nullopt, false), ElementsAre("unknown"));
  EXPECT_THAT(of("find", trusted, true, true), ElementsAre("unknown"));
  EXPECT_THAT(of("write_file", trusted, true, false), ElementsAre("fs.write"));
}

// RU-30
TEST(ToolEffects, EachHeaderOfAPatchIsAnEffect) {
  const auto of = [](std::string text) {
    return effects_of({.server = "codex", .tool = "apply_patch", .input = {{"input", text}}});
  };
  EXPECT_THAT(of("*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n"
                 "*** Delete File: /d\n*** End Patch"),
              ElementsAre("fs.write a", "fs.write b", "fs.write c", "fs.delete /d"));
  EXPECT_THAT(of("nothing"), ElementsAre("fs.write ?"));
  EXPECT_THAT(of("*** Add File: a\n*** Rename File: b"), ElementsAre("fs.write a", "fs.write ?"));
  EXPECT_THAT(of("*** Add File:   "), ElementsAre("fs.write ?"));
}

// RU-61
TEST(ToolEffects, AddressesAreHostsOrFiles) {
  EXPECT_THAT(effects_of({.tool = "WebFetch", .input = {{"url", "file:///etc/x%20y"}}}),
              ElementsAre("fs.read /etc/x y"));
  EXPECT_THAT(effects_of({.tool = "WebFetch", .input = {{"url", "FILE://evil/etc/x"}}}),
              ElementsAre("fs.read ?"));
  EXPECT_THAT(effects_of({.tool = "WebFetch", .input = json::object{}}),
              ElementsAre("network.request host?"));
  EXPECT_THAT(
      effects_of({.server = "gemini",
                  .tool = "web_fetch",
                  .input = {{"prompt", "a https://x.example/1, then (http://10.0.0.1/2)."}}}),
      ElementsAre("network.request @x.example", "network.request @10.0.0.1"));
  for (const char* const between :
       {",", ";", "(", "]", "/?u=", "\u00a0", "\u3000", "\u2028", "\v"}) {
    const std::string prompt = std::string("http://localhost/") + between + "https://evil.example/";
    EXPECT_THAT(
        effects_of({.server = "gemini", .tool = "web_fetch", .input = {{"prompt", prompt}}}),
        ElementsAre("network.request @localhost", "network.request @evil.example"))
        << between;
  }
  EXPECT_THAT(effects_of({.server = "gemini",
                          .tool = "web_fetch",
                          .input = {{"prompt", "http://localhost\u00a0evil.example"}}}),
              ElementsAre("network.request @localhost"));
  EXPECT_THAT(effects_of({.server = "gemini", .tool = "web_fetch", .input = {{"prompt", "news"}}}),
              ElementsAre("network.request host?"));
  EXPECT_THAT(effects_of({.front = "mcp",
                          .server = "s",
                          .tool = "resources/read",
                          .input = {{"uri", "file:///w/a"}}}),
              ElementsAre("fs.read /w/a"));
}

// RU-32: `~` is the user's home; the home of another user is unknown.
TEST(ToolEffects, PathsOfToolsBeginAtTheHomeOrNowhere) {
  EXPECT_THAT(effects_of({.tool = "Read", .input = {{"file_path", "~/.ssh/id_rsa"}}}),
              ElementsAre("fs.read /home/user/.ssh/id_rsa"));
  EXPECT_THAT(effects_of({.tool = "Read", .input = {{"file_path", "~root/x"}}}),
              ElementsAre("fs.read ?"));
  EXPECT_THAT(effects_of({.tool = "Write", .input = json::object{}}), ElementsAre("fs.write ?"));
  EXPECT_THAT(effects_of({.tool = "Grep", .input = {{"pattern", "x"}}}),
              ElementsAre("fs.read /w recursive"));
  EXPECT_THAT(effects_of({.tool = "Glob", .input = {{"pattern", "/home/user/.ssh/*"}}}),
              ElementsAre("fs.read /w recursive", "fs.read /home/user/.ssh recursive"));
}

std::vector<std::string> classes_of(std::string_view text) {
  std::vector<std::string> classes;
  for (const Effect& effect : effects_of_sql(text)) {
    classes.push_back(effect.effect_class + (effect.opaque ? " opaque" : ""));
  }
  return classes;
}

// RU-58
TEST(SqlEffects, AStatementIsWhatItsFirstWordSays) {
  EXPECT_THAT(classes_of("select * from t where a = 'drop table t; delete'"),
              ElementsAre("db.read"));
  EXPECT_THAT(classes_of("SELECT 1; -- drop table t\nselect 2"), ElementsAre("db.read"));
  EXPECT_THAT(classes_of("insert into t values (1)"), ElementsAre("db.write"));
  EXPECT_THAT(classes_of("Drop Table t"), ElementsAre("db.schema"));
  EXPECT_THAT(classes_of("select a into b from c"), ElementsAre("db.write"));
  EXPECT_THAT(classes_of("with x as (delete from t returning *) select * from x"),
              ElementsAre("db.write"));
  EXPECT_THAT(classes_of("with x as (select 1) select * from x"), ElementsAre("db.read"));
  EXPECT_THAT(classes_of("explain analyze delete from t"), ElementsAre("db.write"));
  EXPECT_THAT(classes_of("explain select 1"), ElementsAre("db.read"));
  EXPECT_THAT(classes_of("pragma writable_schema = 1"), ElementsAre("db.write"));
  EXPECT_THAT(classes_of("select 1 /* ; */ ; truncate t"), ElementsAre("db.read", "db.schema"));
}

// RU-58
TEST(SqlEffects, BracketsAndLinesOfEverydayStatementsAreClear) {
  for (const char* const text :
       {"select 1 -- x\r\n, 2", "select a[1] from t",
        "select * from t where a = any(array['x','y'])", "select [a b] from [t]", "select [[a]",
        "select 'it''s' from [t]", "select 'it''s', q from t"}) {
    EXPECT_THAT(classes_of(text), ElementsAre("db.read")) << text;
  }
}

// RU-58, RU-78: each bracket is looked at once.
TEST(SqlEffects, ManyBracketsAreReadQuickly) {
  const std::string text = "select " + std::string(std::size_t{1} << 20, '[');
  EXPECT_THAT(classes_of(text), ElementsAre("db.read"));
  EXPECT_THAT(classes_of(text + "]"), ElementsAre("db.read"));
}

// RU-58: text that dialects read differently does not count as a reading statement.
TEST(SqlEffects, TextWithTwoReadingsIsOpaque) {
  for (const char* const text :
       {R"(select 'a\'; drop table t; --')", "select $$'$$; drop table t; select $$'$$",
        "select 1 /* /* */ ; drop table t -- */", "select 1 /*! ; drop table t */", "select 'a",
        "# '\ndrop table t; -- '", "select 1 -- x\r; drop table y",
        "select 1 as [a']; drop table x; --'", "select 1 as [a\"]; drop table x; --\"",
        "select 1 as [a/*]; drop table x; --*/", "select 1 as [a--]; drop table x",
        "select ['a]']; drop table x; --'", "select 1 as [a]]'];drop table x;--'", "select [a;",
        "select q'[']' from dual; drop table x; --'", "select nq'[']' from dual; drop table x; --'",
        "select 1 /*M! ; drop table x */", "select 1 /*M!100100 ; drop table x */", ""}) {
    EXPECT_THAT(classes_of(text), testing::Contains("db.write opaque")) << text;
  }
}

}  // namespace
}  // namespace sallyport::effects
