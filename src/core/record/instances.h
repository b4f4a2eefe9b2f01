// The runs of processes that write one log.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sallyport/result.h"

namespace sallyport::core {

// Names this run, knows which others are alive, and grants claims that only one of them holds.
// Every method may be called from any thread.
class Instances {
 public:
  virtual ~Instances() = default;

  // Names this process run in facts that must be closed when the process dies.
  virtual const std::string& instance_id() const = 0;
  virtual bool alive(const std::string& instance_id) const = 0;

  // One process holds a claim until it releases the claim or ends, whether or not it writes
  // meanwhile. Null: another process holds it. It is not exclusive inside one process. In a log of
  // one process every claim is free.
  using Claim = std::shared_ptr<void>;
  virtual Result<Claim> claim(std::string_view) { return std::make_shared<char>(); }
};

}  // namespace sallyport::core
