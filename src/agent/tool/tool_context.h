// What the tools of one session share. Made once, then only read.
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

// Shared with work on the pool whose caller no longer waits.
using SharedContext = std::shared_ptr<const ToolContext>;

}  // namespace sallyport::agent
