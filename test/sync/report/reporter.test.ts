/** S26: the reporter with a stand-in for the APIs of GitHub and GitLab, over real HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pipeline, PipelineCommitStatuses, Release } from '../../../src/api/generated/types.ts';
import type { Clock } from '../../../src/os/clock.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createStatusReporter, type StatusReporter } from '../../../src/sync/report/reporter.ts';
import { sendToGitHost } from '../../../src/sync/report/send.ts';
import { createFastClock } from '../../support/fast-clock.ts';
import { createStandInApp, type StandInApp } from '../../support/git-host/github-app.ts';
import { testHostTokens } from '../../support/git-host/host-tokens.ts';
import { type HostFault, type StandInHost, startStandInHost } from '../../support/git-host/stand-in.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { secretStore } from '../../support/secret-store.ts';
import { ended, promoting, releaseOf, reportingPipeline } from './builders.ts';

const TOKEN = 'ghp_secret_token';
type Type = 'GitHub' | 'GitLab';

/** A hub in memory: the record survives each process. */
interface Hub {
  readonly host: StandInHost;
  readonly log: ReturnType<typeof memoryLog>;
  pipeline: Pipeline;
  releases: Release[];
  /** Whether the hub accepts the next record. */
  accepts: () => boolean;
  /** `requests`: measures how long a request may take. */
  start(options?: { readonly held?: () => boolean; readonly requests?: Clock }): StatusReporter;
}

async function hubWith(type: Type, token = TOKEN): Promise<Hub> {
  return await hubWithSecret(type, { token });
}

/** A host that accepts the tokens of a GitHub App only. */
async function hubWithApp(app: StandInApp): Promise<Hub> {
  const hub = await hubWithSecret('GitHub', app.data);
  hub.host.app = app;
  return hub;
}

async function hubWithSecret(type: Type, data: Readonly<Record<string, string>>): Promise<Hub> {
  const host = await startStandInHost(TOKEN);
  onTestFinished(() => host[Symbol.asyncDispose]());
  const { host: name } = new URL(host.url);
  const secrets = secretStore({ name: 'status', use: `git-status; ${name}`, data });
  const clock = createFastClock();
  const tokens = testHostTokens(clock);
  const log = memoryLog();
  const hub: Hub = {
    host,
    log,
    pipeline: reportingPipeline({
      repository: `${host.url}/acme/fleet.git`,
      gitHost: { type, url: host.url },
    }),
    releases: [],
    accepts: () => true,
    start({ held = () => true, requests = createSystemClock() } = {}) {
      const reporter = createStatusReporter({
        pipeline: () => hub.pipeline,
        releases: () => hub.releases,
        secrets,
        lease: { notHeldReason: () => (held() ? undefined : 'lost') },
        send: (request, options) => sendToGitHost(request, { ...options, clock: requests }),
        tokens,
        record: async (commitStatuses) => record(commitStatuses),
        clock,
        random: () => 0.5,
        log,
        onChange: () => undefined,
      });
      onTestFinished(() => reporter.close());
      return reporter;
    },
  };
  return hub;

  function record(commitStatuses: PipelineCommitStatuses | undefined): void {
    if (!hub.accepts()) throw new Error('the hub does not answer');
    const { commitStatuses: _, ...status } = hub.pipeline.status ?? { conditions: [] };
    hub.pipeline = { ...hub.pipeline, status: { ...status, ...(commitStatuses ? { commitStatuses } : {}) } };
  }
}

const recordOf = ({ pipeline }: Hub, commit: string) =>
  pipeline.status?.commitStatuses?.commits?.find((each) => each.commit === commit);

/** Another process reported five times, and a failure last. */
function recordElsewhere(hub: Hub): void {
  const address = `${hub.host.url}/acme/fleet kubenode/fleet`;
  const sent = { commit: 'c1', state: 'Failed', message: 'failed', sent: 5 } as const;
  const status = { conditions: [], ...hub.pipeline.status, commitStatuses: { address, commits: [sent] } };
  hub.pipeline = { ...hub.pipeline, status };
}

