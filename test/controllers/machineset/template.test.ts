import { describe, expect, it } from 'vitest';
import { machineIntent, templateDifferences } from '../../../src/controllers/machineset/template.ts';
import { machineSet, members, template } from '../../support/machine-sets.ts';

describe('machineIntent', () => {
  const [first] = members(machineSet(1), 'ready', { spec: { zone: 'a' } });

  it('gives a new machine all of the template, its owner and its label', () => {
    expect(machineIntent(machineSet(1), { name: 'general-1', zone: 'a' })).toEqual({
      metadata: {
        name: 'general-1',
        labels: {
          pool: 'general',
          'kubenode.dev/machineset': 'general',
          'app.kubernetes.io/managed-by': 'kubenode',
        },
        ownerReferences: [
          {
            apiVersion: 'kubenode.dev/v1alpha1',
            kind: 'MachineSet',
            name: 'general',
            uid: 'set-1',
            controller: true,
          },
        ],
      },
      spec: {
        infra: { provider: 'local', config: {} },
        host: { type: 'sandbox' },
        zone: 'a',
        node: { labels: { pool: 'general' }, taints: [] },
        deletion: template().deletion,
      },
    });
  });

  it('leaves the zone to the provider where the set has none', () => {
    expect(machineIntent(machineSet(1), { name: 'general-1', zone: undefined }).spec).not.toHaveProperty(
      'zone',
    );
  });

  it('MAC-32 keeps what a machine that runs cannot change', () => {
    const taints = [{ key: 'gpu', effect: 'NoExecute' }] as const;
    const changed = template({
      infra: { provider: 'local', config: { image: 'b' } },
      host: { type: 'systemd' },
      node: { labels: { a: 'b' }, taints },
    });
    const set = machineSet(1, { spec: { template: changed } });
    const { machine } = first ?? {};
    expect(machineIntent(set, { name: 'm', zone: 'a', ...(machine ? { machine } : {}) }).spec).toMatchObject({
      infra: { provider: 'local', config: {} },
      host: { type: 'sandbox' },
      zone: 'a',
      node: { labels: { a: 'b' }, taints: [] },
    });
  });
});

const taint = (value: string) => [{ key: 'gpu', value, effect: 'NoExecute' }] as const;

describe('templateDifferences', () => {
  it('compares taints in any order, as the API server keeps its own', () => {
    const [a, b] = [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'b', effect: 'NoSchedule' },
    ] as const;
    const set = machineSet(1, { spec: { template: template({ node: { taints: [a, b] } }) } });
    const [one] = members(set, 'ready', { spec: { node: { taints: [b, a] } } });
    expect(one && templateDifferences(set, one.machine)).toEqual({ inPlace: [], replacement: [] });
  });

  it('MAC-32 calls a taint that evicts pods a replacement, also when only its value changes', () => {
    const set = machineSet(1, { spec: { template: template({ node: { taints: taint('2') } }) } });
    const [one] = members(set, 'ready', { spec: { node: { taints: taint('1') } } });
    expect(one && templateDifferences(set, one.machine)).toEqual({
      inPlace: [],
      replacement: ['node.taints'],
    });
  });
});
