import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openGit } from '../../../../src/sync/git/open.ts';
import type { GitTransport } from '../../../../src/sync/git/transport.ts';
import type { HostAnswer, HostRequest } from '../../../../src/sync/report/send.ts';
import type { AppCredential } from '../../../../src/sync/report/tokens/credential.ts';
import { createGitTokens } from '../../../../src/sync/report/tokens/git-tokens.ts';
import { createHostTokens } from '../../../../src/sync/report/tokens/host-tokens.ts';
import { createStandInApp, type StandInApp } from '../../../support/git-host/github-app.ts';
import { startGitHttpServer } from '../../../support/git-server/http-server.ts';
import { createTestRepository, type TestRepository } from '../../../support/git-server/repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';

const PROJECT = {
  type: 'GitHub',
  base: 'https://ghe.example.com',
  path: 'acme/fleet',
  context: 'c',
} as const;
const MAIN = 'refs/heads/main';

interface Bed {
  readonly git: GitTransport;
  readonly app: StandInApp;
  readonly clock: VirtualClock;
  readonly repository: TestRepository;
  /** The answer of a host that does not get to the App. */
  fault: HostAnswer | undefined;
}

/** A git server that accepts the tokens of an App only. */
async function createBed(): Promise<Bed> {
  const clock = virtualClock();
  const app = createStandInApp(() => clock.now());
  const root = tempFolder('repositories');
  const repository = createTestRepository(root);
  repository.commit('first', { 'a.txt': 'a' });
  const server = await startGitHttpServer({ root, accepts: (password) => app.accepts(password) });
  onTestFinished(() => server.close());
  const tokens = createHostTokens({ clock, random: () => 1, send });
  const target = { project: PROJECT, credential: { type: 'App', ...app.data } as unknown as AppCredential };
  const url = `${server.url}/fleet.git`;
  const git = openGit({
    repository: url,
    folder: join(tempFolder('git'), 'cache'),
    tokens: createGitTokens(target, { tokens, display: url }),
  });
  onTestFinished(() => git.close());
  const bed: Bed = { git, app, clock, repository, fault: undefined };
  return bed;

  async function send({ method, url: to, headers: { authorization } }: HostRequest): Promise<HostAnswer> {
    const answer = app.answer({ method, url: new URL(to).pathname, authorization });
    const { status = 404, json, headers = {} } = answer ?? {};
    return bed.fault ?? { status, headers, body: JSON.stringify(json) };
  }
}

describe('a repository that is read with a GitHub App', () => {
  it('S26 is listed and fetched with one token, and with another one when that has ended', async () => {
    const { git, app, clock, repository } = await createBed();
    const head = (await git.listRefs(undefined, MAIN)).get(MAIN);
    expect(await git.fetch(MAIN)).toBe(head);
    expect(app.issued).toHaveLength(1);
    await clock.advance(3_600_000);
    repository.commit('new', { 'a.txt': 'b' });
    const next = await git.fetch(MAIN);
    expect(next).not.toBe(head);
    expect((await git.listRefs(undefined, MAIN)).get(MAIN)).toBe(next);
    expect(app.issued).toHaveLength(2);
  });

  it.each<[what: string, call: (git: GitTransport) => Promise<unknown>]>([
    ['lists refs', (git) => git.listRefs(undefined, MAIN)],
    ['fetches', (git) => git.fetch(MAIN)],
  ])('S26 is refused once with a token that was revoked, and then %s with another', async (_, call) => {
    const { git, app, clock } = await createBed();
    await git.listRefs(undefined, MAIN);
    app.revoke('ghs_1234_1');
    await clock.advance(60_000);
    await expect(call(git)).rejects.toMatchObject({ code: 'Unauthorized' });
    await call(git);
    expect(app.issued).toHaveLength(2);
  });

  it.each([
    ['limits the rate', { status: 429, headers: {}, body: '' }, 'ServerError', 'limits the rate'],
    ['fails', { status: 503, headers: {}, body: '' }, 'Unreachable', 'failed (HTTP 503)'],
    ['refuses the App', { status: 401, headers: {}, body: '' }, 'Unauthorized', 'Generate a private key'],
  ])('S26 tells that the API %s, and keeps what was fetched', async (_, fault, code, message) => {
    const bed = await createBed();
    const { git, clock } = bed;
    const commit = await git.fetch(MAIN);
    bed.fault = fault;
    await clock.advance(3_600_000);
    for (const call of [() => git.listRefs(undefined, MAIN), () => git.fetch(MAIN)]) {
      await expect(call()).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message) as unknown,
      });
    }
    await git.ensure(commit, MAIN);
    expect(await git.has(commit)).toBe(true);
  });
});
