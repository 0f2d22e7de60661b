/** With signatures required, a commit without one is refused before it is rendered; a signed one is accepted. */
import { EXIT } from '../../../cli/errors.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { provenEverywhere, readClusters, readPipeline } from '../fleet-state.ts';
import { notAcceptedReason, notProvenReason, notUnsignedReason } from '../observed.ts';
import { PIPELINE_FILE, requireSignatures } from '../pipeline-edits.ts';
import { createTourSigner, type TourSigner } from '../signer.ts';
import type { Tour, TourStep } from '../step.ts';
import { editLinger, POLICY_FILE } from './freeze.ts';

const KEYS = 'keys/tour';

export const unsignedCommitStep: TourStep = {
  name: 'unsigned-commit',
  title: 'A commit without a signature is refused',
  explanation: [
    'A commit lists a key, and the next one requires that all that follow are signed by a key that is listed.',
    'sync refuses one without a signature before it renders it. The commit that ends all this is signed.',
  ],
  async run(tour) {
    const { repository } = tour;
    const signer = createTourSigner('tour@localhost');
    tour.say(`$ git add ${KEYS} && git commit -m "List who may sign"`);
    await repository.add(KEYS, signer.entry);
    const listed = await repository.commit('List who may sign');
    tour.say(`${PIPELINE_FILE}: signatures: 'Range', with the keys in ${KEYS}`);
    await repository.edit(PIPELINE_FILE, (text) => requireSignatures(text, KEYS));
    tour.say('$ git commit -am "Require signatures"');
    const required = await repository.commit('Require signatures');
    try {
      await tour.verify(provenEverywhere(tour, required));
      await expectRefusal(tour, required);
    } finally {
      await revertSigned(tour, required, signer);
    }
    const head = await repository.head();
    await tour.verify({
      what: `sync accepts the signed commit ${shortCommit(head)}`,
      withinSeconds: 60,
      lookAt: 'kubenode status',
      reason: async () => notAcceptedReason(await readPipeline(tour), head),
    });
    tour.say(`$ git revert --no-edit ${shortCommit(listed)}`);
    await tour.verify(provenEverywhere(tour, await repository.revert(listed)));
  },
};

async function expectRefusal(tour: Tour, accepted: string): Promise<void> {
  const { repository } = tour;
  tour.say(`${POLICY_FILE}: another lingerSeconds`);
  await repository.edit(POLICY_FILE, editLinger);
  tour.say('$ git commit --no-gpg-sign -am "Let grants linger"');
  const unsigned = await repository.commit('Let grants linger');
  await tour.verify({
    what: 'sync refuses the commit, because it is not signed',
    withinSeconds: 60,
    lookAt: 'kubenode status',
    reason: async () => notUnsignedReason(await readPipeline(tour), unsigned),
  });
  await tour.verify({
    what: `test, pre and prod stay at ${shortCommit(accepted)}`,
    withinSeconds: 0,
    lookAt: 'kubenode status',
    reason: async () => notProvenReason(await readClusters(tour), accepted),
  });
  await tour.show(['status'], [EXIT.failed, EXIT.unhealthy]);
}

/** Commits that were refused must not be in the history of one that is accepted. */
async function revertSigned(tour: Tour, required: string, signer: TourSigner): Promise<void> {
  const { repository } = tour;
  tour.say(`$ git reset --hard ${shortCommit(required)} && git revert --no-edit -S HEAD`);
  await repository.dropAfter(required);
  await repository.revert(required);
  await repository.sign((commit) => signer.sign(commit));
}
