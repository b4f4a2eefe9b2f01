// Serves one client from its first message to its last.
#pragma once

#include "base/async.h"

namespace sallyport::mcp {

// Used on a context with one thread.
class Conversation {
 public:
  virtual ~Conversation() = default;

  // Runs until the client leaves, `stop`, or no server is left. All its calls have ended then.
  virtual Task<void> run() = 0;
  virtual void stop() = 0;  // no longer waits for the client
  // True if a call of its client waits: for a person, or for the client to return. Stopping would
  // end it.
  virtual bool holds_calls() const = 0;
  // After `run`: true if no coroutine of it runs any more, so it may be destroyed.
  virtual bool quiet() const = 0;
};

}  // namespace sallyport::mcp
