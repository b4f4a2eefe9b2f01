// Receives every tool-audit record for a host, after it is durable (AU-88).
#pragma once

#include <string>

#include "base/async.h"
#include "sallyport/audit_record.h"

namespace sallyport::core {

// `const` and callable from any thread; the records of one call come one at a time, in order. An
// exception or error of a sink does not change the call and is recorded.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual const std::string& name() const = 0;
  virtual Task<void> take(const AuditRecord& record) const = 0;
};

// For a place that needs a sink and has none.
class NoSink final : public Sink {
 public:
  const std::string& name() const override { return name_; }
  Task<void> take(const AuditRecord&) const override { co_return Result<void>{}; }

 private:
  std::string name_ = "none";
};

}  // namespace sallyport::core
