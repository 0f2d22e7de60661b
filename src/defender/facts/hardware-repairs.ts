/**
 * Reads the repairs of a machine with those of earlier Machines on the same hardware, from their jobs: a host that is replaced, renamed or
 * imported again keeps its count. Pure.
 */
import { RISKS } from '../../api/enums.ts';
import type { Machine, RemedyOperationJob } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { stepName } from '../../api/status/step-records.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { RepairFact } from './facts.ts';
import { hasJobBegun } from './live-grants.ts';

export interface HardwareHistory {
  /** The jobs with the same label of the hardware. */
  readonly jobs: readonly RemedyOperationJob[];
  /** Returns the UID of the Machine of that name; undefined when no Machine has it. */
  readonly uidOf: (machine: string) => string | undefined;
}

/**
 * Returns the repairs, newest first. Jobs of other Machines that exist are left out: of two at a time, one is not this hardware, as with
 * virtual machines that are copies and share a UUID.
 */
export function withHardwareRepairs(
  own: readonly RepairFact[],
  { metadata: { uid } }: Machine,
  { jobs, uidOf }: HardwareHistory,
): readonly RepairFact[] {
  const earlier = jobs
    .filter(({ spec }) => spec.machine.uid !== uid && uidOf(spec.machine.name) !== spec.machine.uid)
    .filter((job) => job.spec.risk !== 'None' && hasJobBegun(job));
  if (earlier.length === 0) return own;
  return [...own, ...earlier.map(repairFact)].toSorted((a, b) => +b.at - +a.at);
}

function repairFact(job: RemedyOperationJob): RepairFact {
  const { spec, status } = job;
  // A job that has not settled is as late as it may be: repairs are counted for longer, not shorter.
  const at = parseTime(status?.timeline?.settledAt) ?? new Date(spec.deadline);
  // As in the record of a Machine: a repair of this risk may have rebooted.
  const rebooted = RISKS.indexOf(spec.risk) >= RISKS.indexOf('Node');
  return { at, rebooted, ...optional('replacedFor', hasReplaced(job) ? spec.cause.remedier : undefined) };
}

const REPLACEMENT = 'ReplaceMachine';

function hasReplaced({ spec, status }: RemedyOperationJob): boolean {
  const step = spec.plan.find((each) => stepName(each) === REPLACEMENT);
  const record = status?.steps?.find(({ id }) => id === step?.id);
  return record !== undefined && record.state !== 'Pending' && record.state !== 'Skipped';
}
