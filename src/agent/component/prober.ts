/** Runs the probes of components when they are due, one after the other. */
import type { ComponentProbe } from '../../api/generated/types.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { redactText } from '../../kube/process/redact-log.ts';
import type { Clock } from '../../os/clock.ts';
import { OsError } from '../../os/errors.ts';
import type { Host, ProbeAnswer, UnitStatus } from '../host/port.ts';
import type { Target } from '../target/target.ts';
import type { ProbationProgress } from './input.ts';
import {
  applyAnswer,
  beginProbes,
  dueProbes,
  judge,
  nextProbeMs,
  type ProbesProgress,
  pendingProbes,
  probationOf,
} from './probe-progress.ts';

export interface ProberOptions {
  readonly host: Host;
  readonly clock: Clock;
  /** Returns the status of a condition of the Node; undefined while it is unknown. */
  readonly nodeCondition: (type: string) => Promise<string | undefined>;
}

export interface Prober {
  /** Runs the probes that are due. `run` names this start of the version: another one begins again. */
  probe(target: Target, run: string, circumstances?: ProbeCircumstances): Promise<ProbationProgress>;
  /** Tells whether every probe succeeds; undefined before the first answers. */
  isReady(target: Target): boolean | undefined;
  /** Tells whether a probe of the version in force is due. */
  isDue(target: Target): boolean;
  /** Returns when the next probe of any component is due, on the monotonic clock. */
  nextMs(): number | undefined;
  forget(component: string): void;
}

export interface ProbeCircumstances {
  /** The units that this start of the version did not start. */
  readonly kept?: ReadonlySet<string>;
  /** The status that was read of the units, where that is recent enough. */
  readonly units?: ReadonlyMap<string, UnitStatus>;
}

interface Tracked {
  readonly target: Target;
  readonly run: string;
  readonly progress: ProbesProgress;
}

const MAX_OUTPUT = 256;

export function createProber({ host, clock, nodeCondition }: ProberOptions): Prober {
  const tracked = new Map<string, Tracked>();
  // Agents that share a clock do not probe at the same moments.
  const startedMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startedMs;

  async function answer(target: Target, probe: ComponentProbe): Promise<ProbeAnswer> {
    try {
      return await answerOf(target, probe);
    } catch (error) {
      if (!(error instanceof OsError)) throw error;
      return { passed: false, detail: error.message };
    }
  }

  async function answerOf(target: Target, probe: ComponentProbe): Promise<ProbeAnswer> {
    if (probe.exec) return await runProbe(host, probe.exec.argv, probe.timeoutSeconds);
    if (probe.nodeCondition) {
      const { type, status } = probe.nodeCondition;
      const found = await nodeCondition(type);
      return { passed: found === status, detail: `${type} is ${found ?? 'unknown'}` };
    }
    return await host.network.probe(probe, new Map(Object.entries(target.ports)));
  }

  function progressOf(target: Target, run: string, kept?: ReadonlySet<string>): ProbesProgress {
    const before = tracked.get(target.component);
    const isSame = before?.target.id === target.id && before.run === run;
    return isSame ? before.progress : beginProbes(elapsedMs(), kept);
  }

  return {
    async probe(target, run, { kept, units: known } = {}) {
      let progress = progressOf(target, run, kept);
      const due = dueProbes(target, progress, elapsedMs());
      for (const probe of due.filter(({ unit }) => !unit)) {
        progress = applyAnswer(progress, probe, await answer(target, probe), elapsedMs());
      }
      // Once, and last: the others may take long.
      const units = known ?? (await readUnits(host, target));
      for (const probe of due) {
        if (!probe.unit) continue;
        progress = applyAnswer(progress, probe, unitAnswer(probe.unit.name, units), elapsedMs());
      }
      progress = judge(target, progress, units, elapsedMs());
      tracked.set(target.component, { target, run, progress });
      return probationOf(target, progress, elapsedMs());
    },
    isDue(target) {
      const known = tracked.get(target.component);
      return known?.target.id !== target.id || dueProbes(target, known.progress, elapsedMs()).length > 0;
    },
    isReady({ component, id }) {
      const known = tracked.get(component);
      return known?.target.id === id ? pendingProbes(known.target, known.progress).length === 0 : undefined;
    },
    nextMs() {
      const times = [...tracked.values()].flatMap(
        ({ target, progress }) => nextProbeMs(target, progress) ?? [],
      );
      return times.length === 0 ? undefined : startedMs + Math.min(...times);
    },
    forget: (component) => void tracked.delete(component),
  };
}

async function readUnits({ units }: Host, target: Target): Promise<ReadonlyMap<string, UnitStatus>> {
  const found = new Map<string, UnitStatus>();
  for (const unit of target.units) {
    const status = await units.status(unit);
    if (status) found.set(unit.name, status);
  }
  return found;
}

async function runProbe(host: Host, argv: readonly string[], timeoutSeconds: number): Promise<ProbeAnswer> {
  const limits = { timeoutMs: timeoutSeconds * 1000, maxOutputBytes: MAX_OUTPUT };
  const { exitCode, timedOut, output } = await host.processes.run(argv, limits);
  if (timedOut) return { passed: false, detail: `no end within ${timeoutSeconds} s` };
  const shown = printableLine(redactText(output.trim()));
  return { passed: exitCode === 0, detail: `exit code ${exitCode ?? 'none'}: ${shown}` };
}

function unitAnswer(name: string, units: ReadonlyMap<string, UnitStatus>): ProbeAnswer {
  const active = units.get(name)?.active;
  return { passed: active === 'Active', detail: `unit ${name} is ${(active ?? 'missing').toLowerCase()}` };
}
