// The hook `query-result`: rows, columns and tables that the matched grant allows (PI-73 to PI-79).
//
//   // grant: {"type":"max_rows_returned","value":1}, {"type":"column_denylist","value":["ssn"]}
//   // [{"id":1,"ssn":"x"},{"id":2,"ssn":"y"}] becomes [{"id":1,"ssn":"****"}], `rows=1/2`
//
// In an object with `rows`, members that do not name tables or count rows are masked like content
// of unknown shape; so are error messages. `type` of an MCP block and `isError` stay.
#pragma once

#include "core/plan/guard.h"

namespace sallyport::guards {

// Immutable: any thread may call `judge` at any time.
class QueryResult final : public core::ResultGuard {
 public:
  QueryResult();

  const core::GuardTraits& traits() const override { return traits_; }
  Task<Verdict> judge(const Envelope& result, const ResultContext& context) const override;

 private:
  core::GuardTraits traits_;
};

}  // namespace sallyport::guards
