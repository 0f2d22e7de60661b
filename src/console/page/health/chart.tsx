/** Draws lines over time, each with its name at its end. The figure around it has the same in words. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { type HistoryColumns, spreadLabels } from '../../state/history/columns.ts';
import type { HistoryLine } from '../../state/history/lines.ts';
import { clockText } from '../parts/time.ts';
import { THEME_EVENT } from '../shell/theme.tsx';

const HEIGHT = 160;
const LABEL_WIDTH = 78;
const LABEL_HEIGHT = 16;

interface ChartProps {
  readonly lines: readonly HistoryLine[];
  readonly columns: HistoryColumns;
}

export function Chart({ lines, columns }: ChartProps): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(undefined);
  const range = useRef(columns);
  range.current = columns;
  const data = useMemo(() => dataOf(columns, lines), [columns]); // oxlint-disable-line react-hooks/exhaustive-deps -- a chart keeps its lines
  useEffect(() => {
    const { current } = holder;
    if (!current) return undefined;
    const created = new UPlot(
      optionsOf(current, lines, () => range.current),
      data,
      current,
    );
    chart.current = created;
    return followLook(current, created);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the chart is made once, and gets new data below
  }, []);
  useEffect(() => chart.current?.setData(data), [data]);
  return (
    <div class="chart" ref={holder} aria-hidden="true">
      {lines.map(({ field, label }) => (
        <span key={field} class={`line-end ${field}`}>
          {label}
        </span>
      ))}
    </div>
  );
}

function dataOf({ times, lines: known }: HistoryColumns, lines: readonly HistoryLine[]): UPlot.AlignedData {
  const columns = lines.map(({ field }) => [...(known[field] ?? times.map(() => null))]);
  return [[...times], ...columns];
}

function optionsOf(
  holder: HTMLElement,
  lines: readonly HistoryLine[],
  range: () => HistoryColumns,
): UPlot.Options {
  // At each drawing, because the colors of a theme change with it.
  const text = (): string => getComputedStyle(holder).color;
  const line = (): string => getComputedStyle(holder).borderTopColor;
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  return {
    width: holder.clientWidth,
    height: HEIGHT,
    padding: [8, LABEL_WIDTH, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { range: () => [range().from, range().to] }, y: { range: fromZero } },
    axes: [
      {
        ...axis,
        space: 64,
        size: 28,
        values: (_chart, times) => times.map((seconds) => clockText(seconds * 1000)),
      },
      { ...axis, size: 50, incrs: WHOLE_NUMBERS },
    ],
    series: [{}, ...lines.map(({ field }) => ({ stroke: () => colorOf(holder, field), width: 2 }))],
    hooks: { draw: [(chart) => placeLabels(chart, holder, lines)] },
  };
}

function fromZero(_chart: UPlot, _least: number, most: number | null): UPlot.Range.MinMax {
  return [0, Math.max(1, 1.05 * (most ?? 1))];
}

/** Axes have marks at whole machines only. */
const WHOLE_NUMBERS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];

/** A label has the color of its line. */
function colorOf(holder: HTMLElement, field: string): string {
  const label = holder.querySelector(`.line-end.${field}`);
  return label ? getComputedStyle(label).borderLeftColor : '';
}

/** Places each label at the last value of its line. A line without a value has none. */
function placeLabels(chart: UPlot, holder: HTMLElement, lines: readonly HistoryLine[]): void {
  const shown = lines.flatMap(({ field }, index) => {
    const label = holder.querySelector<HTMLElement>(`.line-end.${field}`);
    const value = Array.from(chart.data[index + 1] ?? []).findLast((each) => typeof each === 'number');
    if (label) label.hidden = value === undefined;
    return label && typeof value === 'number' ? [{ label, y: chart.valToPos(value, 'y') }] : [];
  });
  const { top, height } = chart.over.getBoundingClientRect();
  const offset = top - holder.getBoundingClientRect().top;
  const places = spreadLabels(
    shown.map(({ y }) => y - LABEL_HEIGHT / 2),
    LABEL_HEIGHT,
    height + LABEL_HEIGHT / 2,
  );
  for (const [index, { label }] of shown.entries()) label.style.top = `${offset + (places[index] ?? 0)}px`;
}

/** Draws again in another width or theme. Returns what ends that. */
function followLook(holder: HTMLElement, chart: UPlot): () => void {
  const resized = new ResizeObserver(() => {
    const { clientWidth: width } = holder;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height: HEIGHT });
  });
  resized.observe(holder);
  const theme = matchMedia('(prefers-color-scheme: dark)');
  const redraw = (): void => chart.redraw();
  theme.addEventListener('change', redraw);
  document.addEventListener(THEME_EVENT, redraw);
  return () => {
    resized.disconnect();
    theme.removeEventListener('change', redraw);
    document.removeEventListener(THEME_EVENT, redraw);
    chart.destroy();
  };
}
