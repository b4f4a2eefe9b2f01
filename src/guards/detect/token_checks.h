// Confirms secrets with a known prefix. Each function gets the place of the prefix and adds the
// exact span, or nothing.
#pragma once

#include "guards/detect/candidates.h"

namespace sallyport::guards {

void check_aws_access_key_id(Candidates& found, Anchor at);  // behind `AKIA`
void check_github_token(Candidates& found, Anchor at);       // behind `ghp_`
void check_github_pat(Candidates& found, Anchor at);         // behind `github_pat_`
void check_gitlab_token(Candidates& found, Anchor at);       // behind `glpat-`
void check_slack_token(Candidates& found, Anchor at);        // behind `xoxb-`
void check_slack_webhook(Candidates& found, Anchor at);      // behind `.../services/`
void check_google_api_key(Candidates& found, Anchor at);     // behind `AIza`
void check_model_api_key(Candidates& found, Anchor at);      // behind `sk-`
void check_stripe_key(Candidates& found, Anchor at);         // behind `sk_live_`
void check_jwt(Candidates& found, Anchor at);                // `.eyJ` of the second part
void check_bearer_header(Candidates& found, Anchor at);      // behind `Bearer `

}  // namespace sallyport::guards
