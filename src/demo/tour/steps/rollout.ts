/** A version goes to test, pre and prod, and over the machines of each in batches. */
import { EXIT } from '../../../cli/errors.ts';
import { provenEverywhere, readClusters, readMachines, readSet } from '../fleet-state.ts';
import { orderReason, otherVersionReason, STAGES } from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';
import { addRelease, nextVersion, selectVersion } from '../versions.ts';

export const rolloutStep: TourStep = {
  name: 'rollout',
  title: 'A version goes to test, pre and prod, in batches',
  explanation: [
    'One line of fleet/versions.ts changes. kubenode plan shows what that would do; a commit does it.',
    'Each stage is proven before the next begins, and in prod one machine is updated before the others.',
  ],
  async run(tour) {
    const plan = ['plan', '--repo', tour.repository.folder, '--context', 'hub'];
    const { version, head } = await commitNextVersion(tour, () => tour.show(plan, [EXIT.changes]));
    const batches = new Set<number>();
    let mostInWork = 0;
    const expected = provenEverywhere(tour, head);
    await tour.verify({
      ...expected,
      reason: async () => {
        const { batch, counts } = (await readSet(tour, 'prod')).status ?? {};
        if (batch?.index !== undefined) batches.add(batch.index);
        mostInWork = Math.max(mostInWork, counts?.inProgress ?? 0);
        return await expected.reason();
      },
    });
    await verifyVersion(tour, version);
    await tour.verify({
      what: 'test was proven before pre, and pre before prod',
      withinSeconds: 5,
      lookAt: 'kubenode history prod',
      reason: async () => orderReason(await readClusters(tour), head),
    });
    await tour.verify({
      what: 'prod was updated in three batches, one machine at a time',
      withinSeconds: 0,
      lookAt: 'kubenode rollout show general --context prod',
      reason: () => Promise.resolve(batchesReason([...batches], mostInWork)),
    });
    await tour.show(['rollout', 'show', 'general', '--context', 'prod']);
    await tour.show(['component', 'list', '--context', 'prod']);
  },
};

/** The demo declares batches of 1, 2 and 5 machines, and `maxUnavailable: 1`. */
export function batchesReason(batches: readonly number[], mostInWork: number): string | undefined {
  const observed = batches.toSorted((a, b) => a - b).join(', ');
  return observed === '0, 1, 2' && mostInWork === 1
    ? undefined
    : `batches ${observed}; at most ${mostInWork} machines in work`;
}

/** Nothing is changed when `preview` rejects. */
export async function commitNextVersion(
  tour: Tour,
  preview: () => Promise<unknown> = () => Promise.resolve(),
): Promise<{ readonly version: string; readonly head: string }> {
  const { repository } = tour;
  const version = nextVersion(1, await repository.commits());
  try {
    await selectRelease(tour, version, `hello from ${version}`);
    await preview();
  } catch (error) {
    await repository.discard();
    throw error;
  }
  tour.say(`$ git commit -am "web ${version}"`);
  return { version, head: await repository.commit(`web ${version}`) };
}

export async function selectRelease(tour: Tour, version: string, greeting: string): Promise<void> {
  const { repository } = tour;
  const web = await repository.read('fleet/web.ts');
  const text = addRelease(web, version, greeting);
  if (text !== web) await repository.edit('fleet/web.ts', () => text);
  await repository.edit('fleet/versions.ts', (before) => selectVersion(before, version));
  tour.say(`fleet/versions.ts: web ${version}`);
}

export async function verifyVersion(tour: Tour, version: string): Promise<void> {
  for (const cluster of STAGES) {
    await tour.verify({
      what: `every machine of ${cluster} runs web ${version}`,
      withinSeconds: 30,
      lookAt: `kubenode component list --context ${cluster}`,
      reason: async () => otherVersionReason(await readMachines(tour, cluster), version),
    });
  }
}
