// Reads and checks the login settings of the options and the configuration.
#pragma once

#include "oauth/application.h"
#include "sallyport/result.h"
#include "servers/oauth_options.h"

namespace sallyport::app {

// Reads secrets. `InvalidInput`: a secret is missing, or the settings contradict each other.
Result<oauth::Application> application_of(const OAuthOptions& options, const net::Url& server,
                                          bool allow_http, WrittenIn written = WrittenIn::Options);

}  // namespace sallyport::app
