/** Derives what probes found of one version since it was started. Pure; times are monotonic. */
import type { ComponentProbe } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { ProbeAnswer, UnitStatus } from '../host/port.ts';
import type { TransitionFailure } from '../journal/record.ts';
import type { Target } from '../target/target.ts';
import type { ProbationProgress } from './input.ts';

export interface ProbeState {
  readonly successes: number;
  readonly failures: number;
  readonly lastRunMs: number;
  readonly lastAnswer: string;
  readonly hasPassed: boolean;
}

export interface ProbesProgress {
  readonly startedMs: number;
  /** The state of each probe by its name; absent until the probe ran. */
  readonly probes: ReadonlyMap<string, ProbeState>;
  /** The time since which every probe succeeds. */
  readonly passingSinceMs?: number;
  /** The units that ran before this start: only what happens from now on counts. */
  readonly kept: ReadonlySet<string>;
  /** The number of restarts of each unit before this start, once it was observed. */
  readonly restartsBefore: ReadonlyMap<string, number>;
  /** The status of each unit, once it was observed. */
  readonly units: ReadonlyMap<string, Pick<UnitStatus, 'active' | 'restarts' | 'result'>>;
}

const FRESH: ProbeState = {
  successes: 0,
  failures: 0,
  lastRunMs: 0,
  lastAnswer: 'has not run',
  hasPassed: false,
};

export function beginProbes(startedMs: number, kept: ReadonlySet<string> = new Set()): ProbesProgress {
  return { startedMs, kept, probes: new Map(), units: new Map(), restartsBefore: new Map() };
}

export function dueProbes(
  { probes }: Target,
  progress: ProbesProgress,
  nowMs: number,
): readonly ComponentProbe[] {
  return probes.filter((probe) => nextRunMs(probe, progress) <= nowMs);
}

/**
 * Returns when a probe runs next: at whole multiples of its period, so that probes of many components run together, and the agent runs once
 * for all of them. The first interval of a probe is shorter or longer by up to half of a period.
 */
function nextRunMs({ name, periodSeconds }: ComponentProbe, { probes }: ProbesProgress): number {
  const last = probes.get(name);
  if (!last) return Number.NEGATIVE_INFINITY;
  const periodMs = periodSeconds * 1000;
  return Math.ceil(last.lastRunMs / periodMs + 0.5) * periodMs;
}

/** Returns when the next probe is due; undefined without probes. */
export function nextProbeMs({ probes }: Target, progress: ProbesProgress): number | undefined {
  const times = probes.map((probe) => nextRunMs(probe, progress));
  return times.length === 0 ? undefined : Math.min(...times);
}

export function applyAnswer(
  progress: ProbesProgress,
  { name, successThreshold }: ComponentProbe,
  { passed, detail }: ProbeAnswer,
  nowMs: number,
): ProbesProgress {
  const before = progress.probes.get(name) ?? FRESH;
  const successes = passed ? before.successes + 1 : 0;
  const state = {
    successes,
    failures: passed ? 0 : before.failures + 1,
    lastRunMs: nowMs,
    lastAnswer: detail,
    hasPassed: before.hasPassed || successes >= successThreshold,
  };
  return { ...progress, probes: new Map(progress.probes).set(name, state) };
}

/** Updates the progress after probes and units were read: keeps the time since when all of them are good. */
export function judge(
  target: Target,
  progress: ProbesProgress,
  units: ReadonlyMap<string, UnitStatus>,
  nowMs: number,
): ProbesProgress {
  const restartsBefore = countsBefore(progress, units);
  const { passingSinceMs, ...rest } = {
    ...progress,
    units: withLastResults(units, progress),
    restartsBefore,
  };
  return pendingProbes(target, rest).length > 0 ? rest : { ...rest, passingSinceMs: passingSinceMs ?? nowMs };
}

/** Keeps the last result of each unit. The host forgets how a unit ended when it starts it again: what was read before that is kept. */
function withLastResults(
  units: ReadonlyMap<string, UnitStatus>,
  { units: before }: ProbesProgress,
): ProbesProgress['units'] {
  return new Map(
    [...units].map(([name, { active, restarts, result = before.get(name)?.result }]) => [
      name,
      { active, restarts, ...optional('result', result) },
    ]),
  );
}

/** Returns the restarts before this start. A start by another program or person counts from zero again. */
function countsBefore(
  { kept, restartsBefore }: ProbesProgress,
  units: ReadonlyMap<string, Pick<UnitStatus, 'restarts'>>,
): ReadonlyMap<string, number> {
  const known = [...units].filter(([name]) => kept.has(name));
  return new Map(
    known.map(([name, { restarts }]) => [name, Math.min(restarts, restartsBefore.get(name) ?? restarts)]),
  );
}

/** Returns what is not good yet, for people. */
export function pendingProbes(target: Target, { probes, units }: ProbesProgress): readonly string[] {
  const running = target.units.filter((unit) => unit.running);
  return [
    ...running
      .filter(({ name }) => units.get(name)?.active !== 'Active')
      .map(({ name }) => `unit ${name} is ${(units.get(name)?.active ?? 'missing').toLowerCase()}`),
    ...target.probes
      .filter((probe) => !isPassing(probe, probes.get(probe.name)))
      .map(({ name }) => `probe ${name}: ${probes.get(name)?.lastAnswer ?? FRESH.lastAnswer}`),
  ];
}

/** Tells whether a probe counts as good. One bad answer below the threshold does not count against a probe that was good before. */
function isPassing({ failureThreshold }: ComponentProbe, state: ProbeState | undefined): boolean {
  return state !== undefined && state.hasPassed && state.failures < failureThreshold;
}

export function probationOf(target: Target, progress: ProbesProgress, nowMs: number): ProbationProgress {
  const { startedMs, passingSinceMs } = progress;
  const failure = unitFailure(progress) ?? probeFailure(target, progress);
  return {
    elapsedMs: nowMs - startedMs,
    ...(passingSinceMs !== undefined && { passingMs: nowMs - passingSinceMs }),
    ...(failure && { failure }),
    pending: pendingProbes(target, progress),
  };
}

/** Returns the failure of a unit. A unit that restarts during probation is not healthy, even if it runs again. */
function unitFailure({ units, restartsBefore }: ProbesProgress): TransitionFailure | undefined {
  for (const [name, { active, restarts, result }] of units) {
    const last = result === undefined ? '' : `: ${result}`;
    if (active === 'Failed') return { code: 'UnitFailed', message: `unit ${name} failed${last}` };
    if (restarts > (restartsBefore.get(name) ?? 0)) {
      return { code: 'UnitRestarted', message: `unit ${name} ended and was started again${last}` };
    }
  }
  return undefined;
}

function probeFailure({ probes }: Target, progress: ProbesProgress): TransitionFailure | undefined {
  const failed = probes.find(({ name, failureThreshold }) => {
    const state = progress.probes.get(name);
    return state?.hasPassed && state.failures >= failureThreshold;
  });
  if (!failed) return undefined;
  const answer = progress.probes.get(failed.name)?.lastAnswer ?? '';
  return { code: 'ProbeFailed', message: `probe ${failed.name} failed: ${answer}` };
}
