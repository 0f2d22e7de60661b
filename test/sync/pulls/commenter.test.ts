/** S22: the commenter with a stand-in for the APIs of GitHub and GitLab, over real HTTP. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pipeline, PipelinePlanComments } from '../../../src/api/generated/types.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createPlanCommenter, type PlanCommenter } from '../../../src/sync/pulls/commenter.ts';
import type { HeadPlan, HeadQuestion } from '../../../src/sync/pulls/head-plan.ts';
import { sendToGitHost } from '../../../src/sync/report/send.ts';
import { createFastClock } from '../../support/fast-clock.ts';
import { testHostTokens } from '../../support/git-host/host-tokens.ts';
import { type HostFault, type StandInHost, startStandInHost } from '../../support/git-host/stand-in.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { secretStore } from '../../support/secret-store.ts';
import { reportingPipeline } from '../report/builders.ts';

const TOKEN = 'ghp_secret_token';
type Type = 'GitHub' | 'GitLab';
const [H1, H2] = ['a'.repeat(40), 'b'.repeat(40)] as const;

/** A hub in memory: the record survives each process. */
interface Hub {
  readonly host: StandInHost;
  readonly log: ReturnType<typeof memoryLog>;
  /** The heads that were planned. */
  readonly planned: string[];
  pipeline: Pipeline;
  base: string | undefined;
  plan: (question: HeadQuestion) => HeadPlan | Promise<HeadPlan>;
  /** Whether the hub accepts the next record. */
  accepts: () => boolean;
  start(options?: { readonly held?: () => boolean }): PlanCommenter;
}

function planOf({ head }: Pick<HeadQuestion, 'head'>): HeadPlan {
  const preview = { from: '', to: '', targets: [], refusals: [], digest: `sha256:${head.slice(0, 8)}` };
  return { outcome: 'Planned', isBehind: false, notes: [], preview };
}

async function hubWith(type: Type, token = TOKEN): Promise<Hub> {
  const host = await startStandInHost(TOKEN);
  onTestFinished(() => host[Symbol.asyncDispose]());
  const { host: name } = new URL(host.url);
  const secrets = secretStore({ name: 'status', use: `git-status; ${name}`, data: { token } });
  const log = memoryLog();
  const pipeline = reportingPipeline({
    repository: `${host.url}/acme/fleet.git`,
    gitHost: { type, url: host.url },
    planComments: { forks: false },
  });
  const hub: Hub = {
    host,
    log,
    planned: [],
    pipeline: { ...pipeline, metadata: { ...pipeline.metadata, uid: 'u1' } },
    base: 'b1',
    plan: planOf,
    accepts: () => true,
    start({ held = () => true } = {}) {
      const commenter = createPlanCommenter({
        pipeline: () => hub.pipeline,
        secrets,
        lease: { notHeldReason: () => (held() ? undefined : 'lost') },
        newestAccepted: () => hub.base,
        async planPull(question) {
          hub.planned.push(question.head);
          return await hub.plan(question);
        },
        send: (request, options) => sendToGitHost(request, { ...options, clock: createSystemClock() }),
        record: async (comments) => record(comments),
        tokens: testHostTokens(),
        clock: createFastClock(),
        random: () => 0.5,
        log,
        onChange: () => undefined,
      });
      onTestFinished(() => commenter.close());
      return commenter;
    },
  };
  return hub;

  function record(planComments: PipelinePlanComments | undefined): void {
    if (!hub.accepts()) throw new Error('the hub does not answer');
    const { planComments: _, ...status } = hub.pipeline.status ?? { conditions: [] };
    hub.pipeline = { ...hub.pipeline, status: { ...status, ...(planComments ? { planComments } : {}) } };
  }
}

const recordOf = ({ pipeline }: Hub, number = 1) =>
  pipeline.status?.planComments?.pullRequests?.find((each) => each.number === number);

/** Makes the record older, so that a push is planned at once. */
function age(hub: Hub): void {
  const { planComments, ...status } = hub.pipeline.status ?? { conditions: [] };
  const pullRequests = (planComments?.pullRequests ?? []).map((each) => ({
    ...each,
    plannedAt: '2020-01-01T00:00:00Z',
  }));
  hub.pipeline = { ...hub.pipeline, status: { ...status, planComments: { ...planComments, pullRequests } } };
}

function push({ host }: Hub, head: string, more: object = {}): void {
  const [pull] = host.pulls;
  if (pull) pull.head = head;
  else host.pulls.push({ number: 1, head, isOpen: true, ...more });
}

