// The address has the name of the screen, the selected item and all filters.
import { computed, signal } from "@preact/signals";

const ROOT = "/console/";

export interface Place {
  screen: string; // empty: the address names no screen
  id: string;
  query: URLSearchParams;
}

// A malformed `%` sequence stays as it is. Such an id matches nothing.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function currentPlace(): Place {
  const parts = location.pathname.slice(ROOT.length).split("/");
  return { screen: parts[0] ?? "", id: decoded(parts[1] ?? ""), query: new URLSearchParams(location.search) };
}

export const place = signal<Place>(currentPlace());
export const screen = computed(() => place.value.screen);
window.addEventListener("popstate", () => (place.value = currentPlace()));

export function address(screenName: string, id = "", query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return ROOT + screenName + (id ? "/" + encodeURIComponent(id) : "") + (search ? "?" + search : "");
}

export function navigate(to: string): void {
  if (to !== location.pathname + location.search) history.pushState(null, "", to);
  place.value = currentPlace();
}

// Changes filters without a new entry in the browser history.
export function setFilters(changes: Record<string, string>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  history.replaceState(null, "", location.pathname + (search ? "?" + search : ""));
  place.value = currentPlace();
}
