// Shared by the tools of one session. Immutable once made.
#pragma once

#include <memory>

#include "agent/run/settings.h"
#include "agent/tool/roots.h"
#include "agent/tool/tools.h"

namespace sallyport::agent {

struct ToolContext {
  Settings settings;
  ToolParts parts;
  std::unique_ptr<const Roots> roots;
};

// Shared, because work on the pool may outlive its caller.
using SharedContext = std::shared_ptr<const ToolContext>;

}  // namespace sallyport::agent
