// A table. On a narrow display each row is a card, and each cell shows the title of its column. Otherwise a table that is
// wider than the display scrolls.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Key, t } from "./text";

interface Props {
  label: string;
  heads: Key[];
  hasActions?: boolean; // the last column has buttons and no title
  testName?: string; // for tests
  children: ComponentChildren;
}

export function Table({ label, heads, hasActions, testName, children }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    for (const row of body.current!.rows) for (const [i, cell] of [...row.cells].entries()) cell.dataset["label"] = heads[i] ? t(heads[i]) : "";
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label} data-table={testName}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{t(head)}</th>
            ))}
            {hasActions && <td />}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}
