/** A version that fails stops at its first machine, which goes back; git revert ends it. */
import { CliError } from '../../../cli/errors.ts';
import { provenEverywhere, readClusters, readSet } from '../fleet-state.ts';
import { laterStagesReason, notFailedReason, notStoppedReason } from '../observed.ts';
import type { Tour, TourStep } from '../step.ts';
import { nextVersion, selectedVersion } from '../versions.ts';
import { selectRelease, verifyVersion } from './rollout.ts';

export const badVersionStep: TourStep = {
  name: 'bad-version',
  title: 'A bad version stops in its first batch and is rolled back',
  explanation: [
    'The new web server answers each request with an error. The first machine of test fails and goes back by itself.',
    'pre and prod never get it. git revert brings the fleet back to the commit before, without a soak.',
  ],
  async run(tour) {
    const { repository } = tour;
    const headBefore = await repository.head();
    const before = selectedVersion(await repository.read('fleet/versions.ts')) ?? '';
    const version = nextVersion(2, await repository.commits());
    await selectRelease(tour, version, '');
    tour.say(`$ git commit -am "web ${version}"`);
    const bad = await repository.commit(`web ${version}`);
    let head: string;
    try {
      await verifyStopped(tour, bad);
      await verifyKept(tour, headBefore, before);
      await tour.show(['rollout', 'show', 'general', '--context', 'test']);
    } finally {
      tour.say('$ git revert --no-edit HEAD');
      head = await repository.revert(bad);
    }
    await verifyReverted(tour, head);
    await verifyVersion(tour, before);
    await tour.show(['history', 'test']);
  },
};

async function verifyStopped(tour: Tour, bad: string): Promise<void> {
  await tour.verify({
    what: 'test is Failed at the bad commit',
    withinSeconds: 300,
    lookAt: 'kubenode status',
    reason: async () => notFailedReason(await readClusters(tour), bad),
  });
  await tour.verify({
    what: 'the rollout stopped at one machine, and states the answers of the web server',
    withinSeconds: 60,
    lookAt: 'kubenode rollout show general --context test',
    reason: async () => notStoppedReason(await readSet(tour, 'test')),
  });
}

async function verifyKept(tour: Tour, head: string, version: string): Promise<void> {
  await tour.verify({
    what: 'pre and prod are Proven at the commit before',
    withinSeconds: 5,
    lookAt: 'kubenode status',
    reason: async () => laterStagesReason(await readClusters(tour), head),
  });
  await verifyVersion(tour, version);
}

/** Content that was proven before is not soaked again. */
async function verifyReverted(tour: Tour, head: string): Promise<void> {
  const expected = provenEverywhere(tour, head);
  await tour.verify({
    ...expected,
    what: `${expected.what}, and none soaked`,
    reason: async () => {
      const soaking = (await readClusters(tour)).find(
        ({ status }) => status?.sync?.state === 'Soaking' && status.sync.commit === head,
      );
      if (soaking) throw new CliError(`${soaking.metadata.name} soaks the revert`, { where: head });
      return await expected.reason();
    },
  });
}
