// A link inside the console. A click with a modifier key or another button keeps its usual effect, for example a new tab.
import type { ComponentChildren } from "preact";
import { navigate } from "./url";

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
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
