#include "app/watch/file_rest.h"

#include <utility>

namespace sallyport::app {

FileRest::States FileRest::of(std::initializer_list<std::filesystem::path> files) {
  States states(std::in_place);
  for (const std::filesystem::path& file : files) {
    states->push_back(FileState::of(file));
    if (!states->back()) return std::nullopt;
  }
  return states;
}

void FileRest::know(States now) {
  known_ = seen_ = std::move(now);
}

bool FileRest::changed(const States& now) {
  const bool rests = now == std::exchange(seen_, now);
  return now && rests && now != known_;
}

}  // namespace sallyport::app
