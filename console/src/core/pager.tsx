// To the pages before and behind this one; the address holds which it is.
import type { Page } from "./load";
import { t } from "./text";
import { filter } from "./url";

export function Pager({ list }: { list: Page<unknown> }) {
  if (list.prev === null && list.next === null) return null;
  return (
    <p class="pager">
      <button type="button" disabled={list.prev === null} onClick={() => filter({ cursor: list.prev ?? "" })}>
        ‹ {t("list.prev")}
      </button>
      <button type="button" disabled={list.next === null} onClick={() => filter({ cursor: list.next ?? "" })}>
        {t("list.next")} ›
      </button>
    </p>
  );
}
