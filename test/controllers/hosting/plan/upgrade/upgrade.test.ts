import { describe, expect, it } from 'vitest';
import { targetDigest } from '../../../../../src/controllers/hosting/plan/upgrade/target.ts';
import { planPlaneUpgrade } from '../../../../../src/controllers/hosting/plan/upgrade/upgrade.ts';
import { NOW } from '../../../../support/builders.ts';
import {
  decisionText,
  OLD_VERSION,
  PROGRAMS,
  settledPlane,
  VERSION,
} from '../../../../support/hosting/objects.ts';
import { RUNS, type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const API_TRIAL = { etcd: 'new', 'kube-apiserver': 'emulating' } as const;
const TRIAL = {
  ...API_TRIAL,
  'kube-controller-manager': 'emulating',
  'kube-scheduler': 'emulating',
} as const;
const EMULATES = 'it is to run v1.36.3, which emulates 1.35';
const FLAGS = 'with the flags of the spec';
const BACK = { version: OLD_VERSION };

function secondsAgo(...seconds: number[]): readonly Date[] {
  return seconds.map((each) => new Date(+NOW - each * 1000));
}

const CRASHED = { state: 'Stopped', starts: secondsAgo(9, 6, 3), logTail: '  | panic' } as const;
const ENDED = { state: 'Stopped', starts: secondsAgo(3600) } as const;
const HANGS = { state: 'Starting', starts: secondsAgo(50), unreadySince: new Date(+NOW - 50_000) } as const;

function plan(parts: UpgradeParts): string {
  const decision = planPlaneUpgrade(upgradeInput(parts));
  if (!decision) return 'nothing';
  const { act } = decision;
  const step = act?.type === 'RecordStep' ? ` ${act.upgrade.step}` : '';
  return decisionText(decision).replace('RecordStep', `Record${step}`);
}

/** An etcd before the change whose minor version is older than that after it. */
const OLDER_ETCD = { settled: { ...settledPlane(OLD_VERSION), etcdVersion: 'v3.5.21' } };

/** A hosting that was started again with the programs of one version only. */
const [OLD_PROGRAMS, NEW_PROGRAMS] = PROGRAMS.versions;
const ONLY_OLD = { programs: { versions: [OLD_PROGRAMS] } };
const ONLY_NEW = { programs: { versions: [NEW_PROGRAMS] } };
const NO_NEW = 'stalled VersionNotAvailable';

/** As of one that is replayed after a kill: what was done, and what comes next. */
const FORWARD: readonly (readonly [name: string, parts: UpgradeParts, next: string])[] = [
  [
    'the spec has another version',
    {},
    'Record Preflight: the spec differs: version is "v1.35.4", not "v1.36.3"',
  ],
  [
    'the preflight passed',
    { step: 'Preflight' },
    'Record Snapshot: the control plane answers, and its programs are there',
  ],
  ['no snapshot was taken', { step: 'Snapshot' }, 'Snapshot: v1.35.4 may have to be restored'],
  [
    'the snapshot is that of the upgrade before',
    { step: 'Snapshot', plane: { snapshotAt: new Date(+NOW - 11_000) } },
    'Snapshot: v1.35.4 may have to be restored',
  ],
  [
    'the snapshot was taken',
    { step: 'Snapshot', plane: { snapshotAt: new Date(+NOW - 9000) } },
    'Record Etcd: the snapshot was opened',
  ],
  ['etcd is of the old version', { step: 'Etcd' }, `Change etcd: it is to run v3.6.8 ${FLAGS}`],
  [
    'the change of etcd was interrupted before its stop',
    { step: 'Etcd', runs: { etcd: 'new' }, but: { etcd: { isOutdated: true } } },
    `Change etcd: it is to run v3.6.8 ${FLAGS}`,
  ],
  ['etcd was changed', { step: 'Etcd', runs: { etcd: 'new' } }, 'Record APIServers: etcd: every gate holds'],
  [
    'the API server is of the old version',
    { step: 'APIServers', runs: { etcd: 'new' } },
    `Change kube-apiserver: ${EMULATES}`,
  ],
  [
    'the API server was stopped for its change',
    { step: 'APIServers', runs: API_TRIAL, but: { 'kube-apiserver': { state: 'Stopped', starts: [] } } },
    'Start kube-apiserver: it is not running',
  ],
  [
    'the API server starts',
    { step: 'APIServers', runs: API_TRIAL, but: { 'kube-apiserver': { state: 'Starting' } } },
    'wait MemberStarting',
  ],
  [
    'the API server answers, and a write does not work',
    { step: 'APIServers', runs: API_TRIAL, input: { canary: { problem: 'timeout' } } },
    'wait CanaryFailed',
  ],
  [
    'the API server works',
    { step: 'APIServers', runs: API_TRIAL },
    'Record Managers: kube-apiserver: every gate holds',
  ],
  [
    'the managers are old',
    { step: 'Managers', runs: API_TRIAL },
    `Change kube-controller-manager: ${EMULATES}`,
  ],
  [
    'one manager was changed',
    { step: 'Managers', runs: { ...API_TRIAL, 'kube-controller-manager': 'emulating' } },
    `Change kube-scheduler: ${EMULATES}`,
  ],
  [
    'both were changed',
    { step: 'Managers', runs: TRIAL },
    'Record Soak: kube-controller-manager and kube-scheduler: every gate holds',
  ],
  [
    'certificates get another lifetime in the middle',
    {
      step: 'Managers',
      runs: API_TRIAL,
      hosted: { pki: { leafLifetimeSeconds: 3600, renewAtPercent: 50 } },
    },
    `Change kube-controller-manager: ${EMULATES}`,
  ],
  [
    'the clock was set back after the snapshot became due',
    { step: 'Snapshot', seconds: -600, plane: { snapshotAt: NOW } },
    'Record Snapshot: the clock of this machine was set back',
  ],
  [
    'the soak is over, and a member was started before the clock was set back',
    { step: 'Soak', runs: TRIAL, seconds: 60, but: { 'kube-scheduler': { starts: secondsAgo(-600) } } },
    'Record PointOfNoReturn: every member was healthy for 60 s',
  ],
  ['the soak began', { step: 'Soak', runs: TRIAL, seconds: 59 }, 'wait Soaking'],
  [
    'a member ended during the soak',
    { step: 'Soak', runs: TRIAL, seconds: 70, but: { 'kube-scheduler': { starts: secondsAgo(3600, 59) } } },
    'wait Soaking',
  ],
  [
    'the soak is over',
    { step: 'Soak', runs: TRIAL, seconds: 60 },
    'Record PointOfNoReturn: every member was healthy for 60 s',
  ],
  [
    'the point of no return is recorded in the status only',
    { step: 'PointOfNoReturn', runs: TRIAL },
    'Settle: v1.36.3 is not taken back from here on',
  ],
  [
    'the new version is settled',
    { step: 'PointOfNoReturn', settled: 'new', runs: TRIAL },
    `Change kube-apiserver: it is to run v1.36.3 ${FLAGS}`,
  ],
  [
    'the API server emulates nothing',
    { step: 'PointOfNoReturn', settled: 'new', runs: { ...TRIAL, 'kube-apiserver': 'new' } },
    `Change kube-controller-manager: it is to run v1.36.3 ${FLAGS}`,
  ],
  [
    'no member emulates',
    { step: 'PointOfNoReturn', settled: 'new' },
    'FinishUpgrade: every member runs v1.36.3 with the flags of the spec',
  ],
  ['all is done', { settled: 'new' }, 'nothing'],
  ['etcd is due, and its programs are missing', { step: 'Etcd', plane: ONLY_OLD }, NO_NEW],
  [
    'the API server is due, and its programs are missing',
    { step: 'APIServers', runs: { etcd: 'new' }, plane: ONLY_OLD },
    NO_NEW,
  ],
  [
    'the soak is over, and the programs are missing',
    { step: 'Soak', runs: TRIAL, seconds: 60, plane: ONLY_OLD },
    NO_NEW,
  ],
  [
    'the new version is settled, and its programs are missing',
    { step: 'PointOfNoReturn', settled: 'new', runs: TRIAL, plane: ONLY_OLD },
    NO_NEW,
  ],
];

const BACKWARD: readonly (readonly [name: string, parts: UpgradeParts, next: string])[] = [
  [
    'the spec is set back',
    { step: 'Managers', runs: TRIAL, hosted: BACK },
    'Record RollingBack: the spec was changed',
  ],
  [
    'the spec is set back after the soak, before anything was raised',
    { step: 'PointOfNoReturn', runs: TRIAL, hosted: BACK },
    'Record RollingBack: the spec was changed',
  ],
  [
    'the spec gets other flags in the middle',
    { step: 'Soak', runs: TRIAL, hosted: { scheduler: { extraArgs: { v: '4' } } } },
    'Record RollingBack: the spec was changed',
  ],
  [
    'the spec is set back, and etcd was started with a newer minor version',
    { step: 'Managers', runs: TRIAL, hosted: BACK, plane: OLDER_ETCD },
    'stalled RollbackImpossible',
  ],
  [
    'the status was lost, and etcd was started with a newer minor version',
    { step: 'RollingBack', runs: TRIAL, plane: OLDER_ETCD },
    'stalled RollbackImpossible',
  ],
  [
    'the spec is set back, etcd was started with a newer minor version, and the API server ended',
    {
      step: 'Managers',
      runs: TRIAL,
      hosted: BACK,
      plane: OLDER_ETCD,
      but: { 'kube-apiserver': ENDED },
    },
    'Start kube-apiserver: it ended',
  ],
  [
    'the spec is set back, and no programs can be had',
    { step: 'RollingBack', hosted: BACK, plane: { programs: { problem: 'x', isLoading: false } } },
    'stalled ProgramsMissing',
  ],
  [
    'no programs can be had, and our own controllers ended',
    {
      step: 'RollingBack',
      hosted: BACK,
      plane: { programs: { problem: 'x', isLoading: false } },
      but: { 'kubenode-controllers': ENDED },
    },
    'Start kubenode-controllers: it ended',
  ],
  [
    'the spec is set back before etcd was changed',
    {
      step: 'Snapshot',
      hosted: BACK,
      plane: OLDER_ETCD,
      but: { etcd: { run: { ...RUNS.old.etcd, version: 'v3.5.21' } } },
    },
    'Record RollingBack: the spec was changed',
  ],
  [
    'everything is new',
    { step: 'RollingBack', runs: TRIAL, hosted: BACK },
    `Change kube-scheduler: it is to run v1.35.4 ${FLAGS}`,
  ],
  [
    'everything is new, and the old programs are missing',
    { step: 'RollingBack', runs: TRIAL, hosted: BACK, plane: ONLY_NEW },
    'stalled VersionNotAvailable',
  ],
  [
    'only etcd is new, and the old programs are missing',
    { step: 'RollingBack', runs: { etcd: 'new' }, plane: ONLY_NEW },
    'stalled VersionNotAvailable',
  ],
  [
    'the managers are old again',
    { step: 'RollingBack', runs: API_TRIAL, hosted: BACK },
    `Change kube-apiserver: it is to run v1.35.4 ${FLAGS}`,
  ],
  [
    'only etcd is new',
    { step: 'RollingBack', runs: { etcd: 'new' } },
    `Change etcd: it is to run v3.6.5 ${FLAGS}`,
  ],
  [
    'everything is old again',
    { step: 'RollingBack' },
    'FinishUpgrade: every member runs v1.35.4 with its former flags again',
  ],
  [
    'everything is old again, and a write does not work',
    { step: 'RollingBack', input: { canary: { problem: 'x' } } },
    'FinishUpgrade: every member runs v1.35.4 with its former flags again',
  ],
  [
    'everything is old again, a write does not work, and a member does not answer',
    {
      step: 'RollingBack',
      input: { canary: { problem: 'x' } },
      but: { 'kube-scheduler': { state: 'Starting' } },
    },
    'wait MemberStarting',
  ],
  [
    'the scheduler does not answer although the API server does',
    { step: 'RollingBack', runs: API_TRIAL, but: { 'kube-scheduler': { state: 'Starting' } } },
    'wait MemberStarting',
  ],
  [
    'the scheduler does not answer because the API server crashes',
    {
      step: 'RollingBack',
      runs: API_TRIAL,
      but: {
        'kube-scheduler': { state: 'Starting' },
        'kube-controller-manager': { state: 'Starting' },
        'kube-apiserver': CRASHED,
      },
    },
    `Change kube-apiserver: it is to run v1.35.4 ${FLAGS}`,
  ],
  [
    'the spec is set back after the new version was settled',
    { step: 'PointOfNoReturn', settled: 'new', runs: TRIAL, hosted: BACK },
    `Change kube-apiserver: it is to run v1.36.3 ${FLAGS}`,
  ],
  ['the spec is set back after the end', { settled: 'new', hosted: BACK }, 'nothing'],
];

const CRASH_TEXT = 'kube-apiserver ended 3 times within 5 minutes: panic';
const LATE = {
  progressDeadlineSeconds: 40,
  soakSeconds: 60,
  onFailure: 'Rollback',
  allowEtcdUpgrade: false,
  windows: [],
  freezes: [],
} as const;
const PAUSE = { ...LATE, onFailure: 'Pause' } as const;
const API_CRASHES = { step: 'APIServers', runs: API_TRIAL, but: { 'kube-apiserver': CRASHED } } as const;

const FAILURES: readonly (readonly [name: string, parts: UpgradeParts, next: string])[] = [
  ['the API server ends three times', API_CRASHES, `Record RollingBack: ${CRASH_TEXT}`],
  [
    'the API server ends three times, and etcd was started with a newer minor version',
    { ...API_CRASHES, plane: OLDER_ETCD },
    'stalled UpgradeFailed',
  ],
  [
    'a person wants another try, as etcd cannot go back',
    { ...API_CRASHES, plane: OLDER_ETCD, hosted: { retryToken: 'b' } },
    'Record APIServers: spec.hosted.retryToken was changed',
  ],
  [
    'it hangs for longer than allowed',
    {
      step: 'APIServers',
      runs: API_TRIAL,
      seconds: 60,
      but: { 'kube-apiserver': HANGS },
      hosted: { upgrade: LATE },
    },
    'Record RollingBack: step APIServers made no progress for 40 s: kube-apiserver does not answer yet',
  ],
  [
    'it hangs, and its time began with its start',
    {
      step: 'APIServers',
      runs: API_TRIAL,
      seconds: 600,
      but: { 'kube-apiserver': { ...HANGS, starts: secondsAgo(39) } },
      hosted: { upgrade: LATE },
    },
    'wait MemberStarting',
  ],
  [
    'it was started again and again, and its time began with the first start',
    {
      step: 'APIServers',
      runs: API_TRIAL,
      seconds: 600,
      but: { 'kube-apiserver': { ...HANGS, starts: secondsAgo(400, 41, 3) } },
      hosted: { upgrade: LATE },
    },
    'Record RollingBack: step APIServers made no progress for 40 s: kube-apiserver does not answer yet',
  ],
  [
    'a change waits for a grant for hours',
    { step: 'APIServers', runs: { etcd: 'new' }, seconds: 9000, hosted: { upgrade: LATE } },
    `Change kube-apiserver: ${EMULATES}`,
  ],
  [
    'it was stopped for the change after hours, and is not started',
    {
      step: 'APIServers',
      runs: API_TRIAL,
      seconds: 9000,
      but: { 'kube-apiserver': { state: 'Stopped', starts: [] } },
      hosted: { upgrade: LATE },
    },
    'Start kube-apiserver: it is not running',
  ],
  [
    'the canary fails for too long',
    {
      step: 'Managers',
      runs: TRIAL,
      seconds: 60,
      input: { canary: { problem: 'x' } },
      hosted: { upgrade: LATE },
    },
    'Record RollingBack: step Managers made no progress for 40 s: the canary of the API server (a write, a read, a watch, in a rotation a token) failed: x',
  ],
  [
    'the canary fails at the end of the soak',
    {
      step: 'Soak',
      runs: TRIAL,
      seconds: 101,
      input: { canary: { problem: 'x' } },
      hosted: { upgrade: LATE },
    },
    'Record RollingBack: step Soak made no progress for 100 s: the canary of the API server (a write, a read, a watch, in a rotation a token) failed: x',
  ],
  ['a person is to look at it', { ...API_CRASHES, hosted: { upgrade: PAUSE } }, 'stalled UpgradeFailed'],
  [
    'a person is to look at it, and another member ended',
    {
      step: 'Managers',
      runs: TRIAL,
      seconds: 60,
      but: { 'kube-scheduler': HANGS, 'kube-controller-manager': ENDED },
      hosted: { upgrade: PAUSE },
    },
    'Start kube-controller-manager: it ended',
  ],
  [
    'the person asks for another try',
    { ...API_CRASHES, hosted: { upgrade: PAUSE, retryToken: 'again' } },
    'Record APIServers: spec.hosted.retryToken was changed',
  ],
  [
    'the same token was tried',
    { ...API_CRASHES, upgrade: { retryToken: 'again' }, hosted: { upgrade: PAUSE, retryToken: 'again' } },
    'stalled UpgradeFailed',
  ],
  [
    'it hangs after the point of no return',
    {
      step: 'PointOfNoReturn',
      settled: 'new',
      seconds: 60,
      but: { 'kube-apiserver': HANGS },
      hosted: { upgrade: LATE },
    },
    'stalled UpgradeFailed',
  ],
  [
    'a person halts everything',
    { step: 'APIServers', runs: { etcd: 'new' }, input: { halt: 'ops: incident' } },
    'wait KillSwitch',
  ],
];

const BEGIN: readonly (readonly [name: string, parts: UpgradeParts, next: string])[] = [
  ['a member does not answer', { but: { 'kube-scheduler': { state: 'Starting' } } }, 'nothing'],
  ['the API server does not answer', { input: { inside: undefined } }, 'nothing'],
  ['the programs are still loaded', { plane: { programs: { problem: 'x', isLoading: true } } }, 'nothing'],
  ['there are no programs of the version', { hosted: { version: 'v1.36.9' } }, 'nothing'],
  [
    'the spec has a flag that a Cluster may not set',
    { hosted: { apiServer: { extraArgs: { 'audit-log-path': '/x' } } } },
    'nothing',
  ],
  [
    'only flags differ',
    { settled: 'new', hosted: { scheduler: { extraArgs: { v: '4' } } } },
    'Record Preflight: the spec differs: scheduler is {}, not {"v":"4"}',
  ],
  [
    'the status was lost in the middle, and the spec is old',
    { runs: TRIAL, hosted: BACK },
    'Record RollingBack: members differ from what is settled, and no change is recorded',
  ],
  [
    'the status was lost after the new version was settled',
    { settled: 'new', runs: TRIAL },
    'Record PointOfNoReturn: members differ from what is settled, and no change is recorded',
  ],
  [
    'the version of the etcd that runs is not known',
    {
      settled: 'new',
      but: {
        etcd: { version: undefined, run: { flags: { 'quota-backend-bytes': String(2048 * 1024 ** 2) } } },
      },
    },
    'nothing',
  ],
];

describe('the plan of a change of version', () => {
  it.each(FORWARD)('HOS-10 goes on after a kill where the members are when %s', (_, parts, next) => {
    expect(plan(parts)).toBe(next);
  });

  it.each(BACKWARD)(
    'HOS-11 returns to the former version before the point of no return when %s',
    (_, parts, next) => {
      expect(plan(parts)).toBe(next);
    },
  );

  it.each(FAILURES)('HOS-12 takes a failed change back, or waits for a person, when %s', (_, parts, next) => {
    expect(plan(parts)).toBe(next);
  });

  it.each(BEGIN)('HOS-10 begins only what can be carried out when %s', (_, parts, next) => {
    expect(plan(parts)).toBe(next);
  });

  it('HOS-16 changes flags without a snapshot, one member at a time', () => {
    const hosted = { scheduler: { extraArgs: { v: '4' } } };
    const digest = targetDigest(settledPlane(VERSION, hosted));
    const parts = { settled: 'new', hosted, upgrade: { from: VERSION, to: VERSION, digest } } as const;
    expect(plan({ ...parts, step: 'Preflight' })).toMatch(/^Record Etcd: /);
    expect(plan({ ...parts, step: 'Etcd' })).toMatch(/^Record APIServers: /);
    expect(plan({ ...parts, step: 'APIServers' })).toMatch(/^Record Managers: /);
    expect(plan({ ...parts, step: 'Managers' })).toBe(`Change kube-scheduler: it is to run v1.36.3 ${FLAGS}`);
  });
});
