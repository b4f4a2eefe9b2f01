#include "core/plan/rule_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::core {
namespace {

std::vector<std::string> lines_of(const json::object& rules) {
  std::vector<std::string> lines;
  for (const RuleLine& line : rule_lines(rules)) lines.push_back(line.name + ": " + line.text);
  return lines;
}

using Lines = std::vector<std::string>;

// RU-73 (partly)
TEST(RuleTextTest, APersonSeesTheRuleItsMessageAndTheEffects) {
  const json::object rules{
      {"rule", "push"},
      {"place", "policy.yaml:3"},
      {"message", "Ask first."},
      {"effects",
       json::array{{{"class", "fs.delete"},
                    {"path", {{"written", "a"}, {"resolved", "/w/a"}}},
                    {"recursive", true},
                    {"command", "rm"}},
                   {{"class", "fs.write"}, {"path", {{"written", "b"}}}, {"opaque", true}},
                   {{"class", "fs.read"}, {"path", {{"unknown", true}, {"written", "c"}}}},
                   {{"class", "fs.read"}, {"path", nullptr}},
                   {{"class", "network.request"}, {"host", "example.org"}, {"recursive", false}},
                   {{"class", "network.request"}, {"host", nullptr}},
                   "no effect"}},
      {"opaque", json::array{{{"start", 3}, {"end", 9}, {"reason", "a variable"}}, "no span"}}};
  EXPECT_EQ(lines_of(rules), (Lines{"rule: `push` at policy.yaml:3", "message: Ask first.",
                                    "effect: fs.delete `a`, resolved `/w/a`, recursively, by `rm`",
                                    "effect: fs.write `b`, not resolved, opaque",
                                    "effect: fs.read a path that is not known",
                                    "effect: fs.read a path that is not known",
                                    "effect: network.request host `example.org`",
                                    "effect: network.request a host that is not known",
                                    "opaque: bytes 3 to 9 of the command: a variable"}));
}

TEST(RuleTextTest, WhatIsNotSaidHasNoLine) {
  EXPECT_EQ(lines_of({}), Lines{});
  EXPECT_EQ(lines_of({{"rule", nullptr}, {"message", ""}, {"effects", "none"}}), Lines{});
  EXPECT_EQ(rules_in(nullptr), json::object());
  const json::object body{{"rules", {{"rule", "push"}}}};
  EXPECT_EQ(rules_in(&body), (json::object{{"rule", "push"}}));
}

TEST(RuleTextTest, OfManyEffectsTheRestIsCounted) {
  json::array effects(64, json::object{{"class", "fs.read"}});
  EXPECT_EQ(lines_of({{"effects", effects}}).size(), 64u);
  effects.resize(66, json::object{{"class", "fs.read"}});
  const Lines lines = lines_of({{"effects", effects}});
  EXPECT_EQ(lines.size(), 65u);
  EXPECT_EQ(lines.back(), "effect: and 2 more");
}

}  // namespace
}  // namespace sallyport::core
