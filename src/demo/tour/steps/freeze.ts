/** During a freeze no stage takes a commit; a revert, which returns each cluster to what was proven there, passes it. */
import type { Freeze } from '../../../api/generated/types.ts';
import { EXIT } from '../../../cli/errors.ts';
import { wholeSeconds } from '../../../os/dates.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { provenEverywhere, readClusters, readReleases } from '../fleet-state.ts';
import { notFrozenReason, notProvenReason } from '../observed.ts';
import { declareFreeze, PIPELINE_FILE } from '../pipeline-edits.ts';
import type { Tour, TourStep } from '../step.ts';

export const POLICY_FILE = 'rules/fleet-default.ts';
const HOUR_MS = 3_600_000;

export const freezeStep: TourStep = {
  name: 'freeze',
  title: 'A freeze holds prod, and a revert passes it',
  explanation: [
    'A change is everywhere when a freeze begins: spec.freezes of the Pipeline. The next change waits, in every stage.',
    'git revert takes the first one back all the same: what comes was proven on each cluster before.',
  ],
  async run(tour) {
    const { repository } = tour;
    const first = await changePolicy(tour);
    // The commits to revert, newest first, whatever fails.
    let left = [first];
    try {
      await tour.verify(provenEverywhere(tour, first));
      const frozen = await freeze(tour);
      left = [frozen, first];
      await tour.verify(provenEverywhere(tour, frozen));
      const held = await changePolicy(tour);
      left = [held, frozen, first];
      await expectFrozen(tour, held, frozen);
      await revert(tour, held);
      left = [frozen, first];
      const returned = await revert(tour, first);
      left = [frozen];
      await tour.verify(provenEverywhere(tour, returned));
      await tour.show(['history', 'prod', '--context', 'hub']);
    } finally {
      for (const commit of left) await revert(tour, commit);
    }
    await tour.verify(provenEverywhere(tour, await repository.head()));
  },
};

/** A change that disturbs no machine. */
export function editLinger(policy: string): string {
  return policy.replace(
    /lingerSeconds: (?<seconds>\d+)/,
    (_, seconds) => `lingerSeconds: ${Number(seconds) + 1}`,
  );
}

async function changePolicy(tour: Tour): Promise<string> {
  const { repository } = tour;
  await repository.edit(POLICY_FILE, editLinger);
  tour.say(`${POLICY_FILE}: lingerSeconds is a second longer`);
  tour.say('$ git commit -am "Let grants linger"');
  return await repository.commit('Let grants linger');
}

async function freeze(tour: Tour): Promise<string> {
  const { repository } = tour;
  const now = tour.now();
  const entry: Freeze = {
    name: 'tour',
    from: wholeSeconds(now),
    until: wholeSeconds(new Date(now.getTime() + HOUR_MS)),
    reason: 'the tour shows a freeze',
  };
  await repository.edit(PIPELINE_FILE, (text) => declareFreeze(text, entry));
  tour.say(
    `${PIPELINE_FILE}: freezes until ${entry.until}, and revertPasses: { freezes: true } in each stage`,
  );
  tour.say('$ git commit -am "Freeze the fleet"');
  return await repository.commit('Freeze the fleet');
}

async function expectFrozen(tour: Tour, held: string, frozen: string): Promise<void> {
  await tour.verify({
    what: `${shortCommit(held)} waits for the end of the freeze`,
    withinSeconds: 60,
    lookAt: 'kubenode release list --context hub',
    reason: async () => notFrozenReason(await readReleases(tour), held),
  });
  await tour.verify({
    what: `test, pre and prod stay at ${shortCommit(frozen)}`,
    withinSeconds: 0,
    lookAt: 'kubenode status',
    reason: async () => notProvenReason(await readClusters(tour), frozen),
  });
  await tour.show(['status'], [EXIT.changes, EXIT.failed, EXIT.unhealthy]);
}

async function revert(tour: Tour, commit: string): Promise<string> {
  tour.say(`$ git revert --no-edit ${shortCommit(commit)}`);
  return await tour.repository.revert(commit);
}
