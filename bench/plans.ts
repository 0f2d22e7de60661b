/** How soon a pull request that changes every object of fifty clusters has its plan as a comment, by sync and a real git host (S22). */
import { createSystemClock } from '../src/os/system-clock.ts';
import { eventually } from '../test/support/eventually.ts';
import { GITEA_USER } from '../test/support/gitea/server.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { openPlansBed, type PlansBed } from './plans/bed.ts';

const FLEET = { clusters: 50, objects: 20 };
const PULLS = 5;
const PATIENCE_MS = 600_000;
/** A row of the table of clusters. */
const CHECKED = new RegExp(`^\\| bench-\\d+ \\| ${FLEET.objects} update, checked in the cluster \\|$`, 'gm');
const REPOSITORY = `/repos/${GITEA_USER}/fleet`;

export const bench: Bench = {
  name: 'plans',
  what: 'the plan of a pull request on 50 real clusters, from the webhook to the comment in Gitea',
  run,
};

const clock = createSystemClock();

interface Planned {
  readonly seconds: number;
  /** Clusters whose part of the plan was made with the cluster, by the text of the comment. */
  readonly checked: number;
}

async function run(): Promise<BenchResult> {
  const bed = await openPlansBed(FLEET);
  try {
    await eventually(() => isProven(bed), 'the first commit is not applied to all clusters', PATIENCE_MS);
    const planned: Planned[] = [];
    for (let index = 1; index <= PULLS; index += 1) planned.push(await planOf(bed, index));
    return resultOf(planned);
  } finally {
    await bed.close();
  }
}

/** Before sync has applied it, the hub has no Pipeline. */
async function isProven(bed: PlansBed): Promise<true | undefined> {
  const pipeline = await bed.pipeline().catch(() => undefined);
  return pipeline?.status?.stages?.every(({ commit }) => commit === bed.first) || undefined;
}

async function planOf(bed: PlansBed, index: number): Promise<Planned> {
  const { gitea, hooks } = bed;
  const branch = `change-${index}`;
  const commit = bed.push(branch, String(index));
  const pull = { title: branch, head: branch, base: 'main' };
  const { number } = await gitea.api<{ number: number }>('POST', `${REPOSITORY}/pulls`, pull);
  const startMs = clock.monotonicMs();
  await hooks.announce();
  const comment = async (): Promise<string | undefined> => {
    const comments = await gitea.api<{ body: string }[]>('GET', `${REPOSITORY}/issues/${number}/comments`);
    return comments.map(({ body }) => body).find((body) => body.includes(commit));
  };
  const body = await eventually(comment, `pull request ${number} has no plan of ${commit}`, PATIENCE_MS);
  const seconds = (clock.monotonicMs() - startMs) / 1000;
  await gitea.api('PATCH', `${REPOSITORY}/pulls/${number}`, { state: 'closed' });
  return { seconds, checked: body.match(CHECKED)?.length ?? 0 };
}

function resultOf(planned: readonly Planned[]): BenchResult {
  const seconds = planned.map((each) => each.seconds);
  const most = Math.max(...seconds);
  const fewest = Math.min(...planned.map(({ checked }) => checked));
  const objects = FLEET.clusters * FLEET.objects;
  return {
    measured: {
      planP50Seconds: percentile(seconds, 0.5),
      planMostSeconds: most,
      objectsPerSecond: objects / most,
    },
    baseline: {},
    ratios: {},
    gates: [
      { what: `seconds until ${FLEET.clusters} clusters are planned, the most`, value: most, atMost: 60 },
      {
        what: 'clusters whose plan was checked in the cluster, the fewest',
        value: fewest,
        atLeast: FLEET.clusters,
      },
    ],
    setting: { ...FLEET, pulls: PULLS },
  };
}
