import { describe, expect, it } from 'vitest';
import { kubeletSign, powerSign } from '../../../src/api/diagnosis/evidence.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { condition, machine } from '../../support/builders.ts';

type Infra = NonNullable<NonNullable<Machine['status']>['infra']>;

function instance(
  provider: Machine['spec']['infra']['provider'],
  infra: Infra,
  infraReady?: 'True' | 'False' | 'Unknown',
): Machine {
  const conditions = infraReady ? [condition('InfraReady', infraReady)] : [];
  const { apiVersion, kind, metadata } = machine('m-1');
  return {
    apiVersion,
    kind,
    metadata,
    spec: { ...machine('m-1').spec, infra: { provider, config: {} } },
    status: { ...machine('m-1').status, conditions, infra },
  };
}

describe('kubeletSign', () => {
  it.each([
    ['True', 'Alive'],
    ['False', 'Alive'],
    ['Unknown', 'Silent'],
    ['Odd', 'Unknown'],
  ])('reads from Ready=%s that the kubelet is %s', (status, expected) => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'm-1' },
      status: { conditions: [{ type: 'Ready', status }] },
    };
    expect(kubeletSign(node)).toBe(expected);
  });

  it('knows nothing without a Node or its condition', () => {
    expect(kubeletSign(undefined)).toBe('Unknown');
    expect(kubeletSign({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'm-1' } })).toBe('Unknown');
  });
});

describe('powerSign', () => {
  it.each([
    ['aws', { state: 'Running' }, 'True', 'On'],
    ['aws', { state: 'Stopped' }, 'False', 'Off'],
    ['alibaba', { state: 'Gone' }, 'False', 'Off'],
    ['local', { state: 'Running' }, 'True', 'On'],
    ['aws', { state: 'Pending' }, 'False', 'Unknown'],
    ['aws', { state: 'Unknown' }, undefined, 'Unknown'],
    ['local', {}, undefined, 'Unknown'],
    // The last answer is from before the provider became unreachable.
    ['aws', { state: 'Running' }, 'Unknown', 'Unknown'],
    ['aws', { state: 'Stopped' }, 'Unknown', 'Unknown'],
    // A host of a person: only its BMC reads the power.
    ['ssh', { state: 'Running' }, 'True', 'Unknown'],
  ] as const)(
    'reads from %s, %j and InfraReady %s that the power is %s',
    (provider, infra, ready, expected) => {
      expect(powerSign(instance(provider, infra, ready))).toBe(expected);
    },
  );

  it.each(['On', 'Off', 'Unknown'] as const)(
    'believes the BMC of a host of provider ssh that tells %s',
    (state) => {
      const power = { state, since: '2030-01-01T11:00:00Z' };
      const host = instance('ssh', { state: 'Running' }, 'Unknown');
      expect(powerSign({ ...host, status: { ...host.status, power } } as Machine)).toBe(state);
      const created = instance('aws', { state: 'Running' }, 'True');
      expect(powerSign({ ...created, status: { ...created.status, power } } as Machine)).toBe('On');
    },
  );

  it('knows nothing of a machine without status', () => {
    const { status: _, ...rest } = machine('m-1');
    expect(powerSign(rest as Machine)).toBe('Unknown');
  });
});
