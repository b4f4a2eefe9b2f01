// Goes through the files below a folder, by handles: no symbolic link is followed, and what a
// pattern denies is left out.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "agent/tool/roots.h"

namespace sallyport::agent {

struct Seen {
  int folder = -1;           // the open folder that it is in
  const std::string& name;   // in that folder
  const std::string& below;  // below the folder that the walk began at
  const struct stat& state;  // of a link: of the link itself
};

enum class Step { Enter, Pass, Stop };

// Calls `see` for each entry, in the order of names, folders before what is in them. `Enter` goes
// into a folder. False: `see` stopped it, or there was more than a walk may hold.
Result<bool> walk(const Roots& roots, const Found& start,
                  const std::function<Step(const Seen&)>& see);

}  // namespace sallyport::agent
