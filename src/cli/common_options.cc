#include "cli/common_options.h"

namespace sallyport::app {

namespace {

void key_options(Syntax& syntax, LoginOptions& login) {
  syntax.file("--key-file", login.key_file, "your approver key [the one in <data-dir>]");
  const Option words = syntax.file("--passphrase-file", login.passphrase_file,
                                   "holds its passphrase [asked at the terminal]");
  syntax.text("--passphrase-fd", login.passphrase_fd, "descriptor to read its passphrase from", "N")
      .excludes(words);
}

void policy_option(Syntax& syntax, LoginOptions& login) {
  syntax.file("--reviewers", login.reviewers,
              "policy of a gate here that names reviewers [<data-dir>/reviewers.yaml]");
}

}  // namespace

void filter_options(Syntax& syntax, FilterOptions& filter) {
  syntax.text("--call", filter.call, "only of this call", "ID");
  syntax.text("--session", filter.session, "only of this session", "ID");
  syntax.text("--run", filter.run, "only of this run of an agent", "ID");
  syntax.text("--agent", filter.agent, "only of this agent", "ID");
  syntax.text("--server", filter.server, "only of this tool server", "NAME");
  syntax.text("--tool", filter.tool, "only of this tool", "NAME");
  syntax.text("--outcome", filter.outcome, "only with this outcome", "NAME");
  syntax.text("--kind", filter.kind, "only of this kind", "KIND");
  syntax.text("--topic", filter.topic, "only of this topic", "NAME");
  syntax.text("--tool-call-id", filter.tool_call, "only with this id of the model", "ID");
  syntax.text("--approval", filter.approval, "only calls of this approval request", "ID");
  syntax.text("--event-type", filter.event_type, "only events of this type", "TYPE");
  syntax.text("--terminal", filter.terminal, "only records that end a call, or do not",
              "true|false");
  syntax.text("--since", filter.since, "from this time on, or from so long ago", "TIME|1h");
  syntax.text("--until", filter.until, "before this time", "TIME|1h");
  syntax.text("--after", filter.after, "after this sequence", "SEQUENCE");
}

void selection_options(Syntax& syntax, SelectionOptions& selection) {
  syntax.text("--call", selection.call, "what belongs to this call", "ID");
  syntax.text("--session", selection.session, "what belongs to this session", "ID");
  syntax.text("--agent", selection.agent, "what belongs to this agent", "ID");
  syntax.text("--kind", selection.kind, "entries of this kind", "KIND");
  syntax.text("--since", selection.since, "from this time on, or from so long ago", "TIME|1h");
  syntax.text("--until", selection.until, "before this time", "TIME|1h");
}

void person_options(Syntax& syntax, LoginOptions& login) {
  key_options(syntax, login);
  syntax.file("--token-file", login.token_file, "your token, instead of a key");
  syntax.text("--name", login.name, "the person that the token belongs to", "NAME");
}

void login_options(Syntax& syntax, LoginOptions& login) {
  person_options(syntax, login);
  policy_option(syntax, login);
}

void own_key_options(Syntax& syntax, LoginOptions& login) {
  key_options(syntax, login);
  policy_option(syntax, login);
}

void believed_reviewers(Syntax& syntax, std::vector<std::filesystem::path>& lists) {
  syntax.files("--reviewers", lists,
               "further people whose signatures under tier changes count; may be repeated");
}

void oauth_options(Syntax& syntax, OAuthOptions& options) {
  syntax.text("--client-id", options.client_id, "id of a client that was registered by hand", "ID");
  syntax.text("--client-secret-env", options.client_secret_env,
              "the variable that holds its secret", "NAME");
  syntax.file("--client-secret-file", options.client_secret_file, "the file that holds its secret");
  syntax.file("--client-key-file", options.client_key_file,
              "its private key (PEM), instead of a secret");
  syntax.flag("--client-credentials", options.client_credentials,
              "the client authenticates itself, without a person");
  syntax.text("--issuer", options.issuer, "the authorization server of the client", "URL");
  syntax.text("--scope", options.scope, "scopes to request [those that the server names]", "WORDS");
  syntax.number("--redirect-port", options.redirect_port,
                "port of 127.0.0.1 that the browser returns to [any]", "PORT");
}

}  // namespace sallyport::app
