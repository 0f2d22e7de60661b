import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crdOf } from '../../../src/api/generate/crd.ts';
import type { Kind } from '../../../src/api/kinds/kind.ts';
import { GROUP, KINDS, VERSION } from '../../../src/api/kinds/registry.ts';
import type { Observed } from '../../../src/api/status/phase-of-conditions.ts';
import { runs } from '../../support/sweep-size.ts';

/** Rows: conditions as `Type=Status/Reason`, and `deleted`. */
const ROWS: readonly [kind: string, phase: string, state: string][] = [
  ['Cluster', 'Deleting', 'deleted Stalled=True Synced=True'],
  ['Cluster', 'Stalled', 'Stalled=True Progressing=False/Paused'],
  ['Cluster', 'Stalled', 'ControlPlaneStalled=True'],
  ['Cluster', 'Stalled', 'IdentityVerified=False Reachable=True'],
  ['Cluster', 'Paused', 'Progressing=False/Paused Reachable=False'],
  ['Cluster', 'Unreachable', ''],
  ['Cluster', 'Unreachable', 'Reachable=Unknown Synced=True'],
  ['Cluster', 'Unreachable', 'Reachable=False ControlPlaneReady=True'],
  ['Cluster', 'Provisioning', 'Reachable=False ControlPlaneReady=False'],
  ['Cluster', 'Provisioning', 'Reachable=True ControlPlaneReady=False Healthy=False'],
  ['Cluster', 'Degraded', 'Reachable=True Healthy=False Synced=True'],
  ['Cluster', 'Syncing', 'Reachable=True Healthy=True'],
  ['Cluster', 'Syncing', 'Reachable=True Synced=Unknown/Stale'],
  ['Cluster', 'Ready', 'Reachable=True Synced=True'],
  ['Cluster', 'Ready', 'Reachable=True Synced=True Progressing=True/Paused'],
  ['Cluster', 'Ready', 'Reachable=True Synced=True Progressing=False/Soaking'],
  ['Pipeline', 'Stalled', 'Stalled=True Held=True'],
  ['Pipeline', 'Held', 'Held=True Progressing=False/Paused'],
  ['Pipeline', 'Paused', 'Progressing=False/Paused SourceReady=False'],
  ['Pipeline', 'Refused', 'SourceReady=True Rendered=False/Refused Promoted=True'],
  ['Pipeline', 'SourceFailed', 'Promoted=True'],
  ['Pipeline', 'SourceFailed', 'SourceReady=True Rendered=False Promoted=True'],
  ['Pipeline', 'Rendering', 'SourceReady=True Rendered=Unknown/Rendering Promoted=True'],
  ['Pipeline', 'UpToDate', 'SourceReady=True Promoted=True'],
  ['Pipeline', 'Promoting', 'SourceReady=True Rendered=True Promoted=False'],
  ['Release', 'Succeeded', 'Succeeded=True Superseded=True'],
  ['Release', 'Superseded', 'Superseded=True Stalled=True'],
  ['Release', 'Failed', 'Stalled=True/FailureBudgetSpent'],
  ['Release', 'Stalled', 'Stalled=True/DeadlinePassed Progressing=True'],
  ['Release', 'Waiting', 'Progressing=False'],
  ['Release', 'Promoting', 'Progressing=True'],
  ['Release', 'Pending', 'Progressing=Unknown'],
  ['Machine', 'Deleting', 'deleted Stalled=True'],
  ['Machine', 'Stalled', 'Stalled=True'],
  ['Machine', 'Creating', 'CertificateIssued=True'],
  ['Machine', 'Importing', 'InfraReady=True'],
  ['Machine', 'Importing', 'InfraReady=True HostTrusted=False CertificateIssued=True'],
  ['Machine', 'Importing', 'InfraReady=True PreflightPassed=Unknown CertificateIssued=True'],
  ['Machine', 'Importing', 'InfraReady=True SSHCredentialsNeeded=True CertificateIssued=True'],
  ['Machine', 'Unreachable', 'InfraReady=True CertificateIssued=True HostTrusted=True'],
  ['Machine', 'Updating', 'InfraReady=True CertificateIssued=True AgentReady=True'],
  [
    'Machine',
    'Updating',
    'generation2 InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True@1 ComponentsReady=True NodeReady=True',
  ],
  [
    'Machine',
    'Joining',
    'generation2 InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True@2 ComponentsReady=True NodeReady=True',
  ],
  [
    'Machine',
    'NotReady',
    'inService InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True ComponentsReady=True NodeReady=True Ready=False',
  ],
  [
    'Machine',
    'NotReady',
    'InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True NodeReady=True',
  ],
  [
    'Machine',
    'Held',
    'InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True ComponentsReady=True NodeReady=True Held=True Ready=True',
  ],
  [
    'Machine',
    'Ready',
    'InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True ComponentsReady=True NodeReady=True Ready=True',
  ],
  [
    'Machine',
    'Joining',
    'InfraReady=True CertificateIssued=True AgentReady=True UpToDate=True ComponentsReady=True NodeReady=True',
  ],
  ['MachineSet', 'Deleting', 'deleted StormGuardActive=True'],
  ['MachineSet', 'Guarded', 'StormGuardActive=True Stalled=True'],
  ['MachineSet', 'Stalled', 'Stalled=True Progressing=False/Paused'],
  ['MachineSet', 'Paused', 'Progressing=False/Paused'],
  ['MachineSet', 'Scaling', 'Progressing=False/Waiting'],
  ['MachineSet', 'Scaling', 'Progressing=True/Paused'],
  ['MachineSet', 'Updating', 'ScaledAsWanted=True UpToDate=False'],
  ['MachineSet', 'NotReady', 'ScaledAsWanted=True UpToDate=True'],
  ['MachineSet', 'Ready', 'ScaledAsWanted=True UpToDate=True MachinesReady=True'],
  ['MachineComponent', 'Deleting', 'deleted Accepted=False'],
  ['MachineComponent', 'Refused', 'Accepted=False Yanked=True'],
  ['MachineComponent', 'Yanked', 'Yanked=True InUse=True'],
  ['MachineComponent', 'InUse', 'InUse=True'],
  ['MachineComponent', 'Unused', 'Accepted=True'],
  ['MachineComponentSet', 'Conflict', 'Conflict=True Stalled=True'],
  ['MachineComponentSet', 'Stalled', 'Stalled=True Progressing=True/RollingBack'],
  ['MachineComponentSet', 'RollingBack', 'Progressing=False/RollingBack'],
  ['MachineComponentSet', 'Paused', 'Progressing=False/Paused'],
  ['MachineComponentSet', 'Waiting', 'Progressing=False/Soaking'],
  ['MachineComponentSet', 'Soaking', 'Progressing=True/Soaking UpToDate=True'],
  ['MachineComponentSet', 'Completed', 'UpToDate=True'],
  ['MachineComponentSet', 'Completed', 'Progressing=True/AllDone UpToDate=False'],
  ['MachineComponentSet', 'Waiting', 'Progressing=False/AllDone UpToDate=False'],
  ['MachineComponentSet', 'Rolling', 'Progressing=True'],
  ['NodeRemedier', 'Refused', 'Enforcing=False/Suspended'],
  ['NodeRemedier', 'Suspended', 'Accepted=True Enforcing=False/Suspended'],
  ['NodeRemedier', 'Observing', 'Accepted=True Enforcing=False/Observe'],
  ['NodeRemedier', 'Shadowing', 'Accepted=True Enforcing=False/Shadow'],
  ['NodeRemedier', 'Held', 'Accepted=True'],
  ['NodeRemedier', 'Enforcing', 'Accepted=True Enforcing=True'],
  ['RemedyOperationJob', 'Succeeded', 'Settled=True/Succeeded Executed=True'],
  ['RemedyOperationJob', 'Superseded', 'Settled=True/Superseded'],
  ['RemedyOperationJob', 'Cancelled', 'Settled=True/Cancelled'],
  ['RemedyOperationJob', 'HandedOff', 'Settled=True/HandedOff'],
  ['RemedyOperationJob', 'Failed', 'Settled=True/Transient'],
  ['RemedyOperationJob', 'Failed', 'Settled=True/Ambiguous'],
  ['RemedyOperationJob', 'Settling', 'Settled=False Executed=True'],
  ['RemedyOperationJob', 'Verifying', 'Executed=True Progressing=False'],
  ['RemedyOperationJob', 'Waiting', 'Progressing=False'],
  ['RemedyOperationJob', 'Running', 'Progressing=True'],
  ['RemedyOperationJob', 'Pending', ''],
  ['MaintenanceEvent', 'Done', 'Settled=True Matched=False'],
  ['MaintenanceEvent', 'Unmatched', 'Matched=False Progressing=True'],
  ['MaintenanceEvent', 'Preparing', 'Progressing=True Prepared=True'],
  ['MaintenanceEvent', 'Prepared', 'Prepared=True'],
  ['MaintenanceEvent', 'Pending', 'Matched=True'],
  ['DefenderPolicy', 'Refused', 'Accepted=False KillSwitchEngaged=True'],
  ['DefenderPolicy', 'Stopped', 'KillSwitchEngaged=True BreakerOpen=True'],
  ['DefenderPolicy', 'BreakerOpen', 'BreakerOpen=True InForce=True'],
  ['DefenderPolicy', 'Auditing', 'InForce=True/Audit'],
  ['DefenderPolicy', 'InForce', 'InForce=True'],
  ['DefenderPolicy', 'Pending', 'InForce=False'],
  ['FleetPolicy', 'Stopped', 'KillSwitchEngaged=True InForce=False'],
  ['FleetPolicy', 'NotReady', 'InForce=False ClustersReached=False'],
  ['FleetPolicy', 'Held', 'InForce=True CommonCauseFound=True ClustersReached=False'],
  ['FleetPolicy', 'CutOff', 'InForce=True ClustersReached=False'],
  ['FleetPolicy', 'InForce', 'InForce=True ClustersReached=True'],
  ['FleetAllowance', 'Stopped', 'KillSwitchEngaged=True Adopted=False'],
  ['FleetAllowance', 'Pending', 'Adopted=False InForce=True'],
  ['FleetAllowance', 'Floor', 'Adopted=True InForce=False'],
  ['FleetAllowance', 'InForce', 'Adopted=True InForce=True'],
  ['DefenderLedger', 'NotReady', 'NearFull=True'],
  ['DefenderLedger', 'Full', 'Ready=True NearFull=True Suspect=True'],
  ['DefenderLedger', 'Suspect', 'Ready=True Suspect=True'],
  ['DefenderLedger', 'Ready', 'Ready=True NearFull=False'],
];

