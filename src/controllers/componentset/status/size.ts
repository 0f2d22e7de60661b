/** Keeps a status within its size, whatever messages and names are in it. Pure. */
import type { MachineComponentSetStatus } from '../../../api/generated/types.ts';
import { truncate } from '../../../kube/objects/truncate.ts';

/** The maximum size of a status: the bytes of its JSON, in UTF-8. */
export const MAX_STATUS_BYTES = 16_384;

type Reduction = (status: MachineComponentSetStatus) => MachineComponentSetStatus;

/** The reductions in the order in which they are tried: what is missed least goes first. What the rollout remembers is never reduced. */
const REDUCTIONS: readonly Reduction[] = [
  (status) => withoutComponents(status, 1),
  (status) => withoutComponents(status, 0),
  (status) => withoutRecordMessages(status, 1),
  (status) => withoutRecordMessages(status, 0),
  (status) => withCheckMessages(status, 64),
  (status) => withMessages(status, 128),
  (status) => withMessages(status, 32),
  (status) => withConditionMessages(status, 256),
  (status) => ({ ...status, failedMachines: (status.failedMachines ?? []).slice(0, 5) }),
  (status) => withConditionMessages(status, 64),
  (status) => withFreezeReasons(status, 32),
];

export function fitSetStatus(status: MachineComponentSetStatus): MachineComponentSetStatus {
  let fitting = status;
  for (const reduce of REDUCTIONS) {
    if (!isTooLarge(fitting)) break;
    fitting = reduce(fitting);
  }
  return fitting;
}

function isTooLarge(status: MachineComponentSetStatus): boolean {
  return Buffer.byteLength(JSON.stringify(status)) > MAX_STATUS_BYTES;
}

/** Drops the components of records. The ControllerRevision of each record has them, too. */
function withoutComponents(status: MachineComponentSetStatus, kept: number): MachineComponentSetStatus {
  const history = (status.history ?? []).map(({ components, ...record }, index) =>
    index < kept && components ? { ...record, components } : record,
  );
  return { ...status, history };
}

/** Drops the messages of records. Each has a reason, too. */
function withoutRecordMessages(status: MachineComponentSetStatus, kept: number): MachineComponentSetStatus {
  const history = (status.history ?? []).map(({ message, ...record }, index) =>
    index < kept && message !== undefined ? { ...record, message } : record,
  );
  return { ...status, history };
}

function withMessages(status: MachineComponentSetStatus, length: number): MachineComponentSetStatus {
  const failed = (status.failedMachines ?? []).map(({ message, ...machine }) =>
    message === undefined ? machine : { ...machine, message: truncate(message, length) },
  );
  return { ...status, failedMachines: failed };
}

/** The reason is for people. Names and times judge the set. */
function withFreezeReasons(status: MachineComponentSetStatus, length: number): MachineComponentSetStatus {
  const { closedTimes } = status;
  if (!closedTimes) return status;
  const freezes = closedTimes.freezes.map((each) => ({ ...each, reason: truncate(each.reason, length) }));
  return { ...status, closedTimes: { ...closedTimes, freezes } };
}

/** Conditions have the message of the check that decides. Counts and times of all of them judge the batch. */
function withCheckMessages(status: MachineComponentSetStatus, length: number): MachineComponentSetStatus {
  const { batch } = status;
  if (!batch?.gates) return status;
  const gates = batch.gates.map(({ message, ...gate }) =>
    message === undefined ? gate : { ...gate, message: truncate(message, length) },
  );
  return { ...status, batch: { ...batch, gates } };
}

function withConditionMessages(status: MachineComponentSetStatus, length: number): MachineComponentSetStatus {
  const conditions = status.conditions.map((condition) => ({
    ...condition,
    message: truncate(condition.message, length),
  }));
  return { ...status, conditions };
}
