/**
 * Situations of a component set, the conditions that its status has in them, and what sync makes of these: one table for both, so that
 * promotion reads what the controller writes.
 */
import type { MachineConflict } from '../../../../src/controllers/componentset/members/membership.ts';
import { ago, machine } from '../../../support/builders.ts';
import { BATCH, COMPLETED, grant, member, NEW, progressOf } from '../rollout/rollout-input.ts';
import { denied, type ReportParts } from './set-report.ts';

export const DONE = { at: NEW, batch: 1 } as const;
export const IN_WORK = {
  ...DONE,
  step: 'InWork',
  reason: 'Fetching',
  because: 'app is Fetching',
  holdsGrant: true,
  grant: grant(),
} as const;
export const FAILED = { ...DONE, step: 'Failed', reason: 'RolledBack', because: 'app: probes fail' } as const;
export const DIFFERS = {
  ...DONE,
  step: 'Differs',
  reason: 'HostDiffers',
  because: 'app: a file has other content',
} as const;
export const STEADY = {
  updateRevision: NEW.name,
  history: [{ revision: NEW.name, result: 'Completed' }, COMPLETED],
} as const;
const HEALTH_CHECK = {
  name: 'health',
  builtin: {},
  intervalSeconds: 30,
  failureLimit: 0,
  inconclusiveLimit: 3,
  consecutiveSuccess: 1,
};
/** The gate of the set before, of which a check was removed by the last change. */
export const LOOSENED = {
  spec: 'before',
  declared: 'before',
  soakSeconds: 300,
  approval: 'None',
  checks: [{ name: 'errors', digest: 'before' }],
} as const;
export const SOAKED = { ...BATCH, soakUntil: new Date(ago(1)) };

const CONFLICT: MachineConflict = {
  machine: machine('x'),
  conflict: {
    reason: 'SetConflict',
    because: 'sets general and other both select machine x',
    blocker: { kind: 'MachineComponentSet', name: 'other' },
  },
};

export interface SetSituation extends ReportParts {
  readonly name: string;
  readonly phase: string;
  readonly ready: string;
  readonly progressing: string;
  readonly waiting?: string;
  readonly stalled?: string;
  readonly gates: string;
  /** Of sync, and its reason. */
  readonly answer: string;
}

const ROLLED_BACK = { revision: NEW.name, result: 'RolledBack' } as const;

