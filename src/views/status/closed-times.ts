/** Writes notes about when the stages of a Pipeline take no commit, and a set begins no update: now, and next. Pure. */
import type { Freeze, Pipeline, Window } from '../../api/generated/types.ts';
import {
  type ClosedTimes,
  closedLimit,
  freezeLimit,
  isTimeZone,
  windowLimit,
  windowState,
} from '../../rollout/maintenance-windows.ts';

/** A freeze is announced for two weeks, the end of a window for a day: most windows close every day. */
const [FREEZE_DAYS, WINDOW_DAYS] = [14, 1];
const DAY_MS = 86_400_000;

type Stage = Pipeline['spec']['stages'][number];

export function closedTimeNotes(pipeline: Pipeline, now: Date): readonly string[] {
  const freezes = freezesInForce(pipeline);
  const frozen = freezeLimit(freezes, now);
  return [
    ...(frozen ? [`closed now by ${frozen.because}`] : []),
    ...nextFreezeNotes(freezes, now),
    ...pipeline.spec.stages.flatMap((stage) => stageNote(stage, now)),
  ];
}

/** Writes notes about when a set begins no update: now, and next. */
export function closedSetNotes(times: ClosedTimes, now: Date): readonly string[] {
  const closed = closedLimit(times, now);
  const next = closed ? undefined : closingOf(times.windows, now);
  return [
    ...(closed ? [`now: ${closed.because}`] : []),
    ...nextFreezeNotes(times.freezes, now),
    ...(next ? [`closes at ${next.at.toISOString()}, with window ${next.window}`] : []),
  ];
}

function nextFreezeNotes(freezes: readonly Freeze[], now: Date): readonly string[] {
  return freezes.filter(({ from }) => isWithin(new Date(from), now, FREEZE_DAYS)).map(nextFreezeNote);
}

/** With those that a commit removed which is still judged by them: sync obeys both. */
function freezesInForce({ spec, status }: Pipeline): readonly Freeze[] {
  const { inForce, judging } = status?.gates ?? {};
  const all = [...(spec.freezes ?? []), ...(inForce?.freezes ?? []), ...(judging?.gates.freezes ?? [])];
  return [
    ...new Map(all.map((freeze) => [`${freeze.name} ${freeze.from} ${freeze.until}`, freeze])).values(),
  ];
}

function nextFreezeNote({ name, from, until, reason }: Freeze): string {
  const [begins, ends] = [new Date(from).toISOString(), new Date(until).toISOString()];
  return `closes at ${begins}, by freeze ${name} until ${ends}: ${reason}`;
}

function stageNote({ name, windows: declared }: Stage, now: Date): readonly string[] {
  // Absent where a hub was installed by an older version.
  const windows = declared ?? [];
  const closed = windowLimit(windows, now);
  if (closed) return [`stage ${name} is closed now: ${closed.because}`];
  const next = closingOf(windows, now);
  return next ? [`stage ${name} closes at ${next.at.toISOString()}, with window ${next.window}`] : [];
}

function closingOf(
  windows: readonly Window[],
  now: Date,
): { readonly at: Date; readonly window: string } | undefined {
  if (!windows.every(({ timeZone }) => isTimeZone(timeZone))) return undefined;
  const { open, changesAt } = windowState(windows, now);
  if (!open || !changesAt || !isWithin(changesAt, now, WINDOW_DAYS)) return undefined;
  return { at: changesAt, window: open.name };
}

function isWithin(moment: Date, now: Date, days: number): boolean {
  return moment > now && +moment <= +now + days * DAY_MS;
}
