import { describe, expect, it } from 'vitest';
import { hostingConditions } from '../../../src/controllers/hosting/conditions.ts';
import { type SeveralParts, severalMembers } from '../../support/hosting/etcd.ts';
import {
  hostingInput,
  INSIDE,
  type InputParts,
  members,
  NOTHING,
  ROTATION,
} from '../../support/hosting/objects.ts';

const STOPPED = { state: 'Stopped', starts: [], certificate: undefined } as const;
const WAIT = {
  reason: 'PortInUse',
  message: 'port 1 is taken',
  blocker: { kind: 'Port', name: '127.0.0.1:1' },
};

function text(type: string, parts: InputParts = {}, isStalled?: boolean): string {
  const wait = isStalled === undefined ? undefined : { ...WAIT, isStalled };
  const found = hostingConditions(hostingInput(parts), wait).find((each) => each.type === type);
  return `${found?.status} ${found?.reason}`;
}

describe('the conditions of a hosted control plane', () => {
  it.each<readonly [string, InputParts, string]>([
    ['everything answers', {}, 'True Ready'],
    ['a member is down', { plane: { members: members({ 'kube-scheduler': STOPPED }) } }, 'False Creating'],
    ['our kinds are missing', { input: { inside: { ...INSIDE, isInstalled: false } } }, 'False Creating'],
    [
      'our controllers do not lead',
      { input: { inside: { ...INSIDE, controllersLead: false } } },
      'False Creating',
    ],
    ['the API server is silent', { input: { inside: undefined } }, 'False Creating'],
    ['sync has no kubeconfig', { input: { secret: 'Absent' } }, 'False Creating'],
    ['it is deleted', { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }, 'False Destroying'],
  ])('ControlPlaneReady when %s', (_, parts, expected) => {
    expect(text('ControlPlaneReady', parts)).toBe(expected);
  });

  it('ControlPlaneReady has the reason of what it waits for', () => {
    expect(text('ControlPlaneReady', { plane: NOTHING }, false)).toBe('False PortInUse');
  });

  it.each<readonly [string, InputParts, string]>([
    ['it is not there', { plane: NOTHING }, 'Unknown NotCreated'],
    ['nothing differs', {}, 'True AsWanted'],
    [
      'the version differs',
      { plane: { differences: ['scheduler is {}, not {"v":"2"}'] } },
      'False ChangePending',
    ],
    ['an API server is to be added', { hosted: { replicas: 2 } }, 'False ChangePending'],
    [
      'an API server is to be added without programs',
      { hosted: { replicas: 2 }, plane: { programs: { versions: [] } } },
      'False VersionNotAvailable',
    ],
    [
      'an API server is to be added during a rotation',
      { hosted: { replicas: 2 }, plane: { rotation: { ...ROTATION, phase: 'IssueNew' } } },
      'False RotationInWork',
    ],
  ])('ControlPlaneUpToDate when %s', (_, parts, expected) => {
    expect(text('ControlPlaneUpToDate', parts)).toBe(expected);
  });

  it.each([
    ['Ready', 'True Ready'],
    ['Starting', 'False NotReady'],
    ['Stopped', 'False NotReady'],
  ] as const)('EtcdReady when etcd is %s', (state, expected) => {
    expect(text('EtcdReady', { plane: { members: members({ etcd: { state } }) } })).toBe(expected);
  });

  it.each<readonly [string, SeveralParts, string]>([
    ['all answer', {}, 'True Ready 3 of 3 members answer'],
    [
      'one is down',
      { but: { 'etcd-1': { state: 'Stopped' } } },
      'False MemberDown 2 of 3 members answer; etcd-1 does not run',
    ],
    [
      'two are down',
      { but: { 'etcd-1': { state: 'Stopped' }, etcd: { state: 'Starting' } } },
      'False NotReady 1 of 3 members answer; etcd runs and does not answer',
    ],
    [
      'one learns',
      { list: { 'etcd-2': 'Learner' } },
      'False MemberDown 3 of 3 members answer; etcd-2 still gets its data from the others: no other member of etcd is touched',
    ],
  ])('HOS-30 EtcdReady of three members when %s', (_, parts, expected) => {
    const input = hostingInput({ plane: severalMembers(parts) });
    const found = hostingConditions(input, undefined).find(({ type }) => type === 'EtcdReady');
    expect(`${found?.status} ${found?.reason} ${found?.message}`).toBe(expected);
  });

  it('HOS-30 EtcdReady names the only member of a cluster in prod, and no other one', () => {
    const inProd = { spec: { environment: 'prod' } } as const;
    expect(text('EtcdReady', inProd)).toBe('True SingleMember');
    expect(text('EtcdReady', { ...inProd, plane: severalMembers({}) })).toBe('True Ready');
    expect(text('EtcdReady', { spec: { environment: 'pre' } })).toBe('True Ready');
  });

  it('HOS-33 EtcdReady names an etcd that refuses writes before a member that is down', () => {
    const space = { quotaBytes: 64e6, dbBytes: 64e6, inUseBytes: 63e6, isFull: true };
    const down = severalMembers({ but: { 'etcd-1': STOPPED } });
    expect(text('EtcdReady', { plane: { ...down, space } })).toBe('False QuotaExceeded');
    expect(text('EtcdReady', { plane: { ...down, space: { ...space, isFull: false } } })).toBe(
      'False MemberDown',
    );
  });

  it('HOS-33 ControlPlaneReady while one of three members of etcd is down, and not two', () => {
    const [one, two] = [{ etcd: STOPPED }, { etcd: STOPPED, 'etcd-2': STOPPED }].map((but) => ({
      plane: severalMembers({ but }),
    }));
    expect([text('ControlPlaneReady', one), text('ControlPlaneReady', two)]).toEqual([
      'True Ready',
      'False Creating',
    ]);
  });

  it('ControlPlaneStalled names the object and the way on', () => {
    expect(text('ControlPlaneStalled', {}, false)).toBe('False NotStalled');
    expect(text('ControlPlaneStalled', {}, true)).toBe('True PortInUse');
    const stalled = hostingConditions(hostingInput(), { ...WAIT, isStalled: true }).at(-1);
    expect(stalled?.message).toBe('127.0.0.1:1: port 1 is taken');
  });
});
