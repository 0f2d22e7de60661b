/** The part of the status of a Machine that the machine controller writes. Pure. */
import type { Machine, MachineDrain, MachineStatus, Wait } from '../../api/generated/types.ts';
import { machinePhases } from '../../api/phase-tables.ts';
import { type Condition, withConditions } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { finding } from './conditions.ts';
import { foreignConditions, type MachinePlan, type MachineWait } from './plan.ts';

export interface MachineReport {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly plan: Pick<MachinePlan, 'conditions' | 'wait'>;
  /** A drain or a deletion that waits; it is reported before anything else. */
  readonly wait?: MachineWait;
  readonly drain?: MachineDrain;
  readonly now: Date;
}

const MAX_MESSAGE = 256;
/** The default of MachineSets for the start of a machine. */
const DEADLINE_SECONDS = 600;

export function machineStatus(report: MachineReport): MachineStatus {
  const { machine, node, plan, drain, now } = report;
  const waiting = waitingSince(report.wait ?? plan.wait, machine.status?.waiting, now);
  const conditions = progressConditions(report, waiting);
  const { generation, deletionTimestamp } = machine.metadata;
  const all = [...conditions, ...foreignConditions(machine)];
  return {
    ...optional('observedGeneration', generation),
    phase: machinePhases.phaseOf({ conditions: all, deletionTimestamp }),
    conditions,
    ...optional('waiting', waiting),
    ...optional('node', nodeStatus(machine, node)),
    ...optional('drain', drain),
  };
}

/** A Node that is deleted stays known: the machine was part of the cluster. */
function nodeStatus({ status }: Machine, node: KubeObject | undefined): MachineStatus['node'] {
  if (!node) return status?.node;
  return {
    ...optional('uid', node.metadata.uid),
    ...optional('bootID', textAt(node, 'status', 'nodeInfo', 'bootID')),
  };
}

function waitingSince(wait: MachineWait | undefined, before: Wait | undefined, now: Date): Wait | undefined {
  if (!wait) return undefined;
  const { reason, message, blocker } = wait;
  const isSame = before?.reason === reason && before.blocker?.name === blocker?.name;
  return {
    reason,
    ...optional('blocker', blocker),
    since: isSame ? before.since : now.toISOString(),
    message: truncate(message, MAX_MESSAGE),
  };
}

/** The reason of Progressing is the step, that of Stalled what it waits for. */
function progressConditions(report: MachineReport, waiting: Wait | undefined): readonly Condition[] {
  const { machine, plan, now } = report;
  const wait = report.wait ?? plan.wait;
  const observedGeneration = optional('observedGeneration', machine.metadata.generation);
  const isLate = waiting !== undefined && wait !== undefined && now >= stallsAt(machine, wait, waiting);
  const progressing = wait
    ? finding('Progressing', isLate ? 'False' : 'True', wait.step, wait.message)
    : finding('Progressing', 'True', 'AsWanted', 'nothing is to be done');
  const stalled =
    wait && isLate
      ? finding('Stalled', 'True', wait.reason, `since ${waiting.since}: ${wait.message}`)
      : finding('Stalled', 'False', 'AsWanted', 'no person is needed');
  return withConditions(
    plan.conditions,
    [progressing, stalled].map((each) => ({ ...each, ...observedGeneration })),
    now,
  );
}

/** Components may wait for a drain, which has a time limit of its own. */
export function stallsAt({ spec }: Machine, { step }: MachineWait, { since }: Wait): Date {
  const isDrain = step === 'InstallingComponents' || step === 'Draining';
  const seconds = isDrain ? spec.deletion.drainTimeoutSeconds : DEADLINE_SECONDS;
  return new Date(Date.parse(since) + seconds * 1000);
}
