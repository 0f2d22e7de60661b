/** Describes how the machines of a cluster are, as its own Defender counts them, and what endangers them. Pure. */
import type {
  ClusterIncident,
  DefenderLedger,
  DefenderPolicy,
  MachineCounts,
} from '../../api/generated/types.ts';
import { defenderIncidents } from '../../api/status/incidents.ts';
import type { ConditionStatus } from '../../kube/objects/conditions.ts';

/** Holds what was read of a cluster in which kubenode is installed. */
export interface ObservedMachines {
  readonly ledger: DefenderLedger | undefined;
  readonly policies: readonly DefenderPolicy[];
  /** Whether there are machines at all, counted or not. */
  readonly hasMachines: boolean;
  /** Why no process runs the controllers of the cluster. Undefined if one does. */
  readonly silentReason: string | undefined;
}

export interface MachineHealth {
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  /** The counts of the machines. Absent if they are not counted. */
  readonly machines?: MachineCounts;
  readonly incidents: readonly ClusterIncident[];
}

/** The health of a cluster in which kubenode has no machines, or is not installed. */
export const WITHOUT_MACHINES: MachineHealth = {
  status: 'True',
  reason: 'NoMachines',
  message: 'the cluster has no machines of kubenode',
  incidents: [],
};

/** The reason while the machines could not be read. */
export const NOT_READ = 'NotRead';

export function unreadMachines(because: string): MachineHealth {
  return { status: 'Unknown', reason: NOT_READ, message: because, incidents: [] };
}

/** Judges the machines of a cluster. Counts that no controller keeps current prove nothing. */
export function machineHealth(observed: ObservedMachines): MachineHealth {
  const { ledger, policies, hasMachines, silentReason } = observed;
  if (!hasMachines) return WITHOUT_MACHINES;
  const machines = ledger?.status?.machines;
  const incidents = [...silence(silentReason), ...defenderIncidents(policies, ledger)];
  return { ...finding(machines, silentReason), ...(machines && { machines }), incidents };
}

function silence(because: string | undefined): readonly ClusterIncident[] {
  if (because === undefined) return [];
  const message = `no controllers run, so nothing is repaired or updated: ${because}`;
  return [{ reason: 'NoControllers', message }];
}

type Finding = Pick<MachineHealth, 'status' | 'reason' | 'message'>;

function finding(machines: MachineCounts | undefined, silentReason: string | undefined): Finding {
  if (silentReason !== undefined) {
    const message = 'no controllers run: nothing reports how the machines are';
    return { status: 'Unknown', reason: 'NoControllers', message };
  }
  if (!machines) {
    const message = 'the Defender of the cluster has not counted its machines yet';
    return { status: 'Unknown', reason: 'NotCounted', message };
  }
  const { total = 0, ready = 0, unhealthy = 0 } = machines;
  if (unhealthy > 0) {
    return { status: 'False', reason: 'MachinesUnhealthy', message: unhealthyText(machines) };
  }
  return { status: 'True', reason: 'NoneUnhealthy', message: `${ready} of ${total} machines are Ready` };
}

const SHOWN = 5;

/** Formats the unhealthy machines: `3 of 6 machines are unhealthy: m-4, m-5 Unreachable; m-6 NotReady`. */
function unhealthyText({ total = 0, unhealthy = 0, unhealthyMachines = [] }: MachineCounts): string {
  const shown = unhealthyMachines.slice(0, SHOWN);
  const groups = [...Map.groupBy(shown, ({ phase }) => phase)].map(
    ([phase, own]) => `${own.map(({ name }) => name).join(', ')} ${phase}`,
  );
  const more = unhealthy > shown.length ? [`and ${unhealthy - shown.length} more`] : [];
  return `${unhealthy} of ${total} machines ${unhealthy === 1 ? 'is' : 'are'} unhealthy: ${[...groups, ...more].join('; ')}`;
}
