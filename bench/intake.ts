/** How soon sync applies a push that a webhook announces, and one whose webhook was lost; and what forged webhooks cost. */
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../src/api/names.ts';
import { SECRETS } from '../src/kube/objects/core-kinds.ts';
import { type GitHttpServer, startGitHttpServer } from '../test/support/git-server/http-server.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { createHookSender, type HookSender, type StormAnswers } from './intake/hooks.ts';
import { type Bed, openBed } from './sync/bed.ts';
import { firstApply } from './sync/first-apply.ts';
import { pushChanges } from './sync/small-changes.ts';
import { quiet } from './sync/wait.ts';

const OBJECTS = 50;
const PUSHES = 20;
/** Each waits for the next poll, up to half a minute. */
const LOST_HOOKS = 8;
const POLL_SECONDS = 30;
const FORGED = { perSecond: 1000, seconds: 20 };
const SECRET = 'the secret of the webhook';

export const bench: Bench = {
  name: 'intake',
  what: 'kubenode sync with a git host over HTTP: push to first write with a webhook and without, and 1,000 forged, repeated and oversized webhooks a second',
  run,
};

async function run(): Promise<BenchResult> {
  const port = await freePort();
  let git: GitHttpServer | undefined;
  const bed = await openBed({
    flags: ['--webhook-port', String(port)],
    async source(bare, hub) {
      await hub.client.create(SECRETS, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'hook',
          namespace: NAMESPACE,
          annotations: { [ANNOTATION_SECRET_USE]: 'git-webhook' },
        },
        stringData: { secret: SECRET },
      });
      git = await startGitHttpServer({ root: dirname(bare) });
      const repository = `${git.url}/fleet.git`;
      return { repository, pollSeconds: POLL_SECONDS, webhookSecretRef: { name: 'hook' } };
    },
  });
  const hooks = createHookSender(`http://127.0.0.1:${port}/hooks/fleet`, SECRET);
  try {
    if (!git) throw new Error('the git server was not started');
    return await measure(bed, git, hooks);
  } finally {
    hooks.close();
    await bed.close();
    await git?.close();
  }
}

async function measure(bed: Bed, git: GitHttpServer, hooks: HookSender): Promise<BenchResult> {
  await firstApply(bed, OBJECTS);
  const hookSeconds = await pushChanges(bed, {
    objects: OBJECTS,
    times: PUSHES,
    announce: () => hooks.announce(),
  });
  const requests = git.requests.length;
  const lostSeconds = await pushChanges(bed, { objects: OBJECTS, times: LOST_HOOKS, value: 'lost' });
  const pollRequests = git.requests.length - requests;
  return resultOf({ hookSeconds, lostSeconds, pollRequests, forged: await forgedStorm(bed, git, hooks) });
}

interface ForgedStorm extends StormAnswers {
  readonly fetches: number;
  readonly listings: number;
  readonly grownMiB: number;
  readonly cpuMsPerRequest: number;
}

async function forgedStorm(bed: Bed, git: GitHttpServer, hooks: HookSender): Promise<ForgedStorm> {
  await quiet(bed);
  await hooks.announce();
  // Memory of the first seconds is that of the server of webhooks itself.
  await hooks.storm(FORGED.perSecond, 2);
  await quiet(bed);
  await bed.resetPeak();
  const before = await bed.usage();
  const skip = git.requests.length;
  const storm = await hooks.storm(FORGED.perSecond, FORGED.seconds);
  const after = await bed.usage();
  const steps = git.requests.slice(skip).map(({ step }) => step);
  return {
    ...storm,
    fetches: steps.filter((step) => step === 'pack').length,
    listings: steps.filter((step) => step === 'refs').length,
    grownMiB: after.peakMiB - before.residentMiB,
    cpuMsPerRequest: ((after.cpuSeconds - before.cpuSeconds) / storm.sent) * 1000,
  };
}

interface Measurements {
  readonly hookSeconds: readonly number[];
  readonly lostSeconds: readonly number[];
  readonly pollRequests: number;
  readonly forged: ForgedStorm;
}

function resultOf({ hookSeconds, lostSeconds, pollRequests, forged }: Measurements): BenchResult {
  const [hookP50, hookP95] = [percentile(hookSeconds, 0.5), percentile(hookSeconds, 0.95)];
  const [lostP50, lostMost] = [percentile(lostSeconds, 0.5), Math.max(...lostSeconds)];
  const { answers, fetches, listings, grownMiB, cpuMsPerRequest, perSecond } = forged;
  const answered = [...answers].map(([status, count]) => [`answered${status}`, count] as const);
  return {
    measured: {
      hookP50Seconds: hookP50,
      hookP95Seconds: hookP95,
      lostP50Seconds: lostP50,
      lostMostSeconds: lostMost,
      gitRequestsPerLostHook: pollRequests / LOST_HOOKS,
      forgedPerSecond: perSecond,
      forgedCpuMs: cpuMsPerRequest,
      forgedGrownMiB: grownMiB,
      forgedFetches: fetches,
      forgedListings: listings,
      ...Object.fromEntries(answered),
    },
    baseline: { pollSeconds: POLL_SECONDS },
    ratios: { hookToPoll: hookP50 / lostP50 },
    gates: [
      { what: 'seconds from a push to the first write with a webhook, p95', value: hookP95, atMost: 2 },
      {
        what: 'seconds from a push to the first write with all webhooks lost, the most',
        value: lostMost,
        atMost: 35,
      },
      { what: 'forged webhooks a second', value: perSecond, atLeast: 900 },
      { what: 'fetches while they arrive', value: fetches, atMost: 0 },
      { what: 'listings while they arrive, which are one poll', value: listings, atMost: 1 },
      { what: 'MiB that the process grows while they arrive', value: grownMiB, atMost: 16 },
    ],
    setting: { objects: OBJECTS, pushes: PUSHES, lostHooks: LOST_HOOKS, forgedSeconds: FORGED.seconds },
  };
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
  });
  return promise;
}
