import { describe, expect, it } from 'vitest';
import { NODES } from '../../../../../src/kube/objects/core-kinds.ts';
import {
  createPowerRules,
  type PowerRules,
} from '../../../../../src/sim/rollout/repairs/judge/power-rules.ts';

const power = { way: 'BMC', desired: 'Off', intendedAt: '2030-01-01T00:00:00Z' };
const record = { id: 's1', state: 'Running', tries: 1, bootIDBefore: 'boot-1', power };
const OUT = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };

function nodeOf(bootID: string, taints: readonly object[] = []): object {
  return { metadata: { name: 'm' }, spec: { taints }, status: { nodeInfo: { bootID } } };
}

function rules(node: object, steps: readonly object[] = [record]): PowerRules {
  const job = {
    metadata: { uid: 'job' },
    spec: { machine: { name: 'm' }, node: { bootID: 'boot-1' } },
    status: { steps },
  };
  const api = { list: () => [job], get: (kind: unknown) => (kind === NODES ? node : undefined) };
  return createPowerRules({ api: api as never });
}

describe('createPowerRules', () => {
  it.each([
    ['what a job has recorded', nodeOf('boot-1'), [record], []],
    ['what no job has recorded', nodeOf('boot-1'), [], ['a machine was switched off without a record']],
    [
      'what is recorded without an intent',
      nodeOf('boot-1'),
      [{ ...record, power: { way: 'BMC', desired: 'Off' } }],
      ['a machine was switched off without a record'],
    ],
    ['a host that came back', nodeOf('boot-2'), [record], ['a host that came back was switched off']],
  ])('R33 judges a request for Off: %s', (_, node, steps, expected) => {
    expect(rules(node, steps).offRequested('m').found).toEqual(expected);
  });

  it('R31 finds a machine that goes off twice for one step', () => {
    const found = rules(nodeOf('boot-1'));
    found.offRequested('m');
    expect(found.changed('m', false)).toEqual([]);
    expect(found.off()).toEqual(['m']);
    expect(found.changed('m', true)).toEqual([]);
    found.offRequested('m');
    expect(found.changed('m', false)).toEqual(['a machine was switched off twice by one step']);
  });

  it('R35 finds pods that are released on a machine that runs', () => {
    const [before, after] = [nodeOf('boot-1'), nodeOf('boot-1', [OUT])] as never[];
    const found = rules(nodeOf('boot-1', [OUT]));
    const write = { before, after } as never;
    expect(found.written(write)).toEqual(['a machine that runs is out of service']);
    found.changed('m', false);
    expect(found.written(write)).toEqual([]);
    expect(found.changed('m', true)).toEqual(['a machine that runs is out of service']);
  });
});
