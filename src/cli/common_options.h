// Options that several commands share.
#pragma once

#include "cli/command.h"
#include "people/login_options.h"
#include "records/selection.h"
#include "servers/oauth_options.h"

namespace sallyport::app {

// Options that select entries.
void filter_options(Syntax& syntax, FilterOptions& filter);
void selection_options(Syntax& syntax, SelectionOptions& selection);

// The login of a command that changes evidence or authority (`authorize_change`).
void person_options(Syntax& syntax, LoginOptions& login);
// The login of a command that answers questions.
void login_options(Syntax& syntax, LoginOptions& login);
// The same, with a key only.
void own_key_options(Syntax& syntax, LoginOptions& login);
// More lists of reviewers whose signatures on control records count.
void believed_reviewers(Syntax& syntax, std::vector<std::filesystem::path>& lists);

// Our client at the authorization server of a tool server.
void oauth_options(Syntax& syntax, OAuthOptions& options);

}  // namespace sallyport::app