/** Deterministic faults: the same for each run, of every kind. */
const FAULTS: readonly (HostFault | undefined)[] = [
  { status: 503 },
  { status: 403, headers: { 'retry-after': '1' } },
  undefined,
  { status: 429, headers: { 'retry-after': '1' } },
  { status: 500, acts: true },
  { status: 502, body: '<html>' },
  undefined,
];

describe.each<Type>(['GitHub', 'GitLab'])('S26 a git host with the API of %s', (type) => {
  it('shows how far a commit is, and is asked nothing while nothing changes', async () => {
    const hub = await hubWith(type);
    hub.releases = [releaseOf('c1', promoting(1, 4))];
    const reporter = hub.start();
    const working = type === 'GitHub' ? 'pending' : 'running';
    const description = 'stage prod: 1 of 4 clusters proven';
    await expect.poll(() => hub.host.statusOf('c1')).toMatchObject({ state: working, description });
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    reporter.requeue();
    await expect.poll(() => recordOf(hub, 'c1')).toMatchObject({ state: 'Succeeded', sent: 2 });
    expect(hub.host.statusOf('c1')?.state).toBe('success');
    const calls = hub.host.calls.length;
    for (let again = 0; again < 20; again += 1) {
      reporter.requeue();
      await new Promise(setImmediate);
    }
    expect([calls, hub.host.calls.length]).toEqual([2, 2]);
    expect(reporter.report()).toEqual({});
  });

  it('has the final state although it answers 403, 429 and 5xx, and sync is killed in between', async () => {
    const hub = await hubWith(type);
    hub.host.fault = (call) => FAULTS[call % FAULTS.length];
    for (let killed = 0; killed < 4; killed += 1) {
      const calls = hub.host.calls.length;
      hub.releases = ['c1', 'c2'].map((commit) =>
        releaseOf(commit, promoting(killed, 4, { stage: `s${killed}` })),
      );
      const reporter = hub.start();
      await expect.poll(() => hub.host.calls.length).toBeGreaterThan(calls);
      await reporter.close();
    }
    hub.releases = [
      releaseOf('c1', ended('Superseded', { supersededBy: 'fleet-c2' })),
      releaseOf('c2', ended('Succeeded')),
    ];
    const reporter = hub.start();
    await expect
      .poll(() => ['c1', 'c2'].map((commit) => recordOf(hub, commit)?.state))
      .toEqual(['Superseded', 'Succeeded']);
    expect(hub.host.statusOf('c2')?.state).toBe('success');
    expect(hub.host.statusOf('c1')?.state).toBe(type === 'GitHub' ? 'success' : 'canceled');
    expect(reporter.report()).toEqual({});
  });
});

