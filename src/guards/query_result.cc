#include "guards/query_result.h"

#include <boost/json.hpp>
#include <chrono>

#include "guards/row_filter.h"
#include "guards/row_limits.h"

namespace sallyport::guards {

namespace {

Verdict filtered(const Envelope& result, const ResultContext& context) {
  const Result<RowLimits> limits = row_limits_of(context);
  if (!limits) return Verdict::deny(limits.error().message);
  if (!limits->any()) return Verdict::allow();
  Envelope envelope = result;
  RowFilter filter(*limits);
  filter.filter(envelope);
  if (filter.refused_table()) {
    return Verdict::deny("the result names a table that the grant does not allow",
                         "table_allowlist");
  }
  Verdict verdict = Verdict::rewrite(envelope.to_json());
  if (const std::string rows = filter.rows(); !rows.empty()) verdict.evidence = "rows=" + rows;
  return verdict;
}

}  // namespace

QueryResult::QueryResult() {
  traits_.name = "query-result";
  traits_.rewrites = true;
  traits_.limit = std::chrono::milliseconds{1000};
  traits_.settings = json::object{};
}

Task<Verdict> QueryResult::judge(const Envelope& result, const ResultContext& context) const {
  co_return filtered(result, context);
}

}  // namespace sallyport::guards
