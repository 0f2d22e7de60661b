/** Judges what the agent probes besides its components: the container runtime, tasks that hang in the kernel, and pressure. Pure. */
import type { TestResult } from '../../api/generated/types.ts';
import { byCode } from '../../kube/objects/digest.ts';
import type { HostHealth, RunResult } from '../host/port.ts';

/** Holds the answers by the name of the probe. A probe that cannot be run has no answer. */
export type ProbeAnswers = Readonly<Record<string, boolean>>;

/** Holds when each blocked task was first blocked as it is now, on the monotonic clock. */
export type BlockedSince = ReadonlyMap<string, number>;

/** The time after which a task counts as hung, the default of the kernel. */
const HUNG_MS = 120_000;
/** The pressure from which on a probe fails: all tasks together waited for half of the last minute. */
const MAX_PRESSURE_PERCENT = 50;
const NO_SUCH_PROGRAM = 127;

export function followBlocked(before: BlockedSince, tasks: readonly string[], nowMs: number): BlockedSince {
  return new Map(tasks.map((task) => [task, before.get(task) ?? nowMs]));
}

export function judgeHealth(health: HostHealth, blocked: BlockedSince, nowMs: number): ProbeAnswers {
  const { blockedTasks, pressure } = health;
  return {
    ...(blockedTasks && {
      'hung-tasks': [...blocked.values()].every((sinceMs) => nowMs - sinceMs < HUNG_MS),
    }),
    ...(pressure && {
      'memory-pressure': pressure.memory < MAX_PRESSURE_PERCENT,
      'io-pressure': pressure.io < MAX_PRESSURE_PERCENT,
    }),
  };
}

/** Returns whether the runtime answers. A host without a client of the runtime is not known to have a runtime. */
export function judgeRuntime({ exitCode }: Pick<RunResult, 'exitCode'>): ProbeAnswers {
  return exitCode === NO_SUCH_PROGRAM ? {} : { runtime: exitCode === 0 };
}

/** Returns the results, each with the time of the first test that had this result. */
export function reportProbes(
  answers: ProbeAnswers,
  before: readonly TestResult[],
  now: Date,
): readonly TestResult[] {
  const rows = Object.entries(answers).toSorted(([a], [b]) => byCode(a, b));
  return rows.map(([name, passed]) => {
    const result = passed ? 'Pass' : 'Fail';
    const known = before.find((each) => each.name === name);
    return known?.result === result ? known : { name, result, at: now.toISOString() };
  });
}
