import { describe, expect, it } from 'vitest';
import { hostingConditions } from '../../../../../src/controllers/hosting/conditions.ts';
import {
  GATEWAYS,
  type MemberReport,
  type PlaneMember,
  type PlaneReport,
} from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  exposureDifference,
  exposureInRotation,
  planExposure,
} from '../../../../../src/controllers/hosting/plan/exposure/exposure.ts';
import { isReachedOutside } from '../../../../../src/controllers/hosting/plan/exposure/gateways.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import { wait } from '../../../../../src/controllers/hosting/plan/wait.ts';
import { NOW } from '../../../../support/builders.ts';
import {
  certificates,
  daysFromNow,
  decisionText,
  freeze,
  HOSTED,
  hostingInput,
  INSIDE,
  type InputParts,
  members,
  ROTATION,
  readyMember,
} from '../../../../support/hosting/objects.ts';

const HOST = 'ci.example.com';
const AT = { host: HOST, port: 6443 };
const OUTSIDE = { ...HOSTED.exposure, host: HOST };
const STOPPED = { state: 'Stopped' } as const;
const CRASHED = { ...STOPPED, starts: [1, 2, 3].map((s) => new Date(+NOW - s * 1000)) };
const [FIRST, SECOND] = GATEWAYS;
type But = Partial<Record<PlaneMember, Partial<MemberReport>>>;

/** Returns a control plane that other machines reach there, with gateways that answer, but for those in `but`. */
function exposed(but: But = {}, outside: PlaneReport['outside'] = AT): Partial<PlaneReport> {
  const gateways = GATEWAYS.map((member) => readyMember(member, but[member]));
  return { outside, members: [...members(but), ...gateways] };
}

function reached(but: But): boolean {
  return isReachedOutside(hostingInput({ plane: exposed(but) }));
}

/** Returns what is planned. `exposure`: that of the spec. */
function planned(exposure: typeof OUTSIDE | typeof HOSTED.exposure, parts: InputParts = {}): string {
  const input = hostingInput({ ...parts, hosted: { ...parts.hosted, exposure } });
  return decisionText(planExposure(input, false) ?? {});
}

const ADDED = 'the spec differs: exposure is loopback only, not https://ci.example.com:6443';
const MOVED = 'the spec differs: exposure is https://ci.example.com:6443, not https://ci.example.com:7443';
const RENAMED = 'the spec differs: exposure is https://ci.example.com:6443, not https://b.example.com:6443';
const REMOVED = 'the spec differs: exposure is https://ci.example.com:6443, not loopback only';

