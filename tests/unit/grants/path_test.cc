#include "grants/path.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::grants {
namespace {

bool under(const json::value& prefix, const json::value& input) {
  const std::optional<PathPrefix> parsed = PathPrefix::parse(prefix);
  EXPECT_TRUE(parsed) << json::serialize(prefix);
  return parsed && parsed->matches(input);
}
bool under_app(std::string_view path) {
  return under("/srv/app", {{"path", path}});
}

// CG-43
TEST(PathTest, PrefixesCoverWholeSegments) {
  EXPECT_TRUE(under_app("/srv/app"));
  EXPECT_TRUE(under_app("/srv/app/"));
  EXPECT_TRUE(under_app("/srv/app/x"));
  EXPECT_FALSE(under_app("/srv/apple"));
  EXPECT_FALSE(under_app("/srv"));
  EXPECT_FALSE(under_app("/SRV/app/x"));
  EXPECT_TRUE(under("/srv/app/", {{"path", "/srv/app/x"}}));
  EXPECT_TRUE(under("/", {{"path", "/etc/passwd"}}));
}

// CG-42
TEST(PathTest, PathsAreCleanedUpBeforeTheyAreCompared) {
  EXPECT_TRUE(under_app("/srv/./app//x/../y"));
  EXPECT_TRUE(under_app("/srv/other/../app/x"));
  EXPECT_TRUE(under_app("\\srv\\app\\x"));
  EXPECT_TRUE(under_app("file:///srv/app/x"));
  EXPECT_TRUE(under_app("file:/srv/app/x"));
  EXPECT_TRUE(under_app("FILE://localhost/srv/app/a%20b"));
  EXPECT_FALSE(under_app("/srv/app/../x"));
  EXPECT_FALSE(under_app("/srv/app/..\\..\\etc"));
  EXPECT_FALSE(under_app("file:///srv/app/%2e%2e/etc"));
  EXPECT_FALSE(under_app("file:///srv/app/..%2fetc"));
}

// CG-42
TEST(PathTest, PathsThatMayMeanSomethingElseDoNotMatch) {
  EXPECT_FALSE(under_app("/../srv/app/x"));
  EXPECT_FALSE(under_app("/srv/app/../../../srv/app/x"));
  EXPECT_FALSE(under_app(std::string_view("/srv/app/x\0y", 12)));
  EXPECT_FALSE(under_app("file:///srv/app/x%00"));
  EXPECT_FALSE(under_app("~/x"));
  EXPECT_FALSE(under_app("~root/srv/app"));
  EXPECT_FALSE(under_app("file://other/srv/app/x"));
  EXPECT_FALSE(under_app("file://localhosts/srv/app/x"));
  EXPECT_FALSE(under_app("file://otherhost/srv/app/x"));
  EXPECT_FALSE(under_app("file://localhost"));
  EXPECT_FALSE(under_app("file:///etc/passwd?/../../srv/app/x"));
  for (const std::string_view digits : {"%zz", "%4g", "%g4", "%4", "%", "%4G", "%`1", "%1:"}) {
    EXPECT_FALSE(under_app("file:///srv/app/" + std::string(digits))) << digits;
  }
  EXPECT_TRUE(under_app("file:///srv/app/%4a%4F%30%39"));
  EXPECT_TRUE(under_app("file:\\srv\\app\\x"));
  EXPECT_FALSE(under_app("file:srv/app/x"));
}

// CG-42
TEST(PathTest, DrivesAreComparedToo) {
  EXPECT_TRUE(under("C:\\srv", {{"path", "c:/srv/x"}}));
  EXPECT_TRUE(under("C:/srv", {{"path", "file:///c:/srv/x"}}));
  EXPECT_FALSE(under("C:/srv", {{"path", "D:/srv/x"}}));
  EXPECT_FALSE(under("C:/srv", {{"path", "/srv/x"}}));
  EXPECT_FALSE(under("/srv", {{"path", "C:/srv/x"}}));
  EXPECT_FALSE(under("C:/srv", {{"path", "C:srv/x"}}));
}

// CG-41
TEST(PathTest, ThereMustBeAPathAndEveryOneMustBeCovered) {
  EXPECT_FALSE(under("/srv/app", {{"text", "x"}}));
  EXPECT_FALSE(under("/srv/app", json::object{}));
  EXPECT_FALSE(under("/srv/app", {{"paths", {"/srv/app/a", "/etc/b"}}}));
  EXPECT_TRUE(under("/srv/app", {{"paths", {"/srv/app/a", "/srv/app/b"}}}));
  EXPECT_FALSE(under("/srv/app", {{"source", "/srv/app/a"}, {"destination", "/etc/b"}}));
  EXPECT_FALSE(under("/srv/app", {{"path", "/srv/app/a"}, {"x", {{"y", {"/etc/b"}}}}}));
}

// CG-41
TEST(PathTest, EachOfTheListedKeysHoldsAPath) {
  for (const std::string_view key :
       {"path", "paths", "file", "files", "file_path", "filename", "dir", "directory", "repo_path",
        "source", "destination", "src", "dst", "old_path", "new_path", "target"}) {
    json::object input{{"cwd", "/srv/app"}};
    input[key] = "x";
    EXPECT_TRUE(under("/srv/app", input)) << key;
    input[key] = "../x";
    EXPECT_FALSE(under("/srv/app", input)) << key;
  }
  EXPECT_FALSE(under("/srv/app", {{"cwd", "/etc"}, {"path", "/srv/app/x"}}));
  EXPECT_FALSE(under("/srv/app", {{"root", "/etc"}, {"path", "/srv/app/x"}}));
}

// CG-41
TEST(PathTest, OtherStringsArePathsByHowTheyBegin) {
  const json::object good{{"path", "/srv/app/x"}, {"cwd", "/srv/app"}};
  const auto beside = [&](std::string_view text) {
    json::object input = good;
    input["note"] = text;
    return under("/srv/app", input);
  };
  for (const std::string_view path :
       {"/etc/x", "./../x", "../x", "~/x", "C:/x", "c:x", "file:/x", "//x"}) {
    EXPECT_FALSE(beside(path)) << path;
  }
  for (const std::string_view text : {"x", "etc/x", ".x", "..", "", "http://x/y", "a b: c"}) {
    EXPECT_TRUE(beside(text)) << text;
  }
  EXPECT_TRUE(beside("./x"));
}

// CG-41
TEST(PathTest, ContentIsNoPathUnlessAKeyBelowItSaysSo) {
  for (const std::string_view key : {"content", "contents", "text", "data", "body", "message",
                                     "oldText", "newText", "old_string", "new_string"}) {
    json::object input{{"path", "/srv/app/x"}};
    input[key] = "/etc/passwd";
    EXPECT_TRUE(under("/srv/app", input)) << key;
    input[key] = json::array{json::object{{"note", "/etc/passwd"}}};
    EXPECT_TRUE(under("/srv/app", input)) << key;
    input[key] = json::object{{"path", "/etc/passwd"}};
    EXPECT_FALSE(under("/srv/app", input)) << key;
  }
  EXPECT_TRUE(under("/srv/app", {{"files", {{{"path", "/srv/app/a"}, {"content", "x"}}}}}));
}

// CG-42: a name with a colon is no drive unless one letter stands before it.
TEST(PathTest, ADriveIsOneLetter) {
  const auto relative = [](const std::string& path) {
    return under("/srv/app", {{"path", path}, {"cwd", "/srv/app"}});
  };
  for (const char* const drive : {"a:x", "z:x", "A:x", "Z:x"}) {
    EXPECT_FALSE(relative(drive)) << drive;
  }
  for (const char* const name : {"@:x", "[:x", "`:x", "{:x", "1:x", "ab:x"}) {
    EXPECT_TRUE(relative(name)) << name;
  }
}

// CG-44
TEST(PathTest, RelativePathsStartFromTheOneAbsoluteBase) {
  EXPECT_TRUE(under("/srv/app", {{"path", "x"}, {"cwd", "/srv/app"}}));
  EXPECT_TRUE(under("/srv/app", {{"path", "./a/../x"}, {"root", "/srv/app/tmp"}}));
  EXPECT_FALSE(under("/srv/app", {{"path", "../../x"}, {"cwd", "/srv/app/tmp"}}));
  EXPECT_FALSE(under("/srv/app", {{"path", "x"}}));
  EXPECT_FALSE(under("/srv/app", {{"path", "x"}, {"cwd", "app"}}));
  EXPECT_FALSE(under("/srv/app", {{"path", "x"}, {"cwd", "/srv/app"}, {"root", "/srv/app"}}));
}

// CG-40 CG-41
TEST(PathTest, SelectorsNameTheOnlyPaths) {
  const json::value where{{"prefix", "/srv/app"}, {"at", {"/where", "/also/*"}}};
  EXPECT_TRUE(under(where, {{"where", "/srv/app/x"}, {"also", {"/srv/app/y"}}, {"path", "/etc"}}));
  EXPECT_FALSE(under(where, {{"where", "/srv/app/x"}, {"also", {"/srv/app/y", "/etc"}}}));
  EXPECT_FALSE(under(where, {{"where", "/srv/app/x"}}));
  EXPECT_FALSE(under(where, {{"where", "/srv/app/x"}, {"also", json::array()}}));
  EXPECT_FALSE(under(where, {{"where", 7}, {"also", {"/srv/app/y"}}}));
  EXPECT_FALSE(under({{"prefix", "/srv/app"}, {"at", json::array()}}, {{"path", "/srv/app/x"}}));
}

// CG-38
TEST(PathTest, PrefixesOfAnotherFormAreRefused) {
  for (const json::value& value :
       {json::value(7), json::value(nullptr), json::value("srv"), json::value("~/x"),
        json::value("/../x"), json::value(""), json::value(json::object{{"prefix", "/x"}}),
        json::value(json::object{{"prefix", "/x"}, {"at", "/y"}}),
        json::value(json::object{{"prefix", "/x"}, {"at", json::array{"y"}}}),
        json::value(json::object{{"prefix", "/x"}, {"at", json::array{"/y"}}, {"z", 1}})}) {
    EXPECT_FALSE(PathPrefix::parse(value)) << json::serialize(value);
  }
}

// CG-40
TEST(SelectorTest, PointersFindMembersItemsAndAllOfThem) {
  const json::value input{{"a", {{"b", {1, 2}}}}, {"x/y", 3}, {"m~n", 4}, {"*", 5}};
  const auto found = [&](std::string_view pointer) {
    std::string text;
    for (const json::value* const each : Selector::parse(pointer)->select(input)) {
      text += json::serialize(*each) + " ";
    }
    return text;
  };
  EXPECT_EQ(found("/a/b/1"), "2 ");
  EXPECT_EQ(found("/a/b/*"), "1 2 ");
  EXPECT_EQ(found("/a/*/0"), "1 ");
  EXPECT_EQ(found("/x~1y"), "3 ");
  EXPECT_EQ(found("/m~0n"), "4 ");
  EXPECT_EQ(found("/a/b/01"), "");
  EXPECT_EQ(found("/a/b/2"), "");
  EXPECT_EQ(found("/none/*"), "");
  EXPECT_EQ(found("/a/b/0/c"), "");
  EXPECT_EQ(found("").size(), json::serialize(input).size() + 1);
  EXPECT_EQ(found("/a/b/1x"), "") << "no index";
  EXPECT_EQ(found("/a/b/99999999999999999999"), "") << "beyond every index";
  for (const std::string_view bad : {"a", "/a~", "/a~2"}) EXPECT_FALSE(Selector::parse(bad)) << bad;
}

}  // namespace
}  // namespace sallyport::grants
