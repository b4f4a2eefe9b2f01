// The files of policies/gallery/, as they were when the program was built.
#pragma once

#include <span>
#include <string_view>

namespace sallyport::guardrails {

struct GalleryFile {
  std::string_view name;
  std::string_view text;
};

std::span<const GalleryFile> gallery_files();

}  // namespace sallyport::guardrails