describe('phase', () => {
  it.each(ROWS)('of a %s is %s: %s', (kind, phase, state) => {
    expect(kindOf(kind).phases.phaseOf(observed(state))).toBe(phase);
  });

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))('of a %s: every phase has a row', (_, kind) => {
    const tried = ROWS.filter(([name]) => name === kind.kind).map(([, phase]) => phase);
    expect([...new Set(tried)].toSorted()).toEqual([...kind.phases.phases].toSorted());
  });

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))('of a %s is a value of its CRD', (_, kind) => {
    const crd = JSON.stringify(crdOf(kind, GROUP, VERSION));
    expect(crd).toContain(`"enum":${JSON.stringify(kind.phases.phases)}`);
  });

  const anyCondition = fc.record({
    type: fc.constantFrom(...conditionTypes()),
    status: fc.constantFrom('True', 'False', 'Unknown', 'Other'),
    reason: fc.constantFrom('Paused', 'Soaking', 'RollingBack', 'Audit', 'Suspended', 'Succeeded', 'Else'),
  });
  const anyObserved = fc.record({
    conditions: fc.uniqueArray(anyCondition, { selector: ({ type }) => type }),
    deletionTimestamp: fc.constantFrom(undefined, '2030-01-01T00:00:00Z'),
  });

  it('is defined for all conditions, and does not depend on their order', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), anyObserved, fc.anything(), (kind, state, noise) => {
        const { phases, phaseOf } = kind.phases;
        const phase = phaseOf(state);
        const other = {
          conditions: state.conditions.toReversed().map((condition) => ({ ...condition, message: noise })),
          deletionTimestamp: state.deletionTimestamp,
          status: noise,
        };
        expect(phases).toContain(phase);
        expect(phaseOf(other)).toBe(phase);
        expect(phaseOf(state)).toBe(phase);
      }),
      runs(2_000, 100_000),
    );
  });

  it('is the first column of the table whose test passes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        anyObserved,
        ({ phases: { columns, phaseOf, otherwise } }, state) => {
          const holding = columns.filter(([, holds]) => holds(state)).map(([phase]) => phase);
          expect(phaseOf(state)).toBe(holding[0] ?? otherwise);
        },
      ),
      runs(2_000, 100_000),
    );
  });
});

function kindOf(name: string): Kind {
  const found = KINDS.find(({ kind }) => kind === name);
  if (!found) throw new Error(`there is no kind ${name}`);
  return found;
}

function observed(state: string): Observed {
  const words = state.split(' ').filter((word) => word !== '');
  const conditions = words.flatMap((word) => {
    const { type, status, reason, at } =
      /^(?<type>\w+)=(?<status>\w+)(?:\/(?<reason>\w+))?(?:@(?<at>\d+))?$/.exec(word)?.groups ?? {};
    const observedGeneration = at === undefined ? {} : { observedGeneration: Number(at) };
    return type && status ? [{ type, status, reason: reason ?? 'Tried', ...observedGeneration }] : [];
  });
  return {
    conditions,
    ...(words.includes('deleted') && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    ...(words.includes('generation2') && { generation: 2 }),
    isInService: words.includes('inService'),
  };
}

function conditionTypes(): string[] {
  return [
    ...new Set(ROWS.flatMap(([, , state]) => [...state.matchAll(/(\w+)=/g)].map(([, type]) => type ?? ''))),
  ];
}
