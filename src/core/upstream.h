// What actually executes: an MCP server, a model API, a C++ function, a process.
#pragma once

#include <stop_token>

#include "base/async.h"
#include "sallyport/call.h"
#include "sallyport/envelope.h"

namespace sallyport::core {

class Upstream {
 public:
  virtual ~Upstream() = default;

  // `cancel` is asked for on cancel and on deadline; what does not heed it is left behind, and its
  // answer with it. An error is a fault of the way there; a tool's own failure is an error
  // envelope.
  virtual Task<Envelope> invoke(Call call, std::stop_token cancel) = 0;
};

}  // namespace sallyport::core
