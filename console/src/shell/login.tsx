// The page for a person who is not signed in.
import { useState } from "preact/hooks";
import { told } from "../core/parts";
import { loginByPasskey, loginByToken, safe, ways, why } from "../core/session";
import { t } from "../core/text";
import { hasPasskeys } from "../keys/passkey";

export function Login() {
  const [busy, setBusy] = useState(false);
  if (!safe) {
    return (
      <main class="login">
        <h1>Sallyport</h1>
        <p class="failed" role="alert" data-no-tls>
          {t("login.no_tls")}
        </p>
      </main>
    );
  }
  // The token is in this field and in one request, and nowhere after.
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
  async function touch() {
    setBusy(true);
    await loginByPasskey();
    setBusy(false);
  }
  return (
    <main class="login">
      <h1>Sallyport</h1>
      {why.value && why.value.code !== "no_session" && (
        <p class="failed" role="alert">
          {told(why.value)}
        </p>
      )}
      {hasPasskeys && (
        <button type="button" class="primary" data-passkey disabled={busy} onClick={() => void touch()}>
          {t("login.passkey")}
        </button>
      )}
      {ways.value.includes("oidc") && (
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
