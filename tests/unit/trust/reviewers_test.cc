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

// AP-14: one token under two names satisfied dual control.
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
