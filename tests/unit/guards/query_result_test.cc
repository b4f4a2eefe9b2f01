#include "guards/query_result.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::guards {
namespace {

ResultContext context_of(std::vector<std::pair<std::string, std::string>> constraints) {
  Grant grant;
  for (const auto& [type, value] : constraints)
    grant.constraints.push_back({type, json::parse(value)});
  ResultContext context{.tool = "query"};
  context.scope = std::make_shared<const Scope>(Scope{{Grant{}, grant}});
  context.matched_grant_index = 1;
  return context;
}

struct Filtered {
  std::string text;
  std::string evidence;
};

Filtered filter(const Envelope& envelope, const ResultContext& context) {
  const QueryResult guard;
  const Verdict verdict = *test::run_now(guard.judge(envelope, context));
  const std::string evidence =
      verdict.evidence.is_string() ? std::string(verdict.evidence.get_string()) : "";
  if (verdict.kind == Verdict::Kind::Allow) return {"allowed", evidence};
  if (verdict.kind == Verdict::Kind::Deny) return {"blocked: " + verdict.reason, evidence};
  const auto out = Envelope::from_json(verdict.value);
  EXPECT_TRUE(out && out->kind == envelope.kind);
  return {json::serialize(envelope.kind == Envelope::Kind::Value ? verdict.value.at("value")
                                                                 : verdict.value),
          evidence};
}

Filtered filter(std::string_view value, const ResultContext& context) {
  return filter(Envelope::of(json::parse(value)), context);
}

const ResultContext kTwoRows = context_of({{"max_rows_returned", "5"}, {"max_rows_returned", "2"}});
const ResultContext kNoSsn = context_of({{"column_denylist", R"(["ssn","users.Mail"])"}});
const ResultContext kUsers = context_of({{"table_allowlist", R"(["users"])"}});

// PI-75 PI-76
TEST(QueryResultTest, RowsBeyondTheSmallestLimitAreDroppedFromEveryShape) {
  const Filtered objects = filter(R"([{"a":1},{"a":2},{"a":3}])", kTwoRows);
  EXPECT_EQ(objects.text, R"([{"a":1},{"a":2}])");
  EXPECT_EQ(objects.evidence, "rows=2/3");
  EXPECT_EQ(filter(R"({"rows":[{"a":1},{"a":2},{"a":3}]})", kTwoRows).text,
            R"({"rows":[{"a":1},{"a":2}]})");
  EXPECT_EQ(filter(R"({"columns":["a"],"rows":[[1],[2],[3]]})", kTwoRows).text,
            R"({"columns":["a"],"rows":[[1],[2]]})");
  EXPECT_EQ(filter(R"([{"a":1}])", kTwoRows).evidence, "rows=1/1");
}

// PI-75
TEST(QueryResultTest, ShapesAreKnownInsideOfMcpResults) {
  const Filtered found = filter(
      R"({"content":[{"type":"text","text":"[{\"a\":1},{\"a\":2},{\"a\":3}]"}],
          "structuredContent":{"rows":[{"a":1},{"a":2},{"a":3}]},"isError":false})",
      kTwoRows);
  EXPECT_EQ(found.text, R"({"content":[{"type":"text","text":"[{\"a\":1},{\"a\":2}]"}],)"
                        R"("structuredContent":{"rows":[{"a":1},{"a":2}]},"isError":false})");
  EXPECT_EQ(found.evidence, "rows=2/3");
}

// PI-77
TEST(QueryResultTest, DeniedColumnsAreMaskedInEveryRow) {
  EXPECT_EQ(filter(R"([{"SSN":"1","id":1,"mail":"m"},{"u.ssn":{"x":1},"id":2}])", kNoSsn).text,
            R"([{"SSN":"****","id":1,"mail":"****"},{"u.ssn":"****","id":2}])");
  EXPECT_EQ(
      filter(R"({"table":"orders","columns":["id","mail","users.mail"],"rows":[[1,"a","b"]]})",
             kNoSsn)
          .text,
      R"({"table":"orders","columns":["id","mail","users.mail"],"rows":[[1,"a","****"]]})");
}

