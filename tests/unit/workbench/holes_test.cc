// A call whose input was redacted is decided as the original call was, or not at all.
#include "workbench/holes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <map>
#include <random>

#include "base/keyed_digest.h"
#include "core/record/reading_recorder.h"
#include "guards/redact/storage_redactor.h"

namespace sallyport::app {
namespace {

class Choice {
 public:
  explicit Choice(unsigned seed) : engine_(seed) {}
  bool chance(unsigned percent) { return engine_() % 100 < percent; }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[engine_() % all.size()];
  }
  std::string letters(std::string_view alphabet, std::size_t size) {
    std::string text;
    while (text.size() < size) text += alphabet[engine_() % alphabet.size()];
    return text;
  }

 private:
  std::mt19937 engine_;
};

constexpr std::string_view kCapitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::string_view kToken = "abcXYZ0123456789_-";
const std::string kKnownKey = "AKIAIOSFODNN7EXAMPLE";  // policies name it
const std::string kKnownAddress = "ann@example.org";

std::string secret(Choice& choice) {
  const std::vector<std::string> all = {
      kKnownKey,
      kKnownAddress,
      "AKIA" + choice.letters(kCapitals, 16),
      "ASIA" + choice.letters(kCapitals, 16),
      "ghp_" + choice.letters("abcXYZ0123456789", 36),
      "sk-" + choice.letters(kToken, 30) + "1",
      "glpat-" + choice.letters(kToken, 20) + "a",
      choice.letters("abcdef.-+%", 3) + "x@mail.example." + (choice.chance(50) ? "org" : "sh"),
      "+1202555" + choice.letters("0123456789", 4),
      "DE89370400440532013000",
      "10.0.0." + choice.letters("123", 1),
      "password=hunter22" + choice.letters("abc", 2)};
  return choice.of(all);
}

using Pool = std::vector<std::string>;  // of secrets

// Some policies name the beginning of a secret of their calls.
std::string policy_text(Choice& choice, const Pool& pool) {
  std::string begin = choice.of(pool).substr(0, 6);
  std::ranges::replace(begin, '%', 'x');
  const std::vector<std::string> tiers = {"act_auto", "act_with_approval", "suggest"};
  const std::vector<std::string> then = {"deny", "ask", "allow", "log"};
  const std::vector<std::string> when = {
      "{path: '**/" + begin + "*'}",
      "{path: '**/" + begin + "*'}",
      "{args: [{type: arg_regex, value: {at: /key, pattern: '[" + begin.substr(0, 5) + "]+.*'}}]}",
      "{class: fs.delete}",
      "{path: '/etc/**'}",
      "{path: ['**/AKIA*', '**/*.org']}",
      "{path: '**/sk-*'}",
      "{path: '**/*@*'}",
      "{path: '**/*.pem'}",
      "{class: [fs.write, fs.read], inside: workspace}",
      "{outside: workspace}",
      "{command: git push}",
      "{command: {run: git, flags: [--force]}}",
      "{command: curl}",
      "{host: [example.org, '*.example.com']}",
      "{host: private}",
      "{class: network.request}",
      "{opaque: true}",
      "{tool: send_mail}",
      "{args: [{type: audience_allowlist, value: [ann@example.org, bob@example.org]}]}",
      "{args: [{type: arg_equals, value: {at: /key, value: AKIAIOSFODNN7EXAMPLE}}]}",
      "{args: [{type: arg_regex, value: {at: /key, pattern: 'A[KS]IA[A-Z0-9]{16}'}}]}",
      "{args: [{type: arg_regex, value: {at: /key, pattern: 'key AKIA[A-Z0-9]{16}'}}]}",
      "{args: [{type: regex_match, value: '@example'}]}",
      "{args: [{type: max_length, value: 60}]}",
      "{args: [{type: domain_exact, value: example.org}]}",
      "{args: [{type: path_prefix, value: {prefix: /w/keys, at: [/key, /file_path]}}]}"};
  std::string text = "version: 1\nautonomy: {tier: " + choice.of(tiers) + "}\n";
  if (choice.chance(50)) {
    const std::vector<std::string> patterns = {"A[KS]IA", "AKIA[0-9]", "@example", "sk-.{5}",
                                               "zzz"};
    text += fmt::format(
        "guardrails:\n  checks:\n    - {{type: regex, stage: tool_use, on_fail: {}, patterns: "
        "['{}']{}{}}}\n",
        choice.chance(50)   ? "block"
        : choice.chance(50) ? "redact"
                            : "log",
        choice.of(patterns), choice.chance(30) ? ", views: [strip, nfkc]" : "",
        choice.chance(30) ? ", except: ['AKIAIOSFODNN7EXAMPLE']" : "");
  }
  if (choice.chance(90)) {
    text += "rules:\n";
    for (int i = 0; i < 3; ++i) {
      text += fmt::format("  - {{id: r{}, then: {}, when: {}{}}}\n", i, choice.of(then),
                          choice.of(when),
                          choice.chance(20) ? ", unless: " + choice.of(when) : std::string());
    }
    if (choice.chance(20)) text += "unlisted: deny\n";
  }
  return text;
}

Call random_call(Choice& choice, const Pool& pool) {
  const std::string word = choice.of(pool);
  const std::vector<std::string> lines = {"cat /w/" + word,
                                          "cat /w/keys/" + word + ".pem",
                                          "rm -rf /etc/" + word + "/x",
                                          "curl -H 'X-Key: " + word + "' https://example.org/a",
                                          "curl https://api.example.com/?key=" + word,
                                          "curl https://" + word + "/",
                                          "git push origin " + word,
                                          "git commit --author='A <" + word + ">' -m x",
                                          "git config user.email " + word,
                                          "echo " + word + " > /w/out",
                                          "echo '" + word + "' | tee /etc/motd",
                                          "export KEY=" + word + "; make",
                                          word + " --version",
                                          "ls " + word + " && git push --force",
                                          "X=" + word + "; rm /w/$X",
                                          "for f in a " + word + "; do rm /w/$f; done",
                                          "cat <<" + word + "\nrm -rf /\n" + word + "\n",
                                          "ssh " + word + " ls",
                                          "cd /w/" + word + " && rm -r x",
                                          "cd " + word + "; cat .env",
                                          "curl file:///w/" + word,
                                          "cp /etc/" + word + " '/w/a b'",
                                          "rm -" + word};
  const std::vector<std::string> texts = {word,
                                          "key " + word,
                                          "/w/keys/" + word,
                                          "./" + word,
                                          "https://example.org/?k=" + word,
                                          "https://" + word + "/x",
                                          "mailto:" + word,
                                          "file:///w/" + word,
                                          word + "/../../etc/passwd"};
  const std::vector<std::string> tools = {"Bash",      "Write",       "Read",
                                          "send_mail", "delete_file", "fetch"};
  const std::string& tool = choice.of(tools);
  json::object input;
  if (tool == "Bash") input["command"] = choice.of(lines);
  if (tool == "Write" || tool == "Read" || tool == "delete_file") {
    input[tool == "delete_file" ? "path" : "file_path"] =
        choice.chance(60) ? std::string("/w/a") : choice.of(texts);
    if (tool == "Write") input["content"] = "use " + word;
  }
  if (tool == "send_mail") input["to"] = word;
  if (tool == "fetch") input["url"] = choice.of(texts);
  if (choice.chance(10)) input["cwd"] = "/w/" + word;
  if (choice.chance(30)) input["key"] = choice.of(texts);
  const bool hook = choice.chance(60);
  Call call{.agent_id = "a",
            .session_id = "s",
            .server = hook ? "claude-code" : "fake",
            .tool = tool,
            .input = std::move(input)};
  call.setting = {.front = hook ? "hook" : "mcp", .folder = "/w", .workspace = {"/w"}};
  return call;
}

class HolesTest : public testing::Test {
 protected:
  CallTrial trial_of(const std::string& policy, const Call& call) {
    return {.policy = {.text = policy},
            .policy_name = "policy.yaml",
            .call = call,
            .at = WallTime(std::chrono::hours(24 * 365 * 56)),
            .records = &nothing_,
            .machine = {.home = "/home/user"},
            .files = &files_,
            .shelf = &shelf_};
  }

