// Texts in the language of the person. English and Ukrainian have the same keys; a test keeps that so. Ukrainian is read
// when it is wanted.
import { computed, signal } from "@preact/signals";
import { visible } from "./visible";
import en from "../../text/en.json";

declare const UKRAINIAN: string; // where its texts are

export type Key = keyof typeof en;
export type Language = "en" | "uk" | "pseudo";
type Forms = Record<string, string>;

const KEPT = "sallyport.language";

function first(): Language {
  const kept = localStorage.getItem(KEPT);
  if (kept === "en" || kept === "uk" || kept === "pseudo") return kept;
  return navigator.language.toLowerCase().startsWith("uk") ? "uk" : "en";
}

let uk: Record<string, string | Forms> | null = null;

export const language = signal<Language>("en");
export const locale = computed(() => (language.value === "uk" ? "uk" : "en-GB"));
const plurals = computed(() => new Intl.PluralRules(locale.value));

// Where the texts cannot be had, the page stays in English.
async function speak(next: Language): Promise<void> {
  if (next === "uk" && !uk) {
    const response = await fetch(UKRAINIAN).catch(() => null);
    if (!response?.ok) return;
    uk = (await response.json()) as Record<string, string | Forms>;
  }
  language.value = next;
}

export function setLanguage(next: Language): Promise<void> {
  localStorage.setItem(KEPT, next);
  return speak(next);
}

export function startLanguage(): Promise<void> {
  return speak(first());
}

// 40 % longer: shows in tests where a longer language would not fit.
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

// A word of the server: its text where we have one, else the word itself.
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
