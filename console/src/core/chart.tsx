// A line over time, drawn beside a table that says the same.
interface Point {
  at: string;
  value: number | null; // null: nothing is known there
}

const WIDTH = 600;
const HEIGHT = 120;

export function Chart({ points, most, label }: { points: Point[]; most: number; label: string }) {
  const known = points.map((point, i) => ({ i, value: point.value })).filter((point): point is { i: number; value: number } => point.value !== null);
  const x = (i: number) => (points.length < 2 ? WIDTH / 2 : (i * WIDTH) / (points.length - 1));
  const y = (value: number) => HEIGHT - (most === 0 ? 0 : (value / most) * HEIGHT);
  const path = known.map(({ i, value }, at) => `${at === 0 ? "M" : "L"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  return (
    <svg class="chart" viewBox={`-4 -4 ${WIDTH + 8} ${HEIGHT + 8}`} role="img" aria-label={label} preserveAspectRatio="none">
      <path class="axis" d={`M0 0V${HEIGHT}H${WIDTH}`} />
      <path class="line" d={path} />
      {known.length === 1 && <circle cx={x(known[0]!.i)} cy={y(known[0]!.value)} r="3" />}
    </svg>
  );
}
