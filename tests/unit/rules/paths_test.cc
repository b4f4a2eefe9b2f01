#include "rules/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rules/case_view.h"
#include "rules/disk_view.h"

namespace sallyport::rules {
namespace {

using testing::ElementsAre;

const RootFolders& no_root(Root) {
  static const RootFolders kUnknown;
  return kUnknown;
}

Match glob(std::string_view pattern, std::string_view path, Side side = Side::Wide,
           bool changes_below = false, bool below = false) {
  const PathForm form = PathForm::of(path);
  return Glob::parse(pattern).value().matches({form, changes_below, below, side}, no_root);
}

// RU-37
TEST(GlobTest, StarsStayInASegmentAndTwoStarsDoNot) {
  EXPECT_EQ(glob("/a/*.c", "/a/b.c"), Match::Yes);
  EXPECT_EQ(glob("/a/*.c", "/a/x/b.c"), Match::No);
  EXPECT_EQ(glob("/a/?", "/a/é"), Match::Yes);
  EXPECT_EQ(glob("/a/**", "/a"), Match::Yes);
  EXPECT_EQ(glob("/a/**", "/a/b/c"), Match::Yes);
  EXPECT_EQ(glob("/a/**", "/ab"), Match::No);
  EXPECT_EQ(glob("/a/**/z", "/a/z"), Match::Yes);
  EXPECT_EQ(glob("/a/**/z", "/a/b/c/z"), Match::Yes);
  EXPECT_EQ(glob("**/.env", "/.env"), Match::Yes);
  EXPECT_EQ(glob("**/.env", "/x/.env/y"), Match::No);
  EXPECT_EQ(glob("/**", "/"), Match::Yes);
}

// A rule that the index of rules skips matches nothing. RU-78
TEST(GlobTest, APathThatAGlobMatchesHasItsFeature) {
  const std::string kNames[] = {"a",       "b.c", "B.C", "x.key", "é",
                                "e\u0301", "a.",  "a. ", "K",     "\u212a"};
  const std::string kParts[] = {"a", "*",       "**", "*.c", "?", "*.key",
                                "é", "*\u0301", "*.", "k",   "*k"};
  std::size_t matched = 0;
  std::size_t passed_over = 0;
  for (const std::string& name : kNames) {
    const std::string path = "/w/" + name;
    const std::uint64_t features = features_of(PathForm::of(path));
    for (const std::string& part : kParts) {
      for (const std::string& text :
           {"/w/" + part, "/W/" + part, "/*/" + part, "**/" + part + "/**"}) {
        const std::optional<std::uint64_t> feature = Glob::parse(text).value().feature();
        const bool passes = feature && (*feature & features) == 0;
        const bool matches = glob(text, path) != Match::No;
        EXPECT_FALSE(matches && passes) << text << " " << path;
        matched += matches ? 1 : 0;
        passed_over += passes ? 1 : 0;
      }
    }
  }
  EXPECT_GT(matched, 50U);
  EXPECT_GT(passed_over, 50U);
}

// RU-37
TEST(GlobTest, AGlobThatCouldMatchNothingIsAnError) {
  for (const char* const text :
       {"a/b", "*.c", "${home}/x", "./x", "/a/../b", "/a/**b", "/x/${workspace}", "~user/x"}) {
    EXPECT_FALSE(Glob::parse(text)) << text;
  }
  for (const char* const text :
       {"/", "~", "~/x", "**/x", "${workspace}", "${policy}", "${data}/**"}) {
    EXPECT_TRUE(Glob::parse(text)) << text;
  }
}

// RU-38
TEST(GlobTest, OnlyTheWideSideFoldsNames) {
  EXPECT_EQ(glob("/a/.ssh/**", "/a/.SSH/x"), Match::Yes);
  EXPECT_EQ(glob("/a/.ssh/**", "/a/.SSH/x", Side::Narrow), Match::No);
  EXPECT_EQ(glob("**/.env", "/w/.env. "), Match::Yes);
  EXPECT_EQ(glob("**/.env", "/w/.env.", Side::Narrow), Match::No);
  EXPECT_EQ(glob("/caf\u00e9", "/cafe\u0301"), Match::Yes);
  EXPECT_EQ(glob("/caf\u00e9", "/cafe\u0301", Side::Narrow), Match::No);
  // Folding adds matches and removes none.
  EXPECT_EQ(glob("**/.env.*", "/w/.env."), Match::Yes);
  EXPECT_EQ(glob("/x/a.", "/x/a."), Match::Yes);
}

// RU-39
TEST(GlobTest, ARecursiveChangeReachesWhatLiesBelow) {
  EXPECT_EQ(glob("/w/.git/**", "/w", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("/w/.git/config", "/w/.git", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("/w/.git/**", "/w", Side::Wide, false), Match::No);
  EXPECT_EQ(glob("**/.env", "/w", Side::Wide, true), Match::No);
  EXPECT_EQ(glob("**/.env", "/", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("/v/.git/**", "/w", Side::Wide, true), Match::No);
}

// A recursive change of `.git` once passed over a rule about `**/.git/config`, and only a rule with
// the whole path saw it.
// RU-39
TEST(GlobTest, ARecursiveChangeReachesTheFixedPartBehindAnyDepth) {
  EXPECT_EQ(glob("**/.git/config", "/w/.git", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("**/.git/hooks/**", "/w/a/.git", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("**/.GIT/config", "/w/.git", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("/w/**/.git/config", "/w/a/.git", Side::Wide, true), Match::Yes);
  EXPECT_EQ(glob("**/.git/config", "/w/.git", Side::Wide, false), Match::No);
  EXPECT_EQ(glob("**/.git/config", "/w/.git/objects", Side::Wide, true), Match::No);
  EXPECT_EQ(glob("**/.git/config", "/w", Side::Wide, true), Match::No);
  EXPECT_EQ(glob("**/*/config", "/w/.git", Side::Wide, true), Match::No);
}

// RU-40
TEST(GlobTest, SomePathBelowAFolderMatchesWhatCoversAllOfIt) {
  EXPECT_EQ(glob("/w/**", "/w/d", Side::Wide, false, true), Match::Yes);
  EXPECT_EQ(glob("**/*", "/w/d", Side::Wide, false, true), Match::Yes);
  EXPECT_EQ(glob("**/.env", "/w/d", Side::Wide, false, true), Match::Unknown);
  EXPECT_EQ(glob("/w/d/x", "/w/d", Side::Wide, false, true), Match::Unknown);
  EXPECT_EQ(glob("/w/d", "/w/d", Side::Wide, false, true), Match::No);
  EXPECT_EQ(glob("/v/**", "/w/d", Side::Wide, false, true), Match::No);
}

// RU-15: the last column of the table for `path`.
TEST(GlobTest, CoversOnlyWhatItProves) {
  const auto covers = [](std::string_view wide, std::string_view narrow) {
    return Glob::parse(wide).value().covers(Glob::parse(narrow).value());
  };
  EXPECT_TRUE(covers("/a/**", "/a/b/*.c"));
  EXPECT_TRUE(covers("/a/**", "/a"));
  EXPECT_TRUE(covers("**/.env", "/w/.env"));
  EXPECT_TRUE(covers("/a/*", "/a/b"));
  EXPECT_FALSE(covers("/a/b/**", "/a/**"));
  EXPECT_FALSE(covers("/a/*", "/a/**"));
  EXPECT_FALSE(covers("/a/**", "~/a"));
  EXPECT_FALSE(covers("/a/b*", "/a/*b"));
}

std::vector<std::string> forms(const effects::EffectPath& path, const effects::FileView* files) {
  const PathForms found = forms_of(path, files);
  if (found.unknown) return {"?"};
  std::vector<std::string> texts;
  for (const PathForm& form : found.forms) texts.push_back(form.text());
  return texts;
}

// RU-32, RU-42
TEST(PathFormsTest, APathHasAWrittenAndAResolvedForm) {
  const CaseView files({"/w/a"}, {{"/w/l", "/home/user"}, {"/w/r", "a"}, {"/w/loop", "loop"}});
  EXPECT_THAT(forms({.text = "/w/../../x//./y"}, &files), ElementsAre("/x/y"));
  EXPECT_THAT(forms({.text = "b", .folder = "/w/s/.."}, &files), ElementsAre("/w/b"));
  EXPECT_THAT(forms({.text = "/w/l/../x"}, &files), ElementsAre("/w/x", "/home/x"));
  EXPECT_THAT(forms({.text = "/w/r"}, &files), ElementsAre("/w/r", "/w/a"));
  EXPECT_THAT(forms({.text = "/w/l/../x"}, nullptr), ElementsAre("/w/x"));
  EXPECT_FALSE(forms_of({.text = "/w/a"}, nullptr).resolved);
  EXPECT_TRUE(forms_of({.text = "/w/a"}, &files).resolved);
}

// RU-34
TEST(PathFormsTest, SomePathsAreUnknown) {
  const CaseView files({}, {{"/w/loop", "loop"}});
  EXPECT_THAT(forms({.text = std::string("/w/a\0b", 6)}, &files), ElementsAre("?"));
  EXPECT_THAT(forms({.text = "a"}, &files), ElementsAre("?"));
  EXPECT_THAT(forms({.unknown = true}, &files), ElementsAre("?"));
  EXPECT_THAT(forms({.text = "/w/loop/x"}, &files), ElementsAre("?"));
  for (const char* const text : {"/proc/self/root/etc/passwd", "/proc/7/cwd/x", "/dev/fd/3",
                                 "/proc/self/task/9/root/x", "/proc/self/fd/0"}) {
    EXPECT_THAT(forms({.text = text}, &files), ElementsAre("?")) << text;
  }
  EXPECT_THAT(forms({.text = "/proc/meminfo"}, &files), ElementsAre("/proc/meminfo"));
}

// RU-35
TEST(PathFormsTest, AFolderIsInsideItselfAndSegmentsAreWhole) {
  const std::vector<PathForm> folders = {PathForm::of("/w")};
  EXPECT_TRUE(is_inside(PathForm::of("/w"), folders, Side::Narrow));
  EXPECT_TRUE(is_inside(PathForm::of("/w/a"), folders, Side::Narrow));
  EXPECT_FALSE(is_inside(PathForm::of("/wx"), folders, Side::Wide));
  EXPECT_FALSE(is_inside(PathForm::of("/W/a"), folders, Side::Narrow));
  EXPECT_TRUE(is_inside(PathForm::of("/W/a"), folders, Side::Wide));
}

// RU-32, RU-34: the real disk.
TEST(DiskViewTest, LinksAreFollowedAndWhatIsNotThereIsAppended) {
  namespace fs = std::filesystem;
  std::string made = (fs::temp_directory_path() / "rules-XXXXXX").string();
  ASSERT_NE(mkdtemp(made.data()), nullptr);
  const std::string top = fs::canonical(made).string();
  fs::create_directories(top + "/real/deep");
  std::ofstream(top + "/real/f") << "x";
  fs::create_symlink("real", top + "/link");
  fs::create_symlink(top + "/nowhere/z", top + "/dangling");
  fs::create_symlink("loop", top + "/loop");
  const DiskView disk;
  EXPECT_EQ(disk.resolve(top + "/link/f"), top + "/real/f");
  EXPECT_EQ(disk.resolve(top + "/link/deep/../f"), top + "/real/f");
  EXPECT_EQ(disk.resolve(top + "/link/new/x"), top + "/real/new/x");
  EXPECT_EQ(disk.resolve(top + "/link/new/../y"), top + "/real/y");
  EXPECT_EQ(disk.resolve(top + "/dangling"), top + "/nowhere/z");
  EXPECT_EQ(disk.resolve(top + "/real/f/below"), top + "/real/f/below");
  EXPECT_EQ(disk.resolve(top + "/loop/x"), std::nullopt);
  EXPECT_EQ(disk.resolve("/proc/self/root/etc"), std::nullopt);
  EXPECT_EQ(disk.resolve("/proc/self/cwd"), std::nullopt);
  EXPECT_EQ(disk.resolve("/dev/stdout"), "/dev/stdout");
  EXPECT_EQ(disk.resolve("/" + std::string(5000, 'a')), std::nullopt);
  EXPECT_THAT(disk.names(top + "/link", 10).value(), ElementsAre("deep", "f"));
  EXPECT_EQ(disk.names(top + "/link", 1), std::nullopt);
  EXPECT_EQ(disk.names(top + "/real/f", 10), std::nullopt);
  fs::remove_all(top);
}

// RU-75: nothing is read from the machine.
TEST(CaseViewTest, OnlyWhatTheCaseNamesIsThere) {
  const CaseView files({"/w/.env", "/w/s/a.c"}, {{"/w/l", "s"}});
  EXPECT_THAT(files.names("/w", 10).value(), ElementsAre(".env", "l", "s"));
  EXPECT_THAT(files.names("/w/l", 10).value(), ElementsAre("a.c"));
  EXPECT_EQ(files.names("/etc", 10), std::nullopt);
  EXPECT_EQ(files.resolve("/etc/mtab"), "/etc/mtab");
}

}  // namespace
}  // namespace sallyport::rules
