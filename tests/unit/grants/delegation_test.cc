#include "grants/delegation.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "grant_samples.h"

namespace sallyport::grants {
namespace {

using namespace test;

json::object from0(json::object one) {
  return with(std::move(one), "from", 0);
}

std::string broken(const json::object& child) {
  const Result<TokenChain> chain = read_token(text_of(child));
  if (!chain) return chain.error().message;
  return broken_link(*chain).value_or("good");
}
// The child's one grant under the parent's one grant.
std::string step(json::object parent, json::object child) {
  return broken(child_of(token_with({std::move(parent)}), {std::move(child)}));
}
bool narrower(std::string_view type, json::value child, json::value parent) {
  return implies({std::string(type), std::move(child)}, {std::string(type), std::move(parent)});
}

// CG-24
TEST(DelegationTest, TheIssuerHoldsTheParentsKeyAndNamesTheParent) {
  const json::object parent = token_with({grant()});
  EXPECT_EQ(broken(child_of(parent, {from0(grant())})), "good");
  json::object child = child_of(parent, {from0(grant())});
  sign(child, key_c());
  EXPECT_EQ(broken(child), "step 1: its issuer is not the key of the parent's subject");
  child["parent"] = kRootDigest;
  sign(child, key_b());
  EXPECT_EQ(broken(child), "step 1: its parent is another token");
  json::object keyless = token_with({grant()});
  keyless["subject"].as_object().erase("key");
  sign(keyless, key_a());
  EXPECT_NE(broken(child_of(keyless, {from0(grant())})), "good");
}

// CG-25
TEST(DelegationTest, TheTimeOfTheChildLiesInsideTheParents) {
  const auto with_times = [](std::uint64_t from, std::uint64_t until) {
    json::object child = child_of(token_with({grant()}), {from0(grant())});
    child["issued_at"] = from;
    child["expires_at"] = until;
    sign(child, key_b());
    return broken(child);
  };
  EXPECT_EQ(with_times(1794700800, 1794704400), "good");
  EXPECT_NE(with_times(1794700799, 1794704400), "good");
  EXPECT_NE(with_times(1794700800, 1794704401), "good");
}

// CG-26
TEST(DelegationTest, EachGrantNamesOneThatMayBeHandedOn) {
  EXPECT_NE(step(grant(), grant()), "good");
  EXPECT_EQ(step(grant(), from0(grant())), "good");
  EXPECT_EQ(step(grant(), with(grant(), "from", 1)),
            "step 1: grant 0: `from` is 1, but the parent has 1 grants");
  EXPECT_NE(step(with(grant(), "operations", json::array{"invoke", "read_result"}),
                 from0(with(grant(), "operations", json::array{"invoke"}))),
            "good");
}

// CG-27
TEST(DelegationTest, ServerToolAndOperationsOnlyShrink) {
  EXPECT_EQ(step(grant("*", "*"), from0(grant("s", "t"))), "good");
  EXPECT_EQ(step(grant("s", "t"), from0(grant("s", "t"))), "good");
  EXPECT_NE(step(grant("s", "t"), from0(grant("*", "t"))), "good");
  EXPECT_NE(step(grant("s", "t"), from0(grant("s", "*"))), "good");
  EXPECT_NE(step(grant("s", "t"), from0(grant("s", "u"))), "good");
  const json::object few = with(grant(), "operations", json::array{"delegate", "invoke"});
  EXPECT_EQ(step(grant(), from0(few)), "good");
  EXPECT_NE(step(few, from0(grant())), "good");
}

// CG-28 CG-30
TEST(DelegationTest, ConstraintsOfTheParentStayAndOthersMayBeAdded) {
  const json::object parent = limited_to("max_length", 9);
  EXPECT_NE(step(parent, from0(grant())), "good");
  EXPECT_EQ(step(parent, from0(limited_to("max_length", 9))), "good");
  EXPECT_EQ(step(parent, from0(limited_to("max_length", 8))), "good");
  EXPECT_NE(step(parent, from0(limited_to("max_length", 10))), "good");
  EXPECT_EQ(step(grant(), from0(with(limited_to("moon_phase", 1), "max_invocations", 3))), "good");
}

// CG-28
TEST(DelegationTest, NarrowerIsWhatTheTableSays) {
  EXPECT_TRUE(narrower("path_prefix", "/a/b", "/a"));
  EXPECT_FALSE(narrower("path_prefix", "/ab", "/a"));
  EXPECT_FALSE(narrower("path_prefix", "/a", "/a/b"));
  EXPECT_FALSE(narrower("path_prefix", "/a/../b", "/a"));
  EXPECT_TRUE(narrower("path_prefix", {{"prefix", "/a/b"}, {"at", {"/x"}}},
                       {{"prefix", "/a"}, {"at", {"/x"}}}));
  EXPECT_FALSE(narrower("path_prefix", {{"prefix", "/a/b"}, {"at", {"/y"}}},
                        {{"prefix", "/a"}, {"at", {"/x"}}}));
  EXPECT_FALSE(narrower("path_prefix", {{"prefix", "/a"}, {"at", {"/x"}}}, "/a"));
  EXPECT_FALSE(narrower("path_prefix", "a/b", "/a")) << "no absolute path";
  EXPECT_FALSE(narrower("path_prefix", "/a/b", "a"));
  EXPECT_FALSE(narrower("path_prefix", "a/b", "a"));
  EXPECT_TRUE(narrower("domain_exact", "A.org", "a.org"));
  EXPECT_FALSE(narrower("domain_exact", "x.a.org", "a.org"));
  EXPECT_TRUE(narrower("domain_glob", "*.b.a.org", "*.a.org"));
  EXPECT_FALSE(narrower("domain_glob", "*.org", "*.a.org"));
  EXPECT_TRUE(implies({"domain_exact", "x.a.org"}, {"domain_glob", "*.a.org"}));
  EXPECT_FALSE(implies({"domain_exact", "a.org"}, {"domain_glob", "*.a.org"}));
  EXPECT_FALSE(implies({"domain_exact", "x.a.org"}, {"domain_glob", "a.*.org"})) << "no glob";
  EXPECT_FALSE(implies({"domain_glob", "*.x.a.org"}, {"domain_glob", "a.org"})) << "no glob";
  EXPECT_FALSE(implies({"domain_glob", "*.a.org"}, {"domain_exact", "x.a.org"}));
  for (const char* const type : {"domain_glob", "domain_exact", "autonomy_ceiling"}) {
    EXPECT_FALSE(implies({type, 7}, {"domain_glob", "*.a.org"})) << type;
    EXPECT_FALSE(implies({type, "a.org"}, {type, 7})) << type;
    EXPECT_FALSE(implies({type, 7}, {type, "a.org"})) << type;
  }
  for (const char* const type : {"max_length", "max_args_size", "max_rows_returned"}) {
    EXPECT_TRUE(narrower(type, 1, 2)) << type;
    EXPECT_FALSE(narrower(type, 2, 1)) << type;
    EXPECT_FALSE(narrower(type, "1", 2)) << type;
  }
  for (const char* const type :
       {"audience_allowlist", "memory_store_allowlist", "side_effect_class", "table_allowlist"}) {
    EXPECT_TRUE(narrower(type, {"a"}, {"b", "a"})) << type;
    EXPECT_FALSE(narrower(type, {"a", "c"}, {"b", "a"})) << type;
  }
  for (const char* const type : {"memory_write_deny_patterns", "column_denylist"}) {
    EXPECT_TRUE(narrower(type, {"a", "b"}, {"a"})) << type;
    EXPECT_FALSE(narrower(type, {"b"}, {"a"})) << type;
  }
  EXPECT_TRUE(narrower("autonomy_ceiling", "suggest", "act_auto"));
  EXPECT_FALSE(narrower("autonomy_ceiling", "act_auto", "suggest"));
}

// CG-28
TEST(DelegationTest, PatternsAndUnknownTypesAreImpliedByEqualityOnly) {
  for (const char* const type : {"regex_match", "moon_phase"}) {
    EXPECT_TRUE(narrower(type, "a", "a")) << type;
    EXPECT_FALSE(narrower(type, "aa", "a")) << type;
  }
  EXPECT_FALSE(narrower("custom", {"a", "c"}, {"a", "b"}));
  EXPECT_TRUE(narrower("arg_equals", {{"at", "/x"}, {"value", 1}}, {{"value", 1}, {"at", "/x"}}));
  EXPECT_FALSE(
      narrower("arg_regex", {{"at", "/x"}, {"pattern", "ab"}}, {{"at", "/x"}, {"pattern", "a."}}));
}

// CG-29
TEST(DelegationTest, LimitsOfTheParentStayAndDoNotGrow) {
  const json::object three = with(grant(), "max_invocations", 3);
  EXPECT_EQ(step(three, from0(three)), "good");
  EXPECT_EQ(step(three, from0(with(grant(), "max_invocations", 0))), "good");
  EXPECT_NE(step(three, from0(grant())), "good");
  EXPECT_NE(step(three, from0(with(grant(), "max_invocations", 4))), "good");
  const auto rate = [](int max, int seconds) {
    return with(grant(), "rate", json::object{{"max", max}, {"per_seconds", seconds}});
  };
  EXPECT_EQ(step(rate(5, 60), from0(rate(5, 60))), "good");
  EXPECT_EQ(step(rate(5, 60), from0(rate(4, 60))), "good");
  EXPECT_NE(step(rate(5, 60), from0(rate(6, 60))), "good");
  EXPECT_NE(step(rate(5, 60), from0(rate(5, 61))), "good");
  EXPECT_NE(step(rate(5, 60), from0(rate(1, 59))), "good");
  EXPECT_NE(step(rate(5, 60), from0(grant())), "good");
}

}  // namespace
}  // namespace sallyport::grants
