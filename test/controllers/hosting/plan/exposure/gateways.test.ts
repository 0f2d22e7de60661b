import { describe, expect, it } from 'vitest';
import {
  GATEWAYS,
  type MemberReport,
  type PlaneMember,
  type PlaneReport,
} from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  gatewayWait,
  isReachedOutside,
} from '../../../../../src/controllers/hosting/plan/exposure/gateways.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import { planHosting } from '../../../../../src/controllers/hosting/plan/plan.ts';
import { wait } from '../../../../../src/controllers/hosting/plan/wait.ts';
import { NOW } from '../../../../support/builders.ts';
import {
  certificates,
  daysFromNow,
  decisionText,
  HOSTED,
  hostingInput,
  INSIDE,
  members,
  readyMember,
} from '../../../../support/hosting/objects.ts';

const AT = { host: 'ci.example.com', port: 6443 };
const [FIRST, SECOND] = GATEWAYS;
const STOPPED = { state: 'Stopped', starts: [daysFromNow(-1)] } as const;
const CRASHED = { state: 'Stopped', starts: [1, 2, 3].map((s) => new Date(+NOW - s * 1000)) } as const;
const HUNG = { state: 'Starting', unreadySince: new Date(+NOW - 600_000) } as const;
const TAKEN = wait('PortInUse', 'taken', ['Port', '1'], 'stalled');
type But = Partial<Record<PlaneMember, Partial<MemberReport>>>;

function both(report: Partial<MemberReport>): But {
  return { [FIRST]: report, [SECOND]: report };
}

function exposed(
  but: But,
  plane: Partial<PlaneReport> = {},
  input: Partial<HostingInput> = {},
): HostingInput {
  const all = [...members(but), ...GATEWAYS.map((member) => readyMember(member, but[member]))];
  const hosted = { exposure: { ...HOSTED.exposure, ...AT } };
  return hostingInput({ hosted, plane: { outside: AT, members: all, ...plane }, input });
}

const STALE = { certificate: { serial: 'A1', expectedSerial: 'B2', notAfter: daysFromNow(9) } };
const RENEWED = { certificates: certificates({ apiserver: { issuedAt: new Date(+NOW - 1_800_000) } }) };
const NEW = { inside: { ...INSIDE, isInstalled: false } };
const REFUSED = { refused: new Map(GATEWAYS.map((member) => [member, TAKEN] as const)) };

describe('the gateways of a control plane', () => {
  it.each<[name: string, input: HostingInput, expected: string]>([
    ['answer', exposed({}), 'nothing'],
    ['ended', exposed(both(STOPPED)), `Start ${FIRST}: it ended`],
    [
      'were refused, one of two',
      exposed(both(STOPPED), {}, { refused: new Map([[FIRST, TAKEN]]) }),
      `Start ${SECOND}: it ended`,
    ],
    ['were refused', exposed(both(STOPPED), {}, REFUSED), 'stalled PortInUse'],
    ['crash', exposed(both(CRASHED)), 'stalled MemberCrashes'],
    ['hang', exposed(both(HUNG)), `Stop ${FIRST}: it has not answered for 600 s`],
    ['start', exposed(both({ state: 'Starting', unreadySince: NOW })), 'wait MemberStarting'],
    ['ended, and etcd, too', exposed({ ...both(STOPPED), etcd: STOPPED }), 'Start etcd: it ended'],
    ['ended before our kinds are there', exposed(both(STOPPED), {}, NEW), 'Install: '],
    ['crash before our kinds are there', exposed(both(CRASHED), {}, NEW), 'Install: '],
    [
      'ended while a grant may be denied',
      exposed({ ...both(STOPPED), 'kube-apiserver': HUNG }),
      `Start ${FIRST}: it ended`,
    ],
    [
      'were refused beside a member that hangs',
      exposed({ ...both(STOPPED), 'kube-apiserver': HUNG }, {}, REFUSED),
      'Stop kube-apiserver: ',
    ],
    [
      'crash while a certificate is ignored',
      exposed({ ...both(CRASHED), 'kube-apiserver': STALE }, RENEWED),
      'Stop kube-apiserver: it ignores',
    ],
    [
      'crash before sync has a kubeconfig',
      exposed(both(CRASHED), {}, { secret: 'Absent' }),
      'stalled MemberCrashes',
    ],
    [
      'crash, one of two',
      exposed({ [FIRST]: CRASHED }, {}, { secret: 'Absent' }),
      'WriteSecret: sync has no kubeconfig',
    ],
  ])('HOS-41 come in their turn when they %s', (_, input, expected) => {
    expect(decisionText(planHosting(input)).slice(0, expected.length)).toBe(expected);
  });

  it('HOS-41 are waited for with what needs a person first, and not where they answer', () => {
    const starting = { state: 'Starting', unreadySince: NOW } as const;
    expect(gatewayWait(exposed({ [FIRST]: starting, [SECOND]: CRASHED }))?.reason).toBe('MemberCrashes');
    expect([gatewayWait(exposed({})), gatewayWait(hostingInput())]).toEqual([undefined, undefined]);
  });

  it('HOS-41 serve clients while one of them answers', () => {
    const reached = [{}, { [FIRST]: STOPPED }, both(STOPPED)].map((but) => isReachedOutside(exposed(but)));
    expect([...reached, isReachedOutside(hostingInput())]).toEqual([true, true, false, true]);
  });
});
