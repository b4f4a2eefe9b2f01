// Reads one answer of the gate for a screen, and reads it again when the address or a change asks for it.
import { useEffect, useState } from "preact/hooks";
import { get } from "./api";

export interface Loaded<T> {
  read: T | null;
  failed: unknown; // null: it did not fail
  again: () => void;
}

export function useGet<T>(path: string): Loaded<T> {
  const [state, setState] = useState<{ path: string; read: T | null; failed: unknown }>({ path, read: null, failed: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    get<T>(path, stop.signal).then(
      (read) => setState({ path, read, failed: null }),
      (failed: unknown) => {
        if (!stop.signal.aborted) setState({ path, read: null, failed });
      },
    );
    return () => stop.abort();
  }, [path, turn]);
  const here = state.path === path; // what another address gave is not shown here
  return { read: here ? state.read : null, failed: here ? state.failed : null, again: () => setTurn(turn + 1) };
}

export interface Page<T> {
  items: T[];
  next: string | null;
  prev: string | null;
  tree_size: number;
  total: number;
  exact: boolean;
  reached?: { sequence: number; side: "next" | "prev" } | null; // the search stopped there; the page on that side goes on
}
