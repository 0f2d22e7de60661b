/** Judges each Machine that a set creates or deletes, by what people asked for and by what is true in that moment. */
import { isDeepStrictEqual } from 'node:util';
import type { Machine, MachineSet } from '../../../api/generated/types.ts';
import { isKept } from '../../../api/machine/kept.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { OVERSHOOT } from '../set-people.ts';
import { createRecent, VIEW_DELAY_MS } from './recent.ts';
import type { ReplacementRules } from './replacement-rules.ts';
import type { SetTruth } from './set-truth.ts';
import type { StormWatch } from './storms.ts';

export interface ActRules {
  desired(spec: MachineSet['spec']): void;
  deletedByPerson(): void;
  /** Returns what is wrong with the creation of a Machine. Called after it. */
  creationReasons(): readonly string[];
  /** Returns what is wrong with the deletion of a Machine, which is passed as it was before. */
  deletionReasons(machine: Machine): readonly string[];
}

export interface ActRulesOptions {
  readonly truth: SetTruth;
  readonly storms: Pick<StormWatch, 'sinceMs'>;
  readonly replacements: Omit<ReplacementRules, 'observe'>;
  readonly nowMs: () => number;
}

type Reason = readonly [isBroken: boolean, what: string];

export function createActRules({ truth, storms, replacements, nowMs }: ActRulesOptions): ActRules {
  const specs = createRecent<MachineSet['spec']>(nowMs);
  let byPersons: readonly number[] = [];
  return {
    desired: (spec) => specs.add(spec),
    deletedByPerson: () => {
      byPersons = [...byPersons.filter(isRecent), nowMs()];
    },
    creationReasons: () => {
      const most = Math.max(...replicas());
      // A machine that is kept counts nowhere.
      const count = truth.members().filter((machine) => !isKept(machine)).length;
      const live = truth.live().length;
      return broken([
        [count > most + OVERSHOOT, `${count} machines, and ${most + OVERSHOOT} allowed`],
        [live > most + surge(), `machine ${live} of ${most}`],
        ...reasonsOf('created'),
      ]);
    },
    deletionReasons: (machine) =>
      broken([
        [machine.spec.hold !== undefined, 'a held machine was deleted'],
        [!truth.isGranted(machine), 'a machine was deleted without a grant'],
        [
          !isSurplus() &&
            !hasFailedToStart(machine) &&
            !isReplaceable(machine) &&
            !replacements.isReplaced(machine),
          'a machine was deleted though it was not a surplus',
        ],
        [replacements.hasReturned(machine), 'a machine that came back was replaced'],
        [isReplaceable(machine) && leavesTooFew(machine), 'a machine was replaced though too few are left'],
        ...reasonsOf('deleted'),
      ]),
  };

  function reasonsOf(act: string): readonly Reason[] {
    const sinceMs = storms.sinceMs();
    const isStorm = sinceMs !== undefined && !isRecent(sinceMs);
    return [
      [specs.values().every(({ paused }) => paused), `a machine was ${act} while the set is paused`],
      [isStorm, `a machine was ${act} in a storm`],
    ];
  }

  /** Tells whether the Machine that is deleted just now is a surplus. What people deleted may not be known yet. */
  function isSurplus(): boolean {
    return truth.live().length + 1 + byPersons.filter(isRecent).length > Math.min(...replicas());
  }

  function hasFailedToStart({ metadata: { creationTimestamp = '' } }: Machine): boolean {
    const { startupTimeoutSeconds = 0 } = specs.values().at(-1) ?? {};
    return nowMs() - Date.parse(creationTimestamp) >= startupTimeoutSeconds * 1000;
  }

  /** Tells whether the set replaces the machine: it does not match a template that was in force lately. */
  function isReplaceable({ spec: { infra } }: Machine): boolean {
    return specs
      .values()
      .some(
        ({ updateStrategy, template }) =>
          updateStrategy.type === 'Replace' && !isDeepStrictEqual(template.infra.config, infra.config),
      );
  }

  /** Tells whether fewer than allowed serve. One that is not Ready since a moment may not be known yet. */
  function leavesTooFew(machine: Machine): boolean {
    if (!isServing(machine) || isSurplus()) return false;
    const serving = truth.live().filter(isServing).length + byPersons.filter(isRecent).length;
    const allowed = specs.values().map(({ updateStrategy }) => Number(updateStrategy.maxUnavailable));
    return serving < Math.min(...replicas()) - Math.max(...allowed);
  }

  function isServing({ status }: Machine): boolean {
    const ready = conditionOf(status?.conditions, 'Ready');
    return (
      ready?.status === 'True' || (ready !== undefined && isRecent(Date.parse(ready.lastTransitionTime)))
    );
  }

  function surge(): number {
    const ofStrategy = specs.values().map(({ updateStrategy }) => Number(updateStrategy.maxSurge ?? 0));
    return Math.max(...ofStrategy) + replacements.surge();
  }

  function replicas(): readonly number[] {
    return specs.values().map((spec) => spec.replicas);
  }

  function isRecent(atMs: number): boolean {
    return nowMs() - atMs <= VIEW_DELAY_MS;
  }
}

function broken(reasons: readonly Reason[]): readonly string[] {
  return reasons.flatMap(([isBroken, what]) => (isBroken ? [what] : []));
}
