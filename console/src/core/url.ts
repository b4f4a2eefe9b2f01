// The address holds what a screen shows: its name, what is selected and every filter.
import { computed, signal } from "@preact/signals";

const ROOT = "/console/";

export interface Place {
  screen: string; // empty: the address names none
  id: string;
  query: URLSearchParams;
}

// An address that somebody has cut or mistyped names nothing that is there.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function here(): Place {
  const parts = location.pathname.slice(ROOT.length).split("/");
  return { screen: parts[0] ?? "", id: decoded(parts[1] ?? ""), query: new URLSearchParams(location.search) };
}

export const place = signal<Place>(here());
export const screen = computed(() => place.value.screen);
window.addEventListener("popstate", () => (place.value = here()));

export function address(screenName: string, id = "", query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return ROOT + screenName + (id ? "/" + encodeURIComponent(id) : "") + (search ? "?" + search : "");
}

export function go(to: string): void {
  if (to !== location.pathname + location.search) history.pushState(null, "", to);
  place.value = here();
}

// A filter: the place in the history stays the same.
export function filter(changes: Record<string, string>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  history.replaceState(null, "", location.pathname + (search ? "?" + search : ""));
  place.value = here();
}
