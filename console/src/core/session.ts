// Who is signed in. The session is a cookie that scripts cannot read and a page secret that other ports cannot read.
import { computed, signal } from "@preact/signals";
import { ask, get, keepPageSecret, onEnded, pageSecret, Problem } from "./api";
import { tellServerTime } from "./clock";
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
export const why = signal<Problem | null>(null); // why no person is signed in, or why a login failed
export const ways = signal<string[]>([]); // to sign in
export const roles = computed(() => new Set(session.value?.roles ?? []));

onEnded((problem) => {
  if (!session.value && !pageSecret()) return;
  keepPageSecret(null);
  session.value = null;
  why.value = problem;
});

// Under plain http a network could read along: the page offers no login there.
export const safe = window.isSecureContext;

async function login(path: string, body: unknown): Promise<void> {
  why.value = null;
  const asked = performance.now();
  try {
    const response = await ask(path, { method: "POST", body });
    const { page_secret, server_time, ...rest } = (await response.json()) as Session & { page_secret: string; server_time: string };
    keepPageSecret(page_secret);
    tellServerTime(server_time, asked);
    session.value = rest;
  } catch (error) {
    why.value = error instanceof Problem ? error : new Problem(0, "no_answer", String(error));
  }
}

// The challenge first, then what the person's passkey says to it.
export async function loginByPasskey(): Promise<void> {
  why.value = null;
  try {
    const { challenge } = (await (await ask("session/passkey", { method: "POST", body: {} })).json()) as { challenge: string };
    await login("session/passkey", { signature: await signWithPasskey(fromBase64url(challenge)) });
  } catch (error) {
    why.value = error instanceof Problem ? error : new Problem(0, "no_answer", String(error));
  }
}

export function loginByToken(token: string): Promise<void> {
  return login("session/token", { token });
}

// The fragment leaves the address bar before anything else happens.
function takeLink(): string | null {
  const found = /^#once=([^&]+)$/.exec(location.hash);
  const failed = /^#failed=([a-z_]+)$/.exec(location.hash);
  if (failed) why.value = new Problem(0, failed[1]!, failed[1]!);
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search);
  return found?.[1] ?? null;
}

export async function start(): Promise<void> {
  const once = takeLink();
  if (safe && once !== null) await login("session/link", { once });
  else if (safe && pageSecret()) {
    try {
      session.value = await get<Session>("session");
    } catch (error) {
      if (error instanceof Problem && error.status !== 401) why.value = error;
    }
  }
  starting.value = false;
  if (safe && !session.value) void readWays();
}

// A person who is not signed in is told the ways to sign in.
async function readWays(): Promise<void> {
  try {
    await ask("session");
  } catch (error) {
    if (error instanceof Problem) ways.value = error.signIn;
  }
}

export async function logout(): Promise<void> {
  try {
    await ask("session", { method: "DELETE" });
  } finally {
    keepPageSecret(null);
    session.value = null;
    why.value = null;
  }
}

// Another tab signed out, or in again.
window.addEventListener("storage", (event) => {
  if (event.key === "sallyport.page") location.reload();
});
