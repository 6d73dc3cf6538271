interface Props {
  readonly title: string;
  readonly values: readonly number[];
}

const [width, height] = [120, 28];

/** A small chart without axes, beside a number. */
export function Sparkline({ title, values }: Props) {
  const max = Math.max(1, ...values);
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const y = height - 2 - (value / max) * (height - 4);
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={title}
    >
      <polygon points={`0,${height} ${points.join(" ")} ${width},${height}`} />
      <polyline points={points.join(" ")} />
    </svg>
  );
}
