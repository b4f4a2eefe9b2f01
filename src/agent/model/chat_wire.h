// The chat completions API of OpenAI and of compatible servers (RT-13).
#pragma once

#include <memory>
#include <string>

#include "agent/model/answer_reader.h"
#include "agent/model/model.h"

namespace sallyport::agent {

// The body of `POST <base_url>/chat/completions`. `limit_name` is the member that bounds the
// output: newer models of OpenAI refuse `max_tokens`, other servers accept nothing else.
std::string chat_body(const ModelRequest& request, std::string_view limit_name = "max_tokens");

std::unique_ptr<FrameReader> chat_frames();

}  // namespace sallyport::agent
