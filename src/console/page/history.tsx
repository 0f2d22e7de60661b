/** The last hour as lines. What they show is also in words, for those who do not see them. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import { HISTORY_LINES, historyColumns, summarizeLine } from '../state/history.ts';
import type { ConsoleState } from '../state/state.ts';
import { Section } from './parts.tsx';

const HEIGHT = 180;

export function History({ history }: Pick<ConsoleState, 'history'>): JSX.Element {
  const figure = useRef<HTMLElement>(null);
  const chart = useRef<UPlot>(undefined);
  const columns = useMemo(() => historyColumns(history), [history]);
  useEffect(() => {
    const { current } = figure;
    if (!current) return undefined;
    const created = createChart(current, columns);
    chart.current = created;
    return followLook(current, created);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the chart is made once, and gets new data below
  }, []);
  useEffect(() => chart.current?.setData(columns), [columns]);
  return (
    <Section id="history" title="The last hour">
      <figure class="card history" ref={figure}>
        <div class="chart" aria-hidden="true" />
        <figcaption>
          <ul>
            {HISTORY_LINES.map(({ field, title }) => {
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
    </Section>
  );
}

function createChart(figure: HTMLElement, columns: UPlot.AlignedData): UPlot {
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
      { ...axis, values: (_chart, times) => times.map(clockText) },
      { ...axis, size: 50, incrs: WHOLE_NUMBERS },
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum of uPlot is only in its types
      { ...axis, size: 50, incrs: WHOLE_NUMBERS, scale: 'own', side: RIGHT, grid: { show: false } },
    ],
    series: [
      {},
      ...HISTORY_LINES.map(({ field, hasOwnScale }) => ({
        stroke: () => colorOf(figure, field),
        width: 2,
        scale: hasOwnScale ? 'own' : 'y',
      })),
    ],
  };
  return new UPlot(options, columns, holder);
}

const RIGHT = 1;

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

function clockText(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  });
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
  return () => {
    resized.disconnect();
    theme.removeEventListener('change', redraw);
    chart.destroy();
  };
}