// PI-78
TEST(QueryResultTest, AResultThatNamesAnotherTableIsBlocked) {
  const std::string blocked = "blocked: the result names a table that the grant does not allow";
  EXPECT_EQ(filter(R"({"table":"salaries","rows":[]})", kUsers).text, blocked);
  EXPECT_EQ(filter(R"({"tables":["users","salaries"],"rows":[]})", kUsers).text, blocked);
  EXPECT_EQ(filter(R"({"columns":["salaries.x"],"rows":[]})", kUsers).text, blocked);
  EXPECT_EQ(filter(R"({"content":[],"_meta":{"table":"salaries"}})", kUsers).text, blocked);
  EXPECT_EQ(
      filter(R"({"content":[{"type":"text","text":"{\"table\":\"s\",\"rows\":[]}"}]})", kUsers)
          .text,
      blocked);
  EXPECT_EQ(filter(R"({"table":"Users","rows":[{"a":1}]})", kUsers).text,
            R"({"table":"Users","rows":[{"a":1}]})");
}

// PI-79
TEST(QueryResultTest, ContentOfUnknownShapeIsMasked) {
  for (const ResultContext& context : {kTwoRows, kNoSsn, kUsers}) {
    EXPECT_EQ(filter(R"({"a":["x",1,true,null,{"b":1.5}]})", context).text,
              R"({"a":["****","****","****",null,{"b":"****"}]})");
    EXPECT_EQ(filter(R"("free text")", context).text, R"("****")");
    EXPECT_EQ(filter(R"({"content":[{"type":"text","text":"3 rows: 1, 2, 3"}]})", context).text,
              R"({"content":[{"type":"text","text":"****"}]})");
    EXPECT_EQ(filter(R"({"content":[],"isError":true,"more":true})", context).text,
              R"({"content":[],"isError":true,"more":"****"})");
    EXPECT_EQ(filter(R"({"content":[],"isError":"see 1, 2"})", context).text,
              R"({"content":[],"isError":"****"})");
    EXPECT_EQ(filter(R"({"rows":[{"a":1}],"note":"x","row_count":1})", context).text,
              R"({"rows":[{"a":1}],"note":"****","row_count":1})");
  }
  EXPECT_EQ(filter(Envelope::error("duplicate key (ssn)=(1)", -1), kNoSsn).text,
            R"({"kind":"error","error":{"message":"****","code":-1}})");
}

// PI-76
TEST(QueryResultTest, ChunksThatAreRowsAreOneArray) {
  Envelope stream{.kind = Envelope::Kind::Stream, .chunks = {}, .complete = true};
  for (int i = 0; i < 3; ++i) stream.chunks.push_back(json::object{{"a", i}});
  EXPECT_EQ(filter(stream, kTwoRows).text,
            R"({"kind":"stream","stream":{"chunks":[{"a":0},{"a":1}],"complete":true}})");
}

// PI-76
TEST(QueryResultTest, ChunksThatHoldRowsAreFilteredEach) {
  const auto filtered = [](std::vector<json::value> chunks) {
    const Envelope stream{
        .kind = Envelope::Kind::Stream, .chunks = std::move(chunks), .complete = true};
    return json::serialize(json::parse(filter(stream, kNoSsn).text).at("stream").at("chunks"));
  };
  const json::value row = json::parse(R"({"a":1,"ssn":2})");
  const json::value rows = json::parse(R"({"rows":[{"a":1,"ssn":2}]})");
  EXPECT_EQ(filtered({row}), R"([{"a":1,"ssn":"****"}])");
  EXPECT_EQ(filtered({rows}), R"([{"rows":[{"a":1,"ssn":"****"}]}])");
  EXPECT_EQ(filtered({row, "x"}), R"([{"a":"****","ssn":"****"},"****"])");
  for (const json::value& other : {json::value(7), json::value("ssn=2")}) {
    EXPECT_EQ(filtered({rows, other}), R"([{"rows":[{"a":1,"ssn":"****"}]},"****"])");
  }
}

// PI-76: a text that only looks like a table shows none of its cells.
TEST(QueryResultTest, WhatIsNoTableAfterAllIsNotShown) {
  for (const char* const value :
       {R"({"columns":["a"],"rows":[{"a":"cell"}]})", R"({"rows":[["cell"]]})",
        R"({"columns":["a"],"rows":[["cell"],7]})", R"({"columns":"a","rows":[["cell"]]})",
        R"({"columns":[7],"rows":[["cell"]]})", R"([{"a":1},"cell"])"}) {
    const std::string text = filter(value, kNoSsn).text;
    EXPECT_FALSE(text.contains("cell")) << value << " is " << text;
    EXPECT_NE(text, "allowed") << value;
  }
}

