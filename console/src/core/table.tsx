// A table that scrolls by itself where it is wider than the screen.
import type { ComponentChildren } from "preact";
import { type Key, t } from "./text";

interface Props {
  label: string;
  heads: Key[];
  acts?: boolean; // a last column has buttons, and no title
  own?: boolean; // of the person who looks
  name?: string; // for tests
  children: ComponentChildren;
}

export function Table({ label, heads, acts, own, name, children }: Props) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label} data-table={name}>
      <table class={own ? "own" : undefined}>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{t(head)}</th>
            ))}
            {acts && <td />}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
