/** A version that fails in two clusters at once is held in all of them, and one switch stops every cluster. */
import { FLEET_POLICIES } from '../../../api/generated/resources.ts';
import type { FleetPolicy } from '../../../api/generated/types.ts';
import { EXIT } from '../../../cli/errors.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { provenEverywhere } from '../fleet-state.ts';
import { notHeldEverywhereReason } from '../observed.ts';
import { joinStages, PIPELINE_FILE } from '../pipeline-edits.ts';
import type { Tour, TourStep } from '../step.ts';
import { nextVersion } from '../versions.ts';
import { selectRelease } from './rollout.ts';

export const fleetLimitsStep: TourStep = {
  name: 'fleet-limits',
  title: 'What fails in two clusters is held in all, and one switch stops everything',
  explanation: [
    'For a while test and pre take each commit at once, and then a version that fails: both go back by themselves.',
    'The hub finds that it is the same version, and holds it everywhere. kubenode fleet stop stops every cluster.',
  ],
  async run(tour) {
    const { repository } = tour;
    const joined = await commitJoinedStages(tour);
    // The commits to revert, newest first, whatever fails.
    let left = [joined];
    try {
      await tour.verify(provenEverywhere(tour, joined));
      const { version, commit } = await commitBadVersion(tour);
      left = [commit, joined];
      await verifyHeld(tour, `web-${version}`);
      await tour.show(['fleet', 'status', '--context', 'hub'], [EXIT.failed]);
      await stopAndResume(tour);
    } finally {
      for (const commit of left) {
        tour.say(`$ git revert --no-edit ${shortCommit(commit)}`);
        await repository.revert(commit);
      }
    }
    await tour.verify(provenEverywhere(tour, await repository.head()));
  },
};

async function commitJoinedStages(tour: Tour): Promise<string> {
  const { repository } = tour;
  await repository.edit(PIPELINE_FILE, joinStages);
  tour.say(`${PIPELINE_FILE}: test and pre are one stage, with maxConcurrentClusters: 2`);
  tour.say('$ git commit -am "Take test and pre at once"');
  return await repository.commit('Take test and pre at once');
}

async function commitBadVersion(tour: Tour): Promise<{ readonly version: string; readonly commit: string }> {
  const { repository } = tour;
  const version = nextVersion(2, await repository.commits());
  await selectRelease(tour, version, '');
  tour.say(`$ git commit -am "web ${version}"`);
  return { version, commit: await repository.commit(`web ${version}`) };
}

async function verifyHeld(tour: Tour, component: string): Promise<void> {
  await tour.verify({
    what: `the hub holds ${component}, which failed in test and pre`,
    withinSeconds: 300,
    lookAt: 'kubenode fleet status --context hub',
    reason: async () => notHeldEverywhereReason(await readFleetPolicy(tour), component, ['test', 'pre']),
  });
}

async function readFleetPolicy(tour: Tour): Promise<FleetPolicy> {
  return await (await tour.client('hub')).get<FleetPolicy>(FLEET_POLICIES, { name: 'fleet' });
}

/** The command ends with 0 when every cluster has stopped. */
async function stopAndResume(tour: Tour): Promise<void> {
  try {
    await tour.show(['fleet', 'stop', '--reason', 'the tour shows the switch', '--context', 'hub']);
  } finally {
    await tour.show(['fleet', 'resume', '--context', 'hub']);
  }
}
