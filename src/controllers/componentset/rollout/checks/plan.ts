/** Plans the runs of the checks of the open batch, and the machines that their queries may name. Pure. */
import type { Check } from '../../../../api/generated/types.ts';
import { byCode, digestOf } from '../../../../kube/objects/digest.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { firstMoment } from '../../../../os/dates.ts';
import { nextRuns } from '../../../../rollout/checks/gate.ts';
import type { ComparedMachines } from '../../../../rollout/checks/query.ts';
import { isAvailable } from '../../machine/member-state.ts';
import { startedIn } from '../batch-phase.ts';
import type { OpenBatch, PlannedChecks, RolloutInput, RolloutMode, RolloutProgress } from '../input.ts';
import { judgingChecks, restOf } from './gate.ts';

const NO_CHECKS: PlannedChecks = { due: [], machines: { batch: [], rest: [] } };

/** Checks run only while a batch soaks, or waits for them: a revert and a rollback need none. */
export function planChecks(input: RolloutInput, mode: RolloutMode, progress: RolloutProgress): PlannedChecks {
  const { batch } = progress;
  if (!batch || !isObserved(input, mode, progress)) return NO_CHECKS;
  const checks = judgingChecks(input, progress);
  const next = nextRuns(batch.gates ?? [], checks, input.now);
  const due = new Set(next.filter(({ at }) => at <= input.now).map(({ check }) => check));
  const later = firstMoment(next.map(({ at }) => (at > input.now ? at : undefined)));
  return {
    due: checks.flatMap((check) => (due.has(check.name) ? { check, known: knownRun(batch, check) } : [])),
    machines: comparedMachines(input, progress),
    ...optional('nextAt', later),
  };
}

/** Runs before the batch was settled are not of this soak. */
function knownRun({ gates = [], settledAt, startedAt }: OpenBatch, { name }: Check): Date {
  const ranAt = gates.find((gate) => gate.name === name)?.ranAt;
  return ranAt === undefined ? new Date(+(settledAt ?? startedAt) - 1) : new Date(ranAt);
}

function isObserved({ set }: RolloutInput, mode: RolloutMode, { batch, stopped }: RolloutProgress): boolean {
  const { paused, dryRun } = set.spec;
  return mode === 'Forward' && !paused && !dryRun && !stopped && batch?.soakUntil !== undefined;
}

/** More machines would hardly prove more, and a query has a limit. */
const MAX_REST = 100;

/** Returns the same machines in each run, and in each process, while none of them is updated. */
function comparedMachines(input: RolloutInput, progress: RolloutProgress): ComparedMachines {
  const { updateRevision = '', batch } = progress;
  const started = batch ? startedIn(input, progress, batch) : [];
  const rest = restOf(input, progress)
    .filter(isAvailable)
    .map(({ name, uid }) => ({ name, hash: digestOf([updateRevision, uid]) }))
    .toSorted((a, b) => byCode(a.hash, b.hash));
  return {
    batch: namesOf(started.filter(({ step }) => step !== 'Differs')),
    rest: namesOf(rest.slice(0, MAX_REST)),
  };
}

function namesOf(machines: readonly { readonly name: string }[]): readonly string[] {
  return machines.map(({ name }) => name).toSorted(byCode);
}
