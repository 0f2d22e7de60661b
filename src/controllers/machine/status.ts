/** The part of the status of a Machine that the machine controller writes. Pure. */
import type {
  Machine,
  MachineDrain,
  MachineInfraStatus,
  MachineKept,
  MachinePower,
  MachineStatus,
  Wait,
} from '../../api/generated/types.ts';
import { inactiveFields, inactiveFieldText } from '../../api/inactive/find.ts';
import { outOfServiceReason } from '../../api/machine/availability.ts';
import { hasOnlyLostGrants } from '../../api/machine/entry-report.ts';
import { hasStartupTaint } from '../../api/machine/node-state.ts';
import { machinePhases } from '../../api/status/phase-tables.ts';
import { waitingSince } from '../../api/status/waiting.ts';
import { type Condition, conditionOf, withConditions } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type Finding, finding } from './finding.ts';
import { FLAPPING, gatesFlapSince, STABLE_SECONDS } from './gate-waits.ts';
import { DRY_RUN_REASON } from './import/findings.ts';
import type { ImportStatus } from './import/status.ts';
import { deletionDeadline, KEPT_REASON } from './instance/keeping.ts';
import { observedCordon } from './node/cordon.ts';
import type { PeerReport } from './peers/observe.ts';
import { foreignConditions, type MachinePlan, type MachineWait } from './plan.ts';

export interface MachineReport {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  readonly plan: Pick<MachinePlan, 'conditions' | 'wait'>;
  /** A drain or a deletion that waits; it is reported before anything else. */
  readonly wait?: MachineWait;
  readonly drain?: MachineDrain;
  /** The record that the instance is kept; undefined: it stays as it is. */
  readonly kept?: MachineKept;
  readonly infra?: MachineInfraStatus;
  readonly power?: MachinePower;
  readonly peers?: PeerReport;
  readonly imported?: ImportStatus;
  readonly now: Date;
}

/** The default of MachineSets for the start of a machine. */
const DEADLINE_SECONDS = STABLE_SECONDS;

export function machineStatus(report: MachineReport): MachineStatus {
  const { machine, plan, drain, infra, power, now } = report;
  const wait = report.wait ?? plan.wait;
  const waiting = wait && waitingSince(wait, machine.status?.waiting, now);
  const conditions = progressConditions(report, waiting);
  const { generation, deletionTimestamp } = machine.metadata;
  const all = [...conditions, ...foreignConditions(machine)];
  return {
    ...optional('observedGeneration', generation),
    phase: machinePhases.phaseOf({
      conditions: all,
      deletionTimestamp,
      ...optional('generation', hasOnlyLostGrants(machine) ? undefined : generation),
      isInService: isInService(report),
    }),
    conditions,
    ...optional('waiting', waiting),
    ...optional('infra', infra),
    ...optional('power', power),
    ...report.peers,
    ...report.imported,
    ...optional('node', nodeStatus(report)),
    ...optional('drain', drain),
    ...optional('kept', report.kept ?? machine.status?.kept),
  };
}

/** A Node that is deleted stays known: the machine was part of the cluster. Its cordon went with it. */
function nodeStatus({ machine, node, now }: MachineReport): MachineStatus['node'] {
  const before = machine.status?.node;
  if (!node) {
    const { cordon: _ended, ...known } = before ?? {};
    return before && known;
  }
  const { uid } = node.metadata;
  return {
    ...optional('uid', uid),
    ...optional('establishedAt', establishedAt(node, before, now)),
    ...optional('bootID', textAt(node, 'status', 'nodeInfo', 'bootID')),
    ...optional('cordon', observedCordon(node, before?.uid === uid ? before?.cordon : undefined, now)),
  };
}

/** Adds one check: a machine joins until its first service is recorded, also where its Node registered without the start-up taint. */
function isInService({ machine, node }: MachineReport): boolean {
  return machine.status?.node?.establishedAt !== undefined && outOfServiceReason(node) === undefined;
}

function establishedAt(node: KubeObject, before: MachineStatus['node'], now: Date): string | undefined {
  return before?.establishedAt ?? (hasStartupTaint(node) ? undefined : now.toISOString());
}

/** The reason of Progressing is the step, that of Stalled what it waits for. */
function progressConditions(report: MachineReport, waiting: Wait | undefined): readonly Condition[] {
  const { machine, plan, now } = report;
  const wait = report.wait ?? plan.wait;
  const isLate = waiting !== undefined && wait !== undefined && isStalled(report, wait, waiting);
  const late = isLate ? { ...wait, since: waiting.since } : flapping(report);
  const progressing = wait
    ? finding('Progressing', late ? 'False' : 'True', wait.step, wait.message)
    : finding('Progressing', 'True', 'AsWanted', 'nothing is to be done');
  const findings = [progressing, stalledFinding(machine, late)];
  return withConditions(plan.conditions, findings, now, machine.metadata.generation);
}

/** A wait that only a person can end is late at once, and one that a person asked for never is. */
function isStalled({ machine, now }: MachineReport, wait: MachineWait, waiting: Wait): boolean {
  if (wait.reason === DRY_RUN_REASON || wait.reason === KEPT_REASON) return false;
  return wait.isFinal === true || now >= stallsAt(machine, wait, waiting);
}

interface LateWait {
  readonly reason: string;
  readonly since: string;
  readonly message: string;
}

/** Each wait for a gate that flaps is too short to be late. */
function flapping({ machine, plan, now }: MachineReport): LateWait | undefined {
  const gates = conditionOf(plan.conditions, 'GatesStable');
  const since = gatesFlapSince(machine, gates, now);
  return since === undefined ? undefined : { reason: FLAPPING, since, message: gates?.message ?? '' };
}

/** A field that nothing acts on is for a person, however the machine is. */
function stalledFinding(machine: Machine, late: LateWait | undefined): Finding {
  const inactive = inactiveFields(machine).map(inactiveFieldText);
  if (inactive.length > 0) return finding('Stalled', 'True', 'NotSupported', inactive.join('; '));
  return late
    ? finding('Stalled', 'True', late.reason, `since ${late.since}: ${late.message}`)
    : finding('Stalled', 'False', 'AsWanted', 'no person is needed');
}

/** Components may wait for a drain, which has a time limit of its own; so has a deletion as a whole. */
export function stallsAt(machine: Machine, { step }: MachineWait, { since }: Wait): Date {
  const { drainTimeoutSeconds } = machine.spec.deletion;
  const isDrain = step === 'InstallingComponents' || step === 'Draining';
  const stepEnd = Date.parse(since) + (isDrain ? drainTimeoutSeconds : DEADLINE_SECONDS) * 1000;
  return new Date(Math.min(stepEnd, deletionDeadline(machine)?.getTime() ?? stepEnd));
}
