/** Writes notes about when the stages of a Pipeline take no commit: now, and next. Pure. */
import type { Freeze, Pipeline } from '../../api/generated/types.ts';
import { freezeLimit, isTimeZone, windowLimit, windowState } from '../../rollout/maintenance-windows.ts';

/** A freeze is announced for two weeks, the end of a window for a day: most windows close every day. */
const [FREEZE_DAYS, WINDOW_DAYS] = [14, 1];
const DAY_MS = 86_400_000;

type Stage = Pipeline['spec']['stages'][number];

export function closedTimeNotes(pipeline: Pipeline, now: Date): readonly string[] {
  const freezes = freezesInForce(pipeline);
  const frozen = freezeLimit(freezes, now);
  return [
    ...(frozen ? [`closed now by ${frozen.because}`] : []),
    ...freezes.filter(({ from }) => isWithin(new Date(from), now, FREEZE_DAYS)).map(nextFreezeNote),
    ...pipeline.spec.stages.flatMap((stage) => stageNote(stage, now)),
  ];
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
  if (!windows.every(({ timeZone }) => isTimeZone(timeZone))) return [];
  const { open, changesAt } = windowState(windows, now);
  if (!open || !changesAt || !isWithin(changesAt, now, WINDOW_DAYS)) return [];
  return [`stage ${name} closes at ${changesAt.toISOString()}, with window ${open.name}`];
}

function isWithin(moment: Date, now: Date, days: number): boolean {
  return moment > now && +moment <= +now + days * DAY_MS;
}