// PI-75, PI-79
TEST(QueryResultTest, OnlyWhatAnMcpResultHasIsReadAsOne) {
  EXPECT_EQ(filter(R"({"content":"x","isError":true})", kNoSsn).text,
            R"({"content":"****","isError":"****"})");
  EXPECT_EQ(filter(R"({"structuredContent":[{"ssn":1,"a":2}],"isError":true})", kNoSsn).text,
            R"({"structuredContent":[{"ssn":"****","a":2}],"isError":true})");
  EXPECT_EQ(filter(R"({"content":"x","structuredContent":[]})", kNoSsn).text,
            R"({"content":"****","structuredContent":[]})");
  EXPECT_EQ(filter(R"({"content":[],"more":[{"type":"text","text":"[]"}]})", kNoSsn).text,
            R"({"content":[],"more":[{"type":"****","text":"****"}]})");
  EXPECT_EQ(filter(R"({"type":"text","text":"[{\"ssn\":1}]"})", kNoSsn).text,
            R"({"type":"text","text":"[{\"ssn\":\"****\"}]"})");
}

// PI-75, PI-79
TEST(QueryResultTest, OfABlockOnlyTheTextOfATextBlockIsRead) {
  const auto block = [](const std::string& value) {
    const std::string text = filter(R"({"content":[)" + value + "]}", kNoSsn).text;
    return text.substr(12, text.size() - 14);
  };
  EXPECT_EQ(block(R"("[]")"), R"("****")");
  EXPECT_EQ(block(R"({"type":"text","text":7})"), R"({"type":"text","text":"****"})");
  EXPECT_EQ(block(R"({"type":"text","note":"[]","text":"[]"})"),
            R"({"type":"text","note":"****","text":"[]"})");
  EXPECT_EQ(block(R"({"type":"image","text":"[]"})"), R"({"type":"image","text":"****"})");
  EXPECT_EQ(block(R"({"type":"weird","text":"[]"})"), R"({"type":"****","text":"****"})");
}

// PI-79
TEST(QueryResultTest, ATextStaysAsItWasWrittenOrIsMaskedWhole) {
  EXPECT_EQ(filter(R"("[ {\"a\": 1} ]")", kNoSsn).text, R"("[ {\"a\": 1} ]")");
  EXPECT_EQ(filter(R"("[ {\"ssn\": 1} ]")", kNoSsn).text, R"("[{\"ssn\":\"****\"}]")");
  for (const char* const value : {R"("{\"rows\":7}")", R"("[1]")", R"("{\"a\":1}")", R"("7")"}) {
    EXPECT_EQ(filter(value, kNoSsn).text, R"("****")") << value;
  }
  // Text with one more level of quotes is not read at all.
  EXPECT_EQ(filter(R"("\"{\\\"table\\\":\\\"salaries\\\",\\\"rows\\\":[]}\"")", kUsers).text,
            R"("****")");
}

// PI-76
TEST(QueryResultTest, OfWhatStandsBesideTheRowsOnlyCountsAndTablesStay) {
  EXPECT_EQ(
      filter(
          R"({"rows":[],"count":"x","total":3,"truncated":true,"size":4,"sorted":true,"tables":["t"]})",
          kNoSsn)
          .text,
      R"({"rows":[],"count":"****","total":3,"truncated":true,"size":"****","sorted":"****",)"
      R"("tables":["t"]})");
}

// PI-76
TEST(QueryResultTest, TheLargerOfTextAndStructuredContentIsCounted) {
  const std::string one = R"([{"a":1}])";
  const std::string three = R"([{"a":1},{"a":2},{"a":3}])";
  const auto evidence = [](const std::string& text, const std::string& structured) {
    return filter(json::serialize(json::object{
                      {"content", json::array{json::object{{"type", "text"}, {"text", text}}}},
                      {"structuredContent", json::parse(structured)}}),
                  kTwoRows)
        .evidence;
  };
  EXPECT_EQ(evidence(one, three), "rows=2/3");
  EXPECT_EQ(evidence(three, one), "rows=2/3");
  EXPECT_EQ(evidence("[]", "[]"), "");
}

// PI-76
TEST(QueryResultTest, RowsOfAllTextBlocksCountTogether) {
  EXPECT_EQ(filter(R"({"content":[{"type":"text","text":"[{\"a\":1}]"},
                      {"type":"text","text":"[{\"a\":2},{\"a\":3}]"}]})",
                   kTwoRows)
                .text,
            R"({"content":[{"type":"text","text":"[{\"a\":1}]"},)"
            R"({"type":"text","text":"[{\"a\":2}]"}]})");
  EXPECT_EQ(filter(R"([{"a":1}])", context_of({{"max_rows_returned", "0"}})).text, "[]");
}

// PI-77
TEST(QueryResultTest, ADeniedColumnIsMaskedHoweverDeepItStands) {
  EXPECT_EQ(filter(R"([{"a":[[{"ssn":1,"b":2}]],"c":{"ssn":3}}])", kNoSsn).text,
            R"([{"a":[[{"ssn":"****","b":2}]],"c":{"ssn":"****"}}])");
  EXPECT_EQ(filter(R"({"columns":["a"],"rows":[[{"ssn":1},2]]})", kNoSsn).text,
            R"({"columns":["a"],"rows":[[{"ssn":"****"},"****"]]})");
  EXPECT_EQ(filter(R"({"columns":["a"],"rows":[[1,2]]})", kTwoRows).text,
            R"({"columns":["a"],"rows":[[1,2]]})");
}

// The tables of several statements counted as one row each, and the cells of a table inside a row
// passed, because no member has the name of a denied column.
// PI-76 PI-77 PI-79
TEST(QueryResultTest, SeveralTablesAreEachRead) {
  EXPECT_EQ(
      filter(R"([{"columns":["id","ssn"],"rows":[[1,"x"]]},{"rows":[{"ssn":"y"}]}])", kNoSsn).text,
      R"([{"columns":["id","ssn"],"rows":[[1,"****"]]},{"rows":[{"ssn":"****"}]}])");
  const Filtered limited = filter(R"([{"rows":[{"a":1},{"a":2}]},{"rows":[{"a":3}]}])", kTwoRows);
  EXPECT_EQ(limited.text, R"([{"rows":[{"a":1},{"a":2}]},{"rows":[]}])");
  EXPECT_EQ(limited.evidence, "rows=2/3");
  EXPECT_EQ(filter(R"([{"rows":[]},{"a":"x"}])", kTwoRows).text, R"([{"rows":[]},{"a":"****"}])");
  EXPECT_EQ(filter(R"([{"table":"salaries","rows":[]}])", kUsers).text,
            "blocked: the result names a table that the grant does not allow");
  EXPECT_EQ(filter(R"({"rows":[{"a":{"columns":["b","SSN"],"rows":[[1,"x"],"y"]}}]})", kNoSsn).text,
            R"({"rows":[{"a":{"columns":["b","SSN"],"rows":[[1,"****"],"****"]}}]})");
  EXPECT_EQ(filter(R"({"rows":[{"a":{"columns":[{"name":"ssn"}],"rows":[["x"]]}}]})", kNoSsn).text,
            R"({"rows":[{"a":{"columns":[{"name":"ssn"}],"rows":[["****"]]}}]})");
}

// PI-77
TEST(QueryResultTest, AColumnOfOneTableIsDeniedOfThatTableOnly) {
  EXPECT_EQ(
      filter(R"({"table":"Users","rows":[{"mail":1,"name":2,"orders.mail":3}]})", kNoSsn).text,
      R"({"table":"Users","rows":[{"mail":"****","name":2,"orders.mail":3}]})");
  EXPECT_EQ(filter(R"([{"mail":1,"users.name":2,"db.users.mail":3}])", kNoSsn).text,
            R"([{"mail":"****","users.name":2,"db.users.mail":3}])");
}

// PI-78
TEST(QueryResultTest, TablesAreLookedForWhereResultsNameThem) {
  const std::string blocked = "blocked: the result names a table that the grant does not allow";
  EXPECT_EQ(filter(R"({"content":[],"metadata":{"tables":["salaries"]}})", kUsers).text, blocked);
  EXPECT_EQ(filter(R"({"content":[],"meta":{"table":"salaries"}})", kUsers).text,
            R"({"content":[],"meta":{"table":"****"}})");
  for (const char* const value :
       {R"({"columns":["users.a","b"],"rows":[]})", R"({"tables":[["USERS"]],"rows":[]})"}) {
    EXPECT_EQ(filter(value, kUsers).text, value);
  }
  EXPECT_EQ(filter(R"({"table":7,"columns":"salaries.x"})", kUsers).text,
            R"({"table":"****","columns":"****"})");
  EXPECT_EQ(filter(R"({"columns":[7,"salaries.x"]})", kUsers).text, blocked);
}

// PI-76
TEST(QueryResultTest, ChunksOfMcpAreNoRows) {
  const auto filtered = [](std::string_view chunk, bool complete) {
    const Envelope stream{.kind = Envelope::Kind::Stream,
                          .chunks = {json::parse(chunk)},
                          .complete = complete,
                          .reason = complete ? "" : "lost ssn 1"};
    const json::value out = json::parse(filter(stream, kNoSsn).text).at("stream");
    EXPECT_EQ(out.as_object().contains("reason"), !complete);
    if (!complete) EXPECT_EQ(out.at("reason"), "****");
    return json::serialize(out.at("chunks").at(0));
  };
  for (const bool complete : {true, false}) {
    EXPECT_EQ(filtered(R"({"content":[{"type":"text","text":"see 1"}]})", complete),
              R"({"content":[{"type":"text","text":"****"}]})");
    EXPECT_EQ(filtered(R"({"type":"text","text":"see 1"})", complete),
              R"({"type":"text","text":"****"})");
    EXPECT_EQ(filtered(R"({"type":"car","rows":7,"ssn":1})", complete),
              R"({"type":"car","rows":7,"ssn":"****"})");
  }
}

// PI-73
TEST(QueryResultTest, OtherGrantsOfTheTokenDoNotCount) {
  ResultContext context = kTwoRows;
  context.matched_grant_index = 0;
  EXPECT_EQ(filter(R"(["anything"])", context).text, "allowed");
}

// PI-21 PI-74
TEST(QueryResultTest, WhatTheContextLacksIsNamed) {
  EXPECT_EQ(filter("[]", ResultContext{.tool = "query"}).text,
            "blocked: the context lacks `scope`");
  ResultContext context = kTwoRows;
  context.matched_grant_index.reset();
  EXPECT_EQ(filter("[]", context).text, "blocked: the context lacks `matched_grant_index`");
  context.matched_grant_index = 2;
  EXPECT_EQ(filter("[]", context).text, "blocked: `matched_grant_index` is outside of `scope`");
  context.scope = std::make_shared<const Scope>(Scope{{Grant{}}});
  context.matched_grant_index.reset();
  EXPECT_EQ(filter("[]", context).text, "allowed");
}

// PI-73 (partly)
TEST(QueryResultTest, AConstraintThatCannotBeReadBlocks) {
  EXPECT_EQ(filter("[]", context_of({{"max_rows_returned", "\"2\""}})).text,
            "blocked: constraint `max_rows_returned` of the matched grant must be a whole number");
  EXPECT_EQ(filter("[]", context_of({{"max_rows_returned", "-1"}})).text,
            "blocked: constraint `max_rows_returned` of the matched grant must be a whole number");
  EXPECT_EQ(filter("[]", context_of({{"max_rows_returned", "18446744073709551615"}})).text, "[]");
  for (const char* const columns : {"[1]", "\"ssn\""}) {
    EXPECT_EQ(
        filter("[]", context_of({{"column_denylist", columns}})).text,
        "blocked: constraint `column_denylist` of the matched grant must be an array of strings");
  }
  EXPECT_EQ(filter(R"("x")", context_of({{"max_calls", "[1]"}})).text, "allowed")
      << "it is not about rows";
}

// PI-74
TEST(QueryResultTest, EveryConstraintOnRowsNeedsTheMatchedGrant) {
  for (const char* const type : {"max_rows_returned", "column_denylist", "table_allowlist"}) {
    ResultContext context = context_of({{type, "[]"}});
    context.matched_grant_index.reset();
    EXPECT_EQ(filter("[]", context).text, "blocked: the context lacks `matched_grant_index`");
  }
}

}  // namespace
}  // namespace sallyport::guards
