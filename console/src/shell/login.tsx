// The login page.
import { useState } from "preact/hooks";
import { problemText } from "../core/parts";
import { isSecure, loginByPasskey, loginByToken, loginMethods, loginProblem } from "../core/session";
import { t } from "../core/text";
import { hasPasskeys } from "../keys/passkey";

export function Login() {
  const [busy, setBusy] = useState(false);
  if (!isSecure) {
    return (
      <main class="login">
        <h1>Sallyport</h1>
        <p class="failed" role="alert" data-no-tls>
          {t("login.no_tls")}
        </p>
      </main>
    );
  }
  // Only this field and one request ever have the token.
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem("token") as HTMLInputElement;
    const token = field.value.trim();
    field.value = "";
    if (token === "") return;
    setBusy(true);
    await loginByToken(token);
    setBusy(false);
  }
  async function signIn() {
    setBusy(true);
    await loginByPasskey();
    setBusy(false);
  }
  return (
    <main class="login">
      <h1>Sallyport</h1>
      {loginProblem.value && loginProblem.value.code !== "no_session" && (
        <p class="failed" role="alert">
          {problemText(loginProblem.value)}
        </p>
      )}
      {hasPasskeys && (
        <button type="button" class="primary" data-passkey disabled={busy} onClick={() => void signIn()}>
          {t("login.passkey")}
        </button>
      )}
      {loginMethods.value.includes("oidc") && (
        <a class="button" href="/api/v1/session/oidc" data-oidc>
          {t("login.oidc")}
        </a>
      )}
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <label for="token">{t("login.token")}</label>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck={false} autocapitalize="off" required />
        <button type="submit" disabled={busy}>
          {t("login.enter")}
        </button>
      </form>
      <p class="quiet">
        {t("login.link")} <code>sallyport console</code>
      </p>
    </main>
  );
}
