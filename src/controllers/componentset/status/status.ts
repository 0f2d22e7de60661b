/** Builds the status of a component set from its plan and from what the Defender answered. Pure. */
import type { MachineComponentSetStatus } from '../../../api/generated/types.ts';
import { machineComponentSetPhases } from '../../../api/status/phase-tables.ts';
import { type FoundWait, waitingSince } from '../../../api/status/waiting.ts';
import { withConditions } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { planStatus } from '../preview/plan-status.ts';
import { previewRollout } from '../preview/preview.ts';
import { rolloutBatch } from './batch.ts';
import { type Situation, setFindings } from './conditions.ts';
import { rolloutCounts } from './counts.ts';
import { lastProgress, progressDeadline } from './deadline.ts';
import { failedMachines, MAX_FAILED_MACHINES } from './failed-machines.ts';
import { checkResults } from './gates.ts';
import { progressStatus } from './progress.ts';
import type { SetReport } from './report.ts';
import { fitSetStatus } from './size.ts';
import { setWait } from './wait.ts';

/**
 * Returns the whole status: also what the rollout remembers, so that one write makes the intent durable. In a dry run only the
 * plan is new.
 */
export function componentSetStatus(report: SetReport): MachineComponentSetStatus {
  const { set } = report.input;
  return set.spec.dryRun ? dryRunStatus(report) : rolloutStatus(inOrderOfNames(report));
}

function dryRunStatus({ input, denials }: SetReport): MachineComponentSetStatus {
  const { conditions = [], plan: before, ...rest } = input.set.status ?? {};
  const plan = planStatus(previewRollout(input, denials), before, input.now);
  return fitSetStatus({ ...rest, conditions, plan });
}

function rolloutStatus(report: SetReport): MachineComponentSetStatus {
  const { plan } = report;
  const found = setWait(report);
  const shown = {
    ...progressStatus(plan.progress),
    ...optional('batch', rolloutBatch(report)),
    counts: rolloutCounts(report),
  };
  const progressedAt = lastProgress(report, found, shown);
  const failed = failedMachines(report);
  const situation = { failed, ...stallOf(report, found, progressedAt) };
  return fitSetStatus({
    ...headOf(report, situation),
    ...shown,
    ...optional('progressedAt', progressedAt?.toISOString()),
    ...(failed.length > 0 ? { failedMachines: failed.slice(0, MAX_FAILED_MACHINES) } : {}),
    ...optional('checks', shown.batch && checkResults(report)),
  });
}

/** Returns since when the set stalls. What it stalls for is shown as a wait, also where work seems to go on. */
function stallOf(
  report: SetReport,
  found: Explanation | undefined,
  progressedAt: Date | undefined,
): Pick<Situation, 'wait' | 'stalledSince'> {
  const { set, now } = report.input;
  const isLate = progressedAt !== undefined && now >= progressDeadline(set, progressedAt);
  const wait = found ?? (isLate ? report.plan.limit : undefined);
  return { wait: wait && withBlocker(report, wait), stalledSince: isLate ? progressedAt : undefined };
}

function inOrderOfNames({ input, ...rest }: SetReport): SetReport {
  const members = input.members.toSorted((a, b) => byCode(a.name, b.name));
  return { ...rest, input: { ...input, members } };
}

function headOf(report: SetReport, situation: Situation): MachineComponentSetStatus {
  const { set, now } = report.input;
  const { generation, deletionTimestamp } = set.metadata;
  const observedGeneration = optional('observedGeneration', generation);
  const findings = setFindings(report, situation);
  const conditions = withConditions(set.status?.conditions, findings, now, generation);
  const { wait } = situation;
  return {
    ...observedGeneration,
    phase: machineComponentSetPhases.phaseOf({ conditions, deletionTimestamp }),
    conditions,
    ...optional('waiting', wait && waitingSince(foundWait(wait), set.status?.waiting, now)),
  };
}

/** Every wait names an object: the set itself, if nothing else decides. */
function withBlocker({ input }: SetReport, wait: Explanation): Explanation {
  const itself = { kind: 'MachineComponentSet', name: input.set.metadata.name };
  return { ...wait, blocker: wait.blocker ?? itself };
}

function foundWait({ reason, because: message, blocker }: Explanation): FoundWait {
  return { reason, message, blocker };
}
