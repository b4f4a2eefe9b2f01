// The model of an agent, as its settings name it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/model/model.h"
#include "agent/run/settings.h"
#include "base/clock.h"
#include "core/record/redactor.h"
#include "sallyport/result.h"

namespace sallyport::agent {

// What a model uses. All of it outlives the model.
struct ModelParts {
  boost::asio::any_io_executor executor;
  const core::Redactor& redactor;  // for what providers say in errors
  const Clock& clock;
  // A variable of the environment, at the time of asking; no value: it is not set (RT-16).
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::chrono::milliseconds silence{60'000};  // the longest wait for a byte of an answer (RT-20)
};

// `InvalidInput`: `base_url` is no address that may be reached, the variable of the key is not set
// (RT-90), or the script has a bad turn, named with its line (RT-94). Nothing is sent.
Result<std::unique_ptr<Model>> open_model(const ModelSettings& settings, ModelParts parts);

}  // namespace sallyport::agent
