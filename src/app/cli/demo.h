// A scripted agent that makes calls to real tools through the real gates.
#pragma once

#include <optional>
#include <string>

#include "app/workspace.h"
#include "sallyport/result.h"

namespace sallyport::app {

struct DemoOptions {
  std::optional<Workspace::Place>
      place;  // nothing: a folder of its own, gone afterwards unless kept
  bool keep = false;
  bool plain = false;  // neither colours nor redrawing
  bool colour = false;
  bool json = false;
  bool no_pause = false;
  bool yes = false;   // the question is answered by the script, also at a terminal
  std::string stage;  // which process of the demo this is; empty: the one a person started
};

// The exit code.
Result<int> run_demo(const DemoOptions& options);

}  // namespace sallyport::app
