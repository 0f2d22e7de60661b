import { describe, expect, it } from 'vitest';
import type { FleetAllowance } from '../../../src/api/generated/types.ts';
import type { Freshness } from '../../../src/kube/cache/reflector.ts';
import type { View } from '../../../src/kube/cache/view.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import {
  type AllowanceConnection,
  readAllowance,
  writeAllowance,
} from '../../../src/sync/fleetlimits/stored-allowance.ts';
import { fleetAllowance } from '../../defender/allowance/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';

const FRESH: Freshness = { synced: true, lastContactAt: new Date(0), ageMs: 0, error: undefined };
const LOST = new KubeError('Unreachable', 'no route to host');

function view(freshness: Partial<Freshness>, found?: FleetAllowance): View<FleetAllowance> {
  const written: unknown[] = [];
  return {
    reflector: { freshness: () => ({ ...FRESH, ...freshness }) },
    store: { get: () => found },
    wrote: (object: unknown) => void written.push(object),
  } as unknown as View<FleetAllowance>;
}

describe('readAllowance', () => {
  it('reads what the cluster has, or that it has none', () => {
    const found = fleetAllowance();
    expect(readAllowance(view({}, found))).toEqual({ allowance: found });
    expect(readAllowance(view({}))).toEqual({ allowance: 'None' });
  });

  it.each<readonly [string, Partial<Freshness>, string]>([
    ['has failed for too long', { error: LOST, ageMs: 30_001 }, 'no route to host'],
    ['is not complete', { synced: false }, 'not read yet'],
    ['was never complete because of an error', { synced: false, error: LOST }, 'no route to host'],
    ['is silent', { ageMs: 150_001 }, 'its watch is silent for 150 s'],
  ])('knows nothing while the watch %s', (_, freshness, because) => {
    expect(readAllowance(view(freshness, fleetAllowance()))).toEqual({ because });
  });

  it('trusts a watch that failed a moment ago', () => {
    expect(readAllowance(view({ error: LOST, ageMs: 29_000 }))).toEqual({ allowance: 'None' });
  });

  it('tells a cluster without the kind from one that cannot be read', () => {
    const error = new KubeError('NotFound', 'the server could not find the requested resource');
    expect(readAllowance(view({ error, synced: false }))).toMatchObject({ notServed: true });
  });
});

function connection(fails?: KubeErrorCode): AllowanceConnection & { readonly calls: string[] } {
  const calls: string[] = [];
  const call = (verb: string) => async (): Promise<FleetAllowance> => {
    await Promise.resolve();
    calls.push(verb);
    if (fails) throw new KubeError(fails, 'failed');
    return fleetAllowance();
  };
  const client = { create: call('create'), replace: call('replace') };
  return { client, view: view({}), calls } as unknown as AllowanceConnection & { readonly calls: string[] };
}

describe('writeAllowance', () => {
  const { spec } = fleetAllowance();

  it('creates the first one, and replaces the one that was read', async () => {
    const open = connection();
    expect(await writeAllowance(open, { spec, base: 'None' }, memoryLog())).toBe('Written');
    expect(await writeAllowance(open, { spec, base: fleetAllowance() }, memoryLog())).toBe('Written');
    expect(open.calls).toEqual(['create', 'replace']);
  });

  it.each<KubeErrorCode>([
    'Conflict',
    'AlreadyExists',
    'Forbidden',
    'Invalid',
    'NotFound',
    'TooManyRequests',
  ])('knows that nothing was written after %s', async (code) => {
    expect(await writeAllowance(connection(code), { spec, base: 'None' }, memoryLog())).toBe('NotWritten');
  });

  it.each<KubeErrorCode>(['Timeout', 'Unreachable', 'ServerError', 'BadAnswer', 'Aborted'])(
    'leaves open whether it was written after %s',
    async (code) => {
      await expect(writeAllowance(connection(code), { spec, base: 'None' }, memoryLog())).rejects.toThrow(
        'failed',
      );
    },
  );
});
