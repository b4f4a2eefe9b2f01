#include "trust/reviewers.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace sallyport::trust {
namespace {

constexpr const char* kKey = "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

std::string place(const json::value& value) {
  const Result<Reviewers> read = reviewers_from_json(value);
  return read ? "" : read.error().where;
}

json::object ada() {
  return {{"name", "user:ada"}, {"key", kKey}, {"roles", {"approver", "controller"}}};
}

// AP-28 (partly)
TEST(ReviewersTest, PeopleAreReadWithTheirRoles) {
  const Result<Reviewers> read = reviewers_from_json(
      json::array{ada(), json::object{{"name", "user:bo"}, {"roles", {"approver"}}}});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->find("user:ada")->has_role("controller"));
  EXPECT_FALSE(read->find("user:bo")->has_role("controller"));
  EXPECT_FALSE(read->find("user:bo")->key);
  EXPECT_EQ(read->find("user:cy"), nullptr);
}

// AP-28 (partly)
TEST(ReviewersTest, WhatIsWrongIsNamedWithItsPlace) {
  const auto changed = [](auto change) {
    json::object person = ada();
    change(person);
    return place(json::array{person});
  };
  EXPECT_EQ(place("x"), "reviewers");
  EXPECT_EQ(changed([](auto& p) { p.erase("name"); }), "reviewers[0].name");
  EXPECT_EQ(changed([](auto& p) { p["name"] = ""; }), "reviewers[0].name");
  EXPECT_EQ(changed([](auto& p) { p["key"] = "ed25519:AAAA"; }), "reviewers[0].key");
  EXPECT_EQ(changed([](auto& p) { p["roles"] = {"king"}; }), "reviewers[0].roles");
  EXPECT_EQ(changed([](auto& p) { p["role"] = "approver"; }), "reviewers[0].role");
  EXPECT_EQ(place(json::array{ada(), ada()}), "reviewers[1].name");
  json::object twin = ada();
  twin["name"] = "user:twin";
  EXPECT_EQ(place(json::array{ada(), twin}), "reviewers[1].key");
}

// AP-28 (partly): each limit is tested on both sides.
TEST(ReviewersTest, NamesTokensAndClientsHaveTheirLimits) {
  const auto person = [](const json::object& more) {
    json::object one{{"name", "user:bo"}, {"roles", {"approver"}}};
    for (const auto& [name, value] : more) one[name] = value;
    return place(json::array{one});
  };
  const std::string digits(64, 'a');
  const struct {
    json::object more;
    std::string_view wrong;
  } kCases[] = {
      {{{"name", std::string(512, 'n')}}, ""},
      {{{"name", std::string(513, 'n')}}, "name"},
      {{{"token", "sha256:" + digits}}, ""},
      {{{"token", "sha256:" + digits + "a"}}, "token"},
      {{{"token", "sha256:" + digits.substr(1)}}, "token"},
      {{{"token", "sha512:" + digits}}, "token"},
      {{{"token", "sha256:" + digits.substr(1) + "x"}}, "token"},
      {{{"token", nullptr}}, "token"},
      {{{"key", nullptr}}, "key"},
      {{{"client", nullptr}}, "client"},
      {{{"client", ""}}, "client"},
      {{{"client", std::string(512, 'c')}}, ""},
      {{{"client", std::string(513, 'c')}}, "client"},
      {{{"client", "c"}, {"key", kKey}}, "client"},
      {{{"client", "c"}, {"token", "sha256:" + digits}}, "client"},
      {{{"key", kKey}, {"token", "sha256:" + digits}}, ""},
      {{{"client", "user:bo"}}, "client"},
      {{{"name", "c/bo"}, {"client", "c"}}, "client"},
      {{{"name", "cbo"}, {"client", "c"}}, ""},
      {{{"roles", {"auditor", "viewer", 1}}}, "roles"},
  };
  for (const auto& [more, wrong] : kCases) {
    EXPECT_EQ(person(more), wrong.empty() ? "" : "reviewers[0]." + std::string(wrong)) << more;
  }
}

// AP-14: one token under two names once satisfied dual control.
TEST(ReviewersTest, OneCredentialUnderTwoNamesIsOnePerson) {
  const std::string token = "sha256:" + std::string(64, 'a');
  const auto person = [](const char* name, const char* member, const std::string& known) {
    return json::object{{"name", name}, {member, known}, {"roles", {"approver"}}};
  };
  EXPECT_EQ(
      place(json::array{person("user:bo", "token", token), person("user:cy", "token", token)}),
      "reviewers[1].token");
  EXPECT_EQ(place(json::array{person("user:bo", "client", "a"), person("user:cy", "client", "a")}),
            "reviewers[1].client");
  EXPECT_EQ(place(json::array{person("user:bo", "client", "a"), person("user:Bo", "client", "b")}),
            "reviewers[1].name");
}

}  // namespace
}  // namespace sallyport::trust
