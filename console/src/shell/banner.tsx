// The banners of all pages: faults of the gate, a lost connection, and a new build.
import { health } from "../core/health";
import { streamState } from "../core/stream";
import { clockTime, t, word } from "../core/text";
import { newBuild } from "./upgrade";

export function Banner() {
  const rows = health.value?.banner ?? [];
  return (
    <div class="banners" role="status" aria-live="polite">
      {rows.map((row) => (
        <p class="banner bad" data-banner={row.kind}>
          <strong>{word("banner", row.kind)}:</strong> {row.detail} {row.since && t("banner.since", { time: clockTime(row.since) })}
        </p>
      ))}
      {(streamState.value === "lost" || streamState.value === "refused") && (
        <p class="banner warn" data-banner="lost">
          {t("banner.lost")}
        </p>
      )}
      {newBuild.value && (
        <p class="banner warn" data-banner="upgrade">
          {t("banner.upgrade")}{" "}
          <button type="button" class="small" onClick={() => location.reload()}>
            {t("banner.reload")}
          </button>
        </p>
      )}
    </div>
  );
}
