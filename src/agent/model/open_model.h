// Opens the model that the settings of an agent name.
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

// The dependencies of a model. All of them must outlive it.
struct ModelParts {
  boost::asio::any_io_executor executor;
  const core::Redactor& redactor;  // for error texts of providers
  const Clock& clock;
  // Returns the current value of an environment variable; no value: it is not set (RT-16).
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::chrono::milliseconds silence{60'000};  // the longest wait for a byte of an answer (RT-20)
};

// Opens the model and sends nothing. `InvalidInput`: `base_url` is not an allowed address, the
// variable of the key is not set (RT-90), or a turn of the script is wrong; names its line (RT-94).
Result<std::unique_ptr<Model>> open_model(const ModelSettings& settings, ModelParts parts);

}  // namespace sallyport::agent