const writes = ({ host }: Hub): readonly string[] =>
  host.calls.filter(({ method }) => method !== 'GET').map(({ method }) => method);

/** Deterministic faults: the same for each run, of every kind. */
const FAULTS: readonly (HostFault | undefined)[] = [
  { status: 503 },
  undefined,
  undefined,
  { status: 403, headers: { 'retry-after': '1' } },
  undefined,
  { status: 429, headers: { 'retry-after': '1' } },
  undefined,
  { status: 500, acts: true },
  undefined,
  undefined,
  { status: 502, body: '<html>' },
];

describe.each<Type>(['GitHub', 'GitLab'])('S22 a git host with the API of %s', (type) => {
  it('has one comment and one status of a pull request, which a push replaces', async () => {
    const hub = await hubWith(type);
    push(hub, H1);
    const commenter = hub.start();
    await expect.poll(() => recordOf(hub)).toMatchObject({ head: H1, base: 'b1', state: 'Succeeded' });
    expect(hub.host.statusOf(H1)).toMatchObject({ state: 'success', context: 'kubenode/fleet/plan' });
    push(hub, H2);
    age(hub);
    await expect.poll(() => (commenter.requeue(), recordOf(hub)?.head)).toBe(H2);
    expect(hub.host.comments).toHaveLength(1);
    expect(hub.host.comments[0]?.body).toContain(`→ \`${H2}\``);
    expect(hub.host.statusOf(H2)).toMatchObject({ state: 'success' });
    expect([hub.planned, commenter.report()]).toEqual([[H1, H2], {}]);
  });

  it('has one comment although it answers 403, 429 and 5xx, and sync is killed in between', async () => {
    const hub = await hubWith(type);
    hub.host.fault = (call) => FAULTS[call % FAULTS.length];
    push(hub, H1);
    // No record survives: each process finds the comment of the one before by its marker.
    hub.accepts = () => false;
    for (let killed = 0; killed < 3; killed += 1) {
      const calls = writes(hub).length;
      const commenter = hub.start();
      await expect.poll(() => writes(hub).length).toBeGreaterThan(calls);
      await commenter.close();
    }
    hub.accepts = () => true;
    hub.start();
    await expect.poll(() => recordOf(hub)).toMatchObject({ head: H1, state: 'Succeeded' });
    // A host that fails after it created the comment is searched before another one is created.
    expect(hub.host.comments).toHaveLength(1);
    expect(recordOf(hub)?.comment).toBe(String(hub.host.comments[0]?.id));
    expect(hub.host.statusOf(H1)?.state).toBe('success');
  });
});

