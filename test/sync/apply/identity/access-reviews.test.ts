import { describe, expect, it } from 'vitest';
import {
  createAllowedAccess,
  findMissingAccess,
  type MissingAccess,
} from '../../../../src/sync/apply/identity/access-reviews.ts';
import type { NeededAccess } from '../../../../src/sync/apply/identity/needed-access.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { type ReviewServer, reviewServer } from './fixtures.ts';

const MAPS: NeededAccess = {
  verb: 'patch',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  names: ['a', 'b', 'c'],
};
const account = { user: 'system:serviceaccount:shop:deployer' };
const { signal } = new AbortController();
const MISSING: MissingAccess = { verb: 'patch', resource: 'configmaps', namespace: 'shop' };

async function missing(
  { client }: ReviewServer,
  needed: readonly NeededAccess[],
  allowed = createAllowedAccess(virtualClock()),
): Promise<readonly MissingAccess[]> {
  return findMissingAccess({ client, account, allowed, signal }, needed);
}

describe('findMissingAccess', () => {
  it('S29 asks once for many objects, as the account', async () => {
    const server = reviewServer();
    const names = Array.from({ length: 5000 }, (_, index) => `map-${index}`);
    expect(await missing(server, [{ ...MAPS, names }])).toEqual([]);
    expect(server.asked).toEqual(['patch configmaps shop/*']);
    expect(server.users).toEqual([account.user]);
  });

  it('S29 asks for the names only where the kind is denied, until the first denial', async () => {
    const some = reviewServer({ allows: ({ name }) => name === 'a' });
    expect(await missing(some, [MAPS])).toEqual([MISSING]);
    expect(some.asked).toEqual([
      'patch configmaps shop/*',
      'patch configmaps shop/a',
      'patch configmaps shop/b',
    ]);
    expect(await missing(reviewServer({ allows: ({ name }) => name !== undefined }), [MAPS])).toEqual([]);
  });

  it('S29 names kinds of groups as kubectl does, and keeps the order of the question', async () => {
    const server = reviewServer({ allows: () => false });
    const deployments = { ...MAPS, apiVersion: 'apps/v1', kind: 'Deployment', verb: 'create' } as const;
    expect(await missing(server, [deployments, MAPS])).toEqual([
      { verb: 'create', resource: 'deployments.apps', namespace: 'shop' },
      MISSING,
    ]);
  });

  it('S29 leaves a kind that is not served to the write, which names it', async () => {
    const server = reviewServer({ allows: () => false });
    expect(await missing(server, [{ ...MAPS, kind: 'Unserved' }])).toEqual([]);
    expect(server.asked).toEqual([]);
  });

  it('S29 takes an answer without a verdict for a denial', async () => {
    expect(await missing(reviewServer({ allows: () => undefined }), [MAPS])).toEqual([MISSING]);
  });

  it('S29 rejects where it is unknown whether the kind is served', async () => {
    await expect(missing(reviewServer(), [{ ...MAPS, kind: 'Unknown' }])).rejects.toThrow(
      'its group cannot be read',
    );
  });

  it('S29 stops to ask when the reconcile ends', async () => {
    const questions = {
      client: reviewServer().client,
      account,
      allowed: createAllowedAccess(virtualClock()),
      signal: AbortSignal.abort(new Error('stopped')),
    };
    await expect(findMissingAccess(questions, [MAPS])).rejects.toThrow('stopped');
  });

  it('S29 never gives one account what another was found to have', async () => {
    const server = reviewServer();
    const allowed = createAllowedAccess(virtualClock());
    for (const user of ['system:serviceaccount:shop:a', 'system:serviceaccount:shop:b']) {
      await findMissingAccess({ client: server.client, account: { user }, allowed, signal }, [MAPS]);
    }
    expect(server.users).toEqual(['system:serviceaccount:shop:a', 'system:serviceaccount:shop:b']);
  });

  it('S29 remembers what is allowed for a minute, and never what is denied', async () => {
    const clock = virtualClock();
    const allowed = createAllowedAccess(clock);
    const server = reviewServer({ allows: ({ verb }) => verb === 'patch' });
    const needed = [MAPS, { ...MAPS, verb: 'delete', names: ['a'] } as const];
    for (let round = 0; round < 2; round += 1) await missing(server, needed, allowed);
    const denied = ['delete configmaps shop/*', 'delete configmaps shop/a'];
    expect(server.asked.filter((question) => question.startsWith('patch'))).toHaveLength(1);
    expect(server.asked.filter((question) => denied.includes(question))).toHaveLength(4);
    await clock.advance(61_000);
    await missing(server, [MAPS], allowed);
    expect(server.asked.at(-1)).toBe('patch configmaps shop/*');
    expect(server.asked.filter((question) => question.startsWith('patch'))).toHaveLength(2);
  });
});
