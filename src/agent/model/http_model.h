// Models that are reached over HTTP: Anthropic Messages and chat completions.
#pragma once

#include <memory>

#include "agent/model/open_model.h"

namespace sallyport::agent {

// As `open_model`. Plain HTTP is allowed to this machine only. Redirects are not followed.
Result<std::unique_ptr<Model>> open_http_model(const ModelSettings& settings, ModelParts parts);

}  // namespace sallyport::agent
