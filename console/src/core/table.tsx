// A table. On a narrow screen each row is a card, whose cells have the titles of their columns before them; else it scrolls
// by itself where it is wider than the screen.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Key, t } from "./text";

interface Props {
  label: string;
  heads: Key[];
  acts?: boolean; // a last column has buttons, and no title
  name?: string; // for tests
  children: ComponentChildren;
}

export function Table({ label, heads, acts, name, children }: Props) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    for (const row of body.current!.rows) for (const [i, cell] of [...row.cells].entries()) cell.dataset["label"] = heads[i] ? t(heads[i]) : "";
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label} data-table={name}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{t(head)}</th>
            ))}
            {acts && <td />}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}
