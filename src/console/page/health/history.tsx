/** The last hour as lines. What they show is also in words, for those who do not see them. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { HISTORY_LINES, type HistoryLine, historyColumns, summarizeLine } from '../../state/history.ts';
import type { ConsoleState } from '../../state/state.ts';
import { Section } from '../parts/parts.tsx';
import { clockText } from '../parts/time.ts';
import { THEME_EVENT } from '../shell/theme.tsx';

const HEIGHT = 160;

/** Lists the lines of each chart: a reader can distinguish four at most. */
const CHARTS = [
  { id: 'history', title: 'The last hour', fields: ['changing', 'trouble', 'updated'] },
  { id: 'acts', title: 'Acts in the last hour', fields: ['repairs', 'grants'] },
] as const satisfies readonly ChartOf[];

interface ChartOf {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly HistoryLine['field'][];
}

export function History({ history }: Pick<ConsoleState, 'history'>): JSX.Element {
  return (
    <>
      {CHARTS.map(({ id, title, fields }) => (
        <Section key={id} id={id} title={title}>
          <Chart
            history={history}
            lines={HISTORY_LINES.filter(({ field }) => fields.some((each) => each === field))}
          />
        </Section>
      ))}
    </>
  );
}

interface ChartProps extends Pick<ConsoleState, 'history'> {
  readonly lines: readonly HistoryLine[];
}

function Chart({ history, lines }: ChartProps): JSX.Element {
  const figure = useRef<HTMLElement>(null);
  const chart = useRef<UPlot>(undefined);
  const columns = useMemo(() => historyColumns(history, lines), [history]); // oxlint-disable-line react-hooks/exhaustive-deps -- a chart keeps its lines
  useEffect(() => {
    const { current } = figure;
    if (!current) return undefined;
    const created = createChart(current, lines, columns);
    chart.current = created;
    return followLook(current, created);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the chart is made once, and gets new data below
  }, []);
  useEffect(() => chart.current?.setData(columns), [columns]);
  return (
    <figure class="card history" ref={figure}>
      <div class="chart" aria-hidden="true" />
      <figcaption>
        <ul>
          {lines.map(({ field, title }) => {
            const { now, most } = summarizeLine(history, field);
            return (
              <li key={field}>
                <span class={`key ${field}`} aria-hidden="true" /> {title}: {now} now, {most} at most
              </li>
            );
          })}
        </ul>
      </figcaption>
    </figure>
  );
}

function createChart(figure: HTMLElement, lines: readonly HistoryLine[], columns: UPlot.AlignedData): UPlot {
  const holder = figure.querySelector<HTMLElement>('.chart') ?? figure;
  // At each drawing, because the colors of a theme change with it.
  const text = (): string => getComputedStyle(holder).color;
  const line = (): string => getComputedStyle(holder).borderTopColor;
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false } };
  const options: UPlot.Options = {
    width: holder.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: fromZero }, own: { range: fromZero } },
    axes: [
      { ...axis, values: (_chart, times) => times.map((seconds) => clockText(seconds * 1000)) },
      { ...axis, size: 50, incrs: WHOLE_NUMBERS },
      ...(lines.some(({ hasOwnScale }) => hasOwnScale) ? [ownAxis(axis)] : []),
    ],
    series: [
      {},
      ...lines.map(({ field, hasOwnScale }) => ({
        stroke: () => colorOf(figure, field),
        width: 2,
        scale: hasOwnScale ? 'own' : 'y',
      })),
    ],
  };
  return new UPlot(options, columns, holder);
}

const RIGHT = 1;

function ownAxis(axis: UPlot.Axis): UPlot.Axis {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum of uPlot is only in its types
  return { ...axis, size: 50, incrs: WHOLE_NUMBERS, scale: 'own', side: RIGHT, grid: { show: false } };
}

function fromZero(_chart: UPlot, _least: number, most: number): UPlot.Range.MinMax {
  return [0, Math.max(1, most)];
}

/** Half a machine is no mark of an axis. */
const WHOLE_NUMBERS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];

/** That of its key, which is beside its words. */
function colorOf(figure: HTMLElement, field: string): string {
  const key = figure.querySelector(`.key.${field}`);
  return key ? getComputedStyle(key).backgroundColor : '';
}

/** Draws again in another width or theme. Returns what ends that. */
function followLook(figure: HTMLElement, chart: UPlot): () => void {
  const resized = new ResizeObserver(() => {
    const width = figure.querySelector('.chart')?.clientWidth ?? 0;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height: HEIGHT });
  });
  resized.observe(figure);
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
