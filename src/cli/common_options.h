// Options that several commands share.
#pragma once

#include "app/people/login_options.h"
#include "app/records/selection.h"
#include "app/servers/oauth_options.h"
#include "cli/command.h"

namespace sallyport::app {

// Which entries.
void filter_options(Syntax& syntax, FilterOptions& filter);
void selection_options(Syntax& syntax, SelectionOptions& selection);

// Who you are, for a command that changes evidence or authority (`authorize_change`).
void person_options(Syntax& syntax, LoginOptions& login);
// Who you are, for a command that answers questions.
void login_options(Syntax& syntax, LoginOptions& login);
// The same with a key alone.
void own_key_options(Syntax& syntax, LoginOptions& login);
// Whose signatures of control records count besides those of the people who are registered now.
void believed_reviewers(Syntax& syntax, std::vector<std::filesystem::path>& lists);

// Who we are to the authorization server of a tool server.
void oauth_options(Syntax& syntax, OAuthOptions& options);

}  // namespace sallyport::app
