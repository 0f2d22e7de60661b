/** A repository at a real git server, a stand-in for the API of its host, and a hub in memory: the record survives each process. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Pipeline, PipelineRevert, Release } from '../../../src/api/generated/types.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createBackend } from '../../../src/sync/git/backend.ts';
import { pushCommit } from '../../../src/sync/git/push/push.ts';
import { createGitTransport } from '../../../src/sync/git/repository.ts';
import type { GitTransport } from '../../../src/sync/git/transport.ts';
import { sendToGitHost } from '../../../src/sync/report/send.ts';
import type { RevertEvent } from '../../../src/sync/revert/next-revert.ts';
import type { ReverterOptions } from '../../../src/sync/revert/reverter.ts';
import { createFastClock } from '../../support/fast-clock.ts';
import type { StandInApp } from '../../support/git-host/github-app.ts';
import { testHostTokens } from '../../support/git-host/host-tokens.ts';
import { type StandInHost, startStandInHost } from '../../support/git-host/stand-in.ts';
import { type GitHttpServer, startGitHttpServer } from '../../support/git-server/http-server.ts';
import { createTestRepository, type TestRepository } from '../../support/git-server/repository.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { secretStore } from '../../support/secret-store.ts';
import { tempFolder } from '../../support/temp.ts';
import { failedRelease, pipelineWith } from './builders.ts';

export const TOKEN = 'ghp_secret_token';

export interface RevertBed {
  readonly repository: TestRepository;
  readonly host: StandInHost;
  readonly server: GitHttpServer;
  readonly log: ReturnType<typeof memoryLog>;
  readonly events: RevertEvent[];
  readonly proven: string;
  readonly failed: string;
  pipeline: Pipeline;
  releases: readonly Release[];
  head: string;
  /** Whether this process holds the Lease. */
  isHeld: boolean;
  /** Returns the ports of a process. `onCall` is called before and after each call, and may throw. */
  ports(onCall?: OnCall): ReverterOptions;
  record(): PipelineRevert | undefined;
  /** Returns each branch but main, with its commit. */
  branches(): readonly string[];
  main(): string;
  /** Restores the state after the failure: no branch, no pull request, no record. */
  reset(): void;
}

export type OnCall = (call: string, when: 'before' | 'after') => void;

export interface RevertBedOptions {
  readonly type?: 'GitHub' | 'GitLab';
  readonly spec?: object;
  readonly secret?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly signatures?: ReturnType<ReverterOptions['signatures']>;
  /** The GitHub App whose tokens are accepted, in place of TOKEN. */
  readonly app?: StandInApp;
}

export async function createRevertBed({
  type = 'GitHub',
  spec = {},
  secret = {},
  files = {},
  signatures,
  app,
}: RevertBedOptions = {}): Promise<RevertBed> {
  const folder = tempFolder('revert');
  const repository = createTestRepository(join(folder, 'acme'));
  const host = await startStandInHost(TOKEN);
  onTestFinished(() => host[Symbol.asyncDispose]());
  host.app = app;
  const { data, accepts } = credentialOf(app);
  const server = await startGitHttpServer({ root: folder, accepts });
  onTestFinished(() => server.close());
  const proven = repository.commit('one', { 'web.yaml': 'version: 1', ...files });
  const failed = repository.commit('two', { 'web.yaml': 'version: 2' });
  const hosts = [server, host].map(({ url }) => new URL(url).host).join(', ');
  const secrets = secretStore({
    name: 'push',
    use: `git-push; ${hosts}`,
    data: { ...data, ...secret },
  });
  const source = { repository: `${server.url}/acme/fleet.git`, gitHost: { type, url: host.url } };
  const cache = { repository: `file://${repository.bare}`, folder: join(folder, 'cache') };
  const git = createGitTransport(createBackend(cache));
  onTestFinished(() => git.close());
  const first = (): Pipeline => pipelineWith([{ commit: failed, proven }], { source, spec });
  const bed: RevertBed = {
    repository,
    host,
    server,
    log: memoryLog(),
    events: [],
    proven,
    failed,
    pipeline: first(),
    releases: [failedRelease({ commit: failed })],
    head: failed,
    isHeld: true,
    ports,
    record: () => bed.pipeline.status?.reverts?.[0],
    branches: () => refs().filter((line) => !line.endsWith(' refs/heads/main')),
    main: () =>
      refs()
        .find((line) => line.endsWith(' refs/heads/main'))
        ?.split(' ')[0] ?? 'none',
    reset() {
      for (const line of bed.branches()) {
        repository.git('push', '--quiet', 'origin', `:${line.split(' ')[1]}`);
      }
      repository.git('push', '--quiet', '--force', 'origin', `${failed}:refs/heads/main`);
      host.pulls.length = 0;
      bed.events.length = 0;
      bed.pipeline = first();
    },
  };
  return bed;

  function refs(): readonly string[] {
    const printed = repository.git('ls-remote', '--heads', 'origin');
    return printed.split('\n').map((line) => line.replace('\t', ' '));
  }

  function ports(onCall: OnCall = () => undefined): ReverterOptions {
    const called = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      onCall(name, 'before');
      const result = await work();
      onCall(name, 'after');
      return result;
    };
    const clock = createFastClock();
    return {
      pipeline: () => bed.pipeline,
      releases: () => bed.releases,
      secrets,
      lease: { notHeldReason: () => (bed.isHeld ? undefined : 'lost') },
      newestAccepted: () => bed.head,
      signatures: () => signatures,
      git: calledGit(git, called),
      push: (...all) => called('push', () => pushCommit(...all)),
      // A host has as long as it needs.
      send: (request, options) =>
        called(`send ${request.method}`, async () =>
          sendToGitHost(request, { ...options, clock: createSystemClock() }),
        ),
      tokens: testHostTokens(clock),
      record: (reverts) =>
        called('record', async () => {
          const { status } = bed.pipeline;
          bed.pipeline = { ...bed.pipeline, status: { conditions: [], ...status, reverts: [...reverts] } };
        }),
      recordEvent: (event) => void bed.events.push(event),
      clock,
      random: () => 0.5,
      log: bed.log,
      onChange: () => undefined,
    };
  }
}

interface Credential {
  /** What the Secret contains. */
  readonly data: Readonly<Record<string, string>>;
  /** Tells whether git accepts a password. */
  readonly accepts: (password: string) => boolean;
}

function credentialOf(app: StandInApp | undefined): Credential {
  return app ?? { data: { token: TOKEN }, accepts: (password) => password === TOKEN };
}

type Called = <T>(name: string, work: () => Promise<T>) => Promise<T>;

function calledGit(git: GitTransport, called: Called): ReverterOptions['git'] {
  return {
    listRefs: (...all) => called('listRefs', () => git.listRefs(...all)),
    fetch: (...all) => called('fetch', () => git.fetch(...all)),
    ancestry: (...all) => called('ancestry', () => git.ancestry(...all)),
    revert: async (question, signal) =>
      await called('revert', async () => {
        await git.fetch(question.ref, signal);
        return await git.revert(question, signal);
      }),
  };
}
