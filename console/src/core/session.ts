// The session of the person: a cookie that scripts cannot read, and a page secret that other ports cannot read.
import { computed, signal } from "@preact/signals";
import { get, onSessionEnd, pageSecret, Problem, request, storePageSecret } from "./api";
import { setServerTime } from "./clock";
import { fromBase64url } from "../keys/bytes";
import { signWithPasskey } from "../keys/passkey";

export interface Session {
  id: string;
  name: string;
  roles: string[];
  how: string;
  expires_at: string;
  version: string;
  console: { policies: string; strong: string[] };
}

export const session = signal<Session | null>(null);
export const starting = signal(true);
export const loginProblem = signal<Problem | null>(null); // why the session ended or a login failed
export const loginMethods = signal<string[]>([]);
export const roles = computed(() => new Set(session.value?.roles ?? []));

onSessionEnd((problem) => {
  if (!session.value && !pageSecret()) return;
  storePageSecret(null);
  session.value = null;
  loginProblem.value = problem;
});

// Over plain HTTP the network could read the token. The page offers no login there.
export const isSecure = window.isSecureContext;

async function login(path: string, body: unknown): Promise<void> {
  loginProblem.value = null;
  const sentAt = performance.now();
  try {
    const response = await request(path, { method: "POST", body });
    const { page_secret, server_time, ...rest } = (await response.json()) as Session & { page_secret: string; server_time: string };
    storePageSecret(page_secret);
    setServerTime(server_time, sentAt);
    session.value = rest;
  } catch (error) {
    loginProblem.value = error instanceof Problem ? error : new Problem(0, "no_answer", String(error));
  }
}

// Gets a challenge and sends its signature by a passkey.
export async function loginByPasskey(): Promise<void> {
  loginProblem.value = null;
  try {
    const { challenge } = (await (await request("session/passkey", { method: "POST", body: {} })).json()) as { challenge: string };
    await login("session/passkey", { signature: await signWithPasskey(fromBase64url(challenge)) });
  } catch (error) {
    loginProblem.value = error instanceof Problem ? error : new Problem(0, "no_answer", String(error));
  }
}

export function loginByToken(token: string): Promise<void> {
  return login("session/token", { token });
}

// Returns the one-time code of a login link. Removes the fragment from the address bar before any request.
function takeLinkCode(): string | null {
  const codeMatch = /^#once=([^&]+)$/.exec(location.hash);
  const failureMatch = /^#failed=([a-z_]+)$/.exec(location.hash);
  if (failureMatch) loginProblem.value = new Problem(0, failureMatch[1]!, failureMatch[1]!);
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search);
  return codeMatch?.[1] ?? null;
}

export async function startSession(): Promise<void> {
  const code = takeLinkCode();
  if (isSecure && code !== null) await login("session/link", { once: code });
  else if (isSecure && pageSecret()) {
    try {
      session.value = await get<Session>("session");
    } catch (error) {
      if (error instanceof Problem && error.status !== 401) loginProblem.value = error;
    }
  }
  starting.value = false;
  if (isSecure && !session.value) void readLoginMethods();
}

// The refusal of a request without a session lists the login methods.
async function readLoginMethods(): Promise<void> {
  try {
    await request("session");
  } catch (error) {
    if (error instanceof Problem) loginMethods.value = error.signIn;
  }
}

export async function logout(): Promise<void> {
  try {
    await request("session", { method: "DELETE" });
  } finally {
    storePageSecret(null);
    session.value = null;
    loginProblem.value = null;
  }
}

// Another tab signed in or out.
window.addEventListener("storage", (event) => {
  if (event.key === "sallyport.page") location.reload();
});
