import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { findImportTwin } from '../../../../src/controllers/machine/import/twins.ts';
import { machine } from '../../../support/builders.ts';
import { importedMachine } from './execute/import-bed.ts';

type Ids = NonNullable<Machine['status']>['import'];

function host(
  name: string,
  address: string,
  found: Ids = {},
  more: Parameters<typeof importedMachine>[1] = {},
): Machine {
  const { spec } = importedMachine(name, { address, ...more });
  return machine(name, { spec, status: { import: found } });
}

const via = { address: 'jump', port: 22, user: 'root', hostKeys: [] };
const reported = machine('a', { status: { system: { machineID: '1' } } });
const sandbox = machine('a', { spec: { host: { type: 'sandbox' } }, status: { system: { machineID: '1' } } });

describe('findImportTwin', () => {
  it.each<[it: string, mine: Machine, other: Machine, expected: string | undefined]>([
    ['the same address', host('b', 'H1'), host('a', 'h1'), 'it has the address H1, port 22'],
    ['another port', host('b', 'h1'), host('a', 'h1', {}, { port: 2022 }), undefined],
    ['the same address behind a jump host', host('b', 'h1'), host('a', 'h1', {}, { via }), undefined],
    [
      'the same machine id',
      host('b', 'h1', { machineID: '1' }),
      host('a', 'h2', { machineID: '1' }),
      'it has the machine id 1',
    ],
    [
      'the machine id that an agent reports',
      host('b', 'h1', { machineID: '1' }),
      reported,
      'it has the machine id 1',
    ],
    ['the machine id of a sandbox', host('b', 'h1', { machineID: '1' }), sandbox, undefined],
    [
      'the same system UUID',
      host('b', 'h1', { systemUUID: 'u' }),
      host('a', 'h2', { systemUUID: 'u' }),
      'it has the system UUID u',
    ],
    [
      'the UUID of the computer of two containers',
      host('b', 'h1', { machineID: '1', systemUUID: 'u' }),
      host('a', 'h2', { machineID: '2', systemUUID: 'u' }),
      undefined,
    ],
    ['nothing known', host('b', 'h1'), host('a', 'h2'), undefined],
    ['a younger Machine', host('a', 'h1'), host('b', 'h1'), undefined],
    ['itself', host('a', 'h1'), host('a', 'h1'), undefined],
    [
      'a check that is skipped',
      host('b', 'h1', {}, { skipChecks: ['DuplicateHost'] }),
      host('a', 'h1'),
      undefined,
    ],
    ['a machine that is not imported', machine('b'), host('a', 'h1'), undefined],
  ])('MAC-21 finds Machines that are the same host: %s', (_, mine, other, expected) => {
    expect(findImportTwin(mine, [mine, other])?.because).toBe(expected);
  });

  it('MAC-21 names the oldest, by creation time and then by name', () => {
    const others = ['c', 'a', 'b'].map((name) => host(name, 'h1'));
    expect(findImportTwin(host('d', 'h1'), others)?.name).toBe('a');
    const older = { ...host('z', 'h1'), metadata: { name: 'z', creationTimestamp: '2020-01-01T00:00:00Z' } };
    const mine = { ...host('d', 'h1'), metadata: { name: 'd', creationTimestamp: '2021-01-01T00:00:00Z' } };
    expect(findImportTwin(mine, [older])?.name).toBe('z');
  });
});
