/** S19: signatures with a real hub, real clusters, and commits that git signs. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PIPELINES } from '../../../src/api/generated/resources.ts';
import { createSshSigner, type TestSigner } from '../../support/git-server/signer.ts';
import { startTestFleet, type TestFleet } from './test-fleet.ts';

const ann = createSshSigner('ann');
const SIGNERS = [{ name: 'people', keysPath: 'keys/signers' }];

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

function signHead({ flags }: TestSigner): string {
  const repository = fleet.repository();
  repository.git(...flags, 'commit', '--quiet', '--amend', '--no-edit', '-S');
  repository.push('--force', 'origin', 'HEAD');
  return repository.head();
}

async function changeSource(source: object): Promise<void> {
  const patch = { type: 'merge', body: { spec: { source } } } as const;
  await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, patch, { fieldManager: 'anna' });
}

it('S19 applies nothing of an unsigned commit, and continues with the signed one in its place', async () => {
  fleet.commit('1', 'first');
  fleet.commitFiles('signers', { 'keys/signers': ann.entry });
  const first = signHead(ann);
  await fleet.pipeline();
  await changeSource({ signatures: 'Range', signers: SIGNERS });
  await fleet.sync('one');
  await fleet.allProven(first);

  const unsigned = fleet.commit('2', 'unsigned');
  await expect
    .poll(() => fleet.head())
    .toMatchObject({
      commit: unsigned,
      verdict: 'BadSignature',
      message: expect.stringContaining(
        `commit ${unsigned.slice(0, 12)} (unsigned): it is not signed`,
      ) as string,
    });
  expect(await fleet.versions()).toEqual(['1', '1']);

  await fleet.allProven(signHead(ann));
  expect(await fleet.versions()).toEqual(['2', '2']);
});

it('S19 refuses a Pipeline that asks for signatures without signers, or names signers without asking', async () => {
  await fleet.pipeline();
  const message = 'set signers if signatures is Head or Range, and leave them out otherwise';
  await expect(changeSource({ signatures: 'Range' })).rejects.toThrow(message);
  await expect(changeSource({ signers: SIGNERS })).rejects.toThrow(message);
});