describe('S22 the commenter of plans', () => {
  it('is asked nothing but a conditional list while nothing changes', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    const commenter = hub.start();
    await expect.poll(() => recordOf(hub)?.head).toBe(H1);
    const lists = () => hub.host.calls.filter(({ path }) => path.includes('/pulls?')).length;
    const before = lists();
    await expect.poll(lists).toBeGreaterThan(before + 2);
    expect([writes(hub), hub.planned]).toEqual([['POST', 'POST'], [H1]]);
    expect(commenter.report()).toEqual({});
  });

  it('does not plan again what the host refuses for a while', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    hub.host.fault = (call) => (call < 6 ? { status: 503 } : undefined);
    hub.start();
    await expect.poll(() => recordOf(hub)?.head).toBe(H1);
    expect(hub.planned).toEqual([H1]);
  });

  it('writes a refused commit as a failure', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    hub.plan = () => ({ outcome: 'Refused', message: 'fleet/main.ts:3 throws' });
    hub.start();
    await expect.poll(() => hub.host.statusOf(H1)).toMatchObject({ state: 'failure' });
    expect(hub.host.comments[0]?.body).toContain('fleet/main.ts:3 throws');
    await expect.poll(() => recordOf(hub)).toMatchObject({ state: 'Failed' });
    expect(recordOf(hub)?.planDigest).toBeUndefined();
  });

  it('leaves forks alone, unless the Pipeline permits them', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1, { isFork: true });
    const commenter = hub.start();
    await expect.poll(() => hub.host.calls.length).toBeGreaterThan(1);
    expect(hub.planned).toEqual([]);
    const { source } = hub.pipeline.spec;
    const permitted = { ...source, planComments: { forks: true } };
    hub.pipeline = { ...hub.pipeline, spec: { ...hub.pipeline.spec, source: permitted } };
    await expect.poll(() => (commenter.requeue(), recordOf(hub)?.head)).toBe(H1);
  });

  it('plans those of the team behind pages of forks, and asks for each page by its tag', async () => {
    const hub = await hubWith('GitHub');
    const forks = Array.from({ length: 120 }, (_, index) => ({
      number: 100 + index,
      head: H2,
      isOpen: true,
    }));
    hub.host.pulls.push(...forks.map((pull) => ({ ...pull, isFork: true })));
    hub.host.pulls.push({ number: 1, head: H1, isOpen: true });
    const commenter = hub.start();
    await expect.poll(() => (commenter.requeue(), recordOf(hub)?.head)).toBe(H1);
    expect(hub.planned).toEqual([H1]);
    const lists = () => hub.host.calls.filter(({ path }) => path.includes('/pulls?'));
    await expect.poll(() => (commenter.requeue(), lists().length)).toBeGreaterThan(5);
    const asked = lists().map(({ path, etag }) => [path.slice(-1), etag !== undefined]);
    expect(asked.slice(0, 3)).toEqual([1, 2, 3].map((page) => [String(page), false]));
    expect(asked.slice(3, 6)).toEqual([1, 2, 3].map((page) => [String(page), true]));
  });

  it.each<[forks: boolean]>([[false], [true]])(
    'plans those of the team first behind 600 of forks, with forks permitted: %s',
    async (forks) => {
      const hub = await hubWith('GitHub');
      const { source } = hub.pipeline.spec;
      hub.pipeline = {
        ...hub.pipeline,
        spec: { ...hub.pipeline.spec, source: { ...source, planComments: { forks } } },
      };
      for (let number = 100; number < 700; number += 1) {
        hub.host.pulls.push({ number, head: H2, isOpen: true, isFork: true });
      }
      hub.host.pulls.push({ number: 1, head: H1, isOpen: true });
      const commenter = hub.start();
      await expect.poll(() => (commenter.requeue(), recordOf(hub)?.head)).toBe(H1);
      await commenter.close();
      const most = hub.host.calls.filter(({ path }) => path.includes('/pulls?')).length;
      expect(most).toBeLessThanOrEqual(30);
      expect(hub.planned.indexOf(H1)).toBeLessThanOrEqual(forks ? 30 : 0);
    },
  );

  it('plans nothing on a host that has no list for it', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    hub.host.fault = () => ({ status: 304 });
    const commenter = hub.start();
    await expect.poll(() => hub.host.calls.length).toBeGreaterThan(1);
    expect([hub.planned, commenter.report()]).toEqual([[], {}]);
  });

  it('plans the others while one cannot be planned, and that one later', async () => {
    const hub = await hubWith('GitHub');
    hub.host.pulls.push({ number: 1, head: H1, isOpen: true }, { number: 2, head: H2, isOpen: true });
    let fails = true;
    hub.plan = (question) => {
      if (question.number === 1 && fails) throw new Error('the repository does not answer');
      return planOf(question);
    };
    const commenter = hub.start();
    await expect.poll(() => recordOf(hub, 2)?.head).toBe(H2);
    await expect.poll(() => commenter.report()?.problem?.reason).toBe('NotPlanned');
    expect(commenter.report()?.problem).toMatchObject({
      status: 'Unknown',
      message: expect.stringContaining('pull request 1 is not planned: the repository') as unknown,
    });
    fails = false;
    await expect.poll(() => recordOf(hub, 1)?.head).toBe(H1);
    await expect.poll(() => commenter.report()).toEqual({});
  });

  it('forgets a pull request that is closed, and leaves its comment', async () => {
    const hub = await hubWith('GitHub');
    hub.host.pulls.push({ number: 1, head: H1, isOpen: true }, { number: 2, head: H2, isOpen: true });
    const commenter = hub.start();
    await expect.poll(() => [recordOf(hub, 1)?.head, recordOf(hub, 2)?.head]).toEqual([H1, H2]);
    const [first] = hub.host.pulls;
    if (first) first.isOpen = false;
    await expect.poll(() => (commenter.requeue(), recordOf(hub, 1))).toBeUndefined();
    expect(recordOf(hub, 2)?.head).toBe(H2);
    expect(hub.host.comments).toHaveLength(2);
  });

  it('writes a new comment in place of one that a person deleted', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    const commenter = hub.start();
    await expect.poll(() => recordOf(hub)?.head).toBe(H1);
    hub.host.comments.splice(0);
    push(hub, H2);
    age(hub);
    await expect.poll(() => (commenter.requeue(), recordOf(hub)?.head)).toBe(H2);
    expect(hub.host.comments.map(({ id }) => String(id))).toEqual([recordOf(hub)?.comment]);
  });

  it('writes over no comment of another person that looks like a plan', async () => {
    const hub = await hubWith('GitHub');
    const forged = '<!-- kubenode plan 00000000000000000000000000000000 -->\n### kubenode plan: all is well';
    hub.host.comments.push({ id: 1, pull: 1, body: forged });
    push(hub, H1);
    hub.start();
    await expect.poll(() => recordOf(hub)?.head).toBe(H1);
    expect(hub.host.comments.map(({ body }) => body === forged)).toEqual([true, false]);
  });

  it('finds its comment behind more than a page of others', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    for (let id = 1; id <= 250; id += 1) hub.host.comments.push({ id, pull: 1, body: 'text' });
    hub.accepts = () => false;
    const commenter = hub.start();
    await expect.poll(() => hub.host.comments.length).toBe(251);
    await commenter.close();
    hub.accepts = () => true;
    hub.start();
    await expect.poll(() => recordOf(hub)?.head).toBe(H1);
    expect(hub.host.comments).toHaveLength(251);
  });

  it('writes nothing without the Lease, also when it is lost while the plan is made', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    let isHeld = true;
    hub.plan = (question) => {
      isHeld = false;
      return planOf(question);
    };
    let asked = 0;
    const commenter = hub.start({ held: () => ((asked += 1), isHeld) });
    await expect.poll(() => hub.planned).toEqual([H1]);
    const before = asked;
    await expect.poll(() => (commenter.requeue(), asked)).toBeGreaterThan(before + 2);
    expect([writes(hub), hub.host.comments, commenter.report()]).toEqual([[], [], {}]);
    isHeld = true;
    await expect.poll(() => (commenter.requeue(), recordOf(hub)?.head)).toBe(H1);
  });

  it('waits for an accepted commit to compare with', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    hub.base = undefined;
    let asked = 0;
    const commenter = hub.start({ held: () => ((asked += 1), true) });
    await expect.poll(() => (commenter.requeue(), asked)).toBeGreaterThan(2);
    expect(hub.host.calls).toEqual([]);
    hub.base = 'b1';
    await expect.poll(() => (commenter.requeue(), recordOf(hub)?.base)).toBe('b1');
  });

  it.each([
    [401, 'TokenRefused', 'Put a token that is valid into the Secret'],
    [403, 'Forbidden', 'may not read the pull requests of acme/fleet'],
    [404, 'NotFound', 'Pull requests: write and Commit statuses: write'],
    [302, 'Moved', 'redirects to another address'],
  ])('reports %d of the host as %s, and never the token', async (status, reason, message) => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    hub.host.fault = () => ({ status, body: JSON.stringify({ message: TOKEN }) });
    const commenter = hub.start();
    await expect.poll(() => commenter.report()?.problem).toMatchObject({ status: 'False', reason });
    expect(commenter.report()?.problem?.message).toContain(message);
    expect(JSON.stringify([hub.log.lines, commenter.report()])).not.toContain(TOKEN);
    expect(hub.planned).toEqual([]);
  });

  it('takes the page of a proxy for no list', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    hub.host.fault = () => ({ status: 200, body: '<html>log in</html>' });
    const commenter = hub.start();
    await expect.poll(() => commenter.report()?.problem?.reason).toBe('Refused');
    expect(recordOf(hub)).toBeUndefined();
  });

  it('removes its record with the field, and reports a Secret that is missing', async () => {
    const hub = await hubWith('GitHub');
    push(hub, H1);
    const commenter = hub.start();
    await expect.poll(() => recordOf(hub)?.head).toBe(H1);
    const { source } = hub.pipeline.spec;
    const withSource = (next: Pipeline['spec']['source']): void => {
      hub.pipeline = { ...hub.pipeline, spec: { ...hub.pipeline.spec, source: next } };
    };
    withSource({ ...source, statusCredentialsRef: { name: 'other', key: 'token' } });
    await expect.poll(() => (commenter.requeue(), commenter.report()?.problem?.reason)).toBe('SecretInvalid');
    const { planComments: _, ...without } = source;
    withSource(without);
    await expect.poll(() => (commenter.requeue(), hub.pipeline.status?.planComments)).toBeUndefined();
    expect(commenter.report()).toBeUndefined();
  });
});
