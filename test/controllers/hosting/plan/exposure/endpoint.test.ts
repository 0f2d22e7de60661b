import { describe, expect, it } from 'vitest';
import { GATEWAYS, type MemberReport } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type { EndpointReport } from '../../../../../src/controllers/hosting/inside/endpoint.ts';
import { isEndpoint, planEndpoint } from '../../../../../src/controllers/hosting/plan/exposure/endpoint.ts';
import type { HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import { wait } from '../../../../../src/controllers/hosting/plan/wait.ts';
import {
  decisionText,
  hostingInput,
  INSIDE,
  members,
  readyMember,
} from '../../../../support/hosting/objects.ts';

const AT = { host: '192.0.2.10', port: 6443 };
const NAMED = { host: 'ci.example.com', port: 6443 };
const WRITTEN = 'PublishEndpoint: pods reach the API server at https://192.0.2.10:6443';
const DELETED = 'PublishEndpoint: pods reach the API server at no address of IPv4 any more';
const DOWN = { state: 'Stopped' } as const;

interface Observed {
  readonly outside?: typeof AT;
  readonly endpoint?: EndpointReport;
  readonly gateways?: Partial<MemberReport>;
  readonly input?: Partial<HostingInput>;
}

function planned({ outside, endpoint, gateways = {}, input = {} }: Observed): string {
  const all = outside ? GATEWAYS.map((member) => readyMember(member, gateways)) : [];
  const inside = { ...INSIDE, ...(endpoint ? { endpoint } : {}) };
  const plane = { members: [...members(), ...all], ...(outside ? { outside } : {}) };
  return decisionText(planEndpoint(hostingInput({ plane, input: { inside, ...input } })) ?? {});
}

describe('the endpoint of the Service kubernetes', () => {
  const refused = new Map([
    ['endpoint', wait('EndpointRefused', 'a policy', ['EndpointSlice', 'x'])],
  ] as const);
  const notInstalled = { inside: { ...INSIDE, isInstalled: false } };

  it.each<[name: string, observed: Observed, expected: string]>([
    ['is missing', { outside: AT }, WRITTEN],
    ['is that of the exposure', { outside: AT, endpoint: AT }, 'nothing'],
    ['has another address', { outside: AT, endpoint: { ...AT, host: '192.0.2.11' } }, WRITTEN],
    ['has another port', { outside: AT, endpoint: { ...AT, port: 7443 } }, WRITTEN],
    ['was changed', { outside: AT, endpoint: 'Changed' }, WRITTEN],
    ['was made by others', { outside: AT, endpoint: 'Foreign' }, 'nothing'],
    ['is missing before a gateway answers', { outside: AT, gateways: DOWN }, 'nothing'],
    ['is there while no gateway answers', { outside: AT, endpoint: AT, gateways: DOWN }, 'nothing'],
    ['is left when the exposure goes', { endpoint: AT }, DELETED],
    ['is left when a name comes', { outside: NAMED, endpoint: AT }, DELETED],
    ['is left and was changed', { endpoint: 'Changed' }, DELETED],
    ['would be a name', { outside: NAMED }, 'nothing'],
    ['is not asked for', {}, 'nothing'],
    ['was refused just now', { outside: AT, input: { refused } }, 'nothing'],
    ['is missing before our kinds are there', { outside: AT, input: notInstalled }, 'nothing'],
    ['is not known', { outside: AT, input: { inside: undefined } }, 'nothing'],
  ])('HOS-41 is written or deleted when it %s', (_, observed, expected) => {
    expect(planned(observed)).toBe(expected);
  });

  it('HOS-41 is an address of IPv4 that other machines reach, and nothing else', () => {
    const hosts = ['192.0.2.10', '127.0.0.1', '169.254.1.1', '224.0.0.1', '2001:db8::10', 'ci.example.com'];
    expect(hosts.filter(isEndpoint)).toEqual(['192.0.2.10']);
  });
});
