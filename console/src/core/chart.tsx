// A line over time, drawn beside a table that says the same.
import { time } from "./text";

interface Point {
  at: string;
  value: number | null; // null: nothing is known there
}

const WIDTH = 600;
const HEIGHT = 120;

interface Props {
  points: Point[];
  most: number;
  top: string; // `most`, as people read it
  label: string;
}

export function Chart({ points, most, top, label }: Props) {
  const known = points.map((point, i) => ({ i, value: point.value })).filter((point): point is { i: number; value: number } => point.value !== null);
  const x = (i: number) => (points.length < 2 ? WIDTH / 2 : (i * WIDTH) / (points.length - 1));
  const y = (value: number) => HEIGHT - (most === 0 ? 0 : (value / most) * HEIGHT);
  const path = known.map(({ i, value }, at) => `${at === 0 ? "M" : "L"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  return (
    <figure class="charted">
      <span class="quiet">{top}</span>
      <svg class="chart" viewBox={`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`} role="img" aria-label={label} preserveAspectRatio="none">
        <path class="axis" d={`M0 0V${HEIGHT}H${WIDTH}`} />
        <path class="line" d={path} />
        {known.length === 1 && <circle cx={x(known[0]!.i)} cy={y(known[0]!.value)} r="3" />}
      </svg>
      {points.length > 0 && (
        <figcaption class="quiet">
          <span>{time(points[0]!.at)}</span>
          <span>{time(points[points.length - 1]!.at)}</span>
        </figcaption>
      )}
    </figure>
  );
}
