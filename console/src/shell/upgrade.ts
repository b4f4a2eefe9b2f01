// Detects an upgrade of the gate. The page shows a banner and never reloads by itself, so that no typed text is lost.
import { signal } from "@preact/signals";
import { onOpen } from "../core/stream";

export const newBuild = signal(false);

async function checkBuild(): Promise<void> {
  const ownBuild = document.querySelector<HTMLMetaElement>('meta[name="sallyport-build"]')?.content;
  try {
    const response = await fetch("/console/build.json", { cache: "no-cache" });
    if (!response.ok) return;
    const { build } = (await response.json()) as { build: string };
    newBuild.value = build !== ownBuild;
  } catch {
    // Without an answer the page cannot know of an upgrade.
  }
}

export function watchBuild(): void {
  onOpen(() => void checkBuild());
}
