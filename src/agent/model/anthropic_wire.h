// Anthropic Messages (RT-14).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agent/model/answer_reader.h"
#include "agent/model/model.h"

namespace sallyport::agent {

inline constexpr std::string_view kAnthropicVersion = "2023-06-01";

// The body of `POST <base_url>/v1/messages`.
std::string anthropic_body(const ModelRequest& request);

std::unique_ptr<FrameReader> anthropic_frames();

}  // namespace sallyport::agent
