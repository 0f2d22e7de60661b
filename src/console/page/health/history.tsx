/** The past as lines, of Prometheus or of the memory of the console. What they show is also in words, for those who do not see them. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import {
  type HistoryColumns,
  memoryColumns,
  pastColumns,
  summarizeLine,
} from '../../state/history/columns.ts';
import { HISTORY_CHARTS, type HistoryChart, historyLine } from '../../state/history/lines.ts';
import {
  DEFAULT_RANGE,
  HISTORY_RANGES,
  type HistoryRange,
  type MissingLine,
  RANGE_TIMES,
} from '../../state/history/ranges.ts';
import { pageAddress } from '../../state/pages/address.ts';
import type { ConsoleState } from '../../state/state.ts';
import { Choice } from '../parts/choice.tsx';
import { countText, Section } from '../parts/parts.tsx';
import { Chart } from './chart.tsx';
import { type Past, usePast } from './past.ts';

interface HistoryProps extends Pick<ConsoleState, 'history' | 'pipelines'> {
  readonly range: HistoryRange | undefined;
}

export function History({ history, pipelines, range = DEFAULT_RANGE }: HistoryProps): JSX.Element {
  const past = usePast(range);
  const known = typeof past === 'object' && Object.keys(past.lines).length > 0 ? past : undefined;
  const columns = useMemo(
    () => (known ? pastColumns(known, range) : memoryColumns(history, range)),
    [known ?? history, range], // oxlint-disable-line react-hooks/exhaustive-deps -- the memory counts only without Prometheus
  );
  const isHub = Object.keys(pipelines).length > 0;
  const charts = HISTORY_CHARTS.filter(({ isOfHub }) => !isOfHub || (isHub && known !== undefined));
  return (
    <>
      <Ranges range={range} />
      <Known past={past} charts={charts} range={range} />
      <div class="charts">
        {charts.map((chart) => (
          <Section key={chart.id} id={chart.id} title={chart.title}>
            <Lines chart={chart} columns={columns} />
          </Section>
        ))}
      </div>
    </>
  );
}

function Ranges({ range }: { readonly range: HistoryRange }): JSX.Element {
  return (
    <ul class="switch" aria-label="Time range">
      {HISTORY_RANGES.map((each) => (
        <Choice
          key={each}
          text={RANGE_TIMES[each].title}
          isChosen={each === range}
          address={pageAddress('health', each === DEFAULT_RANGE ? {} : { range: each })}
        />
      ))}
    </ul>
  );
}

interface KnownProps {
  readonly past: Past;
  readonly charts: readonly HistoryChart[];
  readonly range: HistoryRange;
}

/** States where the lines are from, and what is missing. */
function Known({ past, charts, range }: KnownProps): JSX.Element | null {
  if (past === 'failed') {
    return <p class="soft">The console does not answer: these are the lines that this page knows.</p>;
  }
  if (past === 'none') {
    return RANGE_TIMES[range].seconds <= RANGE_TIMES['1h'].seconds ? null : (
      <p class="soft">
        The console remembers the last hour. For more, start it with <code>--prometheus-url</code>.
      </p>
    );
  }
  if (past === undefined) return null;
  const shown = charts.flatMap(({ fields }) => fields);
  const missing = past.missing.filter(({ field }) => shown.includes(field));
  if (missing.length === 0) return null;
  const isMemory = Object.keys(past.lines).length === 0;
  return (
    <div class="missing">
      <p class="badge attention">
        ! {isMemory ? 'Prometheus has none of these lines' : 'Some lines are missing'}
      </p>
      <ul>
        {reasonsOf(missing).map(([because, titles]) => (
          <li key={because}>
            {titles.join(', ')}: {because}
          </li>
        ))}
      </ul>
      {isMemory && <p class="soft">Shown is what the console remembers: the last hour at most.</p>}
    </div>
  );
}

/** Returns each reason once, with the lines that it is about. */
function reasonsOf(missing: readonly MissingLine[]): readonly (readonly [string, readonly string[]])[] {
  return [...Map.groupBy(missing, ({ because }) => because)].map(([because, own]) => [
    because,
    own.map(({ field }) => historyLine(field).title),
  ]);
}

interface LinesProps {
  readonly chart: HistoryChart;
  readonly columns: HistoryColumns;
}

function Lines({ chart, columns }: LinesProps): JSX.Element {
  const lines = chart.fields.map(historyLine);
  return (
    <figure class="card history">
      <Chart lines={lines} columns={columns} />
      <figcaption>
        <ul>
          {lines.map(({ field, title, worst }) => {
            const found = summarizeLine(columns.lines[field]);
            return (
              <li key={field}>
                <span class={`key ${field}`} aria-hidden="true" /> {title}:{' '}
                {found ? `${nowText(found.now)}, ${countText(round(found[worst]))} at ${worst}` : 'not known'}
              </li>
            );
          })}
        </ul>
      </figcaption>
    </figure>
  );
}

function nowText(now: number | undefined): string {
  return now === undefined ? 'not known now' : `${countText(round(now))} now`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
