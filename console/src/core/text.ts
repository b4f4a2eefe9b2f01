// Texts in the language of the person. English and Ukrainian have the same keys; a test checks this. The page loads
// Ukrainian only if the person chooses it.
import { computed, signal } from "@preact/signals";
import { visible } from "./visible";
import en from "../../text/en.json";

declare const UKRAINIAN: string; // the address of its texts

export type Key = keyof typeof en;
export type Language = "en" | "uk" | "pseudo";
type Forms = Record<string, string>;

const LANGUAGE_KEY = "sallyport.language";

function initialLanguage(): Language {
  const stored = localStorage.getItem(LANGUAGE_KEY);
  if (stored === "en" || stored === "uk" || stored === "pseudo") return stored;
  return navigator.language.toLowerCase().startsWith("uk") ? "uk" : "en";
}

let uk: Record<string, string | Forms> | null = null;

export const language = signal<Language>("en");
export const locale = computed(() => (language.value === "uk" ? "uk" : "en-GB"));
const plurals = computed(() => new Intl.PluralRules(locale.value));

// If the texts cannot be loaded, the page keeps its language.
async function applyLanguage(next: Language): Promise<void> {
  if (next === "uk" && !uk) {
    const response = await fetch(UKRAINIAN).catch(() => null);
    if (!response?.ok) return;
    uk = (await response.json()) as Record<string, string | Forms>;
  }
  language.value = next;
}

export function setLanguage(next: Language): Promise<void> {
  localStorage.setItem(LANGUAGE_KEY, next);
  return applyLanguage(next);
}

export function startLanguage(): Promise<void> {
  return applyLanguage(initialLanguage());
}

// Makes words 40 % longer. Tests use it to find places where a longer language does not fit.
function lengthened(text: string): string {
  return text.replace(/[A-Za-z]{2,}/g, (word) => word + word.slice(0, Math.ceil(word.length * 0.4)));
}

export function t(key: Key, values: Record<string, string | number> = {}): string {
  const table: Record<string, string | Forms> = language.value === "uk" && uk ? uk : en;
  const found: string | Forms = table[key] ?? en[key];
  let text: string;
  if (typeof found === "string") text = found;
  else text = found[plurals.value.select(Number(values["n"] ?? 0))] ?? found["other"]!;
  if (language.value === "pseudo") text = lengthened(text);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => visible(String(values[name] ?? whole)));
}

// The text for a word of the server. Without a text, the word itself.
export function word(prefix: string, value: string): string {
  const key = `${prefix}.${value}`;
  return key in en ? t(key as Key) : visible(value);
}

export function number(value: number | bigint): string {
  return new Intl.NumberFormat(locale.value).format(value);
}

export function time(text: string | null | undefined): string {
  if (!text) return "";
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return visible(text);
  return new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "medium" }).format(date);
}

export function clockTime(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? visible(text) : new Intl.DateTimeFormat(locale.value, { timeStyle: "medium" }).format(date);
}
