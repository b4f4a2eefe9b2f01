// The buttons for the previous and the next page. The address has the cursor.
import type { Page } from "./load";
import { t } from "./text";
import { setFilters } from "./url";

export function Pager({ list }: { list: Page<unknown> }) {
  if (list.prev === null && list.next === null) return null;
  return (
    <p class="pager">
      <button type="button" disabled={list.prev === null} onClick={() => setFilters({ cursor: list.prev ?? "" })}>
        ‹ {t("list.prev")}
      </button>
      <button type="button" disabled={list.next === null} onClick={() => setFilters({ cursor: list.next ?? "" })}>
        {t("list.next")} ›
      </button>
    </p>
  );
}
