// Replaces characters that could hide or reorder text with their code point. A missing text becomes an empty text.
export function visible(text: string | null | undefined): string {
  return (text ?? "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, (c) => (c === "\n" ? c : `\\u{${c.codePointAt(0)!.toString(16).toUpperCase()}}`));
}

export function shownValue(value: unknown): string {
  return visible(typeof value === "string" ? value : JSON.stringify(value) ?? "");
}