describe('S26 the reporter of commit statuses', () => {
  it('gives up on a host that hangs, and sends the status again', async () => {
    const hub = await hubWith('GitHub');
    hub.host.fault = (call) => (call === 1 ? 'hang' : undefined);
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    hub.start({ requests: createFastClock() });
    await expect.poll(() => recordOf(hub, 'c1')?.state).toBe('Succeeded');
    expect(hub.host.calls.length).toBeGreaterThanOrEqual(2);
  });

  it('names a token that was revoked, and never the token itself', async () => {
    const hub = await hubWith('GitHub', 'ghp_revoked_token');
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    const reporter = hub.start();
    await expect.poll(() => reporter.report()?.problem?.reason).toBe('TokenRefused');
    expect(reporter.report()?.problem).toMatchObject({
      status: 'False',
      message: expect.stringContaining('statusCredentialsRef') as unknown,
    });
    expect(JSON.stringify([hub.log.lines, reporter.report()])).not.toContain('ghp_revoked_token');
  });

  it('does not follow a redirect, and tells where the repository is now', async () => {
    const hub = await hubWith('GitHub');
    const other = await startStandInHost(TOKEN);
    onTestFinished(() => other[Symbol.asyncDispose]());
    hub.host.fault = () => ({
      status: 307,
      headers: { location: `${other.url}/api/v3/repositories/1/statuses/c1` },
    });
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    const reporter = hub.start();
    await expect
      .poll(() => reporter.report()?.problem)
      .toMatchObject({ reason: 'Moved', message: expect.stringContaining(other.url) as unknown });
    expect(other.calls).toEqual([]);
  });

  it('reports the other commits while the host refuses one', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', ended('Succeeded'), 1), releaseOf('c2', ended('Succeeded'), 2)];
    hub.host.fault = () => (hub.host.calls.at(-1)?.path.endsWith('/c2') ? { status: 422 } : undefined);
    const reporter = hub.start();
    await expect.poll(() => recordOf(hub, 'c1')?.state).toBe('Succeeded');
    expect(recordOf(hub, 'c2')).toBeUndefined();
    expect(reporter.report()?.problem?.reason).toBe('Refused');
  });

  it('sends nothing again while the hub does not record it', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    let attempts = 0;
    hub.accepts = () => (attempts += 1) > 3;
    hub.start();
    await expect.poll(() => recordOf(hub, 'c1')?.state).toBe('Succeeded');
    expect(hub.host.calls).toHaveLength(1);
  });

  it('sends nothing without the Lease', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    let asked = 0;
    const reporter = hub.start({ held: () => (asked += 1) > 3 });
    await expect.poll(() => (reporter.requeue(), recordOf(hub, 'c1')?.state)).toBe('Succeeded');
    expect(asked).toBeGreaterThan(3);
    expect(hub.host.calls).toHaveLength(1);
  });

  it('continues with what another process recorded while that had the Lease', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', promoting(1, 4))];
    let [isHeld, asked] = [true, 0];
    const reporter = hub.start({ held: () => ((asked += 1), isHeld) });
    await expect.poll(() => recordOf(hub, 'c1')?.sent).toBe(1);
    isHeld = false;
    recordElsewhere(hub);
    const before = asked;
    await expect.poll(() => (reporter.requeue(), asked)).toBeGreaterThan(before);
    isHeld = true;
    reporter.requeue();
    await expect.poll(() => recordOf(hub, 'c1')).toMatchObject({ state: 'Pending', sent: 6 });
    expect(hub.host.calls).toHaveLength(2);
  });

  it('does not write over what another process recorded while that had the Lease', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', promoting(1, 4))];
    hub.accepts = () => false;
    let [isHeld, asked] = [true, 0];
    const reporter = hub.start({ held: () => ((asked += 1), isHeld) });
    await expect.poll(() => hub.host.calls.length).toBe(1);
    isHeld = false;
    const before = asked;
    await expect.poll(() => (reporter.requeue(), asked)).toBeGreaterThan(before);
    recordElsewhere(hub);
    hub.accepts = () => true;
    isHeld = true;
    reporter.requeue();
    await expect.poll(() => recordOf(hub, 'c1')).toMatchObject({ state: 'Pending', sent: 6 });
  });

  it('tries another address at once, however long the one before asked it to wait', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    hub.host.fault = (call) => (call === 1 ? { status: 429, headers: { 'retry-after': '3600' } } : undefined);
    const reporter = hub.start();
    await expect.poll(() => hub.host.calls.length).toBe(1);
    const { source } = hub.pipeline.spec;
    const gitHost = { ...source.gitHost, context: 'hub-eu' };
    hub.pipeline = { ...hub.pipeline, spec: { ...hub.pipeline.spec, source: { ...source, gitHost } } };
    await expect.poll(() => (reporter.requeue(), recordOf(hub, 'c1')?.state)).toBe('Succeeded');
    expect(hub.host.calls).toHaveLength(2);
  });

  it('sends all again when the repository has another address, and forgets with the reference', async () => {
    const hub = await hubWith('GitHub');
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    const reporter = hub.start();
    await expect.poll(() => recordOf(hub, 'c1')?.sent).toBe(1);
    const { source } = hub.pipeline.spec;
    const withSource = (next: Pipeline['spec']['source']): void => {
      hub.pipeline = { ...hub.pipeline, spec: { ...hub.pipeline.spec, source: next } };
      reporter.requeue();
    };
    withSource({ ...source, gitHost: { ...source.gitHost, context: 'hub-eu' } });
    await expect.poll(() => hub.host.statusOf('c1')?.context).toBe('hub-eu');
    const { statusCredentialsRef: _, gitHost: __, ...without } = source;
    withSource(without);
    await expect.poll(() => hub.pipeline.status?.commitStatuses).toBeUndefined();
    expect(reporter.report()).toBeUndefined();
  });

  it.each<[name: string, source: object, reason: string]>([
    ['the Secret is missing', { statusCredentialsRef: { name: 'other', key: 'token' } }, 'SecretInvalid'],
    [
      'the git host is not known',
      { repository: 'https://git.example.com/a/b', gitHost: {} },
      'GitHostUnknown',
    ],
  ])('tells when %s', async (_, source, reason) => {
    const hub = await hubWith('GitHub');
    hub.pipeline = reportingPipeline({ ...hub.pipeline.spec.source, ...source });
    const reporter = hub.start();
    await expect.poll(() => reporter.report()?.problem?.reason).toBe(reason);
    expect(hub.host.calls).toEqual([]);
  });
});

