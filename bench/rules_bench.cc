// Measures the cost of rules per call (RU-78).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>

#include "base/try.h"
#include "bench/bench.h"
#include "effects/command_line.h"
#include "effects/shell_parser.h"
#include "effects/tool_effects.h"
#include "policy/policy.h"
#include "rules/case_view.h"
#include "rules/rule_index.h"

namespace sallyport::bench {

namespace {

// Returns the processor microseconds of one turn, in the fastest stretch. Other programs on the
// machine can make a stretch longer, never shorter.
double quickest_us(int stretches, int turns, const std::function<void()>& turn) {
  double fastest = std::numeric_limits<double>::max();
  for (int stretch = 0; stretch < stretches; ++stretch) {
    fastest = std::min(fastest, processor_seconds_of([&] {
                         for (int i = 0; i < turns; ++i) turn();
                       }));
  }
  return fastest / turns * 1e6;
}

// Rules of every kind; none of them matches.
rules::RuleSet rules_of(std::size_t count) {
  std::string text = "version: 1\nautonomy: {tier: act_with_approval}\nrules:\n";
  if (count == 0) text = "version: 1\nautonomy: {tier: act_with_approval}\nrules: []\n";
  for (std::size_t i = 0; i < count; ++i) {
    const char* const kKinds[] = {
        "then: deny, when: {{class: fs.delete, recursive: true, outside: [workspace, temp], path: "
        "\"/srv/a{0}/**\"}}",
        "then: ask, when: {{path: [\"~/.x{0}/**\", \"**/.secret{0}\", \"**/*.key{0}\"]}}",
        "then: ask, when: {{command: {{run: git push, flags: [--force]}}, agent: agent-{0}}}",
        "then: allow, when: {{server: crm, tool: \"find_{0}_*\"}}",
        "then: deny, when: {{command: tool{0} publish}}",
        "then: ask, when: {{class: network.request, host: [h{0}.example.com, \"*.x{0}.org\"]}}",
        "then: allow, when: {{class: [fs.write, fs.delete], inside: /data/x}}, unless: {{path: "
        "/data/{0}}}",
        "then: deny, when: {{class: db.schema, args: [{{type: enum, value: {{at: [/mode], values: "
        "[m{0}]}}}}]}}"};
    const std::size_t kind = i % 7;
    text += fmt::format("  - {{id: rule-{}, {}}}\n", i, fmt::format(fmt::runtime(kKinds[kind]), i));
  }
  const Result<policy::Policy> policy = policy::read_policy(text, "bench.yaml");
  if (!policy) fmt::print(stderr, "{}: {}\n", policy.error().where, policy.error().message);
  SALLYPORT_INVARIANT(policy.has_value());
  return *policy->rules;
}

double judge_us(const rules::RuleSet& set, const Call& call, int turns, int stretches = 20) {
  const rules::CaseView files({}, {});
  const effects::CallFacts facts{.call = call,
                                 .front = "hook",
                                 .cwd = "/w",
                                 .workspace = {"/w"},
                                 .machine = {.home = "/home/user"},
                                 .files = &files};
  const WallTime now = *from_rfc3339("2026-01-01T00:00:00Z");
  const rules::RuleIndex index = rules::index_of(set);
  return quickest_us(stretches, turns, [&] {
    const effects::Effects effects = effects::effects_of_call(facts, set.book);
    (void)rules::decide(set, index, facts, effects, now);
  });
}

Call shell_call(std::string line) {
  return {.agent_id = "claude-code",
          .server = "claude-code",
          .tool = "Bash",
          .input = {{"command", std::move(line)}}};
}

// Everyday commands, up to so many bytes.
std::string everyday_line(std::size_t bytes) {
  constexpr const char* kParts[] = {"git status --short",
                                    "grep -rn \"needle\" src/app --include='*.cc'",
                                    "cat docs/readme.md | head -n 20",
                                    "cmake --build build -j2 --target all > build/log.txt 2>&1",
                                    "for f in a b c; do echo \"$f\"; done",
                                    "sed -n '1,20p' src/main.cc",
                                    "test -f x.txt && rm -f x.txt || true",
                                    "mkdir -p out/a && cp -r docs out/a"};
  std::string line;
  for (std::size_t i = 0;; ++i) {
    const std::string part = kParts[i % std::size(kParts)];
    if (line.size() + part.size() + 4 > bytes) return line;
    line += (line.empty() ? "" : " && ") + part;
  }
}

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string text;
  while (text.size() + part.size() <= bytes) text += part;
  return text;
}

// Parts of lines in any order, up to so many bytes, for cases that no kind below covers.
std::string mixed_line(unsigned seed, std::size_t bytes) {
  constexpr const char* kPieces[] = {"a ",
                                     "'b' ",
                                     "\"$x\" ",
                                     "$(a ",
                                     ") ",
                                     "`a` ",
                                     "${x:-b} ",
                                     "$((1+2)) ",
                                     "{a,b} ",
                                     "* ",
                                     ">a ",
                                     "2>&1 ",
                                     "<b ",
                                     "<<<c ",
                                     "| ",
                                     "&& ",
                                     "|| ",
                                     "; ",
                                     "& ",
                                     "\n",
                                     "x=b ",
                                     "cd /a; ",
                                     "rm -rf /a/b ",
                                     "git push ",
                                     "env ",
                                     "sudo ",
                                     "xargs ",
                                     "curl -o a b.c ",
                                     "bash -c 'a b' ",
                                     "if a; then ",
                                     "fi; ",
                                     "for x in a b; do ",
                                     "done; ",
                                     "while a; do ",
                                     "case x in x) ",
                                     ";; esac; ",
                                     "( ",
                                     "{ ",
                                     "}; ",
                                     "[[ a ]] ",
                                     "<<E\n",
                                     "\nE\n",
                                     "\\\n",
                                     "find . -exec a {} + "};
  std::mt19937 random(seed);
  // Each line consists of a few kinds, so that long runs of each kind occur, too.
  std::vector<const char*> some;
  for (std::size_t i = 0; i < 2 + seed % 7; ++i)
    some.push_back(kPieces[random() % std::size(kPieces)]);
  std::string line;
  while (true) {
    const std::string piece = some[random() % some.size()];
    if (line.size() + piece.size() > bytes) return line;
    line += piece;
  }
}

}  // namespace

