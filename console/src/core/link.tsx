// A link inside the console. Opens in a new tab where the person asks for one.
import type { ComponentChildren } from "preact";
import { go } from "./url";

interface Props {
  to: string;
  children: ComponentChildren;
  current?: boolean;
  class?: string;
  title?: string;
  "data-row"?: string;
}

export function Link({ to, children, current, ...rest }: Props) {
  return (
    <a
      {...rest}
      href={to}
      aria-current={current ? "page" : undefined}
      onClick={(event: MouseEvent) => {
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
