// After an upgrade an open page says so and keeps what the person typed: it never reloads by itself.
import { signal } from "@preact/signals";
import { onOpen } from "../core/stream";

export const newBuild = signal(false);

async function look(): Promise<void> {
  const own = document.querySelector<HTMLMetaElement>('meta[name="sallyport-build"]')?.content;
  try {
    const response = await fetch("/console/build.json", { cache: "no-cache" });
    if (!response.ok) return;
    const { build } = (await response.json()) as { build: string };
    newBuild.value = build !== own;
  } catch {
    // No answer is no upgrade.
  }
}

export function watchBuild(): void {
  onOpen(() => void look());
}
