// Reads one answer of the gate for a screen. Reads it again if the path changes or the screen calls `reload`.
import { useEffect, useState } from "preact/hooks";
import { get } from "./api";

export interface Loaded<T> {
  data: T | null;
  error: unknown; // null: no error
  reload: () => void;
}

export function useGet<T>(path: string): Loaded<T> {
  const [state, setState] = useState<{ path: string; data: T | null; error: unknown }>({ path, data: null, error: null });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    get<T>(path, controller.signal).then(
      (data) => setState({ path, data, error: null }),
      (error: unknown) => {
        if (!controller.signal.aborted) setState({ path, data: null, error });
      },
    );
    return () => controller.abort();
  }, [path, attempt]);
  const isCurrent = state.path === path; // the answer of another path is not shown
  return { data: isCurrent ? state.data : null, error: isCurrent ? state.error : null, reload: () => setAttempt(attempt + 1) };
}

export interface Page<T> {
  items: T[];
  next: string | null;
  prev: string | null;
  tree_size: number;
  total: number;
  exact: boolean;
  reached?: { sequence: number; side: "next" | "prev" } | null; // the search stopped here; the page on `side` continues it
}
