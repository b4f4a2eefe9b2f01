// Walks the files below a folder by handles. It follows no symbolic link and skips paths that a
// pattern denies.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "agent/tool/roots.h"

namespace sallyport::agent {

struct WalkEntry {
  int folder = -1;           // the open folder that contains it
  const std::string& name;   // in that folder
  const std::string& below;  // path below the start of the walk
  const struct stat& state;  // of a link: of the link itself
};

enum class Step { Enter, Pass, Stop };

// Calls `visit` for each entry, in the order of names, a folder before its content. `Enter` enters
// a folder. False: `visit` stopped the walk, or there were too many entries.
Result<bool> walk(const Roots& roots, const Found& start,
                  const std::function<Step(const WalkEntry&)>& visit);

}  // namespace sallyport::agent
