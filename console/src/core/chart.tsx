// A line over time. Each chart has a table with the same numbers beside it.
import { time } from "./text";

interface Point {
  at: string;
  value: number | null; // null: unknown
}

const WIDTH = 600;
const HEIGHT = 120;

interface Props {
  points: Point[];
  max: number;
  maxText: string; // `max` as text
  label: string;
}

export function Chart({ points, max, maxText, label }: Props) {
  const knownPoints = points.map((point, i) => ({ i, value: point.value })).filter((point): point is { i: number; value: number } => point.value !== null);
  const x = (i: number) => (points.length < 2 ? WIDTH / 2 : (i * WIDTH) / (points.length - 1));
  const y = (value: number) => HEIGHT - (max === 0 ? 0 : (value / max) * HEIGHT);
  const path = knownPoints.map(({ i, value }, at) => `${at === 0 ? "M" : "L"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  return (
    <figure class="charted">
      <span class="quiet">{maxText}</span>
      <svg class="chart" viewBox={`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`} role="img" aria-label={label} preserveAspectRatio="none">
        <path class="axis" d={`M0 0V${HEIGHT}H${WIDTH}`} />
        <path class="line" d={path} />
        {knownPoints.length === 1 && <circle cx={x(knownPoints[0]!.i)} cy={y(knownPoints[0]!.value)} r="3" />}
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
