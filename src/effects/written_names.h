// Names of files that a program makes from other names: in a target folder, or with another suffix.
#pragma once

#include <span>

#include "effects/arguments.h"
#include "effects/shell_reader.h"

namespace sallyport::effects {

// The file in the folder. An unknown part makes the whole unknown.
Argument in_folder(const Argument& folder, const Argument& file);

// How a program names in a target folder what it writes there.
struct NamesInFolder {
  bool whole = false;      // the whole path of a source; else its last name
  bool recursive = false;  // a source may be a folder
};
// A program writes each source into the target folder.
void add_files_in(ShellReader& reader, const Argument& target, std::span<const Argument> sources,
                  NamesInFolder names);

// True if the target of `cp` or `mv` may be a folder that exists.
bool may_be_folder(ShellReader& reader, const Argument& target);

// `gzip`, `unxz` ..: another file takes the place of each operand.
void compressed_files(ShellReader& reader, const std::string& program, const Arguments& arguments,
                      bool recursive);

}  // namespace sallyport::effects
