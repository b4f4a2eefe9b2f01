// What the options and the configuration say about a login, read and checked.
#pragma once

#include "app/servers/oauth_options.h"
#include "oauth/application.h"
#include "sallyport/result.h"

namespace sallyport::app {

// Secrets are read here. `InvalidInput`: they are not there, or do not fit together.
Result<oauth::Application> application_of(const OAuthOptions& options, const net::Url& server,
                                          bool allow_http);

}  // namespace sallyport::app
