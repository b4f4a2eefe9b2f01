// The difference of two texts, by lines. Equal lines at both ends are skipped first. If the rest is too long, all of it
// counts as changed.

export interface Line {
  kind: "same" | "old" | "new";
  text: string;
}

const MOST_CELLS = 1_000_000;

export function lineDiff(before: string, now: string): Line[] {
  const a = before.split("\n");
  const b = now.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (text: string): Line => ({ kind: "same", text });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function middle(a: string[], b: string[]): Line[] {
  if (a.length * b.length > MOST_CELLS) return [...a.map((text): Line => ({ kind: "old", text })), ...b.map((text): Line => ({ kind: "new", text }))];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? longest[(i + 1) * width + j + 1]! + 1 : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
    }
  }
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i]! });
      i++;
      j++;
    } else if (j === b.length || (i < a.length && longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!)) {
      lines.push({ kind: "old", text: a[i++]! });
    } else {
      lines.push({ kind: "new", text: b[j++]! });
    }
  }
  return lines;
}
