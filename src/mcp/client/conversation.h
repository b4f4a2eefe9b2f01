// A client being served, from its first message to its last.
#pragma once

#include "base/async.h"

namespace sallyport::mcp {

// On a context with one thread.
class Conversation {
 public:
  virtual ~Conversation() = default;

  // Until the client goes, `stop`, or there is nothing to serve it with. Its calls have ended then.
  virtual Task<void> run() = 0;
  virtual void stop() = 0;  // the client is not waited for any more
  // A call of its client waits: for a person, or for the client to come back. Stopping would end
  // it.
  virtual bool holds_calls() const = 0;
  // After `run`: nothing of it runs any more, so that it may go.
  virtual bool quiet() const = 0;
};

}  // namespace sallyport::mcp
