#include "cli/common_options.h"

namespace sallyport::app {

namespace {

void key_options(Syntax& syntax, LoginOptions& login) {
  syntax.file("--key-file", login.key_file, "your approver key [the one in <data-dir>]");
  const Option words = syntax.file("--passphrase-file", login.passphrase_file,
                                   "file that holds its passphrase [asked at the terminal]");
  syntax
      .text("--passphrase-fd", login.passphrase_fd, "file descriptor to read its passphrase from",
            "N")
      .excludes(words);
}

void policy_option(Syntax& syntax, LoginOptions& login) {
  syntax.file("--reviewers", login.reviewers,
              "a policy with reviewers, loaded by a gate here [<data-dir>/reviewers.yaml]");
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
  syntax.text("--tool-call-id", filter.tool_call, "only with this tool call id of the model", "ID");
  syntax.text("--approval", filter.approval, "only calls of this approval request", "ID");
  syntax.text("--event-type", filter.event_type, "only events of this type", "TYPE");
  syntax.text("--terminal", filter.terminal,
              "true: only records that end a call; false: only the others", "true|false");
  syntax.text("--since", filter.since, "from this time on, or from this long ago", "TIME|1h");
  syntax.text("--until", filter.until, "before this time", "TIME|1h");
  syntax.text("--after", filter.after, "after this sequence", "SEQUENCE");
}

void selection_options(Syntax& syntax, SelectionOptions& selection) {
  syntax.text("--call", selection.call, "entries of this call", "ID");
  syntax.text("--session", selection.session, "entries of this session", "ID");
  syntax.text("--agent", selection.agent, "entries of this agent", "ID");
  syntax.text("--kind", selection.kind, "entries of this kind", "KIND");
  syntax.text("--since", selection.since, "from this time on, or from this long ago", "TIME|1h");
  syntax.text("--until", selection.until, "before this time", "TIME|1h");
}

void person_options(Syntax& syntax, LoginOptions& login) {
  key_options(syntax, login);
  const Option token =
      syntax.file("--token-file", login.token_file, "file with your token, instead of a key");
  syntax.text("--name", login.name, "the person that the token belongs to", "NAME").needs(token);
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
               "file of more reviewers whose signatures on tier changes count; may be repeated");
}

void oauth_options(Syntax& syntax, OAuthOptions& options) {
  syntax.text("--client-id", options.client_id, "id of a client that was registered by hand", "ID");
  syntax.text("--client-secret-env", options.client_secret_env,
              "environment variable that holds the client's secret", "NAME");
  syntax.file("--client-secret-file", options.client_secret_file,
              "file that holds the client's secret");
  syntax.file("--client-key-file", options.client_key_file,
              "file with the client's private key (PEM), instead of a secret");
  syntax.flag("--client-credentials", options.client_credentials,
              "the client authenticates itself, without a person");
  syntax.text("--issuer", options.issuer, "the authorization server of the client", "URL");
  syntax.text("--scope", options.scope, "scopes to request [those that the server names]", "WORDS");
  syntax.number("--redirect-port", options.redirect_port,
                "port of 127.0.0.1 that the browser returns to [any]", "PORT");
}

}  // namespace sallyport::app