  std::vector<Hole> redact(Call& call) {
    std::vector<Hole> holes;
    for (const core::Removal& removal : redactor_.redact("requested_input", call.input)) {
      holes.push_back({.path = removal.path,
                       .category = removal.category,
                       .detector = removal.detector,
                       .digest = digest_(removal.removed),
                       .whole = removal.at == 0 && removal.removed.size() == removal.of});
    }
    return holes;
  }

  // Returns the verdict over the redacted input, or `undecided` with the reason.
  std::string verdict_with_holes(const std::string& policy, Call call) {
    const std::vector<Hole> holes = redact(call);
    CallTrial trial = trial_of(policy, call);
    const Result<HoleAnswer> filled = fill_holes(trial, holes, &digest_);
    if (!filled) return filled.error().message;
    if (filled->missing) return "undecided: " + filled->why;
    return verdict(trial);
  }
  static std::string verdict(const CallTrial& trial) {
    const Result<TrialAnswer> answer = decide(trial, core::RehearsalScope::UntilRefused);
    return answer ? std::string(to_string(verdict_of(answer->seen))) : answer.error().message;
  }

  core::NoRecords nothing_;
  RecordedFiles files_{json::object()};
  PolicyShelf shelf_;
  const KeyedDigest digest_{"key"};
  const guards::StorageRedactor redactor_{*guards::Detectors::build()};
};

// WB-38. `SALLYPORT_PAIRS` sets a larger number of pairs.
TEST_F(HolesTest, ADecidedCallWithHolesIsDecidedAsTheOriginal) {
  const char* const wanted = std::getenv("SALLYPORT_PAIRS");
  const int policies = wanted ? std::atoi(wanted) / 10 : 30;
  const char* const first = std::getenv("SALLYPORT_SEED");
  std::map<std::string, int> verdicts;
  for (int seed = 0; seed < policies; ++seed) {
    Choice choice(static_cast<unsigned>(seed + (first ? std::atoi(first) : 970)));
    const Pool pool = {secret(choice), secret(choice), secret(choice)};
    const std::string policy = policy_text(choice, pool);
    for (int i = 0; i < 10; ++i) {
      const Call call = random_call(choice, pool);
      Call redacted = call;
      if (redact(redacted).empty()) continue;
      const std::string original = verdict(trial_of(policy, call));
      const std::string with_holes = verdict_with_holes(policy, call);
      ++verdicts[with_holes.substr(0, 9)];
      if (with_holes.starts_with("undecided")) continue;
      ASSERT_EQ(with_holes, original)
          << "seed " << seed << "\n"
          << policy << json::serialize(call.input) << "\n"
          << json::serialize(redacted.input) << " " << call.setting.front;
    }
  }
  for (const char* const each : {"runs", "asks", "refused", "undecided"}) {
    EXPECT_GT(verdicts[each], policies / 4) << each;
  }
}

// WB-38
TEST_F(HolesTest, ARuleThatLooksAtNoHoleDecides) {
  const std::string policy =
      "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
      "  - {id: etc, then: deny, when: {class: fs.write, path: '/etc/**'}}\n"
      "  - {id: mail, then: ask, when: {args: [{type: audience_allowlist, value: "
      "[ann@example.org]}]}}\n"
      "  - {id: key, then: deny, when: {args: [{type: arg_regex, value: {at: /key, pattern: "
      "'A[KS]IA[A-Z0-9]{16}'}}]}}\n"
      "  - {id: push, then: deny, when: {command: git push}}\n"
      "  - {id: folder, then: deny, when: {path: '**/AKIA0*'}}\n";
  const auto verdict = [&](std::string tool, json::object input) {
    Call call{.agent_id = "a",
              .session_id = "s",
              .server = "claude-code",
              .tool = std::move(tool),
              .input = std::move(input)};
    call.setting = {.front = "hook", .folder = "/w", .workspace = {"/w"}};
    return verdict_with_holes(policy, call);
  };
  const std::string key = "AKIA1234567890ABCDEF";
  // The content of a file is no part of its effects.
  EXPECT_EQ(verdict("Write", {{"file_path", "/w/a"}, {"content", "password=hunter2222"}}), "runs");
  EXPECT_EQ(verdict("Write", {{"file_path", "/etc/a"}, {"content", key}}), "refused");
  // Equality by digest.
  EXPECT_EQ(verdict("send", {{"to", "ann@example.org"}}), "asks");
  EXPECT_EQ(verdict("send", {{"to", "bob@example.org"}}), "runs");
  // All words of the form, or none.
  EXPECT_EQ(verdict("send", {{"key", key}}), "refused");
  EXPECT_EQ(verdict("send", {{"key", "sk-aaaaaaaaaaaaaaaaaaaaaaaa1"}}), "runs");
  EXPECT_EQ(verdict("Bash", {{"command", "curl -H 'X: " + key + "' https://example.org"}}), "runs");
  EXPECT_EQ(verdict("Bash", {{"command", "git push " + key}}), "refused");
  // Some words only.
  const auto undecided = [&](std::string tool, json::object input) {
    const std::string said = verdict(std::move(tool), std::move(input));
    EXPECT_TRUE(said.starts_with("undecided: ")) << said;
  };
  undecided("Bash", {{"command", "cat /w/" + key}});
  undecided("Bash", {{"command", key + " -v"}});
  undecided("Read", {{"file_path", "/w/" + key}});
}

}  // namespace
}  // namespace sallyport::app
