#include "core/record/stored_record.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "support/governed.h"

namespace sallyport::core {
namespace {

using test::Governed;

// The entry of a call that ran.
json::object stored_entry(Governed& governed) {
  EXPECT_TRUE(governed.call(Governed::read_file()));
  return governed.recorder.entry(governed.recorder.written.size() - 1).value();
}

json::object sealed(const char* state) {
  return {{"$sealed", "sha256:00"}, {"state", state}};
}

// AU-1
TEST(StoredRecordTest, TheEnvelopeIsPutBackBesideTheBody) {
  Governed governed;
  json::object entry = stored_entry(governed);
  entry["trace_id"] = nullptr;
  const json::object record = audit_json(entry);
  EXPECT_EQ(record.at("agent_id"), "agent:a");
  EXPECT_EQ(record.at("trace_id"), "");
  EXPECT_EQ(record.at("redactions"), json::array());
  EXPECT_EQ(record.at("sequence"), entry.at("sequence"));
  entry["redactions"] =
      json::array{{{"path", "/x"}, {"category", "secret"}, {"digest", "hmac-sha256:00"}}};
  EXPECT_EQ(audit_json(entry).at("redactions"), entry.at("redactions"));
}

// AU-1: an erased or withheld result is marked so, and the call still has run.
TEST(StoredRecordTest, WhatIsNoLongerThereSaysSoInItsPlace) {
  Governed governed;
  json::object entry = stored_entry(governed);
  const Result<AuditRecord> whole = audit_record_of(entry);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->outcome.result->data, (json::value{{"answer", 42}}));
  json::object& outcome = entry["body"].as_object()["outcome"].as_object();
  outcome["result"] = sealed("erased");
  const Result<AuditRecord> erased = audit_record_of(entry);
  ASSERT_TRUE(erased) << erased.error().message;
  EXPECT_TRUE(erased->outcome.result->success);
  EXPECT_EQ(erased->outcome.result->output, "[erased]");
  outcome = {{"kind", "blocked"}, {"reason", sealed("withheld")}};
  EXPECT_EQ(audit_record_of(entry)->outcome.text, "[withheld]");
}

// EV-79
TEST(StoredRecordTest, AnEventIsInTheScopeOfItsInstanceOrElseOfItsAgent) {
  json::object entry{{"sequence", 7},
                     {"instance_id", "i-1"},
                     {"recorded_at", "2026-01-01T00:00:00.000000Z"},
                     {"body", {{"kind", "policy_denied"}, {"agent_id", "agent:a"}}}};
  EXPECT_EQ(event_json(entry).at("scope"), "agent:a");
  EXPECT_EQ(event_json(entry).at("event_type"), "policy_denied");
  EXPECT_TRUE(event_json(entry).at("call_id").is_null());
  entry["body"] = {{"kind", "recovery_prepared"}, {"runtime_instance_id", "i-1"}};
  EXPECT_EQ(event_json(entry).at("scope"), "i-1");
}

}  // namespace
}  // namespace sallyport::core