describe('the exposure of a control plane of processes', () => {
  it.each<[name: string, exposure: typeof HOSTED.exposure, plane: Partial<PlaneReport>, expected: string]>([
    ['is that of the spec', OUTSIDE, exposed(), 'nothing'],
    ['is none, as in the spec', HOSTED.exposure, {}, 'nothing'],
    ['is added', OUTSIDE, {}, `SetOutside: ${ADDED}`],
    ['is added before the certificate has the name', OUTSIDE, dueCertificate(), 'nothing'],
    ['is added, and the API server serves its former certificate', OUTSIDE, staleServer(), 'nothing'],
    ['is added while a member is down', OUTSIDE, { members: members({ etcd: STOPPED }) }, 'nothing'],
    ['gets another name', { ...OUTSIDE, host: 'b.example.com' }, exposed(), `SetOutside: ${RENAMED}`],
    ['gets another port', { ...OUTSIDE, port: 7443 }, exposed(), `SetOutside: ${MOVED}`],
    [
      'gets another port than one that a program of others has',
      { ...OUTSIDE, port: 7443 },
      exposed({ [FIRST]: STOPPED, [SECOND]: STOPPED }),
      `SetOutside: ${MOVED}`,
    ],
    [
      'gets another port while a member does not answer',
      { ...OUTSIDE, port: 7443 },
      exposed({ 'kube-scheduler': { state: 'Starting', unreadySince: NOW } }),
      'nothing',
    ],
    [
      'gets another name and port, and the API server serves its former certificate',
      { ...OUTSIDE, host: 'b.example.com', port: 7443 },
      { ...exposed(), ...staleServer(GATEWAYS.map((member) => readyMember(member))) },
      'nothing',
    ],
    [
      'gets another name while our own controllers crash, which have the former one',
      { ...OUTSIDE, host: 'b.example.com' },
      exposed({ 'kubenode-controllers': CRASHED }),
      `SetOutside: ${RENAMED}`,
    ],
    [
      'gets another name after our own controllers have ended',
      { ...OUTSIDE, host: 'b.example.com' },
      exposed({ 'kubenode-controllers': STOPPED }),
      `SetOutside: ${RENAMED}`,
    ],
    ['is removed', HOSTED.exposure, exposed(), `SetOutside: ${REMOVED}`],
    [
      'is removed while a member does not answer',
      HOSTED.exposure,
      exposed({ etcd: { state: 'Starting' } }),
      `SetOutside: ${REMOVED}`,
    ],
    ['is refused', { ...OUTSIDE, host: '0.0.0.0' }, {}, 'nothing'],
  ])('HOS-41 plans the next step when it %s', (_, exposure, plane, expected) => {
    expect(planned(exposure, { plane })).toBe(expected);
  });

  it.each<[name: string, exposure: typeof HOSTED.exposure, but: But, expected: string]>([
    [
      'halted, and the API server',
      HOSTED.exposure,
      { 'kube-apiserver': STOPPED },
      'Start kube-apiserver: it ended',
    ],
    ['removed, and etcd', HOSTED.exposure, { etcd: STOPPED }, 'Start etcd: it ended'],
    [
      'moved, and a manager',
      { ...OUTSIDE, port: 7443 },
      { 'kube-scheduler': STOPPED },
      'Start kube-scheduler: it ended',
    ],
  ])('HOS-41 starts a member that has ended before the exposure is %s', (name, exposure, but, expected) => {
    const starts = [daysFromNow(-1)];
    const ended = Object.fromEntries(Object.keys(but).map((member) => [member, { ...STOPPED, starts }]));
    const input = name.startsWith('halted') ? { halt: 'ann' } : {};
    const plane = exposed(ended);
    expect(decisionText(planHosting(hostingInput({ hosted: { exposure }, plane, input })))).toBe(expected);
  });

  it('HOS-41 names the Machines that may use an address which goes', () => {
    const input = { inside: { ...INSIDE, machines: ['n1', 'n2'] } };
    expect(planned(HOSTED.exposure, { plane: exposed(), input })).toBe(
      `SetOutside: ${REMOVED}; Machines that may use https://ci.example.com:6443: n1, n2`,
    );
    expect(planned(OUTSIDE, { input })).toBe(`SetOutside: ${ADDED}`);
  });

  it('HOS-41 waits for an upgrade, a window, the kill switch and the end of a rotation', () => {
    const upgrade = { from: 'v1.35.4', to: 'v1.36.3', step: 'Etcd' };
    expect(planned(OUTSIDE, { status: { conditions: [], hosted: { upgrade } } })).toBe('nothing');
    const hosted = { exposure: OUTSIDE };
    const halted = hostingInput({ hosted, input: { halt: 'ann' } });
    expect([planExposure(halted, false), decisionText(planHosting(halted))]).toEqual([
      undefined,
      'wait KillSwitch',
    ]);
    expect(planExposure(hostingInput({ hosted }), true)).toBeUndefined();
    const held = hostingInput({ hosted, plane: { rotation: ROTATION } });
    expect([planExposure(held, false), exposureInRotation(held)?.reason]).toEqual([
      undefined,
      'RotationInWork',
    ]);
    const frozen = { ...HOSTED.upgrade, freezes: [freeze()] };
    expect(decisionText(planHosting(hostingInput({ hosted: { ...hosted, upgrade: frozen } })))).toBe(
      'wait Freeze',
    );
    expect(decisionText(planHosting(hostingInput({ hosted })))).toBe(`SetOutside: ${ADDED}`);
  });

  it('HOS-41 comes before a rotation of the same commit, unless it is refused', () => {
    const pki = { ...HOSTED.pki, caRotation: { id: 'r1', target: 'Prepare' } } as const;
    const status = { conditions: [], hosted: { readyAt: '2030-01-01T00:00:00Z' } };
    const clients = { nodes: [], machines: [], tokens: [] };
    const next = (exposure: typeof HOSTED.exposure, input: InputParts['input'] = {}): string => {
      const issuedAt = new Date(+NOW - 5000);
      const plane = { certificates: certificates({ apiserver: { due: 'names missing', issuedAt } }) };
      const parts = { hosted: { exposure, pki }, plane, status, input: { clients, ...input } };
      return decisionText(planHosting(hostingInput(parts)));
    };
    const refused = new Map([['exposure', wait('PortInUse', 'taken', ['Port', '6443'], 'stalled')]] as const);
    expect(next(OUTSIDE)).toBe('wait CertificateNotServed');
    const begins = /^Rotate TrustBoth: /;
    expect(next(OUTSIDE, { refused })).toMatch(begins);
    expect(next(HOSTED.exposure)).toMatch(begins);
  });

  it('HOS-41 tells what a change waits for: the certificate, or another host', () => {
    const difference = 'exposure is loopback only, not https://ci.example.com:6443';
    expect(upToDate(OUTSIDE, dueCertificate())).toBe(
      `CertificateNotServed: ${difference}: it is changed when every API server serves a certificate with that name`,
    );
    expect(upToDate(OUTSIDE, staleServer())).toContain('CertificateNotServed');
    expect(upToDate(OUTSIDE, { members: members({ etcd: { state: 'Starting' } }) })).toBe(
      `ChangePending: the change begins when every member answers (${difference})`,
    );
    for (const plane of [exposed(), {}]) {
      expect(upToDate({ ...OUTSIDE, host: '0.0.0.0' }, plane)).toContain(
        'NotSupported: spec.hosted.exposure.host: 0.0.0.0 is refused',
      );
    }
    expect(upToDate(OUTSIDE, exposed())).toContain('AsWanted');
  });

  it('HOS-41 differs from the spec only once the control plane is prepared', () => {
    const input = hostingInput({ hosted: { exposure: OUTSIDE } });
    expect(exposureDifference(input)).toContain('exposure is loopback only');
    expect(exposureDifference({ ...input, plane: { ...input.plane, isPrepared: false } })).toBeUndefined();
  });

  it('HOS-41 is served while one of its gateways answers, and sync gets its address only then', () => {
    expect([reached({}), reached({ [FIRST]: STOPPED })]).toEqual([true, true]);
    expect(reached({ [FIRST]: STOPPED, [SECOND]: STOPPED })).toBe(false);
    expect(isReachedOutside(hostingInput())).toBe(true);
    const status = { conditions: [], hosted: { readyAt: '2030-01-01T00:00:00Z' } };
    const next = (but: But): string =>
      decisionText(
        planHosting(
          hostingInput({
            hosted: { exposure: OUTSIDE },
            plane: exposed(but),
            input: { secret: 'Differs' },
            status,
          }),
        ),
      );
    expect(next({})).toBe('WriteSecret: the kubeconfig of sync has changed');
    expect(next({ [FIRST]: STOPPED, [SECOND]: STOPPED })).toBe(`Start ${FIRST}: it ended`);
  });
});

/** The file has not the name of the spec yet. */
function dueCertificate(): Partial<PlaneReport> {
  return { certificates: certificates({ apiserver: { due: 'names missing: ci.example.com' } }) };
}

function staleServer(others: readonly MemberReport[] = []): Partial<PlaneReport> {
  const certificate = { serial: 'A1', expectedSerial: 'B2', notAfter: daysFromNow(9) };
  return { members: [...members({ 'kube-apiserver': { certificate } }), ...others] };
}

/** Returns the reason and the message of the condition. */
function upToDate(exposure: typeof HOSTED.exposure, plane: Partial<PlaneReport>): string {
  const input = hostingInput({ hosted: { exposure }, plane });
  const conditions = hostingConditions(input, planHosting(input).wait);
  const { reason, message } = conditions.find(({ type }) => type === 'ControlPlaneUpToDate') ?? {};
  return `${reason}: ${message}`;
}
