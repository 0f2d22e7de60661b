import { describe, expect, it } from 'vitest';
import { planCreate, planRevival } from '../../../../src/controllers/hosting/plan/create.ts';
import { ago } from '../../../support/builders.ts';
import {
  certificates,
  daysFromNow,
  decisionText,
  hostingInput,
  INSIDE,
  type InputParts,
  members,
  NOTHING,
} from '../../../support/hosting/objects.ts';

const OLD_PROGRAMS = { versions: [{ kubernetes: 'v1.35.4', etcd: 'v3.6.5' }] };
const EXPIRED = 'DeleteCluster: it has been ready for 60 s';
const STOPPED = { state: 'Stopped', starts: [] } as const;

const WAS_READY = { status: { conditions: [], hosted: { readyAt: ago(60) } } };
const CRASHES = {
  plane: {
    members: members({
      'kube-scheduler': {
        state: 'Stopped',
        starts: [-9, -6, -3].map((seconds) => daysFromNow(seconds / 86_400)),
      },
    }),
  },
};
const OLD = {
  certificate: { serial: 'A1', expectedSerial: 'B2', notAfter: daysFromNow(1) },
  starts: [daysFromNow(-1)],
};

describe('the plan of a control plane that is created', () => {
  it.each<readonly [string, InputParts, string]>([
    ['its folder is of another Cluster', { plane: { ...NOTHING, claim: 'Other' } }, 'stalled FolderNotOurs'],
    ['there are too many', { plane: NOTHING, input: { overLimit: 'too many' } }, 'stalled LimitReached'],
    ['there are too many, and it exists', { input: { overLimit: 'too many' } }, 'nothing'],
    [
      'the programs are looked for',
      { plane: { ...NOTHING, programs: { problem: 'they are built', isLoading: true } } },
      'wait ProgramsMissing',
    ],
    [
      'there are no programs',
      { plane: { ...NOTHING, programs: { problem: 'no network', isLoading: false } } },
      'stalled ProgramsMissing',
    ],
    [
      'it runs, and there are no programs',
      { plane: { programs: { problem: 'x', isLoading: false } } },
      'nothing',
    ],
    [
      'the programs are of another version',
      { plane: { ...NOTHING, programs: OLD_PROGRAMS } },
      'stalled VersionNotAvailable',
    ],
    [
      'a member ended, and the programs are of another version',
      { plane: { programs: OLD_PROGRAMS, members: members({ etcd: STOPPED }) } },
      'stalled VersionNotAvailable',
    ],
    [
      'a member ended after its version was changed in the spec',
      { hosted: { version: 'v1.36.4' }, plane: { members: members({ etcd: STOPPED }) } },
      'Start etcd: it is not running',
    ],
    [
      'a certificate is due',
      { plane: { certificates: certificates({ sync: { due: 'it is missing', issuedAt: undefined } }) } },
      'Prepare: the certificate sync is due: it is missing',
    ],
    [
      'a member ignores its certificate',
      {
        plane: {
          members: members({ etcd: OLD }),
          certificates: certificates({ etcd: { issuedAt: daysFromNow(-0.01) } }),
        },
      },
      `Stop etcd: it ignores the certificate that was issued at ${daysFromNow(-0.01).toISOString()}`,
    ],
    [
      'a member ignores its certificate, and its programs are missing',
      {
        plane: {
          members: members({ etcd: OLD }),
          certificates: certificates({ etcd: { issuedAt: daysFromNow(-0.01) } }),
          programs: OLD_PROGRAMS,
        },
      },
      'stalled VersionNotAvailable',
    ],
    ['a key is lost', { plane: { lostKeys: ['ca.pem is missing or damaged'] } }, 'stalled KeysLost'],
    [
      'a key is lost, and a certificate is due, and a member ended',
      {
        plane: {
          lostKeys: ['ca.pem is missing or damaged'],
          certificates: certificates({ sync: { due: 'it is missing' } }),
          members: members({ etcd: STOPPED }),
        },
      },
      'stalled KeysLost',
    ],
    [
      'the API server does not answer the administrator',
      { input: { inside: undefined } },
      'wait ApiNotAnswering',
    ],
    [
      'our kinds are not there',
      { input: { inside: { ...INSIDE, isInstalled: false } } },
      'Install: our kinds, roles and policies are not those of this version',
    ],
    [
      'a member starts',
      { plane: { members: members({ 'kube-scheduler': { state: 'Starting' } }) } },
      'wait MemberStarting',
    ],
    [
      'etcd starts',
      {
        plane: { members: members({ etcd: { state: 'Starting' }, 'kube-apiserver': STOPPED }) },
        input: { inside: undefined },
      },
      'wait MemberStarting',
    ],
    [
      'our controllers do not lead',
      { input: { inside: { ...INSIDE, controllersLead: false } } },
      'wait ControllersStarting',
    ],
    ['sync has no kubeconfig', { input: { secret: 'Absent' } }, 'WriteSecret: sync has no kubeconfig'],
    [
      'the kubeconfig is an old one',
      { input: { secret: 'Differs' } },
      'WriteSecret: the kubeconfig of sync has changed',
    ],
    [
      'the kubeconfig is an old one, and a member crashes',
      { ...WAS_READY, ...CRASHES, input: { secret: 'Differs' } },
      'WriteSecret: the kubeconfig of sync has changed',
    ],
    [
      'the kubeconfig is that of a former Cluster, and a member crashes before it was ever ready',
      { ...CRASHES, input: { secret: 'Differs' } },
      'stalled MemberCrashes',
    ],
    [
      'sync has no kubeconfig, and a member crashes',
      { ...WAS_READY, ...CRASHES, input: { secret: 'Absent' } },
      'stalled MemberCrashes',
    ],
    ['the Secret is of others', { input: { secret: 'Foreign' } }, 'stalled SecretNotOurs'],
  ])('when %s', (_, parts, expected) => {
    expect(decisionText(planCreate(hostingInput(parts)))).toBe(expected);
  });

  it('deletes a throw-away cluster before all else, also one that has no programs any more', () => {
    const parts = {
      hosted: { ttlSecondsAfterReady: 60 },
      status: { conditions: [], hosted: { readyAt: ago(60) } },
      plane: { programs: { problem: 'x', isLoading: false }, members: members({ etcd: STOPPED }) },
    };
    expect(decisionText(planCreate(hostingInput(parts)))).toBe(EXPIRED);
    const held = hostingInput({
      ...parts,
      plane: { members: members({ etcd: STOPPED }) },
      input: { halt: 'ann' },
    });
    expect(decisionText(planCreate(held))).toBe('Start etcd: it is not running');
  });
});

it('the plan to revive a control plane starts its members and nothing else', () => {
  const dead = { plane: { members: members({ 'kube-apiserver': STOPPED }) }, input: { inside: undefined } };
  expect(decisionText(planRevival(hostingInput(dead)))).toBe('Start kube-apiserver: it is not running');
  const alive = { input: { inside: undefined, secret: 'Absent' as const } };
  expect(decisionText(planRevival(hostingInput(alive)))).toBe('wait ApiNotAnswering');
});

it('the wait for an API server that does not answer names why', () => {
  const { wait } = planCreate(
    hostingInput({ input: { inside: undefined, silence: 'status 403: forbidden' } }),
  );
  expect(wait?.message).toMatch(/^the API server does not answer the administrator: status 403: forbidden; /);
});
