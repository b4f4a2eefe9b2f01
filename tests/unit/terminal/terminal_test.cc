#include "terminal/terminal.h"

#include <gtest/gtest.h>

#include "base/json_for_people.h"
#include "core/call/governor.h"
#include "terminal/exit_code.h"

namespace sallyport::app {
namespace {

// AP-39 (partly)
TEST(Visible, HiddenCharactersAreShownByNumber) {
  EXPECT_EQ(visible("a\nb\tc"), "a\\u{000A}b\\u{0009}c");
  EXPECT_EQ(visible("\x1b[31mred"), "\\u{001B}[31mred");
  EXPECT_EQ(visible("\x7f"), "\\u{007F}");
  EXPECT_EQ(visible("\xc2\x9b"), "\\u{009B}");  // one-byte CSI
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "txt.exe"),
            "\\u{202E}txt.exe");                    // bidi override
  EXPECT_EQ(visible("\xe2\x81\xa6"), "\\u{2066}");  // isolate
  EXPECT_EQ(visible("a\xe2\x80\x8b"
                    "b"),
            "a\\u{200B}b");  // zero width space
  EXPECT_EQ(visible("\xef\xbb\xbf"), "\\u{FEFF}");
  EXPECT_EQ(visible("\xe2\x80\xa8"), "\\u{2028}");       // line separator
  EXPECT_EQ(visible("\xf3\xa0\x81\x81"), "\\u{E0041}");  // tag letter
  EXPECT_EQ(visible("\xee\x80\x80"), "\\u{E000}");       // private use
  EXPECT_EQ(visible("\xf4\x8f\xbf\xbd"), "\\u{10FFFD}");
  EXPECT_EQ(visible("\xef\xb8\x8f"), "\\u{FE0F}");  // variation selector
}

// AP-39 (partly)
TEST(Visible, OrdinaryTextStaysAsItIs) {
  const std::string text = "naïve Grüße, 你好, Ελληνικά, עברית 🙂 \\ \"quoted\"";
  EXPECT_EQ(visible(text), text);
  EXPECT_EQ(visible(""), "");
}

TEST(Visible, BytesThatAreNotUtf8AreShownAsBytes) {
  EXPECT_EQ(visible("a\xff"), "a\\x{FF}");
  EXPECT_EQ(visible("\xc0\xaf"), "\\x{C0}\\x{AF}");             // overlong
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\x{ED}\\x{A0}\\x{80}");  // surrogate
  EXPECT_EQ(visible("\xe2\x80"), "\\x{E2}\\x{80}");             // cut off
  EXPECT_EQ(visible("\xf5\x80\x80\x80"), "\\x{F5}\\x{80}\\x{80}\\x{80}");
}

TEST(VisibleJson, TheValueStaysWhatItIs) {
  const json::object value{{"a", "\xe2\x80\xae\xf3\xa0\x81\x81\x1b"}};
  const std::string text = visible_json(canonical_json(value));
  EXPECT_EQ(text, R"({"a":"\u202e\udb40\udc41\u001b"})");
  EXPECT_EQ(parse_own_json(text).value(), json::value(value));
}

// Such bytes once became `\x{FF}`, which no parser of JSON reads.
// LE-34, LE-49, TR-9
TEST(VisibleJson, BytesThatAreNotUtf8BecomeAnEscapeThatParsersRead) {
  EXPECT_EQ(visible_json("{\"a\":\"b\xff\xc3\"}"), R"({"a":"b\ufffd\ufffd"})");
  const json::value read = parse_own_json(visible_json("{\"a\":\"b\xff\"}")).value();
  EXPECT_EQ(read, (json::value{{"a", "b\xef\xbf\xbd"}}));
}

TEST(Columns, CodePointsAreCountedAndCutWhole) {
  EXPECT_EQ(columns("äöü"), 3u);
  EXPECT_EQ(fitted("äö", 4), "äö  ");
  EXPECT_EQ(fitted("äöüäöü", 5), "äö...");
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("longer", 5), "lo...");
  EXPECT_EQ(shortened("äöü", 2), "äö");
}

TEST(TerminalTest, ColoursOnlyWhereAskedFor) {
  const Environment environment{.term = "xterm", .locale = "en_US.UTF-8"};
  // A pipe of the test, not a terminal.
  EXPECT_FALSE(Terminal::on(-1, ColorMode::Auto, environment).colour());
  EXPECT_TRUE(Terminal::on(-1, ColorMode::Always, environment).colour());
  EXPECT_FALSE(Terminal::on(-1, ColorMode::Never, environment).colour());
  EXPECT_EQ(Terminal({.colour = true}).paint(Paint::Good, "x"), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(Terminal({}).paint(Paint::Good, "x"), "x");
}

TEST(TerminalTest, MarksAreAsciiInAPipe) {
  EXPECT_EQ(Terminal({}).mark(true), "ok    ");
  EXPECT_EQ(Terminal({}).mark(false), "FAILED");
  EXPECT_EQ(Terminal({.signs = true}).mark(true), "✓");
}

TEST(EntryText, JsonForPeopleHidesNothing) {
  const json::value value = {
      {"a\"b", "x\n\xe2\x80\xae"}, {"list", {1, nullptr, true}}, {"none", json::object{}}};
  EXPECT_EQ(compact_json(value), R"({"a\"b":"x\u{000A}\u{202E}","list":[1,null,true],"none":{}})");
  EXPECT_EQ(pretty_json(json::object{{"a", 1}}, 2), "{\n    \"a\": 1\n  }");
}

TEST(ErrorLine, SaysWhatWhereAndWhatToDoOnOneLine) {
  EXPECT_EQ(error_line({ErrorCode::InvalidInput, "unknown key `x`; mend it", "a.yaml:1:2", ""}),
            "sallyport: unknown key `x`, a.yaml:1:2; mend it");
  EXPECT_EQ(error_line({ErrorCode::Internal, "two\nlines", "", ""}),
            "sallyport: two\\u{000A}lines");
}

TEST(ErrorLine, APlaceThatTheTextNamesIsNotRepeated) {
  const Error error{ErrorCode::NotFound, "cannot read `a.yaml`: no such file", "a.yaml", "io"};
  EXPECT_EQ(error_line(error), "sallyport: cannot read `a.yaml`: no such file");
  EXPECT_EQ(with_place(error), "cannot read `a.yaml`: no such file");
  EXPECT_EQ(with_place({ErrorCode::InvalidInput, "unknown key `x`", "a.yaml:1:2", ""}),
            "a.yaml:1:2: unknown key `x`");
}

TEST(ErrorLine, ExitCodesAreTheDocumentedOnes) {
  EXPECT_EQ(exit_code(ErrorCode::InvalidInput), 64);
  EXPECT_EQ(exit_code(ErrorCode::Internal), 70);
  EXPECT_EQ(exit_code(ErrorCode::NotFound), 1);
  EXPECT_EQ(exit_code(ErrorCode::Corrupt), 1);
  EXPECT_EQ(exit_code(Error{.code = ErrorCode::Unavailable}), 1);
  EXPECT_EQ(
      exit_code(Error{.code = ErrorCode::Unavailable, .cause = std::string(core::kStartRefused)}),
      70);
}

}  // namespace
}  // namespace sallyport::app
