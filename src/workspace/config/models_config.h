// The key `models` of the section `serve`: providers of models, and what their tokens cost.
//
//   models:
//     upstreams:
//       - {name: claude, api: anthropic_messages, url: "https://api.anthropic.com",
//          key_env: ANTHROPIC_API_KEY, models: ["claude-*"]}
//     prices: {"claude-*": {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}
#pragma once

#include <filesystem>

#include "config/mapping.h"
#include "proxy/settings.h"

namespace sallyport::app {

// Relative paths are relative to `folder`.
config::Mapping models_keys(proxy::Settings& out, const std::filesystem::path& folder);

}  // namespace sallyport::app
