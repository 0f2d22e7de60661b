/** The phase table of each kind. No npm package here: controllers and the agent import this file. */
import {
  because,
  both,
  deleting,
  either,
  inService,
  is,
  notFalse,
  notTrue,
  outdated,
  phaseTable,
  setButNotTrue,
  type Test,
} from './phase-of-conditions.ts';

const stalled = is('Stalled', 'True');
const paused = is('Progressing', 'False', 'Paused');

export const clusterPhases = phaseTable(
  [
    ['Deleting', deleting],
    ['Stalled', either(stalled, is('ControlPlaneStalled', 'True'), is('IdentityVerified', 'False'))],
    ['Paused', paused],
    ['Unreachable', both(notTrue('Reachable'), notFalse('ControlPlaneReady'))],
    ['Provisioning', is('ControlPlaneReady', 'False')],
    ['Degraded', is('Healthy', 'False')],
    ['Syncing', notTrue('Synced')],
  ],
  'Ready',
);

export const pipelinePhases = phaseTable(
  [
    ['Stalled', stalled],
    ['Held', is('Held', 'True')],
    ['Paused', paused],
    // The repository was read and its head rendered: what is wrong is in the commit.
    ['Refused', both(is('SourceReady', 'True'), is('Rendered', 'False', 'Refused'))],
    ['SourceFailed', either(notTrue('SourceReady'), is('Rendered', 'False'))],
    ['Rendering', because('Rendered', 'Rendering')],
    ['UpToDate', is('Promoted', 'True')],
  ],
  'Promoting',
);

export const releasePhases = phaseTable(
  [
    ['Succeeded', is('Succeeded', 'True')],
    ['Superseded', is('Superseded', 'True')],
    ['Failed', is('Stalled', 'True', 'FailureBudgetSpent')],
    ['Stalled', stalled],
    ['Waiting', is('Progressing', 'False')],
    ['Promoting', is('Progressing', 'True')],
  ],
  'Pending',
);

const importing: Test = either(
  setButNotTrue('HostTrusted'),
  setButNotTrue('PreflightPassed'),
  setButNotTrue('AgentInstalled'),
  // Its agent was started, and has not reported yet.
  is('SSHCredentialsNeeded', 'True'),
  notTrue('CertificateIssued'),
);

/** The agent has not come to the spec yet, or labels and taints of the Node follow it. */
const updating: Test = either(
  notTrue('UpToDate'),
  outdated('UpToDate'),
  both(inService, because('NodeSynced', 'Writing')),
);

/** A machine joins once: after that it is what keeps it from service. */
const notReady: Test = either(
  notTrue('ComponentsReady'),
  notTrue('NodeReady'),
  both(inService, notTrue('Ready'), notTrue('Held')),
);

export const machinePhases = phaseTable(
  [
    ['Deleting', deleting],
    ['Stalled', stalled],
    ['Creating', notTrue('InfraReady')],
    ['Importing', importing],
    ['Unreachable', notTrue('AgentReady')],
    ['Updating', updating],
    ['NotReady', notReady],
    ['Held', is('Held', 'True')],
    ['Ready', is('Ready', 'True')],
  ],
  'Joining',
);

export const machineSetPhases = phaseTable(
  [
    ['Deleting', deleting],
    ['Guarded', is('StormGuardActive', 'True')],
    ['Stalled', stalled],
    ['Paused', paused],
    ['Scaling', notTrue('ScaledAsWanted')],
    ['Updating', notTrue('UpToDate')],
    ['NotReady', notTrue('MachinesReady')],
  ],
  'Ready',
);

export const machineComponentPhases = phaseTable(
  [
    ['Deleting', deleting],
    ['Refused', is('Accepted', 'False')],
    ['Yanked', is('Yanked', 'True')],
    ['InUse', is('InUse', 'True')],
  ],
  'Unused',
);

/** A revision that completed stays so, also when a machine that has it is silent or joins later: Ready names that machine. */
export const machineComponentSetPhases = phaseTable(
  [
    ['Conflict', is('Conflict', 'True')],
    ['Stalled', stalled],
    ['RollingBack', because('Progressing', 'RollingBack')],
    ['Paused', paused],
    ['Waiting', is('Progressing', 'False')],
    ['Soaking', because('Progressing', 'Soaking')],
    ['Completed', either(is('UpToDate', 'True'), is('Progressing', 'True', 'AllDone'))],
  ],
  'Rolling',
);

export const nodeRemedierPhases = phaseTable(
  [
    ['Refused', notTrue('Accepted')],
    ['Suspended', because('Enforcing', 'Suspended')],
    ['Observing', because('Enforcing', 'Observe')],
    ['Shadowing', because('Enforcing', 'Shadow')],
    ['Held', notTrue('Enforcing')],
  ],
  'Enforcing',
);

/** The reason of Settled is the outcome. The classes without a phase of their own (Transient, Permanent, Ambiguous) failed. */
export const remedyOperationJobPhases = phaseTable(
  [
    ['Succeeded', is('Settled', 'True', 'Succeeded')],
    ['Superseded', is('Settled', 'True', 'Superseded')],
    ['Cancelled', is('Settled', 'True', 'Cancelled')],
    ['HandedOff', is('Settled', 'True', 'HandedOff')],
    ['Failed', is('Settled', 'True')],
    ['Settling', is('Settled', 'False')],
    ['Verifying', is('Executed', 'True')],
    ['Waiting', is('Progressing', 'False')],
    ['Running', is('Progressing', 'True')],
  ],
  'Pending',
);

export const maintenanceEventPhases = phaseTable(
  [
    ['Done', is('Settled', 'True')],
    ['Unmatched', is('Matched', 'False')],
    ['Preparing', is('Progressing', 'True')],
    ['Prepared', is('Prepared', 'True')],
  ],
  'Pending',
);

export const defenderPolicyPhases = phaseTable(
  [
    ['Refused', is('Accepted', 'False')],
    ['Stopped', is('KillSwitchEngaged', 'True')],
    ['BreakerOpen', is('BreakerOpen', 'True')],
    ['Auditing', because('InForce', 'Audit')],
    ['InForce', is('InForce', 'True')],
  ],
  'Pending',
);

export const defenderLedgerPhases = phaseTable(
  [
    ['NotReady', notTrue('Ready')],
    ['Full', is('NearFull', 'True')],
    ['Suspect', is('Suspect', 'True')],
  ],
  'Ready',
);

export const fleetPolicyPhases = phaseTable(
  [
    ['Stopped', is('KillSwitchEngaged', 'True')],
    ['NotReady', notTrue('InForce')],
    ['Held', is('CommonCauseFound', 'True')],
    ['CutOff', is('ClustersReached', 'False')],
  ],
  'InForce',
);

export const fleetAllowancePhases = phaseTable(
  [
    ['Stopped', is('KillSwitchEngaged', 'True')],
    ['Pending', notTrue('Adopted')],
    ['Floor', is('InForce', 'False')],
  ],
  'InForce',
);

/** Maps the phases of a RemedyOperationJob that has ended to what people call its end. */
export const ENDED_JOB_PHASES = {
  Succeeded: 'Succeeded',
  Superseded: 'Ended',
  Cancelled: 'Ended',
  HandedOff: 'Failed',
  Failed: 'Failed',
} as const satisfies Readonly<Record<string, string>>;

type EndedJobPhase = keyof typeof ENDED_JOB_PHASES;

export function isEndedJobPhase(phase: string): phase is EndedJobPhase {
  return Object.hasOwn(ENDED_JOB_PHASES, phase);
}