export const SITUATIONS: readonly SetSituation[] = [
  {
    name: 'every machine at the revision',
    members: [member('a', DONE), member('b', DONE)],
    progress: STEADY,
    phase: 'Completed',
    ready: 'True AsWanted',
    progressing: 'True AllDone',
    gates: 'True AsWanted',
    answer: 'Settled',
  },
  {
    name: 'a machine that is silent since the revision completed',
    members: [
      member('a', { ...DONE, step: 'Unknown', reason: 'AgentSilent', because: 'the agent is silent' }),
      member('b', DONE),
    ],
    progress: STEADY,
    phase: 'Completed',
    ready: 'False MachinesBehind',
    progressing: 'True AllDone',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'an adopted machine that keeps what its host runs, at the end',
    members: [member('a', DIFFERS), member('b', DONE)],
    progress: STEADY,
    phase: 'Completed',
    ready: 'False HostDiffers',
    progressing: 'True AllDone',
    gates: 'True AsWanted',
    answer: 'Progressing HostDiffers',
  },
  {
    name: 'an adopted machine that keeps what its host runs, beside a batch in work',
    members: [member('a', DIFFERS), member('b', IN_WORK)],
    phase: 'Rolling',
    ready: 'False MachinesBehind',
    progressing: 'True Fetching',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a batch in work',
    members: [member('a', IN_WORK), member('b', IN_WORK), member('c')],
    phase: 'Rolling',
    ready: 'False MachinesBehind',
    progressing: 'True Fetching',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'the first batch in work',
    members: [member('a', { ...IN_WORK, batch: 0 }), member('c')],
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 1 } }),
    phase: 'Rolling',
    ready: 'False MachinesBehind',
    progressing: 'True Fetching',
    gates: 'Unknown NoBatchYet',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a soak',
    members: [member('a', DONE), member('b', DONE), member('c')],
    progress: progressOf({ batch: { ...BATCH, soakUntil: new Date(ago(-60)) } }),
    phase: 'Soaking',
    ready: 'False MachinesBehind',
    progressing: 'True Soaking',
    gates: 'Unknown Soaking',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a check that has not passed yet',
    members: [member('a', DONE), member('b', DONE), member('c')],
    progress: progressOf({ batch: SOAKED }),
    gate: { state: 'Waiting' },
    phase: 'Waiting',
    ready: 'False MachinesBehind',
    progressing: 'False GateOpen',
    waiting: 'GateOpen MachineComponentSet/general',
    gates: 'Unknown Soaking',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a check that had no result too often',
    members: [member('a', DONE), member('b', DONE), member('c')],
    progress: progressOf({ batch: SOAKED }),
    gate: { state: 'Inconclusive', check: 'errors', because: 'check errors: no answer' },
    phase: 'Stalled',
    ready: 'False MachinesBehind',
    progressing: 'False GateInconclusive',
    waiting: 'GateInconclusive MachineComponentSet/general',
    stalled: 'True GateInconclusive',
    gates: 'Unknown GateInconclusive',
    answer: 'Failed GateInconclusive',
  },
  {
    name: 'a batch of which nothing was known for too long',
    members: [member('a', DONE), member('b', { ...DONE, step: 'Unknown' }), member('c')],
    progress: progressOf({ batch: { ...BATCH, inconclusive: 4, inconclusiveAt: new Date(ago(1)) } }),
    rollout: { gate: { soakSeconds: 300, checks: [HEALTH_CHECK], approval: 'None' } },
    phase: 'Stalled',
    ready: 'False MachinesBehind',
    progressing: 'False HealthUnknown',
    waiting: 'HealthUnknown MachineComponentSet/general',
    stalled: 'True HealthUnknown',
    gates: 'Unknown HealthUnknown',
    answer: 'Failed HealthUnknown',
  },
  {
    name: 'a batch in which every host differs, and a machine that is left',
    members: [member('a', DIFFERS), member('b', DIFFERS), member('c')],
    progress: progressOf({ batch: SOAKED }),
    phase: 'Stalled',
    ready: 'False MachinesBehind',
    progressing: 'False NothingProven',
    waiting: 'NothingProven Machine/a',
    stalled: 'True NothingProven',
    gates: 'Unknown NothingProven',
    answer: 'Failed NothingProven',
  },
  {
    name: 'a check that fails, with nothing to return to',
    members: [member('a', DONE), member('b', DONE), member('c')],
    progress: progressOf({ batch: SOAKED }),
    gate: { state: 'Failed', check: 'errors', because: 'check errors: 7 is above 1' },
    rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } },
    phase: 'Stalled',
    ready: 'False MachinesBehind',
    progressing: 'False GateFailed',
    waiting: 'GateFailed MachineComponentSet/general',
    stalled: 'True GateFailed',
    gates: 'False GateFailed',
    answer: 'Failed GateFailed',
  },
  {
    name: 'a batch that waits for approval',
    members: [member('a', DONE), member('b', DONE), member('c')],
    progress: progressOf({ batch: SOAKED }),
    rollout: { gate: { soakSeconds: 1, checks: [], approval: 'EveryBatch' } },
    phase: 'Waiting',
    ready: 'False MachinesBehind',
    progressing: 'False ApprovalRequired',
    waiting: 'ApprovalRequired MachineComponentSet/general',
    gates: 'Unknown Soaking',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a change that also loosened its gate',
    members: [member('a'), member('b')],
    progress: progressOf({ gateInForce: LOOSENED }),
    phase: 'Waiting',
    ready: 'False MachinesBehind',
    progressing: 'False GateLoosened',
    waiting: 'GateLoosened MachineComponentSet/general',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a pause, also while a machine is in work',
    members: [member('a', IN_WORK), member('b')],
    paused: true,
    phase: 'Paused',
    ready: 'False MachinesBehind',
    progressing: 'False Paused',
    waiting: 'Paused MachineComponentSet/general',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a denial of every machine',
    members: [member('a'), member('b')],
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 1 } }),
    denials: [denied('a'), denied('b')],
    phase: 'Waiting',
    ready: 'False MachinesBehind',
    progressing: 'False GrantDenied',
    waiting: 'GrantDenied DefenderPolicy/fleet-default',
    gates: 'Unknown NoBatchYet',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a denial while another machine is in work',
    members: [member('a', IN_WORK), member('b')],
    denials: [denied('b')],
    phase: 'Rolling',
    ready: 'False MachinesBehind',
    progressing: 'True GrantDenied',
    waiting: 'GrantDenied DefenderPolicy/fleet-default',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a silent agent in the open batch',
    members: [
      member('a', { ...DONE, step: 'Unknown', reason: 'AgentSilent', isSilent: true }),
      member('b', DONE),
      member('c'),
    ],
    phase: 'Waiting',
    ready: 'False MachinesBehind',
    progressing: 'False AgentSilent',
    waiting: 'AgentSilent Machine/a',
    gates: 'True AsWanted',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'too many machines out of service, none by the rollout',
    members: [member('a', { step: 'Unhealthy' }), member('b', { step: 'Unhealthy' }), member('c')],
    rollout: { maxUnavailable: 1, preferUnhealthy: false },
    progress: progressOf({ batch: { ...BATCH, index: 0, size: 3 } }),
    denials: [denied('a'), denied('b')],
    phase: 'Waiting',
    ready: 'False MachinesBehind',
    progressing: 'False GrantDenied',
    waiting: 'GrantDenied DefenderPolicy/fleet-default',
    gates: 'Unknown NoBatchYet',
    answer: 'Progressing MachinesBehind',
  },
  {
    name: 'a component that is not found',
    members: [member('a', DONE)],
    desired: {
      problems: [
        {
          reason: 'ComponentNotFound',
          because: 'app-3 was not found',
          blocker: { kind: 'MachineComponent', name: 'app-3' },
        },
      ],
    },
    phase: 'Waiting',
    ready: 'False ComponentNotFound',
    progressing: 'False ComponentNotFound',
    waiting: 'ComponentNotFound MachineComponent/app-3',
    gates: 'Unknown Blocked',
    answer: 'Progressing ComponentNotFound',
  },
  {
    name: 'a component that is not accepted',
    members: [member('a', DONE)],
    desired: { problems: [{ reason: 'ComponentRefused', because: 'app-3 is not accepted' }] },
    phase: 'Stalled',
    ready: 'False ComponentRefused',
    progressing: 'False ComponentRefused',
    waiting: 'ComponentRefused MachineComponentSet/general',
    stalled: 'True ComponentRefused',
    gates: 'Unknown Blocked',
    answer: 'Failed ComponentRefused',
  },
  {
    name: 'a failure that stops the rollout',
    members: [member('a', FAILED), member('b', DONE), member('c')],
    rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } },
    phase: 'Stalled',
    ready: 'False MachinesBehind',
    progressing: 'False FailureBudgetSpent',
    waiting: 'FailureBudgetSpent Machine/a',
    stalled: 'True FailureBudgetSpent',
    gates: 'True AsWanted',
    answer: 'Failed FailureBudgetSpent',
  },
  {
    name: 'machines that go back',
    members: [member('a', FAILED), member('b', DONE), member('c')],
    phase: 'RollingBack',
    ready: 'False RolledBack',
    progressing: 'True RollingBack',
    gates: 'False RolledBack',
    answer: 'Failed RolledBack',
  },
  {
    name: 'a revision that was rolled back',
    members: [member('a'), member('b')],
    progress: progressOf({ history: [{ ...ROLLED_BACK, finishedAt: ago(60) }, COMPLETED] }),
    phase: 'Stalled',
    ready: 'False RolledBack',
    progressing: 'False RolledBack',
    waiting: 'RolledBack MachineComponentSet/general',
    stalled: 'True RolledBack',
    gates: 'False RolledBack',
    answer: 'Failed RolledBack',
  },
  {
    name: 'a conflict with another set',
    members: [member('a', DONE)],
    progress: STEADY,
    conflicts: [CONFLICT],
    phase: 'Conflict',
    ready: 'False SetConflict',
    progressing: 'False SetConflict',
    waiting: 'SetConflict MachineComponentSet/other',
    gates: 'True AsWanted',
    answer: 'Progressing SetConflict',
  },
];
