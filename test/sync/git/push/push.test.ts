/** S35: pushes to a real git server over http. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GitError } from '../../../../src/sync/git/errors.ts';
import { FLUSH, pktLine } from '../../../../src/sync/git/push/pkt-lines.ts';
import { type PushOptions, type PushRequest, pushCommit } from '../../../../src/sync/git/push/push.ts';
import { commitContent } from '../../../../src/sync/git/revert/commit-content.ts';
import { createNewObjects } from '../../../../src/sync/git/revert/new-objects.ts';
import { type GitHttpServer, startGitHttpServer } from '../../../support/git-server/http-server.ts';
import { createTestRepository, type TestRepository } from '../../../support/git-server/repository.ts';
import { tempFolder } from '../../../support/temp.ts';

const TOKEN = 'secret-token';
const MAIN = 'refs/heads/main';
const BRANCH = 'refs/heads/kubenode/revert';

interface Fixture {
  readonly repository: TestRepository;
  readonly server: GitHttpServer;
  readonly head: string;
  /** Pushes a commit with an empty tree on top of the head. Returns its id. */
  readonly push: (request?: Partial<PushRequest>, options?: Partial<PushOptions>) => Promise<string>;
  readonly refs: () => readonly string[];
}

async function fixture(): Promise<Fixture> {
  const folder = tempFolder('push');
  const repository = createTestRepository(folder);
  const head = repository.commit('first', { a: '1' });
  const server = await startGitHttpServer({ root: folder, token: TOKEN });
  onTestFinished(() => server.close());
  return {
    repository,
    server,
    head,
    async push(request = {}, options = {}) {
      const objects = createNewObjects();
      const tree = objects.add('tree', new Uint8Array());
      const commit = objects.add(
        'commit',
        commitContent({ tree, parent: head, message: 'x\n', at: new Date(0) }),
      );
      await pushCommit(
        { repository: `${server.url}/fleet.git`, credential: TOKEN, ...options },
        { ref: BRANCH, commit, objects: objects.list(), ...request },
        new AbortController().signal,
      );
      return commit;
    },
    refs: () =>
      repository
        .git('ls-remote', '--heads', 'origin')
        .split('\n')
        .map((line) => line.replace('\t', ' ')),
  };
}

/** Starts a server that lists one ref, and answers the push with these lines. Returns its address. */
async function answering(capabilities: string, report: readonly string[]): Promise<string> {
  const refs = [`# service=git-receive-pack\n`, `${'a'.repeat(40)} ${MAIN}\0${capabilities}`];
  const server = createServer((request, response) => {
    const isList = request.method === 'GET';
    const type = `application/x-git-receive-pack-${isList ? 'advertisement' : 'result'}`;
    response.writeHead(200, { 'content-type': type });
    response.end(`${(isList ? refs : report).map(pktLine).join('')}${FLUSH}`);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/fleet.git`;
}

describe('pushCommit', () => {
  it('S35 creates a branch with the commit', async () => {
    const { push, refs, head } = await fixture();
    const commit = await push();
    expect(refs()).toEqual([`${commit} ${BRANCH}`, `${head} ${MAIN}`]);
  });

  it('S35 moves a ref only from the commit that is expected', async () => {
    const { push, refs, head, repository } = await fixture();
    const later = repository.commit('later', { b: '1' });
    await expect(push({ ref: MAIN, expected: head })).rejects.toThrow(`the server does not accept `);
    expect(refs()).toEqual([`${later} ${MAIN}`]);
    repository.git('reset', '--quiet', '--hard', head);
    repository.git('push', '--quiet', '--force', 'origin', 'main');
    const commit = await push({ ref: MAIN, expected: head });
    expect(refs()).toEqual([`${commit} ${MAIN}`]);
  });

  it('S35 does not touch a branch that exists', async () => {
    const { push, refs, repository, head } = await fixture();
    repository.git('push', '--quiet', 'origin', `HEAD:${BRANCH}`);
    await expect(push()).rejects.toMatchObject({ code: 'PushRefused' });
    expect(refs()).toEqual([`${head} ${BRANCH}`, `${head} ${MAIN}`]);
  });

  it('S35 gives the reason of a server that refuses, and no token', async () => {
    const { push, repository } = await fixture();
    const hooks = join(repository.bare, 'hooks');
    mkdirSync(hooks);
    writeFileSync(join(hooks, 'pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const error = await push().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GitError);
    expect(error).toMatchObject({
      code: 'PushRefused',
      message: expect.stringContaining('pre-receive hook declined') as unknown,
      hint: expect.stringContaining('writeCredentialsRef') as unknown,
    });
    expect(JSON.stringify(error)).not.toContain(TOKEN);
  });

  it('S35 reports a token without the right to push', async () => {
    const { push, refs } = await fixture();
    await expect(push({}, { credential: 'other' })).rejects.toMatchObject({
      code: 'Unauthorized',
      message: 'the server does not let the token push (HTTP 401)',
      hint: expect.stringContaining('writeCredentialsRef') as unknown,
    });
    expect(refs()).toHaveLength(1);
  });

  it.each([
    ['refs', { do: 'status', status: 503, headers: { 'retry-after': '7' } }, 'ServerError'],
    ['refs', { do: 'garbage' }, 'NotFoundRepository'],
    ['push', { do: 'status', status: 429 }, 'ServerError'],
    ['push', { do: 'status', status: 403 }, 'Unauthorized'],
    ['push', { do: 'reset' }, 'Unreachable'],
    ['push', { do: 'truncate', bytes: 9 }, 'Corrupt'],
    ['push', { do: 'garbage' }, 'NotFoundRepository'],
  ] as const)('S35 rejects if the step %s fails with %j', async (step, fault, code) => {
    const { push, server } = await fixture();
    server.fail(step, fault);
    await expect(push()).rejects.toMatchObject({ code });
  });

  it.each([
    ['is able to report nothing', ['agent=x', 'unpack ok', `ok ${BRANCH}`], 'Corrupt', /is not understood/],
    [
      'cannot unpack the objects',
      ['report-status', 'unpack index-pack failed', `ok ${BRANCH}`],
      'PushRefused',
      /: unpack index-pack failed$/,
    ],
    ['reports another ref', ['report-status', 'unpack ok', `ok ${MAIN}`], 'PushRefused', /reports nothing/],
    [
      'writes a long reason',
      ['report-status', 'unpack ok', `ng ${BRANCH} a\u001b[31m${'x'.repeat(1000)}`],
      'PushRefused',
      /: a[!-w]*x{100,200}…?$/,
    ],
  ])('S35 rejects if the server %s', async (_, [capabilities = '', ...report], code, message) => {
    const { push } = await fixture();
    const error = await push({}, { repository: await answering(capabilities, report) }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as unknown });
  });

  it('S35 may have pushed although the answer was lost', async () => {
    const { push, refs, server } = await fixture();
    server.fail('push', { do: 'lose' });
    await expect(push()).rejects.toMatchObject({ code: 'Unreachable' });
    expect(refs()).toHaveLength(2);
  });

  it('S35 pushes over http only', async () => {
    const { push, repository } = await fixture();
    await expect(push({}, { repository: `file://${repository.bare}` })).rejects.toThrow(
      'sync pushes over https only',
    );
  });
});