const statuses = ({ host }: Hub) => host.calls.filter(({ path }) => path.includes('/statuses/'));

describe('S26 the reporter with a GitHub App', () => {
  it('gets one token for all commits and two reporters, and never shows it', async () => {
    const app = createStandInApp();
    const hub = await hubWithApp(app);
    hub.releases = [releaseOf('c1', ended('Succeeded'), 1), releaseOf('c2', promoting(1, 4), 2)];
    const reporter = hub.start();
    await expect.poll(() => recordOf(hub, 'c1')?.state).toBe('Succeeded');
    await expect.poll(() => recordOf(hub, 'c2')?.state).toBe('Pending');
    await reporter.close();
    hub.releases = [releaseOf('c2', ended('Succeeded'), 2)];
    const next = hub.start();
    await expect.poll(() => recordOf(hub, 'c2')?.state).toBe('Succeeded');
    expect(app.issued).toEqual(['ghs_1234_1']);
    const shown = JSON.stringify([hub.log.lines, reporter.report(), next.report(), hub.pipeline]);
    expect(shown).not.toMatch(/ghs_|BEGIN|eyJ/);
  });

  it('continues with another token when the host refuses one that was revoked', async () => {
    const app = createStandInApp();
    const hub = await hubWithApp(app);
    hub.releases = [releaseOf('c1', promoting(1, 4))];
    const reporter = hub.start();
    await expect.poll(() => recordOf(hub, 'c1')?.sent).toBe(1);
    app.revoke('ghs_1234_1');
    // Until the token is a minute old, sync takes the refusal for one of the App.
    await expect
      .poll(() => {
        hub.releases = [releaseOf('c1', ended('Succeeded'))];
        reporter.requeue();
        return recordOf(hub, 'c1')?.state;
      })
      .toBe('Succeeded');
    expect(app.issued).toEqual(['ghs_1234_1', 'ghs_1234_2']);
    expect(reporter.report()).toEqual({});
  });

  it('tells that the installation was removed, and continues when it is there again', async () => {
    const app = createStandInApp();
    app.installationID = undefined;
    const hub = await hubWithApp(app);
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    const reporter = hub.start();
    await expect
      .poll(() => reporter.report()?.problem)
      .toMatchObject({
        status: 'False',
        reason: 'NotFound',
        message: expect.stringContaining('has no installation 4711 of GitHub App 1234') as unknown,
      });
    expect(statuses(hub)).toEqual([]);
    app.installationID = '4711';
    await expect.poll(() => (reporter.requeue(), recordOf(hub, 'c1')?.state)).toBe('Succeeded');
    expect(reporter.report()).toEqual({});
  });

  it('sends nothing when the Lease is lost while the host issues the token', async () => {
    const app = createStandInApp();
    const hub = await hubWithApp(app);
    hub.releases = [releaseOf('c1', ended('Succeeded'))];
    let [isHeld, refused] = [true, 0];
    hub.host.fault = () => {
      isHeld = false;
      return undefined;
    };
    const held = (): boolean => {
      if (!isHeld) refused += 1;
      return isHeld;
    };
    const reporter = hub.start({ held });
    await expect.poll(() => (reporter.requeue(), refused)).toBeGreaterThan(1);
    expect([app.issued.length, statuses(hub).length]).toEqual([1, 0]);
  });
});
