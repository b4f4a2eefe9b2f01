#include "agent/model/open_model.h"

#include "agent/model/http_model.h"
#include "agent/model/script_model.h"

namespace sallyport::agent {

Result<std::unique_ptr<Model>> open_model(const ModelSettings& settings, ModelParts parts) {
  if (settings.provider == Provider::Script) return open_script_model(settings, std::move(parts));
  return open_http_model(settings, std::move(parts));
}

}  // namespace sallyport::agent
