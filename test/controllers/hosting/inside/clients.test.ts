import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import {
  keyIdOf,
  type MachineClient,
  toMachine,
} from '../../../../src/controllers/hosting/inside/clients.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';

function tokenOf(header: object): string {
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.e30.signature`;
}

const HEARD = new Date('2030-01-01T00:00:00Z');
const MACHINE = { metadata: { name: 'm-1', uid: 'uid-1' }, status: { agent: {} } } as unknown as Machine;

describe('the clients of a hosted cluster', () => {
  it.each<[token: string, keyId: string | undefined]>([
    [tokenOf({ alg: 'ES256', kid: 'abc' }), 'abc'],
    [tokenOf({ alg: 'ES256' }), undefined],
    ['', undefined],
    ['no token', undefined],
  ])('HOS-22 finds by its header which key signed a token: %j', (token, keyId) => {
    expect(keyIdOf(token)).toBe(keyId);
  });

  it.each<[what: string, owner: string | undefined, heardAt: Date | undefined]>([
    ['its own', 'uid-1', HEARD],
    ['one without an owner', undefined, HEARD],
    ['that of a machine that was deleted', 'uid-0', undefined],
  ])('HOS-22 reads the last sign of life of an agent from its Lease: %s', (_, owner, heardAt) => {
    const ownerReferences = owner === undefined ? {} : { ownerReferences: [{ uid: owner }] };
    const lease = { metadata: { name: 'm-1', ...ownerReferences }, spec: { renewTime: HEARD.toISOString() } };
    expect(toMachine(MACHINE, lease as unknown as KubeObject)).toEqual({
      name: 'm-1',
      agent: {},
      ...(heardAt ? { heardAt } : {}),
    });
    expect(toMachine({ ...MACHINE, status: {} } as Machine, undefined)).toEqual({ name: 'm-1' });
  });

  it.each<[status: 'True' | 'False' | 'Unknown', expected: MachineClient['heartbeat']]>([
    ['True', 'Renewed'],
    ['Unknown', 'Silent'],
    ['False', 'Never'],
  ])('HOS-22 takes the judgement of the controllers about heartbeats: %s', (status, expected) => {
    const conditions = [{ type: 'AgentReady', status }];
    const machine = { ...MACHINE, status: { conditions } } as unknown as Machine;
    expect(toMachine(machine, undefined)).toEqual({ name: 'm-1', heartbeat: expected });
  });

  it('HOS-22 reads what an agent reports of itself', () => {
    const authorities = { managed: true, trusted: [], kubelet: 'None' };
    const agent = { version: '0.2.0', startedAt: HEARD.toISOString(), authorities, host: 'systemd' };
    expect(toMachine({ ...MACHINE, status: { agent } } as unknown as Machine, undefined).agent).toEqual({
      version: '0.2.0',
      startedAt: HEARD,
      authorities,
    });
  });
});
