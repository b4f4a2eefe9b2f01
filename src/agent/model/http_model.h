// Models that are asked over HTTP: Anthropic Messages and chat completions.
#pragma once

#include <memory>

#include "agent/model/open_model.h"

namespace sallyport::agent {

// As `open_model`. Plain HTTP is for this machine only, and redirects are not followed.
Result<std::unique_ptr<Model>> open_http_model(const ModelSettings& settings, ModelParts parts);

}  // namespace sallyport::agent
