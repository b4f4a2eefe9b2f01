#include <gtest/gtest.h>

#include "effects/command_line.h"

namespace sallyport::effects {

namespace {

CommandPattern pattern(std::string_view words, std::vector<std::string> flags = {},
                       std::vector<std::string> without = {}) {
  CommandPattern out{.flags = std::move(flags), .without = std::move(without)};
  while (!words.empty()) {
    const std::size_t end = std::min(words.size(), words.find(' '));
    out.run.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return out;
}

// Returns the command of a line with one command.
Command command(std::string_view line, std::string folder = "/w") {
  const Effects found = effects_of_line(line, {.folder = std::move(folder), .home = "/home/user"});
  return found.effects.empty() || !found.effects[0].command ? Command{} : *found.effects[0].command;
}

Match deny(const CommandPattern& rule, std::string_view line) {
  return matches(rule, command(line), true);
}
Match allow(const CommandPattern& rule, std::string_view line, std::string folder = "/w") {
  return matches(rule, command(line, std::move(folder)), false, {"/w"});
}

}  // namespace

// RU-52
TEST(CommandMatchTest, RunIsTheProgramAndItsFirstWords) {
  EXPECT_EQ(allow(pattern("npm test"), "npm test -- --watch"), Match::Yes);
  EXPECT_EQ(allow(pattern("npm test"), "npm testx"), Match::No);
  EXPECT_EQ(allow(pattern("npm test"), "npm run test"), Match::No);
  EXPECT_EQ(allow(pattern("npm test"), "npm --prefix x test"), Match::Yes);
  EXPECT_EQ(allow(pattern("npm test"), "npm $X"), Match::Unknown);
  EXPECT_EQ(deny(pattern("git push"), "git -C /x --no-pager push"), Match::Yes);
  EXPECT_EQ(deny(pattern("git add -A"), "git -C sub add -A"), Match::Yes);
  EXPECT_EQ(deny(pattern("git add -A"), "git add . -A"), Match::Yes);
  EXPECT_EQ(deny(pattern("git add -A"), "git add ."), Match::No);
  EXPECT_EQ(allow(pattern("python -m pytest"), "python3 -m pytest -q"), Match::Yes);
  EXPECT_EQ(allow(pattern("python -m pytest"), "python3 -m pip"), Match::No);
  EXPECT_EQ(allow(pattern("pip list"), "pip3 list"), Match::Yes);
  EXPECT_EQ(allow(pattern("make"), "make -j4 all"), Match::Yes);
}

// RU-52: a rule on `npm install` once let `npm i` pass.
TEST(CommandMatchTest, ASubcommandIsFoundInEverySpelling) {
  for (const char* line :
       {"npm install x", "npm i x", "npm --silent i x", "npm add x", "npm isntall"})
    EXPECT_EQ(deny(pattern("npm install"), line), Match::Yes) << line;
  EXPECT_EQ(deny(pattern("npm i"), "npm install x"), Match::Yes);
  EXPECT_EQ(deny(pattern("npm install"), "npm ci"), Match::No);
  EXPECT_EQ(deny(pattern("npm uninstall"), "npm rm x"), Match::Yes);
  EXPECT_EQ(deny(pattern("pnpm install"), "pnpm i"), Match::Yes);
  EXPECT_EQ(deny(pattern("pnpm install"), "pnpm add x"), Match::No);
  EXPECT_EQ(allow(pattern("npm test"), "npm t"), Match::Yes);
  // A script keeps its exact name.
  EXPECT_EQ(allow(pattern("npm run test"), "npm run-script test"), Match::Yes);
  EXPECT_EQ(allow(pattern("npm run test"), "npm run t"), Match::No);
  EXPECT_EQ(allow(pattern("make install"), "make i"), Match::No);
  // npm accepts a beginning for the whole word.
  EXPECT_EQ(deny(pattern("npm publish"), "npm publ"), Match::Yes);
  EXPECT_EQ(deny(pattern("npm publish"), "npm pack"), Match::No);
  EXPECT_EQ(deny(pattern("npm publish"), "npm ''"), Match::No);
  EXPECT_EQ(allow(pattern("npm test"), "npm tes"), Match::No);
  EXPECT_EQ(deny(pattern("pnpm publish"), "pnpm publ"), Match::No);
}

// RU-52
TEST(CommandMatchTest, AFlagIsFoundInEverySpelling) {
  const CommandPattern recursive = pattern("rm", {"--recursive"});
  for (const char* line : {"rm -r x", "rm -R x", "rm -vr x", "rm --recursive x", "rm --recurs x",
                           "rm --rec x", "rm x -rf"}) {
    EXPECT_EQ(deny(recursive, line), Match::Yes) << line;
  }
  for (const char* line : {"rm x", "rm -f x", "rm -- -r", "rm --re x"})
    EXPECT_EQ(deny(recursive, line), Match::No) << line;
  EXPECT_EQ(deny(recursive, "rm $X"), Match::Unknown);

  // `+ref` and `:ref` are flags of `git push` only.
  EXPECT_EQ(deny(pattern("git", {"--delete"}), "git push origin :main"), Match::Yes);
  EXPECT_EQ(deny(pattern("git", {"--delete"}), "git show :main"), Match::No);

  const CommandPattern force = pattern("git push", {"--force", "--mirror", "--delete"});
  for (const char* line :
       {"git push -f", "git push --force", "git push --forc", "git push origin +main",
        "git push origin :main", "git push -d origin x", "git push -uf origin main",
        "git push --mirror", "git push -- origin +main"}) {
    EXPECT_EQ(deny(force, line), Match::Yes) << line;
  }
  for (const char* line : {"git push", "git push --force-with-lease", "git push origin a:b",
                           "git push -o f", "git pull -f", "git push -- --force"}) {
    EXPECT_EQ(deny(force, line), Match::No) << line;
  }
  EXPECT_EQ(deny(force, "git push $X"), Match::Unknown);
  EXPECT_EQ(deny(pattern("find", {"-delete"}), "find . -name x -delete"), Match::Yes);
  EXPECT_EQ(deny(pattern("find", {"-d"}), "find . -delete"), Match::No);
}

// RU-52
TEST(CommandMatchTest, WithoutHoldsIfNoneOfItsFlagsIsThere) {
  const CommandPattern careful = pattern("rm", {}, {"-r", "-f"});
  EXPECT_EQ(allow(careful, "rm x"), Match::Yes);
  EXPECT_EQ(allow(careful, "rm -vf x"), Match::No);
  EXPECT_EQ(allow(careful, "rm $X"), Match::Unknown);
  EXPECT_EQ(allow(careful, "rm -- -r"), Match::Yes);
}

// RU-51
TEST(CommandMatchTest, AProgramAtAnotherPlaceCountsForRestrictiveRulesOnly) {
  EXPECT_EQ(deny(pattern("rm"), "./rm x"), Match::Yes);
  EXPECT_EQ(deny(pattern("rm"), "/bin/rm x"), Match::Yes);
  EXPECT_EQ(allow(pattern("rm"), "/usr/bin/rm x"), Match::Yes);
  EXPECT_EQ(allow(pattern("npm test"), "/tmp/npm test"), Match::No);
  EXPECT_EQ(allow(pattern("./gradlew test"), "./gradlew test"), Match::Yes);
  EXPECT_EQ(allow(pattern("./gradlew test"), "./gradlew test", "/w/sub"), Match::No);
  EXPECT_EQ(allow(pattern("./gradlew test"), "../gradlew test", "/w/sub"), Match::Yes);
  EXPECT_EQ(allow(pattern("./gradlew test"), "/w/gradlew test"), Match::Yes);
  EXPECT_EQ(allow(pattern("/opt/x"), "/opt/x"), Match::Yes);
  EXPECT_EQ(allow(pattern("/opt/x"), "/opt/../opt/x"), Match::Yes);
}

// RU-53
TEST(CommandMatchTest, AProgramWithoutAProfileMayRunTheWordsOfARule) {
  EXPECT_EQ(deny(pattern("git add -A"), "mywrap git add -A"), Match::Unknown);
  EXPECT_EQ(deny(pattern("git push", {"--force"}), "mywrap --x 'git push -f'"), Match::Unknown);
  EXPECT_EQ(deny(pattern("git add -A"), "mywrap git status"), Match::No);
  EXPECT_EQ(allow(pattern("git add -A"), "mywrap git add -A"), Match::No);
  EXPECT_EQ(deny(pattern("git add -A"), "echo git add -A"), Match::No);
}

// RU-52, RU-46
TEST(CommandMatchTest, OneOfSeveralValuesIsEnoughForARestrictiveRule) {
  const CommandPattern recursive = pattern("rm", {"-r"});
  EXPECT_EQ(deny(recursive, "for f in -r -f; do rm $f x; done"), Match::Yes);
  EXPECT_EQ(allow(recursive, "for f in -r -f; do rm $f x; done"), Match::Unknown);
}

// RU-74
TEST(CommandMatchTest, AFlagThatAProfileDoesNotKnowIsKnownAsSuch) {
  EXPECT_TRUE(knows_flag(pattern("git push"), "--force"));
  EXPECT_TRUE(knows_flag(pattern("git push"), "-f"));
  EXPECT_FALSE(knows_flag(pattern("git push"), "--froce"));
  EXPECT_TRUE(knows_flag(pattern("rm"), "-R"));
  EXPECT_FALSE(knows_flag(pattern("rm"), "-q"));
  EXPECT_TRUE(knows_flag(pattern("unknown"), "--anything"));
}

}  // namespace sallyport::effects
