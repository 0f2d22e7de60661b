import { describe, expect, it } from 'vitest';
import { nodeAdoption } from '../../../../src/controllers/machine/import/own-node.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { importedMachine } from './execute/import-bed.ts';

const IDS = { machineId: 'a'.repeat(32), systemUuid: 'ec2f-1' };

function node(nodeInfo: object = {}, ready = 'True'): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'm' },
    status: {
      nodeInfo: { machineID: IDS.machineId, systemUUID: 'EC2F-1', ...nodeInfo },
      conditions: [{ type: 'Ready', status: ready }],
    },
  };
}

describe('nodeAdoption', () => {
  it.each<[string, KubeObject | undefined, Parameters<typeof nodeAdoption>[2], string | undefined]>([
    ['the Node of this cluster', node(), IDS, undefined],
    ['one whose UUID the host does not tell', node(), { machineId: IDS.machineId }, undefined],
    ['a Node of another cluster', undefined, IDS, 'this cluster has no Node m'],
    [
      'another host of that name',
      node({ machineID: 'b' }),
      IDS,
      `Node m has the machine id b, this host has ${IDS.machineId}`,
    ],
    [
      'a host without a machine id',
      node(),
      {},
      `Node m has the machine id ${IDS.machineId}, this host has none`,
    ],
    [
      'a copy of the disk of the Node',
      node({ systemUUID: 'X' }),
      IDS,
      'Node m has the system UUID x, this host has ec2f-1',
    ],
    ['a Node that nothing keeps Ready', node({}, 'Unknown'), IDS, 'Node m is not Ready'],
  ])('MAC-19 adopts a host only as its own Node: %s', (_, found, ids, refusedReason) => {
    const machine = importedMachine('m', { existingNode: 'Adopt' });
    expect(nodeAdoption(machine, found, ids)).toEqual({
      node: 'm',
      ...(refusedReason !== undefined && { refusedReason }),
    });
  });

  it('adopts nothing with existingNode: Reject', () => {
    expect(nodeAdoption(importedMachine('m'), node(), IDS)).toBeUndefined();
  });
});