void measure_rules(Report& report, bool quick) {
  report.section("rules: what they add to a call, without the disk");
  const int turns = quick ? 2 : 50;
  const rules::RuleSet none = rules_of(0);
  const rules::RuleSet hundred = rules_of(100);
  const rules::RuleSet two_hundred = rules_of(200);
  const std::pair<const char*, Call> kCalls[] = {
      {"a tool call with one path",
       Call{.agent_id = "a", .server = "files", .tool = "write_file", .input = {{"path", "/w/x"}}}},
      {"a shell line of one command", shell_call("git commit -m done")}};
  for (const auto& [name, call] : kCalls) {
    const double base = judge_us(none, call, turns);
    const double with = judge_us(two_hundred, call, turns);
    report.row(fmt::format("{}, 200 rules", name), fmt::format("{:.1f} us more", with - base),
               fmt::format("{:.1f} us with none (goal: at most 5 us more)", base));
  }
  const std::string line300 = everyday_line(300);
  report.row(fmt::format("100 rules, a line of {} bytes", line300.size()),
             fmt::format("{:.1f} us", judge_us(hundred, shell_call(line300), turns)),
             "goal: at most 50 us");
  const rules::CaseView files({}, {});
  const effects::ShellSetting setting{.folder = "/w", .home = "/home/user", .files = &files};
  const auto read_us = [&](const std::string& line, int stretches, int each) {
    return quickest_us(stretches, each, [&] { (void)effects::effects_of_line(line, setting); });
  };
  const std::string line4k = everyday_line(4'096);
  const double parsed = quickest_us(20, turns, [&] {
    std::size_t commands = 0;
    (void)effects::ShellParser(line4k, 0, commands).read();
  });
  report.row(fmt::format("a shell line of {} bytes, parsed", line4k.size()),
             fmt::format("{:.1f} us", parsed), "goal: at most 50 us");
  report.row("the same with the effects of its commands",
             fmt::format("{:.1f} us", read_us(line4k, 20, turns)));
  constexpr std::size_t kLongest = 65'536;
  const std::pair<const char*, std::string> kLong[] = {
      {"everyday commands", everyday_line(kLongest)},
      {"a|a|a", repeated("a|", kLongest - 1) + "a"},
      {"one word", std::string(kLongest, 'a')},
      {"words", repeated("a ", kLongest)},
      {"quotes", repeated("'a'", kLongest)},
      {"open substitutions", repeated("$(", kLongest)},
      {"substitutions", repeated("$(a) ", kLongest)},
      {"braces", repeated("{a,b}", kLongest)},
      {"braces in words", repeated("{a,b} ", kLongest)},
      {"globs", repeated("* ", kLongest)},
      {"redirections", repeated(">a ", kLongest)},
      {"here-documents", repeated("<<a ", kLongest)},
      {"rm with many words", "rm -rf " + repeated("/a/b ", kLongest - 8)},
      {"assignments", repeated("a=b ", kLongest)},
      {"variables", "x=a; " + repeated("$x ", kLongest - 8)},
      {"subshells", repeated("(a);", kLongest)},
      {"open subshells", repeated("(", kLongest)},
      {"wrappers", repeated("env ", kLongest)},
      {"links", repeated("ln a b;", kLongest)},
      {"downloads", repeated("curl -o a b.c;", kLongest)},
      {"folders", repeated("cd a;", kLongest)},
      {"backslashes", std::string(kLongest, '\\')},
      {"backquotes", std::string(kLongest, '`')},
      {"arithmetic", repeated("$((1+", kLongest)}};
  double worst = 0;
  std::string which;
  for (const auto& [name, line] : kLong) {
    const double us = read_us(line, quick ? 1 : 5, 1);
    const double judged = judge_us(hundred, shell_call(line), 1);
    if (!quick)
      report.row(fmt::format("64 KiB of {}", name), fmt::format("{:.2f} ms", us / 1e3),
                 fmt::format("{:.2f} ms with 100 rules", judged / 1e3));
    if (judged > worst) which = name;
    worst = std::max(worst, judged);
  }
  const unsigned mixed = quick ? 5 : 2'000;
  double worst_mixed = 0;
  for (unsigned seed = 0; seed < mixed; ++seed) {
    const Call call = shell_call(mixed_line(seed, kLongest));
    double us = judge_us(hundred, call, 1, 1);
    // Other programs may have slowed some lines down, so the slowest are measured again.
    if (us > worst_mixed) us = std::min(us, judge_us(hundred, call, 1, 5));
    worst_mixed = std::max(worst_mixed, us);
  }
  report.row(fmt::format("the slowest of {} mixed lines of 64 KiB, with 100 rules", mixed),
             fmt::format("{:.2f} ms", worst_mixed / 1e3), "goal: at most 20 ms");
  report.row("the slowest line of 64 KiB, with 100 rules", fmt::format("{:.2f} ms", worst / 1e3),
             fmt::format("{} (goal: at most 20 ms)", which));
}

}  // namespace sallyport::bench
